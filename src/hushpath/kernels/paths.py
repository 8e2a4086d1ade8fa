"""Shortest distances from single sources on arrays: Dijkstra with an indexed 4-ary heap.

One kernel serves exact ``int64`` lattice weights in the private step and noisy ``float64`` weights when a release is
decoded.  Parallel edges and zero weights need no special case.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int
from ..compiled import njit
from ..network.topology import Arcs

Made = TypeVar("Made")
UNREACHED = np.iinfo(np.int64).max
THREADS = min(8, os.cpu_count() or 1)
WORTH_A_THREAD = 200_000  # arcs to look at: below, a thread takes longer to start than to work


@njit(cache=True, nogil=True)
def dijkstra(start, heads, lengths, sources, target, infinity, out, keys, nodes, place, order=None):
    """Fill ``out[i]`` with the distances from ``sources[i]``; stop early at ``target`` if it is not negative.

    Arcs are those of ``start``, ``heads`` and ``lengths``; ``infinity`` marks nodes without a path.  ``keys``/``nodes``
    are the heap (key and node side by side in memory), ``place`` the position of a node in it
    (-1 never seen).  A settled node needs no mark: no key below its distance can arrive later.  If given, ``order``
    takes the nodes in the order in which the last source reached them; returned is how many these are.
    """
    settled = 0
    for row in range(len(sources)):
        distance = out[row]
        distance[:] = infinity
        place[:] = -1
        distance[sources[row]] = 0
        keys[0], nodes[0], place[sources[row]] = 0, sources[row], 0
        size, settled = 1, 0
        while size > 0:
            key, v = keys[0], nodes[0]
            if v == target:
                break
            if order is not None:
                order[settled] = v
            settled += 1
            size -= 1
            if size > 0:  # sift the last entry down from the root
                k, u, i = keys[size], nodes[size], 0
                while True:
                    child = 4 * i + 1
                    if child >= size:
                        break
                    least = child
                    for c in range(child + 1, min(child + 4, size)):
                        if keys[c] < keys[least]:
                            least = c
                    if keys[least] >= k:
                        break
                    keys[i], nodes[i] = keys[least], nodes[least]
                    place[nodes[i]] = i
                    i = least
                keys[i], nodes[i], place[u] = k, u, i
            for arc in range(start[v], start[v + 1]):
                u = heads[arc]
                k = key + lengths[arc]
                if k < distance[u]:
                    distance[u] = k
                    i = place[u]
                    if i < 0:
                        i = size
                        size += 1
                    while i > 0:  # sift up
                        parent = (i - 1) >> 2
                        if keys[parent] <= k:
                            break
                        keys[i], nodes[i] = keys[parent], nodes[parent]
                        place[nodes[i]] = i
                        i = parent
                    keys[i], nodes[i], place[u] = k, u, i
    return settled


def distances_from(arcs: Arcs, lengths: NDArray[Any], sources: Int, out: NDArray[Any], target: int = -1) -> None:
    """Fill ``out[i]`` with distances from ``sources[i]``; unreached nodes get ``inf`` or ``UNREACHED`` by dtype.

    Args:
        arcs: adjacency of a topology.
        lengths: one non-negative length per *arc*, ``int64`` or ``float64``.
        sources: node positions, one per row of ``out``.
        out: array of ``len(sources)`` rows and one column per node, of the dtype of ``lengths``.
        target: if given, rows may be left incomplete once this node is settled.
    """
    infinity = UNREACHED if lengths.dtype == np.int64 else np.inf
    n = len(arcs.start) - 1

    def run(rows: slice) -> None:
        keys, nodes, place = np.empty(n, lengths.dtype), np.empty(n, np.int64), np.empty(n, np.int64)
        dijkstra(
            arcs.start, arcs.heads, lengths, sources[rows], target, lengths.dtype.type(infinity), out[rows],
            keys, nodes, place,
        )  # fmt: skip

    in_threads(run, len(sources), worth_it=len(sources) * len(arcs.heads) >= WORTH_A_THREAD)


def in_threads(run: Callable[[slice], object], count: int, *, worth_it: bool = True) -> None:
    """Call ``run`` on slices that cover ``range(count)``, a thread each, or at once; the kernels release the GIL."""
    if count == 0:
        return
    parts = min(THREADS, count) if worth_it else 1
    edges = [count * i // parts for i in range(parts + 1)]
    slices = [slice(a, b) for a, b in pairwise(edges)]
    if parts == 1:
        run(slices[0])
        return
    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(run, slices))


def each_in_threads(make: Callable[[Any], Made], items: Iterable[Any], work: int) -> Iterator[Made]:
    """Yield ``make(item)`` for each of ``items``, in order; a thread each if there is enough ``work``."""
    threads = THREADS if work >= WORTH_A_THREAD else 1
    left = iter(items)
    if threads == 1:
        yield from map(make, left)
        return
    with ThreadPoolExecutor(threads) as pool:
        while some := list(islice(left, threads)):
            yield from list(pool.map(make, some))
