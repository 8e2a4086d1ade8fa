r"""What a strategy costs, computed from the strategy alone: the certificate, and the scales that meet a budget.

Reads no weights.  For scales ``s_g``, cut numbers ``c_g`` (``sensitivity``) and a protected unit of
``u`` lattice steps, the concatenation of all groups is one vector release with

    Laplace:   epsilon = max over edges e of  sum over groups g whose cell holds e of  c_g u / s_g
    Gaussian:  rho     = max over edges e of  sum over groups g whose cell holds e of  c_g u^2 / (2 s_g^2)

and (epsilon, delta) for Gaussian noise is the better of two conversions, both proved: of rho (``accounting``), and of
the exact trade-off of continuous Gaussian noise that the discrete noise holds inside (``gaussian``), hardly narrower.

A unit spread over several edges never costs more than one edge taking it all: change one edge after the other and add
up norms (docs/proofs/certificate.md).  There is no composition theorem to apply and nothing to add up by hand.
Everything is rounded towards a larger cost.

A unit that touches many edges a little may be far smaller in L2 norm than in L1.  Numbers that are one weight each
(``Exposure.single``) move as the weights do, so for Gaussian noise and a unit of ``v`` steps in L2 norm

    rho  =  max over e of  sum over single groups g of e  of  v^2 / (2 s_g^2)
          + max over e of  sum over the other groups of e of  c_g u^2 / (2 s_g^2)

holds as well; the smaller of the two is the cost.

Guarantees (one test each, tests/unit/test_certificate.py): an ``Exposure`` cannot hold an edge, a group or a cut out of
range; ``certify`` refuses scales that are not whole numbers of steps from 0 to 2**52, one per group, and a unit below
one step; numbers without noise cost infinity.  The checks are here, where the promise is made, so that neither a
mechanism nor a file can bypass them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._validate import is_integer
from ..arrays import Bool, Float, Int
from ..errors import BudgetError, CannotError, OptionError
from ..noise import MAX_SCALE, Law
from ..noise.laws import check_scales
from .accounting import Budget, zcdp_epsilon, zcdp_rho
from .gaussian import SPLIT, continuous_scales, gaussian_epsilon, gaussian_mu

# Below so many steps the variance that ``SPLIT`` takes is felt (1 part in 10^4), and zCDP may allow less noise.
_NARROW = 256


@dataclass(frozen=True, eq=False)
class Exposure:
    """Which groups each edge can move: ``edge[i]`` lies in the cell of ``group[i]``; ``cut`` is per group.

    ``single`` says of each group whether it is the weight of one edge and nothing else; of none, if it is not given.
    """

    num_edges: int
    cut: Int
    edge: Int
    group: Int
    single: Bool | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that would make the sum over groups meaningless."""
        m = self.num_edges
        if not is_integer(m) or m < 0:
            raise OptionError(f"an exposure needs the number of edges, got {m!r:.40}")
        for name in ("cut", "edge", "group"):
            array = np.asarray(getattr(self, name))
            if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
                raise OptionError(f"{name} of an exposure must be a row of whole numbers, got {array.dtype}")
            array = array.astype(np.int64, copy=False).view()
            array.setflags(write=False)  # what was checked is what is summed
            object.__setattr__(self, name, array)
        if len(self.edge) != len(self.group):
            raise OptionError(f"an exposure pairs {len(self.edge)} edges with {len(self.group)} groups")
        if self.cut.min(initial=0) < 0:
            raise OptionError(f"a cut number cannot be negative, got {self.cut.min()}")
        for name, ids, count in (("edge", self.edge, m), ("group", self.group, len(self.cut))):
            if ids.min(initial=0) < 0 or ids.max(initial=-1) >= count:
                raise OptionError(f"{name} of an exposure must lie in 0 .. {count - 1}")
        single = np.zeros(len(self.cut), np.bool_) if self.single is None else np.array(self.single)
        if single.dtype != np.bool_ or single.shape != self.cut.shape:
            raise OptionError("an exposure says of each group whether it is a single weight: one yes or no per group")
        edges_of = np.bincount(self.group, minlength=len(self.cut))
        if (single & (self.cut > 0) & ((self.cut > 1) | (edges_of != 1))).any():
            raise OptionError("a group that is a single weight has one edge and cut number 1")
        single.setflags(write=False)
        object.__setattr__(self, "single", single)

    @classmethod
    def joined(cls, parts: list[Exposure]) -> Exposure:
        """Put the groups of several blocks behind each other."""
        if len({part.num_edges for part in parts}) != 1:
            raise OptionError("exposures of different networks cannot be joined")
        offsets = np.cumsum([0, *(len(part.cut) for part in parts)])
        return cls(
            parts[0].num_edges,
            np.concatenate([part.cut for part in parts]),
            np.concatenate([part.edge for part in parts]),
            np.concatenate([part.group + at for part, at in zip(parts, offsets, strict=False)]),
            np.concatenate([part.single for part in parts if part.single is not None]),
        )


