"""Slow twins of the kernels, written to be obviously right; tests compare the two."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..topology import Arcs
from .paths import UNREACHED


def distances_from_reference(arcs: Arcs, lengths: NDArray[Any], source: int) -> NDArray[Any]:
    """Distances from one source with Python's heap."""
    infinity = UNREACHED if lengths.dtype == np.int64 else np.inf
    out = np.full(len(arcs.start) - 1, infinity, lengths.dtype)
    heap, done = [(lengths.dtype.type(0).item(), source)], set()
    while heap:
        distance, v = heapq.heappop(heap)
        if v in done:
            continue
        done.add(v)
        out[v] = distance
        for arc in range(arcs.start[v], arcs.start[v + 1]):
            heapq.heappush(heap, (distance + lengths[arc].item(), int(arcs.heads[arc])))
    return out
