"""The package beside the paper: its hierarchy as the choice of separators, its numbers as shortcuts of ``paper.py``.

All that these tests need to know of the package is here: where a strategy keeps its hierarchy, the order of its numbers
(``measurement/hierarchy.py``), and three conventions of its decoders that are not in the paper.  All three are
post-processing of published numbers:

    numbers      below 0 count as 0, but in a cell with a single hub they stay: one path, sums are linear
    leaf edges   are clipped to their public bounds; measured instead of all pairs of a leaf (``leaves="edges"``), they
                 give the shortcuts of the leaf as distances over noisy edges
    answers      below 0 count as 0
"""

from itertools import combinations

import numpy as np

from hushpath import paper


def binary_tree(strategy, lengths):
    """T with the separators and hubs of the strategy over one length per edge."""
    (block,), topology = strategy.blocks, strategy.topology
    hierarchy, name = block.hierarchy, names(block.hierarchy)
    cuts, hubs = {}, {}
    for cell in np.flatnonzero(~hierarchy.is_leaf).tolist():
        S = set(hierarchy.separators[cell].tolist())
        cuts[name[cell]] = S, *(set(hierarchy.vertices[child].tolist()) - S for child in hierarchy.children[cell])
        hubs[name[cell]] = set(hierarchy.hubs[cell].tolist())
    ends = topology.tails.tolist(), topology.heads.tolist()
    G, longest = (
        paper.graph(zip(*ends, one.tolist(), strict=True), range(topology.num_nodes))
        for one in (lengths, strategy.lattice.high)
    )
    T = paper.binary_tree(G, cuts, longest if hierarchy.hops else None)
    return {b: cell._replace(Z=hubs.get(b, set())) for b, cell in T.items()}


def names(hierarchy):
    """The binary string of each cell."""
    name = {0: ""}
    for cell in range(hierarchy.num_cells):
        if not hierarchy.is_leaf[cell]:
            left, right = hierarchy.children[cell].tolist()
            name[left], name[right] = name[cell] + "0", name[cell] + "1"
    return name


def measured(strategy):
    """What each number of the cells is, in order: (b, x, y); the lengths of leaf edges follow them."""
    (block,) = strategy.blocks
    hierarchy, name = block.hierarchy, names(block.hierarchy)
    found = []
    for cell in range(hierarchy.num_cells):
        if hierarchy.is_leaf[cell]:
            pairs = [] if block.leaf_edges else list(combinations(hierarchy.vertices[cell].tolist(), 2))
        else:
            hubs = hierarchy.hubs[cell].tolist()
            rest = [x for x in block.boundary[cell].tolist() if x not in hubs]
            pairs = [*combinations(hubs, 2), *((x, y) for x in hubs for y in rest)]
        found += [(name[cell], *pair) for pair in pairs]
    return found


def shortcuts(measurements):
    """T and d_hat out of published numbers."""
    strategy, values = measurements.strategy, measurements.values
    (block,), lattice = strategy.blocks, strategy.lattice
    keys, edges = measured(strategy), block.edges
    assert len(values) == len(keys) + len(edges)
    lengths = lattice.high.copy()
    lengths[edges] = np.clip(values[len(keys) :], lattice.low[edges], lattice.high[edges])
    T = binary_tree(strategy, lengths)
    d_hat = {(b, x, x): 0 for b, cell in T.items() for x in (cell.Z if b + "0" in T else cell.G)}
    for (b, x, y), number in zip(keys, values[: len(keys)].tolist(), strict=True):
        d_hat[b, x, y] = d_hat[b, y, x] = number if len(T[b].Z) == 1 else max(number, 0)
    for b, cell in T.items():
        for x in cell.G if b + "0" not in T else ():
            reached = paper.distances(cell.G, x)
            for y in cell.G:
                if block.leaf_edges or y not in reached:  # that a leaf does not connect x and y is public
                    d_hat[b, x, y] = reached.get(y, np.inf)
    return T, d_hat


def answers(measurements, sources, targets):
    """The answers of Algorithm 2 for sources (rows) and targets (columns), in the units of the weights."""
    strategy = measurements.strategy
    T, d_hat = shortcuts(measurements)
    ask = paper.recursion(T, d_hat, repaired=not strategy.blocks[0].adjacent)
    rows, columns = (np.asarray(some, int).tolist() for some in (sources, targets))
    steps = [[0 if s == t else max(ask("", s, t, 0), 0) for t in columns] for s in rows]
    return np.array(steps, float).reshape(len(rows), len(columns)) * strategy.lattice.granularity