@dataclass(frozen=True)
class Certificate:
    """What a strategy promises, for the statement."""

    law: Law
    spent: float  # pure epsilon (Laplace) or rho of zCDP (Gaussian), rounded up; ``inf`` without noise
    epsilon: float  # approximate differential privacy, rounded up
    delta: float  # 0 for Laplace
    worst_edge: int  # a public edge where the cost is highest


def certify(
    exposure: Exposure, scales: Int, law: Law, unit_steps: int, budget: Budget, l2_steps: int | None = None
) -> Certificate:
    """Return the certificate of noise of a ``law`` with ``scales``, or raise ``BudgetError`` if it exceeds the budget.

    ``exposure`` says what each edge moves.  ``unit_steps`` bounds the unit in L1 norm, ``l2_steps``, if given, in L2.
    """
    law, scales = Law(law), check_scales(scales)
    cost, worst = _find_worst_cost(exposure, scales.astype(np.float64), law, unit_steps, l2_steps)
    delta = 0.0 if law is Law.LAPLACE or math.isinf(cost) else budget.delta
    epsilon = cost
    if law is Law.GAUSSIAN:
        inside, _ = _find_worst_cost(exposure, continuous_scales(scales), law, unit_steps, l2_steps)
        mu = math.nextafter(math.sqrt(2 * inside), math.inf) if inside else 0.0
        epsilon = min(zcdp_epsilon(cost, budget.delta), gaussian_epsilon(mu, budget.delta))
    if not epsilon <= budget.epsilon:
        raise BudgetError(f"the strategy costs epsilon {epsilon:.9g}, above the budget {budget.epsilon:.9g}")
    return Certificate(law, cost, epsilon, delta, worst)


