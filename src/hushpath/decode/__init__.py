"""Answers from noisy measurements: one decoder per kind of measurement.

Stage 6 of 6:  topology -> strategy -> measure -> release -> *decode* -> answer.  Public post-processing: decoders see
a release only, so nothing they do can cost privacy.
"""

from __future__ import annotations

from typing import Protocol

from ..arrays import Float, Int
from ..errors import FileFormatError
from ..measure.door import Measurements


class Decoder(Protocol):
    """What every decoder can do; positions, not labels."""

    def rows(self, sources: Int, out: Float) -> None:
        """Fill ``out[i]`` with the distances from ``sources[i]`` to every node."""

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Return the distance of each pair."""

    def interval(self, source: int, target: int, confidence: float) -> tuple[float, float]:
        """Return a range meant to hold the true distance with the given probability."""


def decoder_for(measurements: Measurements) -> Decoder:
    """Choose the decoder a strategy names."""
    name = measurements.strategy.decoder
    if name == "edges":
        from .edges import EdgeDecoder

        return EdgeDecoder(measurements)
    if name == "table":
        from .table import TableDecoder

        return TableDecoder(measurements)
    if name == "hierarchy":
        from .hierarchy import hierarchy_decoder

        return hierarchy_decoder(measurements)
    if name == "cover":
        from .cover import CoverDecoder

        return CoverDecoder(measurements)
    if name in ("hubs", "hubs-bounded"):
        from .hubs import HubDecoder

        return HubDecoder(measurements)
    if name == "anchors":
        from .anchors import AnchorDecoder

        return AnchorDecoder(measurements)
    raise FileFormatError(f"this version has no decoder called {str(name)[:40]!r}")
