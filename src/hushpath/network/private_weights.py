"""The private half of a network: weights that print nothing.

``PrivateWeights`` is opaque: it has no public field, prints nothing, cannot be iterated,
compared or pickled.  Two methods open it, and a contract test lists which files may call them: ``on_lattice``
(``measure``) and ``reveal`` (``evaluate``, for the data owner, marked NOT PRIVATE).
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Float, Int, frozen
from ..errors import NetworkError
from .lattice import Lattice


class PrivateWeights:
    """One private weight per edge, hidden."""

    __slots__ = ("__values",)

    def __init__(self, values: ArrayLike, *, num_rows: int, keep: Int | None = None) -> None:
        """Take one weight per input row; ``keep`` names the rows that became edges (``Topology.build``)."""
        array = _floats(values)
        if array is not None and array.shape != (num_rows,):
            raise NetworkError(f"one weight per edge is needed: {num_rows} edges, weights {array.shape}")
        if array is None or not np.isfinite(array).all():
            raise NetworkError("a weight is missing or not a finite number; correct the data first")
        self.__values: Float = frozen(array if keep is None else array[keep], np.float64)

    def on_lattice(self, lattice: Lattice) -> Int:
        """Return the weights in lattice steps (`Lattice.to_steps`).  For ``measure`` only."""
        if len(self.__values) != len(lattice.low):
            raise NetworkError(f"{len(self.__values)} weights on a lattice for {len(lattice.low)} edges")
        return lattice.to_steps(self.__values)

    def reveal(self) -> Float:
        """Return the weights.  For ``evaluate`` only: every result is NOT PRIVATE."""
        return self.__values

    def __repr__(self) -> str:
        return "PrivateWeights(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("private weights are not pickled")


def _floats(values: ArrayLike) -> Float | None:
    """Return weights as floats, or None if one is not a number; the exception may quote it, so it is not passed on."""
    try:
        array = np.ma.filled(values, np.nan) if np.ma.is_masked(values) else np.asarray(values)
        with np.errstate(all="ignore"):  # a warning would depend on a weight
            return array.astype(np.float64) if array.dtype.kind in "iufO" else None
    except Exception:
        return None
