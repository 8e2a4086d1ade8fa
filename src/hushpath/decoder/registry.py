"""All decoders, in order of preference: the first that reads a release is its default."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import CannotError, OptionError
from ..estimator.base import NOTHING_SAVED, Estimator, SavedEstimate
from ..estimator.registry import find_estimator
from ..extras import with_plugins
from ..measurement.private_step import Measurements
from ..measurement.samples import few_hops
from ..measurement.strategy import Strategy
from .base import MEAN_OF_STD, Decoder
from .comparison import AnchorDecoder, BoundedHubDecoder, CoverDecoder, HubDecoder, TableDecoder
from .edges import EdgeDecoder
from .hierarchy import HierarchyDecoder, LiftedDecoder, LiteralDecoder
from .trips import TripDecoder

_ALL: tuple[type[Decoder], ...] = (
    LiftedDecoder, HierarchyDecoder, LiteralDecoder, AnchorDecoder, BoundedHubDecoder, HubDecoder, EdgeDecoder,
    TripDecoder, TableDecoder, CoverDecoder,
)  # fmt: skip
DECODERS = with_plugins("hushpath.decoders", _ALL, lambda found: isinstance(found, type) and issubclass(found, Decoder))


def decoders_for(strategy: Strategy) -> list[type[Decoder]]:
    """Return every decoder that can answer from what a strategy measures, the default first."""
    return [decoder for decoder in DECODERS.values() if decoder.reads(strategy)]


def default_decoder(strategy: Strategy) -> type[Decoder]:
    """Return the default decoder of a strategy: by public facts alone."""
    for decoder in DECODERS.values():
        if decoder.reads(strategy):
            return decoder
    raise CannotError(f"no decoder can read the measurements of mechanism {strategy.mechanism!r}")


def expected_error(strategy: Strategy) -> float:
    """Predict the mean error from few pairs: fast enough for every load of a file.

    The bias of minima is left out; a prediction from noise alone counts it in full, though little of it shows.
    """
    if len(strategy.scales) == 0:
        return 0.0
    expected = default_decoder(strategy).predict(strategy, few_hops)
    error = np.hypot(MEAN_OF_STD * expected.spread, expected.moved)
    return expected.mean(error) * strategy.lattice.granularity if len(error) else 0.0


class DecoderChoice(NamedTuple):
    """Which decoder answers and, if it searches paths, which estimator gives the weights."""

    decoder: type[Decoder]
    estimator: Estimator

    def __str__(self) -> str:
        return f"{self.decoder.name}, {self.estimator.name}" if self.decoder.searches else self.decoder.name


def choose_decoder(
    strategy: Strategy, decoder: str = "auto", estimator: str = "auto", saved: SavedEstimate = NOTHING_SAVED
) -> DecoderChoice:
    """Choose decoder and estimator of a ``strategy``: by name, by the ``saved`` estimate, or the default ("auto")."""
    chosen = default_decoder(strategy)
    if decoder != "auto":
        if not isinstance(decoder, str) or decoder not in DECODERS:
            raise OptionError(f"unknown decoder {str(decoder)[:40]!r}; choose from: {', '.join(DECODERS)}, auto")
        chosen = DECODERS[decoder]
        if not chosen.reads(strategy):
            able = ", ".join(one.name for one in decoders_for(strategy))
            raise OptionError(
                f"decoder {decoder!r} cannot read a release by mechanism {strategy.mechanism!r}; choose from: {able}"
            )
    if estimator != "auto" and not chosen.searches:
        raise OptionError(f"`estimator` does not apply: decoder {chosen.name!r} does not search edge weights")
    name = saved.estimator if estimator == "auto" and saved.estimator else estimator
    return DecoderChoice(chosen, find_estimator(name, strategy))


def make_decoder(
    measurements: Measurements, decoder: str = "auto", estimator: str = "auto", saved: SavedEstimate = NOTHING_SAVED
) -> Decoder:
    """Make the decoder that answers from measurements; parameters as in `choose_decoder`."""
    chosen = choose_decoder(measurements.strategy, decoder, estimator, saved)
    made = chosen.decoder(measurements, chosen.estimator)
    if made.searches and saved.weights is not None and made.estimator.name == saved.estimator:
        made.all_weights = saved.weights.reshape(len(measurements.strategy.terms.periods), -1)
    return made
