"""Every mechanism, decoder and estimator of weights passes the suites that packages of others inherit."""

from hushpath.decoder.registry import DECODERS
from hushpath.estimator.base import WeightEstimator
from hushpath.estimator.registry import ESTIMATORS
from hushpath.mechanism.registry import MECHANISMS
from hushpath.testing import DecoderSuite, EstimatorSuite, MechanismSuite


def _classes(suite, attribute, registered):
    """One test class for each that is registered."""
    for name, one in registered.items():
        title = "Test" + "".join(word.title() for word in name.split("-")) + suite.__name__.removesuffix("Suite")
        yield title, type(title, (suite,), {attribute: one, "__module__": __name__})


globals().update(_classes(MechanismSuite, "mechanism", MECHANISMS))
globals().update(_classes(DecoderSuite, "decoder", {name: one for name, one in DECODERS.items() if name != "trips"}))
globals().update(
    _classes(
        EstimatorSuite, "estimator", {name: one for name, one in ESTIMATORS.items() if isinstance(one, WeightEstimator)}
    )
)
