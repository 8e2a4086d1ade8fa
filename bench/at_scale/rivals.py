"""Other programs that find distances, behind one small face, each used as its own documentation advises.

None is needed: ``rivals`` gives those that can be imported and says which cannot.  All get the released lengths, which
are whole steps of the lattice, so every answer can be compared to the last bit; but for routingkit-cch, whose numbers
have 31 bits: it gets them rounded to the finest steps that fit.

| | prepares | weighs anew | answers |
|---|---|---|---|
| scipy | nothing | - | Dijkstra from each source |
| routingkit-cch | an inertial order, a contraction | ``CCHMetric.reset`` | ``CCHQuery``, ``CCHOneToMany``; one thread |
| networkit | a graph | - | Dijkstra from both ends; ``SPSP``, all threads |
| rustworkx | a graph | - | Dijkstra from each source |
| graph-tool | a graph | - | Dijkstra from each source |
"""

from __future__ import annotations

import importlib.util
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra


class Weighed(NamedTuple):
    """A released network as plain arrays: arcs in both directions, sorted by tail."""

    start: np.ndarray
    heads: np.ndarray
    lengths: np.ndarray
    step: float
    places: np.ndarray

    @property
    def nodes(self):
        return len(self.start) - 1

    @property
    def tails(self):
        return np.repeat(np.arange(self.nodes), np.diff(self.start))

    @property
    def edges(self):
        """Tails, heads and lengths, each edge once."""
        tails = self.tails
        once = tails < self.heads
        return tails[once], self.heads[once], self.lengths[once]


class Rival:
    """What can be asked of every rival; lengths come back in units of weight."""

    weighs = False  # whether it can take new lengths without preparing anew
    exact = True  # whether it can hold the released lengths
    module = ""

    def rows(self, sources):
        raise NotImplementedError

    def block(self, sources, targets):
        return self.rows(sources)[:, targets]

    def point(self, pairs):
        return [self.rows(np.array([a]))[0, b] for a, b in pairs]


class Scipy(Rival):
    module = "scipy"

    def __init__(self, network):
        size = (network.nodes, network.nodes)
        self.graph = csr_array((network.lengths, network.heads, network.start), shape=size)

    def rows(self, sources):
        return dijkstra(self.graph, indices=sources)


class RoutingKit(Rival):
    """Distances are whole numbers below 2^31."""

    module, weighs, exact = "routingkit_cch", True, False

    def __init__(self, network):
        import routingkit_cch

        self.kit, self.nodes = routingkit_cch, network.nodes
        far = 2 * float(Scipy(network).rows(np.array([0])).max())  # no distance is longer
        self.step = 2.0 ** np.ceil(np.log2(far / 2**30))
        tails, heads = network.tails.tolist(), network.heads.tolist()
        north, east = network.places.T.tolist()
        order = self.kit.compute_order_inertial(self.nodes, tails, heads, north, east)
        self.contracted = self.kit.CCH(order, tails, heads, False)
        self.steps = np.rint(network.lengths / self.step).astype(np.int64).tolist()
        self.metric = self.kit.CCHMetric(self.contracted, self.steps)

    def weigh(self):
        """Customise, into memory that is there already: its fastest path.  It refuses while a query is alive."""
        self.metric.reset(self.steps)

    def rows(self, sources):
        return self.block(sources, np.arange(self.nodes))

    def block(self, sources, targets):
        many = self.kit.CCHOneToMany(self.metric, targets.tolist())
        return np.array([many.distances_from(s) for s in sources.tolist()], float) * self.step  # None becomes nan

    def point(self, pairs):
        query = self.kit.CCHQuery(self.metric)
        return [query.run(a, b).distance * self.step for a, b in pairs]


class Networkit(Rival):
    module = "networkit"

    def __init__(self, network):
        import networkit

        self.kit = networkit
        tails, heads, lengths = network.edges
        self.graph = networkit.GraphFromCoo((lengths, (tails, heads)), n=network.nodes, weighted=True, directed=False)

    def rows(self, sources):
        return self._some(sources, None)

    def block(self, sources, targets):
        return self._some(sources, targets)

    def _some(self, sources, targets):
        search = self.kit.distance.SPSP(self.graph, sources.tolist())
        if targets is not None:
            search.setTargets(targets.tolist())
        search.run()
        return np.array(search.getDistances())

    def point(self, pairs):
        return [self._one(a, b) for a, b in pairs]

    def _one(self, source, target):
        search = self.kit.distance.BidirectionalDijkstra(self.graph, source, target, True)
        search.run()
        return search.getDistance()


class Rustworkx(Rival):
    module = "rustworkx"

    def __init__(self, network):
        import rustworkx

        self.kit, self.nodes = rustworkx, network.nodes
        self.graph = rustworkx.PyGraph(multigraph=False)
        self.graph.add_nodes_from(range(network.nodes))
        self.graph.add_edges_from(list(zip(*(column.tolist() for column in network.edges), strict=True)))

    def rows(self, sources):
        found = np.full((len(sources), self.nodes), np.inf)
        for row, source in zip(found, sources.tolist(), strict=True):
            reached = self.kit.graph_dijkstra_shortest_path_lengths(self.graph, source, float)
            row[np.fromiter(reached.keys(), np.int64)] = np.fromiter(reached.values(), float)
            row[source] = 0.0
        return found

    def point(self, pairs):
        ask = self.kit.graph_dijkstra_shortest_path_lengths
        return [ask(self.graph, a, float, goal=b)[b] if a != b else 0.0 for a, b in pairs]


class GraphTool(Rival):
    module = "graph_tool"

    def __init__(self, network):
        import graph_tool
        from graph_tool.topology import shortest_distance

        self.ask, tails_heads_lengths = shortest_distance, np.stack(network.edges, 1)
        self.graph = graph_tool.Graph(directed=False)
        self.graph.add_vertex(network.nodes)
        self.lengths = self.graph.new_edge_property("double")
        self.graph.add_edge_list(tails_heads_lengths, eprops=[self.lengths])

    def rows(self, sources):
        return np.array([self.ask(self.graph, s, weights=self.lengths).a for s in sources.tolist()])

    def point(self, pairs):
        return [self.ask(self.graph, a, b, weights=self.lengths) for a, b in pairs]


RIVALS = {
    "scipy": Scipy, "routingkit-cch": RoutingKit, "networkit": Networkit, "rustworkx": Rustworkx,
    "graph-tool": GraphTool,
}  # fmt: skip


def rivals():
    """Names of those that are installed, and of those that are not."""
    here = {name: importlib.util.find_spec(kind.module) is not None for name, kind in RIVALS.items()}
    return [name for name in here if here[name]], [name for name in here if not here[name]]
