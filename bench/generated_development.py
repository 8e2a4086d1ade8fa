"""Generated networks of the development pool: constants may be chosen on them."""

from __future__ import annotations

import numpy as np
from generated import (
    Made,
    alike,
    clustered,
    family_list,
    field,
    gabriel,
    grid,
    lengths,
    matrix,
    middles,
    once,
    scattered,
    spanning,
    spread,
    streets,
    tree_flows,
    triangulated,
    two_way,
)
from scipy.sparse.csgraph import shortest_path

VARIANTS, family = family_list()


@family(
    "independent-weights",
    grid_uniform=dict(shape="grid", n=1600, kind="uniform", correlation=0.9),
    delaunay_uniform=dict(shape="delaunay", n=900, kind="uniform", correlation=0.5),
    delaunay_lognormal=dict(shape="delaunay", n=4000, kind="lognormal", correlation=0.9),
    grid_exponential=dict(shape="grid", n=400, kind="exponential", correlation=0.7),
)
def independent_weights(rng, shape, n, kind, correlation):
    """Every edge for itself; the proxy is a made-up column of known correlation."""
    if shape == "grid":
        edges, places = grid(round(n**0.5))
    else:
        places = scattered(n, rng)
        edges = triangulated(places)
    m = len(edges)
    drawn = {"uniform": 10 * rng.random(m), "lognormal": 5 * spread(m, rng, 0.8), "exponential": rng.exponential(5, m)}
    return Made(edges, drawn[kind], places, alike(drawn[kind], rng, correlation))


@family(
    "smooth-fields",
    grid=dict(shape="grid", n=1600, own=0.2), delaunay=dict(shape="delaunay", n=1200, own=0.1),
    rough=dict(shape="delaunay", n=600, own=0.6),
)  # fmt: skip
def smooth_fields(rng, shape, n, own):
    """Neighbours alike: a field over the plane and a little of its own on each edge; half of the field is public."""
    if shape == "grid":
        edges, places = grid(round(n**0.5))
    else:
        places = scattered(n, rng)
        edges = triangulated(places)
    at = middles(edges, places)
    known, unknown = field(at, rng, (4, 16)), field(at, rng, (8, 32))
    base = 5 * np.exp(0.5 * known)
    return Made(edges, base * np.exp(0.5 * unknown) * spread(len(edges), rng, own), places, base)


