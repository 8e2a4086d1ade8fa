"""All pairs: measure every distance itself.

The error of an answer is the noise of one number, whatever the hop count; the price is that one edge can move a
quarter of all squared node counts (cut lemma), so the noise grows with the number of nodes.
"""

from __future__ import annotations

import numpy as np

from ...measurement.blocks import CliqueBlock
from ...measurement.strategy import Strategy
from ...noise import Law
from ..base import Design, Mechanism, Problem

MOST_NODES = 20_000  # 1.6 GB of measurements


def design(problem: Problem) -> Design:
    """Measure all pairs of every component.  Components share no edge, so each gets the least noise it needs."""
    block = CliqueBlock.on(problem.topology, np.arange(problem.topology.num_nodes))
    cut = np.maximum(block.exposure.cut, 1).astype(np.float64)
    return Design((block,), lambda law: cut if law is Law.LAPLACE else np.sqrt(cut))


def misfit(strategy: Strategy) -> str | None:
    """Refuse a table that lacks a node."""
    complete = len(strategy.block(CliqueBlock).vertices) == strategy.topology.num_nodes
    return None if complete else "not every node was measured"


MECHANISM = Mechanism(
    name="all-pairs",
    summary="noise on every distance itself, answers by look-up; for very small networks",
    design=design,
    measures=(CliqueBlock,),
    most_nodes=MOST_NODES,
    misfit=misfit,
    comparison=True,
)
