"""The decoders by name: one line each, and the first that reads a release is its default."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from ..errors import CannotError, OptionError
from ..estimate.core import NO_ADVICE, Advice, Estimator
from ..estimate.registry import estimator_named
from ..measure import Measurements
from ..strategy.core import Strategy
from .core import Decoder

FILES = (
    "lifted",
    "hierarchy",
    "literal",
    "anchors",
    "hubs_bounded",
    "hubs",
    "edges",
    "trips",
    "table",
    "cover",
)
_made: list[type[Decoder]] = [import_module(f"{__package__}.{file}").DECODER for file in FILES]
DECODERS = {decoder.name: decoder for decoder in _made}


def decoders_for(strategy: Strategy) -> list[type[Decoder]]:
    """Every decoder that can answer from what a strategy measures, the default first."""
    return [decoder for decoder in _made if decoder.reads(strategy)]


def default_decoder(strategy: Strategy) -> type[Decoder]:
    """The decoder that is used unless another is asked for: by public facts alone."""
    for decoder in _made:
        if decoder.reads(strategy):
            return decoder
    raise CannotError(f"no decoder reads what {strategy.mechanism!r} measures")


class Reading(NamedTuple):
    """How a release is read: by which decoder and, where it searches paths, over whose weights."""

    decoder: type[Decoder]
    estimator: Estimator

    def __str__(self) -> str:
        return f"{self.decoder.name}, {self.estimator.name}" if self.decoder.searches else self.decoder.name


def reading(strategy: Strategy, decoder: str = "auto", estimator: str = "auto", advice: Advice = NO_ADVICE) -> Reading:
    """By default (that is, as a file advises, if it does) or as asked; refuse what cannot be read so."""
    chosen = default_decoder(strategy)
    if decoder != "auto":
        if not isinstance(decoder, str) or decoder not in DECODERS:
            raise OptionError(f"no decoder is called {str(decoder)[:40]!r}; choose from: {', '.join(DECODERS)}, auto")
        chosen = DECODERS[decoder]
        if not chosen.reads(strategy):
            able = ", ".join(one.name for one in decoders_for(strategy))
            raise OptionError(f"decoder {decoder!r} cannot read a release by {strategy.mechanism!r}; these can: {able}")
    if estimator != "auto" and not chosen.searches:
        raise OptionError(f"decoder {chosen.name!r} searches no edge weights, so an estimator has nothing to say")
    name = advice.estimator if estimator == "auto" and advice.estimator else estimator
    return Reading(chosen, estimator_named(name, strategy))


def read(
    measurements: Measurements, decoder: str = "auto", estimator: str = "auto", advice: Advice = NO_ADVICE
) -> Decoder:
    """Read measurements by default, or as asked."""
    chosen = reading(measurements.strategy, decoder, estimator, advice)
    made = chosen.decoder(measurements, chosen.estimator)
    if made.searches and advice.weights is not None and made.estimator.name == advice.estimator:
        made.carry(advice.weights)
    return made
