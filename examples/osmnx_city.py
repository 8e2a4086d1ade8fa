"""For a city that works with osmnx: streets of OpenStreetMap with private seconds, released, and back in osmnx.

Needs `hushpath[networkx]` and osmnx.  The streets are made up as osmnx would give them, so that this runs without a
connection.  Yours are one line: streets = ox.graph_from_place("Esch-sur-Alzette, Luxembourg", network_type="drive")
"""

import random
import warnings

import networkx as nx
import osmnx as ox

import hushpath

SIDE, HOME, WORK = 10, 240_000_000, 240_000_099  # streets in each direction; two OSM ids
rng = random.Random(1)


def made_up_streets() -> nx.MultiDiGraph:
    """Crooked blocks: every third street is a main one, the others are one-way."""
    graph = nx.MultiDiGraph(crs="epsg:4326")
    rows = [range(HOME + SIDE * row, HOME + SIDE * (row + 1)) for row in range(SIDE)]
    for node in range(HOME, WORK + 1):
        up, right = (place + rng.uniform(0, 0.4) for place in divmod(node - HOME, SIDE))
        graph.add_node(node, x=14.4 + 0.003 * right, y=50.1 + 0.002 * up)
    for street, line in enumerate([*rows, *zip(*rows, strict=True)]):
        main = street % SIDE in (0, 3, 6, 9)
        kind = dict(highway="secondary", maxspeed="50") if main else dict(highway="residential", maxspeed="30")
        for drive in (line, line[::-1]) if main else (line[:: (-1) ** street],):
            nx.add_path(graph, drive, osmid=street, oneway=not main, **kind)
    graph.add_edge(HOME, HOME + 1, osmid=99, highway="service", oneway=True)  # a lane beside a main street
    return ox.distance.add_edge_lengths(graph)


# Public: lengths, and the seconds an empty street takes.  Private: what drivers took on it, the mean of last month.
streets = ox.routing.add_edge_travel_times(ox.routing.add_edge_speeds(made_up_streets()))
for *_, facts in streets.edges(data=True):
    facts["seconds"] = facts["travel_time"] * rng.uniform(1.1, 1.5) * (1.6 if facts["highway"] == "secondary" else 1)
ox.save_graphml(streets, "streets.graphml")

with warnings.catch_warnings(record=True) as said:  # parallel edges are kept, each with its seconds, and told of
    net = hushpath.read_network("streets.graphml", weight="seconds", proxy="travel_time")

# Yours to declare: one driver moves at most 60 means, each by at most 0.1 seconds; no street takes more than 120.
plan = hushpath.plan(net.topology, epsilon=1.0, delta=1e-6, max_weight=120, unit=hushpath.WeightUnit(edges=(60, 0.1)))
rel = hushpath.release(net, plan=plan, quantity=hushpath.Quantity(name="travel time", unit_of_measure="seconds"))
rel.save("city.hush")

# Back in osmnx: places and released seconds.  Nothing in this graph is private.
graph = ox.distance.add_edge_lengths(nx.MultiDiGraph(rel.to_networkx(), crs="epsg:4326"))
path = ox.routing.shortest_path(graph, HOME, WORK, weight="travel_time")
ox.plot_graph_route(graph, path, bgcolor="white", node_size=0, show=False, save=True, filepath="path.png")
print(rel.statement, f"released: from home to work {rel.distance(HOME, WORK):.0f} seconds: path.png", sep="\n")

assert "parallel edges: 1 of" in str(said[0].message)
assert graph.edges.keys() == streets.edges.keys()  # parallel edges and one-way streets are as they were
assert abs(nx.path_weight(graph, path, "travel_time") - rel.distance(HOME, WORK)) < 0.01
result = hushpath.evaluate(net, rel)  # for the owner's eyes only
assert result.mean_error < result.proxy_scaled_error < result.proxy_error
