"""Tests that a mechanism, decoder or estimator of another package inherits; pytest runs them.

    import hushpath.testing
    from my_package import MINE

    class TestMine(hushpath.testing.MechanismSuite):
        mechanism = MINE

The mechanisms, decoders and estimators of hushpath pass the same suites.
"""

from .networks import NETWORKS, exact_distances, network
from .suites import DecoderSuite, EstimatorSuite, MechanismSuite, SuiteRelease

__all__ = [
    "NETWORKS", "DecoderSuite", "EstimatorSuite", "MechanismSuite", "SuiteRelease", "exact_distances", "network",
]  # fmt: skip