def calibrate(
    exposure: Exposure, relative: Float, law: Law, unit_steps: int, budget: Budget, l2_steps: int | None = None
) -> Int:
    """Return the smallest scales, to within a step, in proportion to ``relative`` whose certificate meets the budget.

    ``exposure``, ``law``, ``unit_steps``, ``budget`` and ``l2_steps`` are those of ``certify``.
    Gaussian scales are narrower than a few steps nowhere, whatever their share: ``SPLIT`` is added to their squares.
    """
    if budget.unlimited:
        return np.zeros(len(exposure.cut), np.int64)
    law = Law(law)
    allowed = budget.epsilon if law is Law.LAPLACE else gaussian_mu(budget.epsilon, budget.delta) ** 2 / 2
    if allowed <= 0:
        raise CannotError(
            f"epsilon {budget.epsilon:g} with delta {budget.delta:g} leaves nothing to spend; use larger ones"
        )
    relative = np.asarray(relative, np.float64)
    if not (np.isfinite(relative) & (relative > 0)).all():
        raise OptionError("relative noise scales must be positive finite numbers")
    cost, _ = _find_worst_cost(exposure, relative, law, unit_steps, l2_steps)

    def certified(factor: float, added: float) -> Int:
        """Return ``relative`` times a factor (its square and ``added``), in whole steps, once the certificate holds."""
        while True:
            exact = relative * factor
            wanted = np.ceil(np.sqrt(exact * exact + added) if added else exact)
            if wanted.max(initial=0) > MAX_SCALE:
                raise CannotError(
                    "the noise this needs does not fit in 64 bits; use a larger epsilon or a smaller network"
                )
            scales = np.maximum(wanted, 1).astype(np.int64)
            try:
                certify(exposure, scales, law, unit_steps, budget, l2_steps)
            except BudgetError:
                factor *= 1 + 2.0**-40  # the division or square root rounded down: step up until it holds
            else:
                return scales

    if law is Law.LAPLACE:
        return certified(cost / allowed, 0.0)
    scales = certified(math.sqrt(cost / allowed), SPLIT)
    if scales.min(initial=_NARROW) < _NARROW and (rho := zcdp_rho(budget.epsilon, budget.delta)) > 0:
        other = certified(math.sqrt(cost / rho), 0.0)
        return other if other.sum() < scales.sum() else scales
    return scales


def _find_worst_cost(
    exposure: Exposure, scales: Float, law: Law, unit_steps: int, l2_steps: int | None
) -> tuple[float, int]:
    """Return the cost of the worst edge, rounded up, and that edge.

    ``exposure``, ``scales``, ``law``, ``unit_steps`` and ``l2_steps`` are those of ``certify``.
    """
    if scales.shape != exposure.cut.shape:
        raise OptionError(f"{len(exposure.cut)} groups need a noise scale each, got {scales.shape}")
    for steps in (unit_steps, unit_steps if l2_steps is None else l2_steps):
        if not is_integer(steps) or not 1 <= steps < 2**63:
            raise OptionError(f"a protected unit is a whole number of lattice steps, at least 1, got {steps!r:.40}")
    if ((scales == 0) & (exposure.cut > 0)).any():  # numbers without noise, even if no edge were known to move them
        return math.inf, int(exposure.edge[0]) if len(exposure.edge) else -1
    if exposure.num_edges == 0 or len(exposure.edge) == 0:
        return 0.0, -1
    everything = np.ones(len(exposure.cut), np.bool_)
    joint = _find_highest_cost(exposure, scales, law, unit_steps, everything)
    if l2_steps is None or law is Law.LAPLACE or exposure.single is None:
        return joint
    alone = _find_highest_cost(exposure, scales, law, l2_steps, exposure.single)
    others = _find_highest_cost(exposure, scales, law, unit_steps, ~exposure.single)
    apart = math.nextafter(alone[0] + others[0], math.inf)
    return min(joint, (apart, max(alone, others)[1]))


def _find_highest_cost(exposure: Exposure, scales: Float, law: Law, steps: int, counted: Bool) -> tuple[float, int]:
    """Return the highest cost of the ``counted`` groups at one edge, rounded up, and that edge.

    ``exposure``, ``scales`` and ``law`` are those of ``certify``; a unit moves the groups by at most ``steps``.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # a group without numbers may have no noise
        ratio = float(steps) / scales
        share = exposure.cut * (ratio if law is Law.LAPLACE else ratio * ratio / 2)
    share = np.where((exposure.cut == 0) | ~counted, 0.0, share)
    cost = np.bincount(exposure.edge, weights=share[exposure.group], minlength=exposure.num_edges)
    terms = int(np.bincount(exposure.edge, minlength=exposure.num_edges).max())
    worst = int(cost.argmax())
    # Each share carries at most 7 roundings and the sum of k terms at most k more, each of relative size 2**-53.
    return float(cost[worst] * (1 + (terms + 8) * 2.0**-52)), worst
