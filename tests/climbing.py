"""Algorithm 2 with all levels, written as it is proved: an independent twin of the index's answers, for tests only."""

from typing import NamedTuple

import numpy as np
from numba import njit

from hushpath.cells.hierarchy import Lists
from hushpath.kernels.minplus import INFINITE


class Shortcuts(NamedTuple):
    """Noisy numbers by *members*: hubs and boundary of a split cell, all vertices of a leaf, in increasing order.

    ``chosen`` and ``inside`` are the positions of hubs and boundary among the members, ``above`` those of the boundary
    among the parent's members; ``table`` holds hubs times members of split cells, vertices times boundary of leaves.
    """

    parent: np.ndarray
    leaf: np.ndarray
    size: np.ndarray
    chosen_start: np.ndarray
    chosen: np.ndarray
    inside_start: np.ndarray
    inside: np.ndarray
    above_start: np.ndarray
    above: np.ndarray
    table_start: np.ndarray
    table: np.ndarray


def shortcuts(decoder):
    """The numbers of a release, and the whole table of each leaf."""
    hierarchy, block = decoder.hierarchy, decoder.block
    members, chosen, inside, above, tables, leaves = [], [], [], [], [], {}
    for cell in range(hierarchy.num_cells):
        hubs, edge, leaf = hierarchy.hubs[cell], block.boundary[cell], hierarchy.is_leaf[cell]
        members.append(hierarchy.vertices[cell] if leaf else np.union1d(hubs, edge))
        chosen.append(np.searchsorted(members[cell], hubs))
        inside.append(np.searchsorted(members[cell], edge))
        above.append(np.searchsorted(members[hierarchy.parent[cell]], edge) if cell else edge)
        if leaf:
            leaves[cell] = leaf_table(decoder, cell)
            tables.append(leaves[cell][:, inside[cell]].ravel())
            continue
        p, numbers = len(hubs), decoder.groups[cell]
        table = np.empty((p, len(members[cell])), np.int64)
        table[:, chosen[cell]] = from_pairs(p, numbers[: p * (p - 1) // 2])
        rest = np.setdiff1d(inside[cell], chosen[cell])
        table[:, rest] = numbers[p * (p - 1) // 2 :].reshape(p, len(rest))
        tables.append(table.ravel())
    lists = [Lists.of(one) for one in (chosen, inside, above, tables)]
    flat = [np.array(part) for one in lists for part in (one.start, one.items)]
    sizes = np.array([len(one) for one in members])
    return Shortcuts(np.array(hierarchy.parent), hierarchy.is_leaf, sizes, *flat), leaves


def from_pairs(size, numbers):
    table = np.zeros((size, size), np.int64)
    table[np.triu_indices(size, 1)] = numbers
    return table + table.T


def leaf_table(decoder, leaf):
    """All noisy distances of a leaf: from its edges and (covered flavour) public ones, or as they were measured."""
    hierarchy, topology = decoder.hierarchy, decoder.topology
    mine = hierarchy.vertices[leaf]
    tails, heads = (np.minimum(np.searchsorted(mine, x), len(mine) - 1) for x in (topology.tails, topology.heads))
    here = hierarchy.home == leaf
    if hierarchy.hops:
        here = (mine[tails] == topology.tails) & (mine[heads] == topology.heads)
    lengths = np.where(hierarchy.home == leaf, decoder.noisy_edges, decoder.strategy.lattice.high)
    table = np.full((len(mine), len(mine)), INFINITE)
    np.fill_diagonal(table, 0)
    for one, other in ((tails, heads), (heads, tails)):
        np.minimum.at(table, (one[here], other[here]), lengths[here])
    for z in range(len(mine)):
        np.minimum(table, table[:, z : z + 1] + table[z], out=table)
    if not decoder.block.leaf_edges:
        table = np.where(table >= INFINITE, INFINITE, from_pairs(len(mine), decoder.groups[leaf]))
    return table


@njit(nogil=True)
def _climb(cell, row, t, before, after, at):
    """Estimates from one vertex to the members of each cell above it, from its home to the root.

    ``before`` holds, per cell on the way, what the child knew (one shortcut per level below); ``after`` adds one
    shortcut of the cell itself.  ``at`` receives the start of each cell's part, home first.  Returns the number of
    cells.  A leaf home has no shortcut of its own: its part holds the leaf's table row.
    """
    count, end, below, child = 0, 0, 0, cell
    while True:
        at[count] = end
        members = t.size[cell]
        if count == 0:
            if t.leaf[cell]:
                width = t.inside_start[cell + 1] - t.inside_start[cell]
                for i in range(members):
                    before[end + i] = INFINITE
                    after[end + i] = INFINITE
                for i in range(width):
                    at_self = t.inside[t.inside_start[cell] + i]
                    value = t.table[t.table_start[cell] + row * width + i]
                    before[end + at_self] = value
                    after[end + at_self] = value
            else:
                for i in range(members):
                    before[end + i] = INFINITE
                    after[end + i] = t.table[t.table_start[cell] + row * members + i]
                before[end + t.chosen[t.chosen_start[cell] + row]] = 0
        else:
            for i in range(members):
                before[end + i] = INFINITE
            for i in range(t.inside_start[child], t.inside_start[child + 1]):
                before[end + t.above[i]] = after[below + t.inside[i]]
            for i in range(members):
                after[end + i] = before[end + i]
            for k in range(t.chosen_start[cell], t.chosen_start[cell + 1]):
                first = before[end + t.chosen[k]]
                if first < INFINITE:
                    base = t.table_start[cell] + (k - t.chosen_start[cell]) * members
                    for i in range(members):
                        after[end + i] = min(after[end + i], first + t.table[base + i])
        count += 1
        below, child = end, cell
        end += members
        cell = t.parent[cell]
        if cell < 0:
            return count


@njit(nogil=True)
def pair_estimates(sources, targets, home, row, t, room, out):
    """Answer pairs that do not share a leaf home (those also need the leaf itself).

    The pair meets in every cell that holds both homes: min over hubs y of the estimate s -> y with this cell's
    shortcut and the estimate y -> t without it, so a meeting costs one shortcut (Algorithm 2, k = 0).
    """
    before_s, after_s = np.empty(room, np.int64), np.empty(room, np.int64)
    before_t, after_t = np.empty(room, np.int64), np.empty(room, np.int64)
    at_s, at_t = np.empty(len(t.parent) + 1, np.int64), np.empty(len(t.parent) + 1, np.int64)
    path = np.empty(len(t.parent) + 1, np.int64)
    last = -1
    deep_s = 0
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        if s != last:
            deep_s = _climb(home[s], row[s], t, before_s, after_s, at_s)
            last = s
        deep_t = _climb(home[g], row[g], t, before_t, after_t, at_t)
        cell, k = home[s], 0
        while cell >= 0:
            path[k] = cell
            k += 1
            cell = t.parent[cell]
        cell, k = home[g], 0
        best = np.int64(INFINITE)
        while cell >= 0:
            # The cell's place counted from the root is the same on both ways if it is common to them.
            from_root = deep_t - k
            j = deep_s - from_root
            if j >= 0 and path[j] == cell and not t.leaf[cell]:
                a, b = at_s[j], at_t[k]
                for c in range(t.chosen_start[cell], t.chosen_start[cell + 1]):
                    best = min(best, after_s[a + t.chosen[c]] + before_t[b + t.chosen[c]])
            cell = t.parent[cell]
            k += 1
        out[i] = best


@njit(nogil=True)
def row_estimates(sources, home, row, t, room, members_start, own_start, own, out):
    """One-to-all answers but for pairs inside one leaf: push estimates down the whole tree, one shortcut a level.

    ``own`` lists, per cell, the vertices whose home it is, in the order of their rows.
    """
    cells = len(t.parent)
    before, after = np.empty(room, np.int64), np.empty(room, np.int64)
    at = np.empty(cells + 1, np.int64)
    reach = np.empty(members_start[cells], np.int64)
    on_path = np.full(cells, -1, np.int64)
    for i in range(len(sources)):
        s = sources[i]
        _climb(home[s], row[s], t, before, after, at)
        cell, k = home[s], 0
        while cell >= 0:
            on_path[cell] = at[k]
            k += 1
            cell = t.parent[cell]
        for cell in range(cells):
            base, width = members_start[cell], t.inside_start[cell + 1] - t.inside_start[cell]
            first = t.inside_start[cell]
            if t.leaf[cell]:
                up = members_start[t.parent[cell]] if cell > 0 else 0
                for v in range(own_start[cell], own_start[cell + 1]):
                    best = np.int64(INFINITE)
                    begin = t.table_start[cell] + row[own[v]] * width
                    for j in range(width):
                        best = min(best, reach[up + t.above[first + j]] + t.table[begin + j])
                    out[i, own[v]] = best
                continue
            for j in range(t.size[cell]):
                reach[base + j] = INFINITE
            if cell > 0:
                up = members_start[t.parent[cell]]
                for j in range(width):
                    reach[base + t.inside[first + j]] = reach[up + t.above[first + j]]
            mine = on_path[cell]
            for c in range(t.chosen_start[cell], t.chosen_start[cell + 1]):
                h = t.chosen[c]
                best = reach[base + h]
                if mine >= 0:
                    best = min(best, after[mine + h])
                begin = t.table_start[cell] + (c - t.chosen_start[cell]) * t.size[cell]
                if cell > 0:
                    up = members_start[t.parent[cell]]
                    for j in range(width):  # only what came from above may take this cell's shortcut
                        best = min(best, reach[up + t.above[first + j]] + t.table[begin + t.inside[first + j]])
                reach[base + h] = best
            for v in range(own_start[cell], own_start[cell + 1]):
                out[i, own[v]] = reach[base + t.chosen[t.chosen_start[cell] + row[own[v]]]]
        cell = home[s]
        while cell >= 0:
            on_path[cell] = -1
            cell = t.parent[cell]
