"""The terms of a release: everything its owner declares, in one object.  Public from end to end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..data.lattice import Lattice
from ..data.topology import Topology
from ..errors import OptionError
from ..privacy.accounting import Budget

NO_UNIT = (
    "unit is missing: the most that ALL weights together can move (changes added up, in the weights' own measure) when "
    "the data of one protected unit, e.g. all trips of one person, are taken out; see docs/GUARANTEE.md, Choosing unit"
)


@dataclass(frozen=True)
class Terms:
    """What is promised, to whom, and within which public bounds.

    Attributes:
        epsilon, delta: the budget.  ``delta=0`` asks for pure privacy; ``epsilon=inf`` adds no noise: NOT PRIVATE.
        unit: how far one protected unit can move all weights together (L1), in their own measure.
        unit_l2: how far in L2 norm, if that is declared to be less: the root of the sum of squared changes.
        max_weight: a public bound on every weight; larger weights are clipped to it, silently.
        granularity: length of a lattice step, a power of two; chosen from public facts when not given.
        population: about how many protected units there are.  It decides nothing, but a delta that is too large for it
            is told to everybody (``publish.cautions``).
    """

    epsilon: float
    delta: float
    unit: float
    max_weight: float | None = None
    granularity: float | None = None
    population: int | None = None
    unit_l2: float | None = None

    def __post_init__(self) -> None:
        _ = self.budget
        many = self.population
        whole = isinstance(many, (int, np.integer)) and not isinstance(many, bool)
        if many is not None and not (whole and 1 <= many < 2**63):
            raise OptionError(f"population must be a whole number of at least 1, got {str(many)[:40]!r}")
        object.__setattr__(self, "population", None if many is None else int(many))

    @classmethod
    def declared(
        cls, epsilon: float | None, delta: float, unit: float | None, max_weight: float | None = None,
        granularity: float | None = None, population: int | None = None, unit_l2: float | None = None,
        unit_edges: Any = None,
    ) -> Terms:  # fmt: skip
        """From what a caller gave; who is protected and how well has no default."""
        if epsilon is None:
            raise OptionError("epsilon is missing: the privacy budget, e.g. epsilon=1.0; see docs/GUARANTEE.md")
        if unit_edges is not None:
            if unit is not None or unit_l2 is not None:
                raise OptionError("unit_edges says what unit and unit_l2 are: give it alone")
            unit, unit_l2 = norms_of_edges(unit_edges)
        if unit is None:
            raise OptionError(NO_UNIT)
        return cls(epsilon, delta, unit, max_weight, granularity, population, unit_l2)

    @cached_property
    def budget(self) -> Budget:
        """Epsilon and delta, checked."""
        return Budget(self.epsilon, self.delta)

    def lattice(self, topology: Topology) -> Lattice:
        """The lattice on which the weights of a network are measured under these terms."""
        return Lattice.build(
            topology, unit=self.unit, unit_l2=self.unit_l2, max_weight=self.max_weight, granularity=self.granularity
        )

    def bound_every_weight(self, topology: Topology) -> bool:
        """Whether an upper bound is declared for each weight."""
        return self.max_weight is not None or bool(np.isfinite(topology.upper).all())


def norms_of_edges(declared: Any) -> tuple[float, float]:
    """L1 and L2 norm of a unit that moves at most ``k`` weights by at most ``c`` each, rounded up.

    >>> norms_of_edges((4, 0.5))
    (2.0, 1.0)
    """
    try:
        edges, most = declared
    except (TypeError, ValueError):
        edges = most = None
    whole = isinstance(edges, (int, np.integer)) and not isinstance(edges, bool)
    real = isinstance(most, (int, float, np.integer, np.floating)) and not isinstance(most, bool)
    if not (whole and real and 1 <= edges < 2**53 and 0 < most <= 1e80):
        raise OptionError(
            "unit_edges is two numbers, (k, c): one unit moves at most k weights by at most c each; "
            f"got {str(declared)[:40]!r}"
        )
    k, c = int(edges), float(most)
    # A product and a root of floats are off by half a unit in the last place each: go up until they surely are not.
    l1 = c * k if Fraction(c) * k <= Fraction(c * k) else math.nextafter(c * k, math.inf)
    l2 = c * math.sqrt(k)
    while Fraction(l2) ** 2 < Fraction(c) ** 2 * k:
        l2 = math.nextafter(l2, math.inf)
    return l1, min(l1, l2)
