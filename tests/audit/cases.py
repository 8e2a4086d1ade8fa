"""The sound mechanisms that are audited, each on a network where its certificate is nearly attained.

On a tree every edge is a bridge, so all measured pairs on its two sides move by the full unit.  The small ones here
were found by looking for few moving numbers: the likelihood ratio of k Laplace numbers is largest only if all k fall
on the right side.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from subject import UNIT, Case, Pipeline

import hushpath
from hushpath import Network
from hushpath.measurement.private_step import Measurements
from hushpath.measurement.strategy import Strategy
from hushpath.mechanism.registry import MECHANISMS
from hushpath.network.private_weights import PrivateWeights
from hushpath.noise import Sampler


def path(n: int) -> tuple[tuple[int, int], ...]:
    return tuple((i, i + 1) for i in range(n - 1))


def corridor(length: int, width: int) -> tuple[tuple[int, int], ...]:
    """A long grid, columns of ``width`` nodes behind each other."""
    at = [[column * width + row for row in range(width)] for column in range(length)]
    along = [(at[c][r], at[c + 1][r]) for c in range(length - 1) for r in range(width)]
    across = [(at[c][r], at[c][r + 1]) for c in range(length) for r in range(width - 1)]
    return tuple(along + across)


def one_lane(length: int, width: int) -> dict[tuple[int, int], float]:
    """Weights under which every shortest path along a corridor keeps to its first row."""
    return {end: 150.0 for end in corridor(length, width) if end[1] - end[0] == width and end[0] % width}


BUSH = ((0, 1), (1, 2), (1, 3), (3, 4), (4, 5))  # cut three levels deep, three numbers move, all by the unit
TURNSTILE = ((0, 1), (2, 0), (3, 0), (1, 2), (1, 3))  # directed: whoever goes anywhere passes 0 -> 1
LAWS = "laplace", "gaussian"


def _both(mechanism: str, shape: str, size: int, ends, copies: int, laws=LAWS, **more) -> list[Case]:
    """Under both laws.  Gaussian noise at a larger epsilon: the same bound from a tenth of the trials."""
    wanted = {"laplace": 1.0, "gaussian": 3.0}
    return [
        Case(mechanism, law, shape, size, ends, copies=copies, **{"epsilon": wanted[law], **more}) for law in laws
    ]  # fmt: skip


NAMED = [  # the audited bound of these must come above NEAR of the claim
    *_both("input", "path of 3", 3, path(3), 500, epsilon=1.0),
    *_both("tree", "path of 8", 8, path(8), 250, epsilon=1.0),
    *_both("separator", "bush of 6", 6, BUSH, 32, options={"leaf_size": 2}, epsilon=1.0),
]
NEAR = 0.6
OTHERS = [
    *_both("input", "path of 3", 3, path(3), 500, epsilon=0.1),
    *_both("input", "path of 3", 3, path(3), 500, epsilon=5.0),
    *_both("input", "turnstile", 4, TURNSTILE, 400, directed=True, name="input directed"),
    *_both("all-pairs", "path of 4", 4, path(4), 4),
    *_both("all-pairs", "turnstile", 4, TURNSTILE, 4, directed=True, name="all-pairs directed"),
    *_both("cover", "path of 8", 8, path(8), 4, options={"hops": 1}),
    *_both("hubs", "path of 6", 6, path(6), 1, options={"hubs": 3}),
    *_both("hubs-bounded", "path of 6", 6, path(6), 1, options={"constants": "paper"}),
    *_both("tree", "path of 8", 8, path(8), 1, ("laplace",), options={"constants": "paper"}),
    *_both("lines", "path of 8", 8, path(8), 64, options={"branch": 2}),
    *_both("treewidth", "path of 32", 32, path(32), 4),
    *_both("treewidth", "corridor 9 x 2", 18, corridor(9, 2), 4, lengths=one_lane(9, 2)),
    *_both("treewidth", "path of 32", 32, path(32), 4, ("laplace",), options={"constants": "paper"}),
    *_both("separator", "path of 32", 32, path(32), 4),
    *_both("separator", "path of 64", 64, path(64), 2),
    *_both("separator", "path of 20", 20, path(20), 4, options={"levels": "adjacent", "leaf_size": 4}),
    *_both("separator", "path of 11", 11, path(11), 4, options={"leaves": "all-pairs", "leaf_size": 3}),
    *_both("separator", "path of 20", 20, path(20), 4, ("gaussian",), options={"constants": "paper", "leaf_size": 4}),
    *_both("separator", "corridor 9 x 3", 27, corridor(9, 3), 2, lengths=one_lane(9, 3)),
    *_both("separator-cover", "corridor 9 x 3", 27, corridor(9, 3), 2, options={"hops": 1}, lengths=one_lane(9, 3)),
    *_both("separator-cover", "corridor 6 x 4", 24, corridor(6, 4), 2, options={"hops": 1, "leaf_size": 4}),
    *_both("separator-cover", "corridor 9 x 3", 27, corridor(9, 3), 2, lengths=one_lane(9, 3),
           options={"hops": 2, "levels": "adjacent", "leaves": "all-pairs"}),
    *_both("separator-cover", "path of 32", 32, path(32), 4, ("gaussian",), options={"constants": "paper"}),
]  # fmt: skip
# A mechanism that is not named above is audited by being registered.
OTHERS += [
    case
    for name in MECHANISMS
    if name not in {case.mechanism for case in NAMED + OTHERS}
    for case in _both(name, "path of 6", 6, path(6), 1)
]
SECRET = [  # whose noise cannot be repeated: in the report only
    *(replace(case, sampler=sampler, copies=40, name=f"{case.mechanism} by {sampler}") for case in NAMED[:2]
      for sampler in ("vector", "opendp")),
    *(replace(NAMED[4], sampler=sampler, name=f"separator by {sampler}") for sampler in ("vector", "opendp")),
]  # fmt: skip


def whole_release(case: Case) -> Pipeline:
    """The front door, ``hushpath.release``, planning and all, for every single release."""

    def measure(strategy: Strategy, weights: PrivateWeights, sampler: Sampler) -> Measurements:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hushpath.HushpathWarning)
            return hushpath.release(
                Network(strategy.topology, weights),
                epsilon=case.epsilon,
                delta=case.delta,
                unit=UNIT,
                max_weight=case.max_weight,
                mechanism=case.mechanism,
                noise=hushpath.Noise(case.law, sampler="vector"),
                **case.options,
            ).measurements

    return Pipeline(measure=measure)
