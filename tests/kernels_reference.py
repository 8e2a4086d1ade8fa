"""Slow twins of the kernels, written to be obviously right; tests compare the two."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushpath.kernels.layout import Flat, Tables
from hushpath.kernels.paths import UNREACHED
from hushpath.kernels.search import FREE
from hushpath.network.topology import Arcs


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


def breadth_first_reference(
    start: NDArray[Any], heads: NDArray[Any], hops: NDArray[Any], sources: list[int], radius: int, most: int
) -> list[tuple[int, int, int, int]]:
    """What ``search.breadth_first`` finds, in order: node, hops, parent, arc; a node that is not free stays outside."""
    found = [(v, int(hops[v]), -1, -1) for v in sources]
    for v, away, _, _ in found:  # grows while it is read
        if away < radius and len(found) < most:
            for arc in range(start[v], start[v + 1]):
                u = int(heads[arc])
                if hops[u] == FREE and u not in [x for x, *_ in found]:
                    found.append((u, away + 1, v, arc))
    return found


def panel_reference(
    table: NDArray[Any], starts: NDArray[Any], rows: int, width: int, x: NDArray[Any], y: NDArray[Any]
) -> NDArray[Any]:
    """What ``minplus.panel`` leaves in ``y``, for panels of any number of lanes."""
    out = y.copy()
    for i in range(rows):
        for j in range(width):
            out[i] = np.minimum(out[i], table[starts[i] + j] + x[j])
    return out


def closed_reference(table: NDArray[Any], pivots: int) -> NDArray[Any]:
    """What ``minplus.closed`` leaves in ``table``."""
    out = table.copy()
    for z in range(pivots):
        for i in range(len(out)):
            for j in range(len(out)):
                out[i, j] = min(out[i, j], out[i, z] + out[z, j])
    return out


def preorder_reference(parent: NDArray[Any]) -> tuple[list[int], list[int]]:
    """Position and end of the subtree of each cell, by walking down."""
    at, end, count = [0] * len(parent), [0] * len(parent), 0

    def walk(cell: int) -> None:
        nonlocal count
        at[cell] = count
        count += 1
        for child in np.flatnonzero(parent == cell).tolist():
            walk(child)
        end[cell] = count

    walk(0)
    return at, end


def slots_reference(
    parent: NDArray[Any], hub_start: NDArray[Any], hubs: NDArray[Any], bound_start: NDArray[Any], bound: NDArray[Any]
) -> list[int]:
    """Slot of every boundary vertex: its last place among the hubs of the cells above."""
    out = []
    for cell in range(len(parent)):
        for vertex in bound[bound_start[cell] : bound_start[cell + 1]].tolist():
            above = int(parent[cell])
            while vertex not in hubs[hub_start[above] : hub_start[above + 1]]:
                above = int(parent[above])
            out.append(int(hub_start[above]) + hubs[hub_start[above] : hub_start[above + 1]].tolist().index(vertex))
    return out


def climb_reference(v: int, t: Flat, side: NDArray[Any], square: NDArray[Any]) -> tuple[Any, Any]:
    """Both labels of a vertex from dictionaries of what it knows of hubs, by vertex, cell by cell."""
    cell, first = int(t.home[v]), True
    end = int(t.col[cell] + t.hub_start[cell + 1] - t.hub_start[cell])
    before, after = np.full(end, np.inf), np.full(end, np.inf)
    known: dict[int, float] = {}
    while cell >= 0:
        mine = t.hubs[t.hub_start[cell] : t.hub_start[cell + 1]].tolist()
        edge = t.hubs[t.slot[t.bound_start[cell] : t.bound_start[cell + 1]]].tolist()
        rows = int(t.rows[cell])
        sides = side[t.side_start[cell] : t.side_start[cell + 1]].reshape(rows, len(edge))
        if first and t.leaf[cell]:
            known = dict(zip(edge, sides[t.row[v]].tolist(), strict=True))
        else:
            squares = square[t.square_start[cell] : t.square_start[cell + 1]].reshape(rows, rows)
            if first:
                known = {v: 0.0}
            passed = {x: known[x] for x in edge if x in known}
            for i, hub in enumerate(mine):
                so_far = known.get(hub, np.inf)
                before[t.col[cell] + i] = so_far
                for j in range(len(mine)):
                    after[t.col[cell] + j] = min(after[t.col[cell] + j], so_far + squares[i, j])
                for j, x in enumerate(edge):
                    passed[x] = min(passed.get(x, np.inf), so_far + sides[i, j])
            known = passed
        cell, first = int(t.parent[cell]), False
    return before, after


def pair_reference(s: int, g: int, t: Flat, tables: Tables) -> float:
    """One answer: the best hub of the cells that hold both homes, or inside a common leaf."""
    if s == g:
        return 0.0
    above: list[set[int]] = [set(), set()]
    for v, cells in zip((s, g), above, strict=True):
        cell = int(t.home[v])
        while cell >= 0:
            cells.add(cell)
            cell = int(t.parent[cell])
    _, after = climb_reference(s, t, tables.side_out, tables.square_out)
    before, _ = climb_reference(g, t, tables.side_in, tables.square_in)
    best = np.inf
    for cell in above[0] & above[1]:
        for k in range(t.col[cell], t.col[cell] + t.hub_start[cell + 1] - t.hub_start[cell]):
            best = min(best, after[k] + before[k])
    b = int(t.home[s])
    if b == t.home[g] and t.leaf[b] and t.inner_start[b + 1] > t.inner_start[b]:
        p = t.own_start[b + 1] - t.own_start[b]
        best = min(best, tables.inner[t.inner_start[b] + t.row[s] * p + t.row[g]])
    return float(best)


def group_paths(parent: NDArray[Any], edges: int) -> NDArray[Any]:
    """One row per edge, one column per group: 1 for the groups that hold the edge."""
    out = np.zeros((edges, len(parent)))
    for edge in range(edges):
        group = edge
        while group >= 0:
            out[edge, group] = 1
            group = int(parent[group])
    return out


def gaussian_given(
    covariance: NDArray[Any], paths: NDArray[Any], precision: NDArray[Any], values: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and covariance of numbers with this prior, given ``paths @ numbers`` seen with noise of this precision."""
    told = paths.T * precision
    gain = np.linalg.inv(np.eye(len(covariance)) + covariance @ told @ paths)
    return gain @ covariance @ told @ values, gain @ covariance
