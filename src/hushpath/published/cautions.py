"""Public facts about a promise or a release that deserve a second look, in plain words.

Nothing is stopped: an owner may have reasons.  What is said here is said at release time, stands in the
statement, and is worked out anew by whoever reads the file, from what the file holds.

The promise: ``promise.promise_cautions``, from the certificate.

The noise (``of_plan``, ``of_release``).  A typical answer is off by ``predict.expected_error``.  Against it stands a
typical distance: before the release, what the declared bounds allow, taking weights to be half of their bounds on
average; afterwards, an estimate from the released numbers alone, which costs no privacy (post-processing).  An error
beyond half of that distance is "mostly noise".  Where a network has many cycles, shortest paths over noisy edges look
for edges that came out low; then noise of twice the mean weight is as bad (on the city of the demonstration answers
are off by 60 % there).
"""

from __future__ import annotations

import math

from ..decoder.base import number_noise
from ..measurement.blocks import EdgeBlock, TripBlock
from ..measurement.private_step import Measurements
from ..measurement.samples import few_hops
from ..measurement.strategy import Strategy
from ..planning.predict import expected_error
from .promise import promise_cautions

MOSTLY = 0.5  # of a typical distance
MANY_CYCLES = 1.1  # edges per node


def of_promise(strategy: Strategy) -> list[str]:
    """What is weak about the promise itself."""
    if strategy.budget.unlimited:
        return []  # NOT PRIVATE, and marked so everywhere
    certificate = strategy.certificate
    return promise_cautions(certificate.epsilon, certificate.delta, strategy.terms.unit.population)


def of_plan(strategy: Strategy) -> list[str]:
    """What can be known before any weight is read."""
    found, lattice = of_promise(strategy), strategy.lattice
    declared = strategy.terms.bound_every_weight(strategy.topology)
    if not declared or strategy.budget.unlimited or strategy.topology.num_edges == 0:
        return found
    typical = float(lattice.high.mean()) / 2 * lattice.granularity * few_hops(strategy.topology).mean
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
    if not strategy.terms.unit.measures_edges:
        return (*found, *_of_trips(measurements))
    if strategy.topology.num_edges:
        error, typical = expected_error(strategy), typical_distance(measurements)
        if error > MOSTLY * typical or _lost_in_noise(measurements):
            found.append(
                f"this is mostly noise: an answer is off by about {error:.3g}, "
                f"and a typical distance, by the released numbers, is about {max(typical, 0.0):.3g}"
            )
    return tuple(found)


def _of_trips(measurements: Measurements) -> list[str]:
    """Whether an edge was passed often enough, by the released counts, to tell its time from noise."""
    strategy = measurements.strategy
    if not strategy.topology.num_edges:
        return []
    counts = measurements.of(TripBlock).reshape(2, -1).sum(axis=0)
    noise = math.sqrt(2) * float(number_noise(strategy).max())
    if float(counts.mean()) >= noise:
        return []
    return [
        "this is mostly noise: by the released counts an average edge was passed less often than its noise, so "
        "released times are little more than free-flow times a common factor"
    ]


def typical_distance(measurements: Measurements) -> float:
    """About how far two nodes are, from the numbers of the first block; may come out negative where noise rules."""
    strategy = measurements.strategy
    first = strategy.blocks[0]
    return first.typical(measurements.of(type(first))) * strategy.lattice.granularity


def _lost_in_noise(measurements: Measurements) -> bool:
    """Whether shortest paths over noisy edges follow the noise rather than the weights."""
    strategy, topology = measurements.strategy, measurements.strategy.topology
    if {type(block) for block in strategy.blocks} != {EdgeBlock}:
        return False
    if topology.num_edges < MANY_CYCLES * topology.num_nodes:
        return False
    return float(number_noise(strategy).max()) > 2 * float(measurements.values.mean())
