"""What a mechanism, a decoder or an estimator of another package is written with.

The guide to extending has one of each; ``hushpath.testing`` has the tests that they inherit.
"""

from ..arrays import Float, Int
from ..decoder.base import Bound, Decoder, Hops, PairDecoder, Prediction, RowDecoder
from ..estimator.base import NoisyEdges, WeightEstimator
from ..kernels.paths import UNREACHED, distances_from
from ..measurement.blocks import AnchorBlock, CliqueBlock, EdgeBlock, HierarchyBlock, LineBlock
from ..measurement.strategy import Strategy
from ..mechanism.base import Design, Mechanism, Problem, integer, one_of
from ..mechanism.comparison.hubs import relative_scales
from ..mechanism.registry import MECHANISMS
from ..network.topology import Topology

__all__ = [
    "MECHANISMS", "UNREACHED", "AnchorBlock", "Bound", "CliqueBlock", "Decoder", "Design", "EdgeBlock", "Float",
    "HierarchyBlock", "Hops", "Int", "LineBlock", "Mechanism", "NoisyEdges", "PairDecoder", "Prediction", "Problem",
    "RowDecoder", "Strategy", "Topology", "WeightEstimator", "distances_from", "integer", "one_of", "relative_scales",
]  # fmt: skip
