"""The integer lattice that private weights are measured on; every number of it is public.

Floating-point noise leaks, so weights are clipped to their public bounds, divided by a public step ``g``
that is a power of two (exact in binary) and rounded down to ``int64``: from then on distances are exact integers.  If
``||w - w'||_1 <= unit`` with at most ``L`` edges changed, the lattice weights differ by

    sum_e |floor(w_e/g) - floor(w'_e/g)|  <=  ceil(unit/g) + 2 L - 1      (docs/proofs/lattice.md)

where one of the two steps per edge pays for the rounding of the owner's real numbers to floats; in L2 norm by at most
``ceil(l2/g + 2 sqrt(L))``, if the owner declares that the unit is at most ``l2`` there.  We promise the whole
ball, so ``L`` is the number of edges, and choose ``g`` so fine that ``L`` steps are at most 1/256 of a unit: that
costs under 0.8 % of noise and no further parameter.  (Where the declared bounds would not fit 64 bits, ``g`` is
coarser, and ``WeightTerms.unit_steps`` says what that costs.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._validate import positive
from ..arrays import Float, Int, frozen
from ..errors import OptionError
from .topology import Topology

# A simple path has fewer than n edges: with n * (largest lattice weight) up to 2**61, distances, and their sums with
# the marker for "not connected" (2**62 - 1), never overflow.
LARGEST_DISTANCE = 2**61
ROUNDING_SHARE = 256
# Beyond these a lattice step or the largest lattice weight would leave the range of a float.
SMALLEST_UNIT, LARGEST_UNIT = 1e-100, 1e100


@dataclass(frozen=True, eq=False)
class Lattice:
    """The lattice of exact arithmetic; every field is public."""

    granularity: float  # length of one lattice step, a power of two
    low: Int  # bounds that the lattice weight of each edge is clipped to
    high: Int
    twins: Int  # the group of each edge: alike in everything public (Topology.twins)

    @classmethod
    def build(
        cls, topology: Topology, *, unit: float, max_weight: float | None = None, step: float | None = None
    ) -> Lattice:
        """Choose the step from public facts only, or take a declared one, and convert the public bounds into steps."""
        granularity = step
        if not SMALLEST_UNIT <= unit <= LARGEST_UNIT:
            raise OptionError(f"`unit` must be between {SMALLEST_UNIT:g} and {LARGEST_UNIT:g}, got {unit:g}")
        max_weight = None if max_weight is None else positive(max_weight, "max_weight")
        m, n = max(topology.num_edges, 1), max(topology.num_nodes, 2)
        upper = topology.upper if max_weight is None else np.minimum(topology.upper, max_weight)
        if (topology.lower > upper).any():
            raise OptionError(f"max_weight {max_weight} is below the declared lower bound of an edge")
        # At most LARGEST_DISTANCE / n, exact as a float, and so small that neighbouring floats are within a step.
        ceiling = min(LARGEST_DISTANCE >> (n - 1).bit_length(), 2**53)
        if granularity is None:
            granularity = 2.0 ** math.floor(math.log2(unit / (ROUNDING_SHARE * m)))
            declared = float(upper[np.isfinite(upper)].max(initial=0.0))
            while declared > ceiling * granularity:
                granularity *= 2
            if granularity * m > unit:
                raise OptionError(
                    f"weights up to {declared:g} with unit {unit:g} need more than 64 bits on {n} nodes; "
                    "declare a smaller max_weight or a larger unit"
                )
        else:
            granularity = positive(granularity, "lattice_step")
            if math.frexp(granularity)[0] != 0.5:
                raise OptionError(f"`lattice_step` must be a power of two, got {granularity:g}")
            if not unit / ceiling <= granularity <= LARGEST_UNIT:
                raise OptionError(f"`lattice_step` {granularity:g} does not fit unit {unit:g} in 64 bits on {n} nodes")
        # Clip before dividing, so that no bound overflows; both roundings go down.
        top = ceiling * granularity
        high = np.floor(np.minimum(upper, top) / granularity).astype(np.int64)
        low = np.minimum(np.floor(np.minimum(topology.lower, top) / granularity).astype(np.int64), high)
        return cls(granularity, frozen(low, np.int64), frozen(high, np.int64), topology.twins)

    @property
    def largest_weight(self) -> float:
        """Weights above this are clipped to it (public; the declared bound, or what 64 bits allow)."""
        return float(self.high.max(initial=0)) * self.granularity

    def to_steps(self, weights: Float) -> Int:
        """Clip weights to the public bounds, round down to lattice steps, and sort the steps of twins.

        Twins are edges that nothing public tells apart: without sorting, the order of rows would.
        """
        # Clip before dividing: a huge weight must not overflow, because a warning would depend on it.
        g = self.granularity
        with np.errstate(all="ignore"):  # nor may a caller's numpy settings turn a tiny weight into an exception
            steps = np.floor(np.clip(weights, self.low * g, self.high * g) / g).astype(np.int64)
        steps = np.clip(steps, self.low, self.high)
        return steps[np.lexsort((steps, self.twins))]

    def floats(self, steps: Int) -> Float:
        """Return lattice numbers in the units of the weights."""
        return np.asarray(steps * self.granularity, np.float64)
