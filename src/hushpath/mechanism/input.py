"""Input perturbation (Sealfon 2016): noise on every edge weight, then ordinary shortest paths.

One protected unit moves one number (or several by the same total), so the noise is as small as noise can be; the
price is that a distance adds up the noise of every edge on its path.  Expected error: noise times the square root of
the number of hops while noise is small against the weights; beyond that shortest paths pick edges with negative
noise, and answers are too low, in proportion to hops.
"""

from __future__ import annotations

import numpy as np

from ..measurement.blocks import EdgeBlock
from .base import Design, Mechanism, Problem


def design(problem: Problem) -> Design:
    """Measure every edge, the same noise on each."""
    return Design((EdgeBlock(problem.topology),), lambda law: np.ones(problem.topology.num_edges))


MECHANISM = Mechanism(
    name="input",
    summary="noise on every edge weight, answers by shortest paths over the noisy weights (Sealfon 2016)",
    design=design,
    measures=(EdgeBlock,),
)
