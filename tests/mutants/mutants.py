"""Edits that would break privacy, one a line of thought: what, where, and which test should notice first.

``run.py`` applies each to a copy of the package and wants a behavioural test to fail.  Stamps do not count: they say
that something changed, not that it is wrong.  ``test_mutants.py`` keeps the table in step with the sources.

Left out because they are harmless, however wrong they look: ``k = (p + q) // 2`` in ``hub_cut`` and ``-log(delta)`` in
``zcdp_epsilon`` (both overstate the cost); one of the two clips in ``on_lattice`` (either alone clips); other *public*
lengths for public edges; another choice between parallel edges (public, and still moved by at most a step a step);
``floor(unit / granularity)`` in ``unit_steps`` (an edge that moves by ``r`` steps crosses at most ``floor(r) + 1``
lines, and there is one step for every edge); whatever ``calibrate`` returns (``build_strategy`` and ``measure`` certify
it again, and raise); the other end of a bracket of Mills' ratio (far inside the slack); Newton's method in
``gaussian`` (what it finds is evaluated).
"""

from __future__ import annotations

from typing import NamedTuple

CUT, CERTIFICATE, ACCOUNTING = (f"tests/unit/test_{name}.py" for name in ("sensitivity", "certificate", "accounting"))
TRADE_OFF = "tests/unit/test_gaussian.py"
WEIGHTS, MEASURE, DOOR = (f"tests/unit/test_{name}.py" for name in ("weights", "measure", "noise_door"))
EXACT, KEYSTREAM, LAWS = (f"tests/unit/test_noise_{name}.py" for name in ("exact", "keystream", "laws"))
OPTIMISED, SAMPLES = "tests/contract/test_optimised.py", "tests/statistical/test_noise_samples.py"
REPLAY, AUDIT = "tests/properties/test_neighbour_replay.py", "tests/audit"
HOSTILE, INDEX = "tests/unit/test_hostile_files.py", "tests/unit/test_engine_storage.py"
ROWS = "tests/properties/test_row_order.py"
PUBLIC = "tests/properties/test_nothing_public_depends_on_weights.py"
PROXIES = "tests/unit/test_proxy.py"
PLANS = "tests/unit/test_plan_predicted.py"
OTHER_PLANS = [f"tests/unit/test_plan_{name}.py" for name in ("told", "solved", "refused", "slow_estimators")]
# The behavioural privacy tests, cheap ones first; never the stamps.
EVERYTHING = [
    CUT, LAWS, KEYSTREAM, CERTIFICATE, MEASURE, WEIGHTS, DOOR, EXACT, OPTIMISED, PUBLIC, PROXIES, PLANS, *OTHER_PLANS,
    ACCOUNTING, TRADE_OFF, INDEX,
    HOSTILE, ROWS, REPLAY, SAMPLES, AUDIT,
]  # fmt: skip


def replay_of(mechanism: str) -> str:
    """The replay of one mechanism."""
    return f"{REPLAY}::test_no_neighbour_costs_more_than_the_certificate[{mechanism}]"


class Mutant(NamedTuple):
    """One edit: ``old`` stands exactly once in ``file``; ``hint`` is the test to run first."""

    file: str
    old: str
    new: str
    why: str
    hint: str


HIERARCHY, EDGES, PAIRS, ANCHORS, LINES = (
    f"blocks/{name}.py" for name in ("hierarchy", "edges", "pairs", "anchors", "lines")
)
PROOF, SPENDING, BOUND = (f"privacy/{name}.py" for name in ("certificate", "accounting", "sensitivity"))
TRADE = "privacy/gaussian.py"
CELLS, NUMBERS, GRAPHS, TABLES = "measure/cells.py", "measure/numbers.py", "cells/tables.py", "kernels/tables.py"
LATTICE, HIDDEN, TOPOLOGY, PROXY = (f"data/{name}.py" for name in ("lattice", "weights", "topology", "proxy"))
CORE, STEP, BUILD = "strategy/core.py", "measure/door.py", "decompose/build.py"
WORDS, SHAPES, VECTOR = "noise/keystream.py", "noise/exact.py", "noise/vector.py"
OPENDP, LAW, AXIOMS = "noise/opendp_sampler.py", "noise/laws.py", "kernels/axioms.py"
FILE, STORAGE, CONTAINER = "publish/file.py", "cells/storage.py", "files/container.py"

