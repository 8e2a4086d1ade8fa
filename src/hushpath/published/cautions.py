"""Warnings about a promise or a release, from public facts.  They stop nothing: the owner decides.

A caution is emitted at release time, stands in the statement, and is computed again from the file by each reader.

"Mostly noise": the expected error exceeds half of a typical distance.  Before the release a typical distance follows
from the declared bounds, with weights half of their bounds; afterwards it is estimated from the released numbers.
Where a network has many cycles, shortest paths prefer edges whose noise is negative; then noise of twice the mean
weight is as bad (on the city of the demo answers are wrong by 60 %).
"""

from __future__ import annotations

import math

from ..decoder.base import number_noise
from ..decoder.registry import expected_error
from ..measurement.blocks import EdgeBlock, TripBlock
from ..measurement.private_step import Measurements
from ..measurement.samples import few_hops
from ..measurement.strategy import Strategy
from .promise import promise_cautions

MOSTLY = 0.5  # of a typical distance
MANY_CYCLES = 1.1  # edges per node


def of_promise(strategy: Strategy) -> list[str]:
    """Return cautions about the promise."""
    if strategy.budget.unlimited:
        return []  # NOT PRIVATE, and marked so everywhere
    certificate = strategy.certificate
    return promise_cautions(certificate.epsilon, certificate.delta, strategy.terms.unit.population)


def of_plan(strategy: Strategy) -> list[str]:
    """Return the cautions that can be known before any weight is read."""
    found, lattice = of_promise(strategy), strategy.lattice
    declared = strategy.terms.bound_every_weight(strategy.topology)
    if not declared or strategy.budget.unlimited or strategy.topology.num_edges == 0:
        return found
    typical = float(lattice.high.mean()) / 2 * lattice.granularity * few_hops(strategy.topology).mean
    error = expected_error(strategy)
    if error > MOSTLY * typical:
        found.append(
            f"expect mostly noise: a mean error of about {error:.3g}, where a typical distance is about "
            f"{typical:.3g} if weights are half of their bounds on average"
        )
    return found


def of_release(measurements: Measurements) -> tuple[str, ...]:
    """Return the cautions of a release; none if it is NOT PRIVATE, which says enough."""
    if not measurements.private:
        return ()
    strategy, found = measurements.strategy, of_promise(measurements.strategy)
    if not strategy.terms.unit.measures_edges:
        return (*found, *_of_trips(measurements))
    if strategy.topology.num_edges:
        error, typical = expected_error(strategy), typical_distance(measurements)
        if error > MOSTLY * typical or _lost_in_noise(measurements):
            found.append(
                f"this is mostly noise: a mean error of about {error:.3g}, where a typical "
                f"distance, by the released numbers, is about {max(typical, 0.0):.3g}"
            )
    return tuple(found)


def _of_trips(measurements: Measurements) -> list[str]:
    """Return a caution if, by the released counts, an average edge was passed too rarely."""
    strategy = measurements.strategy
    if not strategy.topology.num_edges:
        return []
    counts = measurements.of(TripBlock).reshape(2, -1).sum(axis=0)
    noise = math.sqrt(2) * float(number_noise(strategy).max())
    if float(counts.mean()) >= noise:
        return []
    return [
        "this is mostly noise: by the released counts an average edge was passed less often than its noise, so "
        "released times are little more than scaled free-flow times"
    ]


def typical_distance(measurements: Measurements) -> float:
    """Estimate a typical distance from the numbers of the first block; it may be negative under much noise."""
    strategy = measurements.strategy
    first = strategy.blocks[0]
    return first.typical(measurements.of(type(first))) * strategy.lattice.granularity


def _lost_in_noise(measurements: Measurements) -> bool:
    """Return whether shortest paths over noisy edges follow the noise rather than the weights."""
    strategy, topology = measurements.strategy, measurements.strategy.topology
    if {type(block) for block in strategy.blocks} != {EdgeBlock}:
        return False
    if topology.num_edges < MANY_CYCLES * topology.num_nodes:
        return False
    return float(number_noise(strategy).max()) > 2 * float(measurements.values.mean())
