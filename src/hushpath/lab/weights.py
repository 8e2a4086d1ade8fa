"""Generated weights: five kinds, all scaled to median 1, each with a public bound.

The noise of the laboratory is counted in median weights, so kinds can be compared.

``adversarial`` puts input perturbation at its worst: an edge costs 1 if it leads away from the far end of the network
and next to nothing if it leads sideways.  So every path that never turns back is almost equally long, there are
exponentially many of them where the network is thick, and a shortest path over noisy weights picks the luckiest.
On a tree there is one path only and the kind is harmless.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from ..arrays import Float
from ..errors import OptionError
from ..estimator.fields import plane_waves
from ..noise import simulation
from .networks import Ground

WAVES = 64
SIDEWAYS = 0.02  # what a sideways edge costs, in median weights


@dataclass(frozen=True, eq=False)
class Weighing:
    """One weight per edge and the bound everybody knows."""

    values: Float
    bound: float


def weigh(ground: Ground, kind: str, seed: int) -> Weighing:
    """Draw weights of a kind.

    Guarantees: non-negative, at most ``bound``, median 1 (up to clipping at the bound).
    """
    if kind not in KINDS:
        raise OptionError(f"no kind of weights is called {kind[:40]!r}; choose from: {', '.join(KINDS)}")
    bound, draw = KINDS[kind][1:]
    values = draw(ground, simulation(seed))
    middle = float(np.median(values))
    if middle <= 0:
        raise OptionError(f"{kind} weights have no positive median on this network")
    return Weighing(np.clip(values / middle, 0.0, bound), bound)


def _correlated(ground: Ground, rng: np.random.Generator) -> Float:
    """A smooth random field over the plane, as congestion is: neighbours are alike."""
    middle = (ground.places[ground.ends[:, 0]] + ground.places[ground.ends[:, 1]]) / 2
    extent = max(float(np.ptp(ground.places, axis=0).max()), 1e-9)
    return np.exp(0.7 * plane_waves(middle, extent / 8, rng, WAVES, amplitudes=True))


def _adversarial(ground: Ground, rng: np.random.Generator) -> Float:
    ends, n = ground.ends, ground.num_nodes
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()

    def hops(origin: int) -> Float:
        return np.asarray(dijkstra(graph, directed=False, unweighted=True, indices=origin), np.float64)

    level = hops(int(hops(0).argmax()))
    onward = level[ends[:, 0]] != level[ends[:, 1]]
    jitter = rng.uniform(0.99, 1.01, len(ends))
    return jitter if onward.mean() <= 0.5 else np.where(onward, jitter, SIDEWAYS)


KINDS: dict[str, tuple[str, float, Callable[[Ground, np.random.Generator], Float]]] = {
    "uniform": ("between 0 and 2, independent", 2.0, lambda ground, rng: rng.uniform(0.0, 2.0, len(ground.ends))),
    "lognormal": (
        "skewed: a few large ones, independent",
        8.0,
        lambda ground, rng: rng.lognormal(0.0, 0.6, len(ground.ends)),
    ),
    "correlated": ("neighbours are alike, as in congestion", 8.0, _correlated),
    "constant": ("all the same", 2.0, lambda ground, _: np.ones(len(ground.ends))),
    "adversarial": ("very many paths of almost the same length", 2.0, _adversarial),
}
"""Name, one line for people, public bound, and generator."""
OWN = "own"  # the weights in an edge list the user names
