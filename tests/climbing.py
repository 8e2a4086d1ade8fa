"""Algorithm 2 with all levels, written as it is proved: an independent twin of the engine's answers, for tests only."""

import numpy as np
from numba import njit

from hushpath.kernels.hierarchy import INFINITE


@njit(nogil=True)
def _climb(cell, row, t, before, after, at):
    """Estimates from one vertex to the members of each cell above it, from its home to the root.

    ``before`` holds, per cell on the way, what the child knew (one shortcut per level below); ``after`` adds one
    shortcut of the cell itself.  ``at`` receives the start of each cell's part, home first.  Returns the number of
    cells.  A leaf home has no shortcut of its own: its part holds the leaf's table row.
    """
    (parent, leaf, size, chosen_start, chosen, inside_start, inside, above_start, above, table_start, table) = t
    count, end, below, child = 0, 0, 0, cell
    while True:
        at[count] = end
        members = size[cell]
        if count == 0:
            if leaf[cell]:
                width = inside_start[cell + 1] - inside_start[cell]
                for i in range(members):
                    before[end + i] = INFINITE
                    after[end + i] = INFINITE
                for i in range(width):
                    at_self = inside[inside_start[cell] + i]
                    value = table[table_start[cell] + row * width + i]
                    before[end + at_self] = value
                    after[end + at_self] = value
            else:
                for i in range(members):
                    before[end + i] = INFINITE
                    after[end + i] = table[table_start[cell] + row * members + i]
                before[end + chosen[chosen_start[cell] + row]] = 0
        else:
            for i in range(members):
                before[end + i] = INFINITE
            for i in range(inside_start[child], inside_start[child + 1]):
                before[end + above[i]] = after[below + inside[i]]
            for i in range(members):
                after[end + i] = before[end + i]
            for k in range(chosen_start[cell], chosen_start[cell + 1]):
                first = before[end + chosen[k]]
                if first < INFINITE:
                    base = table_start[cell] + (k - chosen_start[cell]) * members
                    for i in range(members):
                        after[end + i] = min(after[end + i], first + table[base + i])
        count += 1
        below, child = end, cell
        end += members
        cell = parent[cell]
        if cell < 0:
            return count


@njit(nogil=True)
def pair_estimates(sources, targets, home, row, t, room, out):
    """Answer pairs that do not share a leaf home (those also need the leaf itself).

    The pair meets in every cell that holds both homes: min over hubs y of the estimate s -> y with this cell's
    shortcut and the estimate y -> t without it, so a meeting costs one shortcut (Algorithm 2, k = 0).
    """
    (parent, leaf, size, chosen_start, chosen, inside_start, inside, above_start, above, table_start, table) = t
    before_s, after_s = np.empty(room, np.int64), np.empty(room, np.int64)
    before_t, after_t = np.empty(room, np.int64), np.empty(room, np.int64)
    at_s, at_t = np.empty(len(parent) + 1, np.int64), np.empty(len(parent) + 1, np.int64)
    path = np.empty(len(parent) + 1, np.int64)
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
            cell = parent[cell]
        cell, k = home[g], 0
        best = np.int64(INFINITE)
        while cell >= 0:
            # The cell's place counted from the root is the same on both ways if it is common to them.
            from_root = deep_t - k
            j = deep_s - from_root
            if j >= 0 and path[j] == cell and not leaf[cell]:
                a, b = at_s[j], at_t[k]
                for c in range(chosen_start[cell], chosen_start[cell + 1]):
                    best = min(best, after_s[a + chosen[c]] + before_t[b + chosen[c]])
            cell = parent[cell]
            k += 1
        out[i] = best


@njit(nogil=True)
def row_estimates(sources, home, row, t, room, members_start, own_start, own, out):
    """One-to-all answers but for pairs inside one leaf: push estimates down the whole tree, one shortcut a level.

    ``own`` lists, per cell, the vertices whose home it is, in the order of their rows.
    """
    (parent, leaf, size, chosen_start, chosen, inside_start, inside, above_start, above, table_start, table) = t
    cells = len(parent)
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
            cell = parent[cell]
        for cell in range(cells):
            base, width = members_start[cell], inside_start[cell + 1] - inside_start[cell]
            first = inside_start[cell]
            if leaf[cell]:
                up = members_start[parent[cell]] if cell > 0 else 0
                for v in range(own_start[cell], own_start[cell + 1]):
                    best = np.int64(INFINITE)
                    begin = table_start[cell] + row[own[v]] * width
                    for j in range(width):
                        best = min(best, reach[up + above[first + j]] + table[begin + j])
                    out[i, own[v]] = best
                continue
            for j in range(size[cell]):
                reach[base + j] = INFINITE
            if cell > 0:
                up = members_start[parent[cell]]
                for j in range(width):
                    reach[base + inside[first + j]] = reach[up + above[first + j]]
            mine = on_path[cell]
            for c in range(chosen_start[cell], chosen_start[cell + 1]):
                h = chosen[c]
                best = reach[base + h]
                if mine >= 0:
                    best = min(best, after[mine + h])
                begin = table_start[cell] + (c - chosen_start[cell]) * size[cell]
                if cell > 0:
                    up = members_start[parent[cell]]
                    for j in range(width):  # only what came from above may take this cell's shortcut
                        best = min(best, reach[up + above[first + j]] + table[begin + inside[first + j]])
                reach[base + h] = best
            for v in range(own_start[cell], own_start[cell + 1]):
                out[i, own[v]] = reach[base + chosen[chosen_start[cell] + row[own[v]]]]
        cell = home[s]
        while cell >= 0:
            on_path[cell] = -1
            cell = parent[cell]
