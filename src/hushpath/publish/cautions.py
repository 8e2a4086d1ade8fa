"""Public facts about a promise or a release that deserve a second look, in plain words.

Stage 5 of 6.  Nothing is stopped: an owner may have reasons.  What is said here is said at release time, stands in the
statement, and is worked out anew by whoever reads the file, from what the file holds.

The promise (``of_promise``), from the certificate; docs/GUARANTEE.md explains the thresholds.

| epsilon | above 10: weak; above 50: promises almost nothing |
| delta | 0.01 and above: promises almost nothing; at least 1 / population; above 1e-4 if no population was declared |

The noise (``of_plan``, ``of_release``).  A typical answer is off by ``predict.expected_error``.  Against it stands a
typical distance: before the release, what the declared bounds allow, taking weights to be half of their bounds on
average; afterwards, an estimate from the released numbers alone, which costs no privacy (post-processing).  An error
beyond half of that distance is "mostly noise".  Where a network has many cycles, shortest paths over noisy edges look
for edges that came out low; then noise of twice the mean weight is as bad (on the city of the demonstration answers
are off by 60 % there).
"""

from __future__ import annotations

import math

import numpy as np

from ..blocks.anchors import AnchorBlock, Forest
from ..blocks.core import CliqueBlock
from ..blocks.hierarchy import HierarchyBlock
from ..decode.predict import expected_error, number_noise
from ..measure.door import Measurements
from ..strategy.core import Strategy
from ..strategy.samples import FEW, few_hops

WEAK_EPSILON, VOID_EPSILON = 10.0, 50.0
LARGE_DELTA, VOID_DELTA = 1e-4, 0.01
MOSTLY = 0.5  # of a typical distance
MANY_CYCLES = 1.1  # edges per node


def of_promise(strategy: Strategy) -> list[str]:
    """What is weak about the promise itself."""
    if strategy.budget.unlimited:
        return []  # NOT PRIVATE, and marked so everywhere
    certificate, population = strategy.certificate(), strategy.population
    epsilon, delta, found = certificate.epsilon, certificate.delta, []
    if epsilon > VOID_EPSILON:
        found.append(
            f"epsilon = {epsilon:.4g} promises almost nothing: "
            f"any conclusion about a protected unit may become e^{epsilon:.4g} times as likely"
        )
    elif epsilon > WEAK_EPSILON:
        found.append(
            f"epsilon = {epsilon:.4g} is a weak promise: "
            f"any conclusion about a protected unit may become {math.exp(epsilon):.2g} times as likely"
        )
    if delta >= VOID_DELTA:
        found.append(f"delta = {delta:.3g} promises almost nothing: it is the chance that the promise does not hold")
    elif population is not None and delta * population >= 1:
        found.append(
            f"delta = {delta:.3g} is not below 1 / {population:,} protected units: publishing the data of one of them "
            f"outright would keep such a promise; use a delta far below {1 / population:.2g}"
        )
    elif population is None and delta > LARGE_DELTA:
        found.append(
            f"delta = {delta:.3g} is large: it is the chance that the promise does not hold, and should be far below "
            "1 / number of protected units (declare that number as population)"
        )
    return found


def of_plan(strategy: Strategy) -> list[str]:
    """What can be known before any weight is read."""
    found, lattice = of_promise(strategy), strategy.lattice
    declared = strategy.max_weight is not None or np.isfinite(strategy.topology.upper).all()
    if not declared or strategy.budget.unlimited or strategy.topology.num_edges == 0:
        return found
    typical = float(lattice.high.mean()) / 2 * lattice.granularity * float(few_hops(strategy.topology).mean())
    error = expected_error(strategy)
    if error > MOSTLY * typical:
        found.append(
            f"expect mostly noise: an answer is off by about {error:.3g}, and a typical distance is about "
            f"{typical:.3g} if weights are half of their bounds on average"
        )
    return found


def of_release(measurements: Measurements) -> tuple[str, ...]:
    """What a reader should know; nothing if the release is NOT PRIVATE, which says enough."""
    if not measurements.private:
        return ()
    strategy, found = measurements.strategy, of_promise(measurements.strategy)
    if strategy.topology.num_edges:
        error, typical = expected_error(strategy), typical_distance(measurements)
        if error > MOSTLY * typical or _lost_in_noise(measurements):
            found.append(
                f"this is mostly noise: an answer is off by about {error:.3g}, "
                f"and a typical distance, by the released numbers, is about {max(typical, 0.0):.3g}"
            )
    return tuple(found)


def typical_distance(measurements: Measurements) -> float:
    """About how far two nodes are, from the released numbers; may come out negative where noise rules."""
    strategy, topology = measurements.strategy, measurements.strategy.topology
    block, sizes = strategy.blocks[0], strategy.blocks[0].group_sizes(strategy.topology)
    numbers = measurements.values[: int(sizes.sum())] * strategy.lattice.granularity
    if isinstance(block, AnchorBlock):
        heights = block.heights(measurements.values, Forest.of(topology)) * strategy.lattice.granularity
        return float(heights.mean())
    if isinstance(block, CliqueBlock):
        reached = len(few_hops(topology)) / (FEW * (topology.num_nodes - 1)) if topology.directed else 1.0
        return float(numbers.mean()) / min(1.0, reached)  # pairs that cannot be reached hold noise only
    if isinstance(block, HierarchyBlock):
        cells = block.hierarchy.num_cells
        large = np.where(sizes[:cells] > 0, block.hierarchy.vertices.sizes(), 0)
        if large.any():  # distances across the largest cell that was measured
            cell = int(large.argmax())
            begin = int(sizes[:cell].sum())
            return float(numbers[begin : begin + int(sizes[cell])].mean())
    return float(numbers.mean()) * float(few_hops(topology).mean())


def _lost_in_noise(measurements: Measurements) -> bool:
    """Whether shortest paths over noisy edges follow the noise rather than the weights."""
    strategy, topology = measurements.strategy, measurements.strategy.topology
    if strategy.decoder != "edges" or topology.num_edges < MANY_CYCLES * topology.num_nodes:
        return False
    mean = float(measurements.values.mean())
    return float(number_noise(strategy).max()) > 2 * mean
