"""Array types used everywhere, and the one way to freeze an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


def frozen(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Return a contiguous read-only copy, so that a published structure cannot be changed by accident."""
    out = np.array(values, dtype=dtype, order="C", copy=True)
    out.setflags(write=False)
    return out


def sealed(values: NDArray[Any]) -> NDArray[Any]:
    """Return a contiguous read-only view, or a copy if need be: kernels are compiled once for all such arrays."""
    out = np.ascontiguousarray(values).view()
    out.setflags(write=False)
    return out


def starts(sizes: Int) -> Int:
    """Return where each of several concatenated lists of these sizes begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)])


def concatenated(parts: list[Int]) -> Int:
    """Concatenate arrays; no parts give an empty array."""
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