MUTANTS = [
    # --- the cut lemma
    Mutant(BOUND, "k * (p + q - k))", "k * (p + q - k) // 2)", "half of the pairs that an edge can move", CUT),
    Mutant(BOUND, "np.minimum(p, (p + q) // 2)", "p", "pairs of hubs do not count", CUT),
    Mutant(BOUND, "np.minimum(p, (p + q) // 2)", "np.minimum(p, (p + q) // 3)", "not the largest cut", CUT),
    Mutant(BOUND, "k * (p + q - k))", "k * (p - k))", "the boundary does not count", CUT),
    Mutant(BOUND, "    if directed:", "    if False:", "directed networks counted as undirected", CUT),
    Mutant(BOUND, "p * (p - 1) + 2", "p * (p - 1) // 2 + 2", "ordered pairs counted once", CUT),
    Mutant(BOUND, "2 * p * q", "p * q", "one of the two directions to the boundary", CUT),
    Mutant(BOUND, "if (p < 0).any() or (q < 0).any():", "if False:", "negative shapes lower the cost", CUT),
    # --- exposure of blocks
    Mutant(EDGES, "np.ones(len(ids), np.int64), ids, ids)", "np.ones(len(ids), np.int64), ids[1:], ids[1:])",
           "one edge's own number is not counted", replay_of("input")),
    Mutant(PAIRS, "np.flatnonzero(group_of_edge >= 0)", "np.flatnonzero(group_of_edge > 0)",
           "edges of the first part are in no group", replay_of("hubs")),
    Mutant(PAIRS, "group_of_part[part[group[0]]] = g", "group_of_part[part[group[0]]] = 0",
           "all parts exposed to the first group", replay_of("hubs")),
    Mutant(PAIRS, "directed=topology.directed)\n        group_of_part", "directed=False)\n        group_of_part",
           "a directed clique counted as undirected", replay_of("all-pairs")),
    Mutant(PAIRS, "cut = hub_cut([len(group) for group in self.groups]",
           "cut = hub_cut([(len(group) + 1) // 2 for group in self.groups]",
           "half of the hubs counted", replay_of("hubs")),
    Mutant(PAIRS, "cut = hub_cut([len(group) for group in self.groups]",
           "cut = hub_cut([min(len(group), 2) for group in self.groups]",
           "at most two local hubs counted", replay_of("hubs-bounded")),
    Mutant(PAIRS, "np.where(inside, group_of_part[part[topology.tails]], -1)",
           "np.where(inside & (topology.tails > topology.tails.min()), group_of_part[part[topology.tails]], -1)",
           "edges of the first node are in no group", replay_of("hubs-bounded")),
    Mutant(PAIRS, "keep = np.flatnonzero(self.part[tails] == self.part[arcs.heads])",
           "keep = np.arange(len(tails))", "paths inside a cluster leave it", replay_of("hubs-bounded")),
    # --- exposure of cells
    Mutant(HIERARCHY, "edge[cell >= 0], cell[cell >= 0]", "edge[cell > 0], cell[cell > 0]", "no edge is in the root",
           replay_of("separator")),
    Mutant(HIERARCHY, "while len(edge):", "if len(edge):", "an edge is in its home only", replay_of("separator")),
    Mutant(HIERARCHY, "np.arange(topology.num_edges), hierarchy.home",
           "np.arange(topology.num_edges), np.maximum(hierarchy.parent[hierarchy.home], 0)",
           "an edge is not in its home", replay_of("separator")),
    Mutant(HIERARCHY, "np.arange(topology.num_edges), hierarchy.home",
           "np.flatnonzero(hierarchy.is_leaf[hierarchy.home]), hierarchy.home[hierarchy.is_leaf[hierarchy.home]]",
           "edges inside separators are in no group", replay_of("separator")),
    Mutant(HIERARCHY, "            cell = hierarchy.parent[cell]\n",
           "            cell = np.where(hierarchy.parent[cell] < 0, -1, hierarchy.parent[hierarchy.parent[cell]])\n",
           "every second ancestor is left out", replay_of("separator")),
    Mutant(HIERARCHY, "[self.edges], [hierarchy.num_cells + np.arange(len(self.edges))]",
           "[self.edges[:0]], [self.edges[:0]]", "leaf edges' own numbers are not counted",
           replay_of("treewidth")),
    Mutant(HIERARCHY, "[hierarchy.num_cells + np.arange(len(self.edges))]",
           "[np.arange(len(self.edges))]",
           "leaf edges counted in the groups of cells", replay_of("treewidth")),
    Mutant(HIERARCHY, "hub_cut(p, q, directed=False)", "hub_cut(p, directed=False) + (p * q > 0)",
           "the boundary of a cell does not count", replay_of("separator")),
    Mutant(HIERARCHY, "hub_cut(p, q, directed=False)", "hub_cut(np.minimum(p, 3), q, directed=False)",
           "at most three hubs count", replay_of("separator")),
    Mutant(HIERARCHY, "hub_cut(p, q, directed=False)", "hub_cut(p, np.minimum(q, 2), directed=False)",
           "at most two boundary vertices count", replay_of("separator")),
    Mutant(HIERARCHY, "hub_cut(p, q, directed=False)", "hub_cut(np.where(hierarchy.is_leaf, 0, p), q, directed=False)",
           "leaves cost nothing", replay_of("separator")),
    Mutant(HIERARCHY, "if topology.directed:\n            raise OptionError",
           "if False:\n            raise OptionError", "cells of a directed network", MEASURE),
    # --- exposure of anchors
    Mutant(ANCHORS, "np.int64), edge, number)", "np.int64), edge[1:], number[1:])", "a path loses an edge",
           replay_of("tree")),
    Mutant("kernels/forests.py", "while v != top[i]:", "while v != top[i] and parent[v] != top[i]:",
           "a path loses its last edge", replay_of("tree")),
    Mutant(ANCHORS, "        return Exposure(self.topology.num_edges, np.ones(len(nodes)",
           "        number[:] = 0\n        return Exposure(self.topology.num_edges, np.ones(len(nodes)",
           "all paths are one number", replay_of("tree")),
    # --- exposure of lines
    Mutant(LINES, "np.concatenate([edge, self.edges])", "np.concatenate([edge[:1].repeat(len(edge)), self.edges])",
           "only the first edge of a line is in its sums", replay_of("lines")),
    Mutant(LINES, "[np.repeat(np.arange(sums), length), sums", "[np.repeat(np.arange(sums) * 0, length), sums",
           "all sums are exposed as one group", replay_of("lines")),
    Mutant(LINES, "[np.repeat(np.arange(sums), length), sums", "[sums + edge, sums",
           "an edge is exposed to its own number again instead of its sums", replay_of("lines")),
    Mutant(LINES, "length) + inside]\n        return Exposure(", "length) + inside // 2]\n        return Exposure(",
           "half of the edges of a line are in no sum", replay_of("lines")),
    Mutant("kernels/laminar.py", "last[count] = at, min(", "last[count] = max(a, at - 1), min(",
           "runs overlap by an edge", replay_of("lines")),
    Mutant(LINES, "if topology.directed or not np.array_equal(np.sort(order), np.arange(m)):", "if topology.directed:",
           "an edge may be in two lines", HOSTILE),
    # --- who owns an edge
    Mutant(AXIOMS, "if leaf or (s == SEPARATOR and t == SEPARATOR):", "if leaf or s == SEPARATOR or t == SEPARATOR:",
           "edges that touch a separator stay above", replay_of("separator")),
    Mutant(AXIOMS, "                home[e] = b\n", "                home[e] = b if leaf else 0\n",
           "edges inside separators belong to the root", replay_of("separator")),
    Mutant(AXIOMS, "if not (inside[tails[e]] >> side) & (inside[heads[e]] >> side) & 1:", "if False:",
           "edges across a separator, or whose ends are elsewhere", HOSTILE),
    Mutant(AXIOMS, "                    if state[v] == LEFT and side == 1:", "                    if False:",
           "children that share a vertex", HOSTILE),
    Mutant(AXIOMS, "    return 0 if last == len(separator) else TOO_FAR", "    return 0", "covers that do not cover",
           HOSTILE),
    # --- joining and certifying
    Mutant(PROOF, "part.group + at for part, at", "part.group for part, at", "groups of two blocks fall together",
           CERTIFICATE),
    Mutant(PROOF, "int(cost.argmax())", "int(cost.argmin())", "the best edge instead of the worst", CERTIFICATE),
    Mutant(PROOF, "float(cost[worst] *", "float(cost.mean() *", "the mean edge instead of the worst", CERTIFICATE),
    Mutant(PROOF, "(1 + (terms + 8) * 2.0**-52)", "(1 - (terms + 8) * 2.0**-52)", "rounded down", CERTIFICATE),
    Mutant(PROOF, " * (1 + (terms + 8) * 2.0**-52)", "", "not rounded up", CERTIFICATE),
    Mutant(PROOF, "ratio * ratio / 2)", "ratio * ratio / 4)", "half of rho", CERTIFICATE),
    Mutant(PROOF, "ratio * ratio / 2)", "ratio / 2)", "rho without the square", CERTIFICATE),
    Mutant(PROOF, "share = exposure.cut * (ratio", "share = np.sqrt(exposure.cut) * (ratio", "L2 where L1 belongs",
           CERTIFICATE),
    Mutant(PROOF, "ratio = float(unit_steps) / scales", "ratio = float(unit_steps) / (scales + 1)",
           "noise one step wider than drawn", CERTIFICATE),
    Mutant(PROOF, "np.where(exposure.cut == 0, 0.0, share)", "np.where(exposure.cut <= 1, 0.0, share)",
           "groups of one number are free", CERTIFICATE),
    Mutant(PROOF, "if not epsilon <= budget.epsilon:", "if not epsilon <= 1.01 * budget.epsilon:",
           "a hundredth too much",
           CERTIFICATE),
    Mutant(PROOF, "min(zcdp_epsilon(cost, budget.delta), gaussian_epsilon(mu, budget.delta))", "cost",
           "rho taken for epsilon", CERTIFICATE),
    Mutant(PROOF, "min(zcdp_epsilon(cost, budget.delta),", "min(zcdp_epsilon(cost / 2, budget.delta),",
           "half of rho converted", CERTIFICATE),
    Mutant(PROOF, "_worst_cost(exposure, continuous_scales(scales), law", "_worst_cost(exposure, scales * 1.0, law",
           "discrete noise taken for continuous noise", CERTIFICATE),
    Mutant(PROOF, "math.sqrt(2 * inside)", "math.sqrt(inside)", "mu without its factor", CERTIFICATE),
    Mutant(PROOF, "if inside else 0.0", "if inside < 1 else 0.0", "many deviations are none", CERTIFICATE),
    Mutant(PROOF, "delta = 0.0 if law is Law.LAPLACE or math.isinf(cost) else budget.delta", "delta = 0.0",
           "Gaussian noise called pure", CERTIFICATE),
    Mutant(PROOF, "if ((scales == 0) & (exposure.cut > 0)).any():", "if False:", "numbers without noise", CERTIFICATE),
    Mutant(PROOF, "checked_scales(scales)\n", "np.asarray(scales)\n", "negative scales earn budget", CERTIFICATE),
    Mutant(PROOF, "if scales.shape != exposure.cut.shape:", "if False:", "one scale for all groups", CERTIFICATE),
    Mutant(PROOF, " or not 1 <= unit_steps < 2**63:", " or unit_steps < -9:", "a unit of nothing", CERTIFICATE),
    Mutant(PROOF, "if self.cut.min(initial=0) < 0:", "if False:", "negative cuts earn budget", CERTIFICATE),
    Mutant(PROOF, "if ids.min(initial=0) < 0 or ids.max(initial=-1) >= count:", "if False:",
           "edges and groups that are not there", CERTIFICATE),
    Mutant(CORE, "if cut.shape != sizes.shape or ((cut == 0) & (sizes > 0)).any():", "if False:",
           "numbers that no cut counts", CERTIFICATE),
    Mutant(CORE, "if any(block.topology is not self.topology for block in self.blocks):", "if False:",
           "a block that counts another network's edges", CERTIFICATE),
    Mutant(CORE, "self.lattice.unit_steps, self.budget)", "1, self.budget)", "a step for a unit", CERTIFICATE),
    Mutant(CORE, "joined([block.exposure for block in self.blocks])",
           "joined([block.exposure for block in self.blocks[::-1]])",
           "scales and groups in other orders",
           replay_of("hubs")),
    # --- accounting
    Mutant(SPENDING, "-math.log(alpha * delta) / (alpha - 1)", "math.log(alpha * delta) / (alpha - 1)", "a sign",
           ACCOUNTING),
    Mutant(SPENDING, "-math.log(alpha * delta) / (alpha - 1)", "-math.log(alpha * delta) / alpha",
           "alpha for alpha - 1",
           ACCOUNTING),
    Mutant(SPENDING, "            alpha * rho,", "            rho,", "the divergence of order one", ACCOUNTING),
    Mutant(SPENDING, "math.log1p(-1 / alpha),", "2 * math.log1p(-1 / alpha),",
           "the correction taken twice", ACCOUNTING),
    Mutant(SPENDING, "sum(terms) + _SLACK", "sum(terms) - _SLACK", "epsilon rounded down", ACCOUNTING),
    Mutant(SPENDING, "    return low\n", "    return high\n", "rho rounded up", ACCOUNTING),
    Mutant(SPENDING, "        return math.inf\n", "        return 0.0\n",
           "delta 0 makes Gaussian noise free", ACCOUNTING),
    Mutant(SPENDING, "if not self.epsilon > 0:", "if self.epsilon < 0:", "a budget that is not a number", ACCOUNTING),
    Mutant(TRADE, "np.maximum(wide * wide - SPLIT, 0.0)", "wide * wide", "no variance for noise on whole numbers",
           TRADE_OFF),
    Mutant(TRADE, "SPLIT = 5.0", "SPLIT = 0.05", "too little variance for noise on whole numbers", TRADE_OFF),
    Mutant(TRADE, "SPLIT = 5.0", "SPLIT = 3.0", "rounding whose factors are not covered", TRADE_OFF),
    Mutant(TRADE, "np.maximum(wide * wide - SPLIT, 0.0)", "np.maximum(wide * wide - SPLIT, 0.01)",
           "continuous noise where there is none", TRADE_OFF),
    Mutant(TRADE, "a = epsilon / mu - mu / 2", "a = epsilon / mu + mu / 2", "a sign", TRADE_OFF),
    Mutant(TRADE, "a = epsilon / mu - mu / 2", "a = epsilon / mu", "the loss has mean 0", TRADE_OFF),
    Mutant(TRADE, "epsilon = epsilon - _SLACK", "epsilon = +epsilon", "epsilon without slack", TRADE_OFF),
    Mutant(TRADE, "(near - far) * (1 + _SLACK)", "(near - far)", "delta without slack", TRADE_OFF),
    Mutant(TRADE, '_SLACK = Decimal("1e-20")', '_SLACK = Decimal("1e-24")', "a slack too small for so many numbers",
           TRADE_OFF),
    Mutant(TRADE, "_mills(a + mu)[0]", "_mills(a + mu / 2)[0]", "half of the distance", TRADE_OFF),
    Mutant(TRADE, "(-a * a / 2).exp() / (2 * _PI).sqrt()", "(-a * a).exp() / (2 * _PI).sqrt()", "another density",
           TRADE_OFF),
    Mutant(TRADE, "if a > 40:", "if a > 4:", "four deviations are enough", TRADE_OFF),
    Mutant(TRADE, "return Decimal(1), Decimal(1), Decimal(1)", "return Decimal(0), Decimal(1), Decimal(1)",
           "neighbours far apart are alike", TRADE_OFF),
    Mutant(TRADE, "range(_FRACTIONS, 0, -1)", "range(_FRACTIONS, 1, -1)", "the next ratio", TRADE_OFF),
    Mutant(TRADE, "    prec=80, rounding", "    prec=28, rounding",
           "two numbers that agree in as many digits as are counted", TRADE_OFF),
    Mutant(TRADE, "    while gaussian_delta(epsilon, mu) > allowed:", "    while False:", "epsilon rounded to nearest",
           TRADE_OFF),
    Mutant(TRADE, "    while mu >= SMALLEST_MU and gaussian_delta(epsilon, mu) > allowed:", "    while False:",
           "mu rounded to nearest", TRADE_OFF),
    Mutant(TRADE, "        return math.inf\n", "        return 0.0\n", "what cannot be computed is free", TRADE_OFF),
    # --- the lattice
    Mutant(LATTICE, "math.ceil(self.unit / self.granularity) + 2 * max(len(self.low), 1) - 1",
           "math.ceil(self.unit / self.granularity)", "rounding is free",
           WEIGHTS),
    Mutant(LATTICE, "+ 2 * max(len(self.low), 1) - 1", "+ max(len(self.low), 1) - 1",
           "the owner's numbers are taken for floats", WEIGHTS),
    Mutant(HIDDEN, "lattice.high * g) / g).astype(np.int64)", "lattice.high * g) / g * 2).astype(np.int64)",
           "steps of half the granularity", WEIGHTS),
    Mutant(HIDDEN, "steps = np.floor(np.clip(", "steps = np.rint(np.clip(", "half steps jump two at once", WEIGHTS),
    Mutant(HIDDEN, "steps = np.floor(np.clip(self.__values, lattice.low * g, lattice.high * g) / g).astype(np.int64)\n"
           "        steps = np.clip(steps, lattice.low, lattice.high)",
           "steps = np.floor(self.__values / g).astype(np.int64)", "weights beyond the bounds", WEIGHTS),
    Mutant(LATTICE, "frozen(low, np.int64), frozen(high, np.int64), topology.twins)",
           "frozen(high, np.int64), frozen(low, np.int64), topology.twins)", "bounds swapped", WEIGHTS),
    # --- the order of rows
    Mutant(HIDDEN, "        return steps[np.lexsort((steps, lattice.twins))]", "        return steps",
           "twins in the order of rows", ROWS),
    Mutant(HIDDEN, "np.lexsort((steps, lattice.twins))", "np.argsort(steps)", "weights sorted across edges",
           replay_of("input")),
    Mutant(TOPOLOGY, "by = np.lexsort((high, low, tail * n + head))", "by = np.arange(len(tail))",
           "edges in the order of rows", ROWS),
    Mutant(TOPOLOGY, "order = canonical_order(names)", "order = np.arange(n)", "nodes in the order of rows", ROWS),
    Mutant(TOPOLOGY, "        if not directed:\n            tail, head = np.minimum",
           "        if False:\n            tail, head = np.minimum", "ends in the order of rows", ROWS),
    Mutant(LATTICE, "ceiling = min(LARGEST_DISTANCE >> (n - 1).bit_length(), 2**53)", "ceiling = 2**61",
           "distances overflow", WEIGHTS),
    Mutant(LATTICE, "if math.frexp(granularity)[0] != 0.5:", "if False:",
           "inexact division by the granularity", WEIGHTS),
    Mutant(HIDDEN, 'return "PrivateWeights(hidden)"', 'return f"PrivateWeights({self.__values})"', "printed", WEIGHTS),
    # --- public proxies, and columns that nobody named
    Mutant(PROXY, "return values[np.lexsort((values, twins))]", "return values",
           "proxies of twins in the order of rows", ROWS),
    Mutant(LATTICE, "upper = topology.upper if max_weight is None else np.minimum(topology.upper, max_weight)",
           "upper = np.fmin(topology.upper if topology.proxy is None else topology.proxy, max_weight or np.inf)",
           "a proxy taken for a bound", PROXIES),
    Mutant(TOPOLOGY, 'return {name: value for name, value in vars(self).items() if name != "columns"}',
           "return {**vars(self), 'kept': self.columns._OtherColumns__raw}",
           "columns that nobody named are in a pickle", PROXIES),
    Mutant(PROXY, "        if name in self.__taken:", "        if False:", "the private weight as a proxy", PROXIES),
    Mutant(PROXY, 'return f"OtherColumns({len(self)} hidden)"',
           'return f"OtherColumns({ {k: list(v()) for k, v in self.__raw.items() if v} })"',
           "columns that nobody named are printed", PROXIES),
    Mutant("publish/release.py", "    network.topology.columns.check_public(plan.topology.proxy_name)  #", "    #",
           "a plan's proxy is the private weight", PROXIES),
    # --- simulations of plans
    Mutant("noise/simulated.py", "private = False", "private = True", "simulated noise that claims to protect", PLANS),
    Mutant("noise/simulated.py", "rng = simulation(self._seed)", "rng = simulation(int(scales.max(initial=0)))",
           "simulated errors of different budgets that cannot be compared", PLANS),
    # --- exact numbers
    Mutant(CELLS, "public=lattice.high", "public=steps", "public edges carry private weights",
           replay_of("separator-cover")),
    Mutant(CELLS, "public=lattice.high", "public=np.full_like(steps, steps.max(initial=0))",
           "public lengths read from the data", replay_of("separator-cover")),
    Mutant(GRAPHS, "(lengths if public is None else public)[arcs.edges[shared]]", "lengths[arcs.edges[shared]]",
           "public edges carry private weights, in leaves", replay_of("separator-cover")),
    Mutant(TABLES, "dijkstra(start, heads, lengths, sources",
           "dijkstra(start, heads, lengths * (1 + np.arange(len(heads)) % 2), sources",
           "large leaves count an edge twice in one direction", replay_of("separator")),
    Mutant(CELLS, "steps[block.edges]])", "2 * steps[block.edges]])", "leaf edges move twice as far",
           replay_of("treewidth")),
    Mutant(CELLS, "numbers >= INFINITE] = 0", "numbers >= INFINITE] = steps.sum()",
           "pairs that are not connected hold a private sum", replay_of("separator")),
    Mutant(TABLES, "tables.square_out[at] = table[i, j]", "tables.square_out[at] = 2 * table[i, j]",
           "distances of hubs doubled", replay_of("separator")),
    Mutant(TABLES, "tables.side_in[at] = table[row[j], mine[i]]", "tables.side_in[at] = 2 * table[row[j], mine[i]]",
           "distances to the boundary doubled", replay_of("separator")),
    Mutant(TABLES, "table[u, v] = min(table[u, v], graphs.lengths[e])",
           "table[u, v] = min(table[u, v], graphs.lengths.min())",
           "one light edge anywhere moves every separator", replay_of("separator")),
    Mutant(CELLS, "keep_leaves=pairs", "keep_leaves=False",
           "pairs of a leaf read where another cell has written", replay_of("separator")),
    Mutant(NUMBERS, "distances_from(block.arcs, lengths, chunk, out)",
           "distances_from(block.topology.arcs, steps[block.topology.arcs.edges], chunk, out)",
           "clusters measured in the whole network", replay_of("hubs-bounded")),
    Mutant(NUMBERS, "table[table == UNREACHED] = 0", "table[table == UNREACHED] = lengths.sum()",
           "unreachable pairs hold a private sum", replay_of("all-pairs")),
    Mutant(NUMBERS, "np.append(steps, 0)[forest.edge]", "np.append(2 * steps, 0)[forest.edge]", "paths counted twice",
           replay_of("tree")),
    Mutant(NUMBERS, "height[block.nodes] - height[block.anchor[block.nodes]]", "height[block.nodes]",
           "distances from the root instead of the anchor", replay_of("tree")),
    Mutant(NUMBERS, "so_far[runs.last] - so_far[runs.first]", "so_far[runs.last]", "sums from the first line on",
           replay_of("lines")),
    Mutant(NUMBERS, "np.cumsum(steps[block.lines.order])", "np.cumsum(2 * steps[block.lines.order])",
           "sums counted twice", replay_of("lines")),
    Mutant(NUMBERS, "    return steps\n", "    return np.maximum(steps, np.roll(steps, 1))\n",
           "an edge's number shows two",
           replay_of("input")),
    Mutant(TABLES, "table[u, v] = min(table[u, v], graphs.lengths[e])",
           "table[u, v] = min(table[u, v], 3 * graphs.lengths[e])", "inner edges move three times",
           replay_of("separator")),
    Mutant("kernels/minplus.py", "min(first + table[z, j], ", "min(first + first + table[z, j], ",
           "a leg counted twice",
           replay_of("separator")),
    Mutant(BUILD, "if not separates(graph, split):", "if False:", "separators that do not separate", OPTIMISED),
    # --- the private step
    Mutant(STEP, "    _ = strategy.certificate  #", "    #", "nothing is certified", CERTIFICATE),
    Mutant(STEP, "    strategy = replace(strategy)\n", "", "an old certificate is believed", CERTIFICATE),
    Mutant(STEP, "np.repeat(strategy.scales, strategy.group_sizes)",
           "np.repeat(np.sort(strategy.scales), strategy.group_sizes)",
           "scales of other groups", MEASURE),
    Mutant(STEP, "np.repeat(strategy.scales, strategy.group_sizes)", "np.resize(strategy.scales, strategy.num_values)",
           "scales in turn", MEASURE),
    Mutant(STEP, "sampler.draw(strategy.law, np.repeat(strategy.scales, strategy.group_sizes))",
           "np.repeat(sampler.draw(strategy.law, strategy.scales), strategy.group_sizes)",
           "one noise for a whole group",
           MEASURE),
    Mutant(STEP, "sampler.draw(strategy.law,", 'sampler.draw("gaussian",', "the other law", MEASURE),
    Mutant(STEP, "values=frozen(exact + noise, np.int64)", "values=frozen(exact, np.int64)", "no noise", MEASURE),
    Mutant(STEP, "noise.shape != exact.shape or ", "", "one noise for all", MEASURE),
    Mutant(STEP, " or noise.dtype != np.int64:", ":", "floating-point noise", MEASURE),
    Mutant(STEP, "private=sampler.private and not strategy.budget.unlimited", "private=sampler.private",
           "no noise called private", MEASURE),
    Mutant(STEP, "private=sampler.private and not strategy.budget.unlimited", "private=not strategy.budget.unlimited",
           "seeded noise called private", MEASURE),
    # --- what a file may claim
    Mutant(FILE, 'header["sampler"] in SECRET_SAMPLERS and not strategy.budget.unlimited', "True",
           "a seeded release called private by its file", INDEX),
    Mutant(FILE, "if proved <= epsilon <= budget else", "if epsilon <= budget else", "a claim below what is proved",
           HOSTILE),
    Mutant(FILE, "if proved <= epsilon <= budget else", "if proved <= epsilon else", "a claim above the budget",
           HOSTILE),
    Mutant(FILE, "    if not _alike(_as_claimed(_promise(proved), claimed), claimed):", "    if False:",
           "a statement of the file's own", HOSTILE),
    Mutant(STORAGE, "    if seen is None:", "    if False:", "an index of a stranger", INDEX),
    Mutant(STORAGE, "    if not seen or seen != known.identity(found.opened):", "    if not seen:",
           "an index that was changed after it was made", INDEX),
    Mutant(CONTAINER, "    if at != len(data):", "    if False:", "bytes that no digest covers", HOSTILE),
    Mutant(CONTAINER, "if digest(self.header_text, self.arrays) != self.claimed_digest:", "if False:",
           "a digest that nobody compares", INDEX),
    # --- the noise
    Mutant(VECTOR, "self._unread = self._unread[used:]", "self._unread = self._unread[used // 2 :]", "words used twice",
           DOOR),
    Mutant(VECTOR, "if self.private and os.getpid() != self._stream.process:", "if False:",
           "a fork repeats noise", DOOR),
    Mutant(VECTOR, 'raise TypeError("a noise sampler is not copied or pickled: the copy would repeat its noise")',
           "return object.__reduce__(self)  # type: ignore[return-value]", "a copy repeats noise", DOOR),
    Mutant(VECTOR, "        with self._lock:", "        if True:", "two threads use the same words", DOOR),
    Mutant(VECTOR, "self.private = stream.secret", "self.private = True", "seeded noise called private", DOOR),
    Mutant(VECTOR, "fill(law is Law.GAUSSIAN,", "fill(law is Law.LAPLACE,", "laws swapped", EXACT),
    Mutant(WORDS, "os.urandom(32) if seed is None", "bytes(32) if seed is None",
           "a key that everybody knows", KEYSTREAM),
    Mutant(WORDS, "os.urandom(32) if seed is None", "os.urandom(2) * 16 if seed is None",
           "a key of 16 bits", KEYSTREAM),
    Mutant(WORDS, "self.secret = seed is None", "self.secret = not seed", "seed 0 called secret", KEYSTREAM),
    Mutant(SHAPES, "_laplace(words, used, scales[i])", "_laplace(words, used, max(scales[i] - 1, 1))",
           "the scale is one step too small", EXACT),
    Mutant(SHAPES, "_gaussian(words, used, scales[i])", "_gaussian(words, used, max(scales[i] - 1, 1))",
           "the Gaussian scale is one step too small", EXACT),
    Mutant(SHAPES, "return i, used  #", "return i, words.size  #", "values that need few words are favoured", EXACT),
    Mutant(SHAPES, "        if magnitude > 0:\n", "        if magnitude >= 0:\n", "zero weighs double", EXACT),
    Mutant(SHAPES, "MOST_TURNS = 2046", "MOST_TURNS = 20", "tails cut off", EXACT),
    Mutant(SHAPES, "        while low < unfair:", "        while low < 0 * unfair:",
           "uniform numbers that are not", EXACT),
    Mutant(OPENDP, "        if law is Law.LAPLACE:", "        if law is Law.GAUSSIAN:", "laws swapped", SAMPLES),
    Mutant(OPENDP, 'dp.l1_distance(T="i64"), scale=float(scale))', 'dp.l1_distance(T="i64"), scale=0.97 * scale)',
           "three in a hundred too little", SAMPLES),
    Mutant(OPENDP, "out[entries] = np.asarray(noise, dtype=np.int64)",
           "out[entries] = np.asarray(noise, dtype=np.int64)[0]",
           "one noise for all of a scale", MEASURE),
    Mutant(LAW, "if not 0 <= bad <= MAX_SCALE:", "if not 0 <= bad:", "scales beyond what is exact", DOOR),
]  # fmt: skip