def classed_roads(n, rng):
    """Streets, places, and a class per edge (0 local to 3 trunk) from how many trips between towns use it."""
    places = clustered(n, max(4, n // 150), rng)
    edges = streets(places, rng)
    costs = matrix(edges, lengths(edges, places), n)
    ends = rng.choice(n, 30, replace=False)
    before = shortest_path(costs, directed=False, indices=ends, return_predecessors=True)[1]
    key = {pair: e for e, pair in enumerate(map(tuple, edges.tolist()))}
    used = np.zeros(len(edges))
    for i in range(len(ends)):
        for end in ends:
            while before[i, end] >= 0:
                other = int(before[i, end])
                used[key[min(other, end), max(other, end)]] += 1
                end = other
    return edges, places, np.searchsorted([0.5, 8, 60], used)


@family(
    "classed-roads",
    length=dict(n=900, proxy="length"), free_flow=dict(n=900, proxy="free flow"),
    county=dict(n=3000, proxy="free flow"), region=dict(n=9000, proxy="length"),
)  # fmt: skip
def classed_road_times(rng, n, proxy):
    """Country roads: length over the speed of the class, slower in a field of congestion."""
    edges, places, kind = classed_roads(n, rng)
    far = lengths(edges, places)
    free = far / np.array([0.5, 0.8, 1.3, 2.0])[kind] + 0.05
    jam = 1 + np.exp(0.8 * field(middles(edges, places), rng) - 1) * (0.5 + rng.random(len(edges)))
    return Made(edges, free * jam, places, far if proxy == "length" else free)


@family("zero-connectors", town=dict(n=300, zones=60), city=dict(n=1500, zones=350))
def zero_connectors(rng, n, zones):
    """A planning network: centroids of zones hang on the streets by connectors whose weight is exactly 0."""
    edges, places, kind = classed_roads(n, rng)
    free = lengths(edges, places) / np.array([0.5, 0.8, 1.3, 2.0])[kind]
    weights = free * (1 + rng.exponential(0.6, len(edges)))
    homes = rng.choice(n, zones, replace=False)
    ties = [(n + z, int(near)) for z, home in enumerate(homes) for near in rng.permutation(
        [home, *edges[edges[:, 0] == home, 1]])[: 1 + int(rng.integers(3))]]  # fmt: skip
    zero = np.zeros(len(ties))
    return Made(
        np.vstack([edges, ties]), np.r_[weights, zero], np.vstack([places, places[homes] + 0.1]), np.r_[free, zero]
    )


@family("scale-free", sparse=dict(n=800, each=1.4), dense=dict(n=600, each=3.0))
def scale_free(rng, n, each):
    """Preferential attachment; weights grow with the degrees of the ends, the proxy is pure noise."""
    ends, edges = [0, 1], [(0, 1)]
    for node in range(2, n):
        count = max(1, min(node, int(each + rng.random())))
        chosen = {ends[int(rng.integers(len(ends)))] for _ in range(count)}
        edges += [(node, other) for other in sorted(chosen)]
        ends += [node, *sorted(chosen)] + [node] * (len(chosen) - 1)
    edges = np.array(edges)
    degree = np.bincount(edges.ravel())
    weights = (degree[edges[:, 0]] * degree[edges[:, 1]]) ** 0.3 * spread(len(edges), rng, 0.7)
    return Made(edges, weights, None, 3 * spread(len(edges), rng, 0.7))


@family("pipe-flows", village=dict(n=250, loops=0.0), town=dict(n=1500, loops=0.05), looped=dict(n=800, loops=0.3))
def pipe_flows(rng, n, loops):
    """Water pipes: flow to all that is behind a pipe, little on the few that close loops; proxy: pipe diameters."""
    places = clustered(n, 5, rng)
    edges = gabriel(places)
    tree = spanning(edges, lengths(edges, places))
    flows = tree_flows(edges[tree], rng.gamma(0.5, 1.0, n))
    others = edges[~tree][rng.random((~tree).sum()) < loops]
    weights = np.r_[flows, rng.exponential(0.3, len(others))]
    sizes = np.array([0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6])
    public = sizes[np.searchsorted(sizes[:-1], 0.06 * (weights + 0.1) ** 0.4 * spread(len(weights), rng, 0.2))]
    return Made(np.vstack([edges[tree], others]), weights, places, public)


@family("power-law", mild=dict(n=700, exponent=2.0), heavy=dict(n=700, exponent=1.1), wild=dict(n=300, exponent=0.7))
def power_law(rng, n, exponent):
    """Weights with a Pareto tail; the proxy has the order of magnitude."""
    places = scattered(n, rng)
    edges = gabriel(places)
    weights = 1 + rng.pareto(exponent, len(edges))
    return Made(edges, weights, places, 1 + np.maximum(np.floor(np.log2(weights * spread(len(edges), rng, 0.5))), 0))


@family("districts", few=dict(n=900, districts=6), many=dict(n=1600, districts=60))
def districts(rng, n, districts):
    """Districts with a level each, sharp at their borders; the proxy is right in half of them and 1 elsewhere."""
    places = scattered(n, rng)
    edges = gabriel(places)
    seats = rng.random((districts, 2)) * np.sqrt(n)
    at = np.argmin(((middles(edges, places)[:, None] - seats) ** 2).sum(axis=2), axis=1)
    level = spread(districts, rng, 1.0)
    known = rng.random(districts) < 0.5
    return Made(edges, level[at] * (0.8 + 0.4 * rng.random(len(edges))), places, np.where(known, level, 1.0)[at])


@family("mistyped-proxies", one_percent=dict(share=0.01), ten_percent=dict(share=0.1))
def mistyped_proxies(rng, share):
    """A good proxy, but some of its rows are off by a factor of 10 either way."""
    edges, places, kind = classed_roads(800, rng)
    free = lengths(edges, places) / np.array([0.5, 0.8, 1.3, 2.0])[kind]
    wrong = rng.random(len(edges)) < share
    public = free * np.where(wrong, 10.0 ** rng.choice([-1, 1], len(edges)), 1)
    return Made(edges, free * (1 + rng.exponential(0.3, len(edges))), places, public)


@family("corridors", ladder=dict(lanes=2, kind="even"), braid=dict(lanes=3, kind="braid"), strip=dict(lanes=6, kind=""))
def corridors(rng, lanes, kind):
    """A long strip of a few lanes, in which paths hardly choose; a braid crosses lanes here and there only."""
    edges, places = grid(lanes, 500 if lanes < 6 else 150)
    along = places[edges[:, 0], 1] == places[edges[:, 1], 1]
    if kind == "braid":
        stays = along | (rng.random(len(edges)) < 0.1)
        edges, along = edges[stays], along[stays]
    slow = np.exp(0.6 * field(middles(edges, places), rng, (10, 40, 160)))
    weights = np.where(along, slow * (0.5 + rng.random(len(edges))), rng.exponential(1.0, len(edges)))
    return Made(edges, weights, places, np.where(along, 1.0, 0.3))


@family("metros", small=dict(lines=6), large=dict(lines=16))
def metros(rng, lines):
    """Lines with a platform per stop, walks between platforms that are near; the proxy is the straight line."""
    places, edges, line, start = [], [], [], 0
    for number in range(lines):
        angle, stops = rng.random() * 2 * np.pi, int(rng.integers(14, 38))
        turn = angle + np.cumsum(rng.normal(0, 0.2, stops))
        track = np.cumsum(np.c_[np.cos(turn), np.sin(turn)] * (0.6 + rng.random((stops, 1))), axis=0)
        places.append(track - track[stops // 2] + rng.normal(0, 3, 2))
        edges += [(start + i, start + i + 1) for i in range(stops - 1)]
        line += [number] * stops
        start += stops
    places, line, runs = np.vstack(places), np.array(line), len(edges)
    walks = [(i, j) for i, j in once(np.argwhere(np.linalg.norm(places[:, None] - places, axis=2) < 0.6)).tolist()
             if line[i] != line[j]]  # fmt: skip
    edges = np.array(edges + walks)
    far = lengths(edges, places)
    times = 20 + 60 * far * spread(len(edges), rng, 0.2)
    times[runs:] = 120 + rng.integers(0, 9, len(walks)) * 30
    return Made(edges, np.round(times), places, far)


@family("small-world", few_shortcuts=dict(rewired=0.03), many_shortcuts=dict(rewired=0.25))
def small_world(rng, rewired):
    """A ring of near neighbours with some ends moved anywhere; weights 1 to 20 in whole numbers."""
    n = 700
    ring = np.vstack([np.c_[np.arange(n), (np.arange(n) + step) % n] for step in (1, 2)])
    moved = (rng.random(len(ring)) < rewired) & (np.arange(len(ring)) >= n)
    ring[moved, 1] = rng.integers(0, n, moved.sum())
    edges = once(ring)
    weights = rng.integers(1, 21, len(edges)).astype(float)
    return Made(edges, weights, None, alike(weights, rng, 0.8))


@family("near-equal", grid=dict(own=0.01), delaunay=dict(own=0.05), constant=dict(own=0.0))
def near_equal(rng, own):
    """Weights that are all about 10, so that a count of hops is nearly right."""
    places = scattered(800, rng)
    edges, places = grid(30) if own == 0.01 else (triangulated(places), places)
    return Made(edges, 10 * (1 + own * rng.normal(size=len(edges))), places, np.full(len(edges), 10.0))


@family("bimodal", mixed=dict(share=0.5, joined=False), lines=dict(share=0.2, joined=True))
def bimodal(rng, share, joined):
    """Each edge is fast (1) or slow (20), by chance or along lines; nothing public tells which."""
    places = scattered(1000, rng)
    edges = gabriel(places)
    score = rng.random(len(edges))
    if joined:
        score = np.abs(field(middles(edges, places), rng, (3, 6, 12)))
    fast = score <= np.quantile(score, share)
    return Made(edges, np.where(fast, 1.0, 20.0) * (0.9 + 0.2 * rng.random(len(edges))), places)


@family("one-way-streets", town=dict(n=500), city=dict(n=2500))
def one_way_streets(rng, n):
    """Directed: some streets one way, times that differ by direction because of lights and of the tide."""
    edges, places, kind = classed_roads(n, rng)
    both = two_way(edges)
    free = lengths(both, places) / np.array([0.5, 0.8, 1.3, 2.0])[np.r_[kind, kind]]
    times = free * (1 + rng.exponential(0.4, len(both))) + rng.exponential(0.3, len(both))
    one_way = (rng.random(len(edges)) < 0.25) & (kind == 0) & ~spanning(edges, rng.random(len(edges)))
    stays = np.r_[np.ones(len(edges), bool), ~one_way]
    return Made(both[stays], times[stays], places, free[stays], directed=True)


@family("random-trees", recursive=dict(kind="recursive"), caterpillar=dict(kind="long"), plane=dict(kind="plane"))
def random_trees(rng, kind):
    """Trees: shallow, long with legs, or the least spanning tree of places."""
    n = 1200
    if kind == "plane":
        places = scattered(n, rng)
        edges = triangulated(places)
        edges = edges[spanning(edges, lengths(edges, places))]
        return Made(edges, lengths(edges, places) * spread(len(edges), rng, 0.4), places, lengths(edges, places))
    node = np.arange(1, n)
    above = (rng.random(n - 1) * node).astype(int) if kind == "recursive" else np.where(
        node < n // 3, node - 1, rng.integers(0, n // 3, n - 1))  # fmt: skip
    weights = 5 * spread(n - 1, rng, 0.8)
    return Made(np.c_[above, node], weights, None, alike(weights, rng, 0.7))
