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

Guarantees (one test each, tests/unit/test_certificate.py): an ``Exposure`` cannot hold an edge, a group or a cut out of
range; ``certify`` refuses scales that are not whole numbers of steps from 0 to 2**52, one per group, and a unit below
one step; numbers without noise cost infinity.  The checks stand here, where the promise is made, so that neither a
mechanism nor a file can go around them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Float, Int
from ..errors import BudgetError, CannotError, OptionError
from ..noise import MAX_SCALE, Law
from ..noise.laws import checked_scales
from .accounting import Budget, zcdp_epsilon, zcdp_rho
from .gaussian import SPLIT, continuous_scales, gaussian_epsilon, gaussian_mu

# Below so many steps the variance that ``SPLIT`` takes is felt (1 part in 10^4), and zCDP may allow less noise.
_NARROW = 256


@dataclass(frozen=True, eq=False)
class Exposure:
    """Which groups each edge can move: ``edge[i]`` lies in the cell of ``group[i]``; ``cut`` is per group."""

    num_edges: int
    cut: Int
    edge: Int
    group: Int

    def __post_init__(self) -> None:
        """Refuse what would make the sum over groups mean nothing."""
        m = self.num_edges
        if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or m < 0:
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
        )


@dataclass(frozen=True)
class Certificate:
    """What a strategy promises, for the statement.

    Attributes:
        law: the noise law.
        spent: pure epsilon (Laplace) or rho of zCDP (Gaussian), rounded up; ``inf`` without noise.
        epsilon, delta: approximate differential privacy, rounded up; delta is 0 for Laplace.
        worst_edge: a public edge id where the cost is highest; where an audit should push.
    """

    law: Law
    spent: float
    epsilon: float
    delta: float
    worst_edge: int


def certify(exposure: Exposure, scales: Int, law: Law, unit_steps: int, budget: Budget) -> Certificate:
    """Return the certificate, or raise ``BudgetError`` if it exceeds the budget."""
    law, scales = Law(law), checked_scales(scales)
    cost, worst = _worst_cost(exposure, scales.astype(np.float64), law, unit_steps)
    delta = 0.0 if law is Law.LAPLACE or math.isinf(cost) else budget.delta
    epsilon = cost
    if law is Law.GAUSSIAN:
        inside, _ = _worst_cost(exposure, continuous_scales(scales), law, unit_steps)
        mu = math.nextafter(math.sqrt(2 * inside), math.inf) if inside else 0.0
        epsilon = min(zcdp_epsilon(cost, budget.delta), gaussian_epsilon(mu, budget.delta))
    if not epsilon <= budget.epsilon:
        raise BudgetError(f"the strategy costs epsilon {epsilon:.9g}, above the budget {budget.epsilon:.9g}")
    return Certificate(law, cost, epsilon, delta, worst)


def calibrate(exposure: Exposure, relative: Float, law: Law, unit_steps: int, budget: Budget) -> Int:
    """Return the smallest scales, to within a step, in proportion to ``relative`` whose certificate meets the budget.

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
    cost, _ = _worst_cost(exposure, relative, law, unit_steps)
    if law is Law.LAPLACE:
        return _certified(exposure, relative, cost / allowed, 0.0, law, unit_steps, budget)
    scales = _certified(exposure, relative, math.sqrt(cost / allowed), SPLIT, law, unit_steps, budget)
    if scales.min(initial=_NARROW) < _NARROW and (rho := zcdp_rho(budget.epsilon, budget.delta)) > 0:
        other = _certified(exposure, relative, math.sqrt(cost / rho), 0.0, law, unit_steps, budget)
        return other if other.sum() < scales.sum() else scales
    return scales


def _certified(
    exposure: Exposure, relative: Float, factor: float, added: float, law: Law, unit_steps: int, budget: Budget
) -> Int:
    """``relative`` times a factor (its square and ``added``), in whole steps, once the certificate holds."""
    while True:
        exact = relative * factor
        wanted = np.ceil(np.sqrt(exact * exact + added) if added else exact)
        if wanted.max(initial=0) > MAX_SCALE:
            raise CannotError("the noise this needs does not fit in 64 bits; use a larger epsilon or a smaller network")
        scales = np.maximum(wanted, 1).astype(np.int64)
        try:
            certify(exposure, scales, law, unit_steps, budget)
        except BudgetError:
            factor *= 1 + 2.0**-40  # the division or square root rounded down: step up until it holds
        else:
            return scales


def _worst_cost(exposure: Exposure, scales: Float, law: Law, unit_steps: int) -> tuple[float, int]:
    """The cost of the worst edge, rounded up, and that edge."""
    if scales.shape != exposure.cut.shape:
        raise OptionError(f"{len(exposure.cut)} groups need a noise scale each, got {scales.shape}")
    if isinstance(unit_steps, bool) or not isinstance(unit_steps, (int, np.integer)) or not 1 <= unit_steps < 2**63:
        raise OptionError(f"a protected unit is a whole number of lattice steps, at least 1, got {unit_steps!r:.40}")
    if ((scales == 0) & (exposure.cut > 0)).any():  # numbers without noise, even if no edge were known to move them
        return math.inf, int(exposure.edge[0]) if len(exposure.edge) else -1
    if exposure.num_edges == 0 or len(exposure.edge) == 0:
        return 0.0, -1
    with np.errstate(divide="ignore", invalid="ignore"):  # no noise costs infinity; no numbers cost nothing
        ratio = float(unit_steps) / scales
        share = exposure.cut * (ratio if law is Law.LAPLACE else ratio * ratio / 2)
    share = np.where(exposure.cut == 0, 0.0, share)
    cost = np.bincount(exposure.edge, weights=share[exposure.group], minlength=exposure.num_edges)
    terms = int(np.bincount(exposure.edge, minlength=exposure.num_edges).max())
    worst = int(cost.argmax())
    # Each share carries at most 7 roundings and the sum of k terms at most k more, each of relative size 2**-53.
    return float(cost[worst] * (1 + (terms + 8) * 2.0**-52)), worst
