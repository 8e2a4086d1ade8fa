"""Paths with a limited number of arcs and shortcuts: the kernels of the hub mechanisms.

All lengths are ``int64`` lattice steps.  A vector ``reach`` holds the length of the best path found to each node,
``UNREACHED`` where there is none.  Values of ``FAR`` and more are never extended, so that no sum overflows: a single
step adds at most ``LARGEST_DISTANCE``, and ``FAR + LARGEST_DISTANCE < 2**63``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Int
from ..compiled import njit

UNREACHED = np.iinfo(np.int64).max
FAR = 2**62


class Lengths(NamedTuple):
    """Arcs with a length each."""

    start: Int
    heads: Int
    length: Int


class LocalHubs(NamedTuple):
    """Hubs of each cluster, and the table of numbers between them; no cluster at all: one start and no hub."""

    start: Int
    hubs: Int
    table_start: Int
    tables: Int


class Walks(NamedTuple):
    """What a walk may use.

    Up to ``crossings`` arcs anywhere; between two of them a stay inside a cluster: at most ``stay`` arcs inside, one
    local shortcut, ``stay`` arcs inside.  As an operator it reads the same forwards and backwards, so answers are
    symmetric.
    """

    everywhere: Lengths
    inside: Lengths
    local: LocalHubs
    crossings: int
    stay: int


class Room(NamedTuple):
    """Buffers of one number per node."""

    nodes: Int
    values: Int
    fresh: Int
    mark: Int
    before: Int


@njit(cache=True, nogil=True)
def extend(arcs, limit, reach, room):
    """Extend every path in ``reach`` by at most ``limit`` of the ``arcs``, in place; return whether any got shorter.

    Bellman and Ford in rounds, with the buffers of ``room``.  A round extends what the *previous* round found, so that
    each counts one arc; only nodes that improved are looked at again.
    """
    nodes, values, fresh, mark = room.nodes, room.values, room.fresh, room.mark
    n = len(arcs.start) - 1
    size, changed = 0, False
    for v in range(n):
        mark[v] = -1
        if reach[v] < FAR:
            nodes[size] = v
            size += 1
    for turn in range(limit):
        if size == 0:
            break
        for i in range(size):
            values[i] = reach[nodes[i]]
        found = 0
        for i in range(size):
            v, base = nodes[i], values[i]
            for arc in range(arcs.start[v], arcs.start[v + 1]):
                u = arcs.heads[arc]
                if base + arcs.length[arc] < reach[u]:
                    reach[u] = base + arcs.length[arc]
                    if mark[u] != turn:
                        mark[u] = turn
                        fresh[found] = u
                        found += 1
        for i in range(found):
            nodes[i] = fresh[i]
        size = found
        changed = changed or found > 0
    return changed


@njit(cache=True, nogil=True)
def shortcut(hubs, table, reach, before):
    """Use at most one measured number: ``reach[y] = min(reach[y], reach[x] + table[x, y])`` over ``hubs`` x, in place.

    ``before`` is a buffer.
    """
    changed = False
    for i in range(len(hubs)):
        before[i] = reach[hubs[i]]
    for i in range(len(hubs)):
        if before[i] < FAR:
            for j in range(len(hubs)):
                if table[i, j] < FAR and before[i] + table[i, j] < reach[hubs[j]]:
                    reach[hubs[j]] = before[i] + table[i, j]
                    changed = True
    return changed


@njit(cache=True, nogil=True)
def _walk(walks, reach, room):
    """Extend all paths in ``reach`` by one walk, in place."""
    local = walks.local
    if len(local.start) == 1:
        extend(walks.everywhere, walks.crossings, reach, room)
        return
    for turn in range(walks.crossings + 1):
        changed = turn > 0 and extend(walks.everywhere, 1, reach, room)
        changed = extend(walks.inside, walks.stay, reach, room) or changed
        for c in range(len(local.start) - 1):
            hubs = local.hubs[local.start[c] : local.start[c + 1]]
            table = local.tables[local.table_start[c] : local.table_start[c + 1]].reshape(len(hubs), len(hubs))
            changed = shortcut(hubs, table, reach, room.before) or changed
        changed = extend(walks.inside, walks.stay, reach, room) or changed
        if turn > 0 and not changed:
            break


@njit(cache=True, nogil=True)
def hub_rows(sources, walks, hubs, table, out):
    """Fill rows of ``out`` with answers from ``sources``: a walk, at most one number between hubs, a walk.

    ``walks`` says what a walk may use, ``table`` has the numbers between ``hubs``.
    """
    n = len(walks.everywhere.start) - 1
    room = Room(
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64),
        np.empty(n, np.int64),
    )  # fmt: skip
    for row in range(len(sources)):
        reach = out[row]
        reach[:] = UNREACHED
        reach[sources[row]] = 0
        _walk(walks, reach, room)
        shortcut(hubs, table, reach, room.before)
        _walk(walks, reach, room)
