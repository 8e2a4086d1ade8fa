"""All pairs: measure every distance itself.

The error of an answer is the noise of one number, whatever the hop count; the price is that one edge can move a
quarter of all squared node counts (cut lemma), so the noise grows with the number of nodes.
"""

from __future__ import annotations

import numpy as np

from ..blocks.core import CliqueBlock
from ..data.topology import Topology
from ..noise import Law
from .core import Design, Mechanism, Problem

MOST_NODES = 20_000  # 1.6 GB of measurements


def design(problem: Problem) -> Design:
    """Measure all pairs of every component.  Components share no edge, so each gets the least noise it needs."""
    block = CliqueBlock.on(np.arange(problem.topology.num_nodes))
    cut = np.maximum(block.exposure(problem.topology).cut, 1).astype(np.float64)
    return Design((block,), lambda law: cut if law is Law.LAPLACE else np.sqrt(cut))


def fits(problem: Problem) -> str | None:
    """A pair is a stored number, so large networks do not fit."""
    n = problem.topology.num_nodes
    return f"it would store a number for each pair of {n} nodes (at most {MOST_NODES})" if n > MOST_NODES else None


def misfit(topology: Topology, blocks: tuple[CliqueBlock]) -> str | None:
    """Answers are looked up, so every node must be there."""
    return None if len(blocks[0].vertices) == topology.num_nodes else "not every node was measured"


MECHANISM = Mechanism(
    name="all-pairs",
    summary="noise on every distance itself, answers by look-up; for very small networks",
    design=design,
    decoder="table",
    fits=fits,
    misfit=misfit,
)
