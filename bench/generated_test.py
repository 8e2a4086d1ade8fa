"""Generated networks of the test pool.  No constant may be chosen on them; they are reported once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from generated import (
    Made,
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
    triangulated,
    two_way,
)
from scipy.sparse import diags_array
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import spsolve

VARIANTS, family = family_list()

# Families of development with a likeness in the way they are made or in kind; the others share helpers for shapes only.
RELATIVES = {
    "regional-units": "mistyped-proxies", "noise-proxies": "scale-free", "tidal-streets": "one-way-streets",
    "looped-flows": "pipe-flows", "rounded-minutes": "railway-timetables", "heavy-zeros": "zero-connectors",
    "motorway-cuts": "classed-roads", "drainage-trees": "random-trees", "sensor-chains": "corridors",
    "backbones": "sndlib", "expanders": "small-world",
}  # fmt: skip


@family("arterial-rings", town=dict(rings=10, rays=24, fast=0.25), city=dict(rings=30, rays=60, fast=0.12))
def arterial_rings(rng, rings, rays, fast):
    """A city of rings and rays, some of them five times as fast for no public reason; the proxy is the length."""
    at = 1 + np.arange(rings * rays).reshape(rings, rays)
    angle = 2 * np.pi * np.arange(rays) / rays
    radius = np.cumsum(0.7 + 0.6 * rng.random(rings))[:, None, None]
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    places = np.vstack([np.zeros((1, 2)), (radius * around).reshape(-1, 2) + 0.1 * rng.normal(size=(rings * rays, 2))])
    ring = np.c_[at.ravel(), np.roll(at, -1, axis=1).ravel()]
    ray = np.c_[np.vstack([np.zeros((1, rays), int), at[:-1]]).ravel(), at.ravel()]
    quick = np.r_[np.repeat(rng.random(rings) < fast, rays), np.tile(rng.random(rays) < fast, rings)]
    edges = np.vstack([ring, ray])
    far = lengths(edges, places)
    return Made(edges, far / np.where(quick, 5, 1) * spread(len(edges), rng, 0.2), places, far)


@family("motorway-cuts", province=dict(n=900, motorways=3), country=dict(n=10000, motorways=8))
def motorway_cuts(rng, n, motorways):
    """Streets under a few motorways with an exit every now and then; a motorway's edges are long and quick."""
    places = clustered(n, 12, rng)
    edges = streets(places, rng, 0.5)
    slow = lengths(edges, places) * (1 + 0.5 * rng.random(len(edges))) + 0.05
    side, ways = np.sqrt(n), []
    for _ in range(motorways):
        start, end = rng.random((2, 2)) * side
        exits = [int(np.argmin(((places - point) ** 2).sum(axis=1))) for point in np.linspace(start, end, 14)]
        ways += [pair for pair in pairwise(exits) if pair[0] != pair[1]]
    ways = np.array([way for way in once(ways).tolist() if not (edges == way).all(axis=1).any()])
    quick = lengths(ways, places) / 6 * spread(len(ways), rng, 0.2)
    edges = np.vstack([edges, ways])
    return Made(edges, np.r_[slow, quick], places, lengths(edges, places))


@family("noise-proxies", even=dict(kind="even"), heavy=dict(kind="heavy"), shuffled=dict(kind="shuffled"))
def noise_proxies(rng, kind):
    """A proxy that has nothing to do with the weights, however plausible its values."""
    places = scattered(1000, rng)
    edges = streets(places, rng, 0.7)
    weights = lengths(edges, places) * np.exp(0.5 * field(middles(edges, places), rng))
    m = len(edges)
    public = {"even": rng.random(m), "heavy": rng.pareto(1.2, m), "shuffled": rng.permutation(weights)}
    return Made(edges, weights, places, public[kind])


@family("air-hubs", alliance=dict(hubs=6, spokes=250), lowcost=dict(hubs=25, spokes=600))
def air_hubs(rng, hubs, spokes):
    """Hubs that all have flights to each other, spokes with one to three; fares that hardly follow the distance."""
    places = rng.random((hubs + spokes, 2)) * 50
    pairs = [(i, j) for i in range(hubs) for j in range(i)]
    for spoke in range(hubs, hubs + spokes):
        near = np.linalg.norm(places[:hubs] - places[spoke], axis=1) * spread(hubs, rng, 0.5)
        pairs += [(int(hub), spoke) for hub in np.argsort(near)[: rng.choice([1, 2, 3], p=[0.5, 0.3, 0.2])]]
    edges = once(pairs)
    far = lengths(edges, places)
    trunk = edges.max(axis=1) < hubs
    fares = np.where(trunk, 40 + 2 * far, 60 + 5 * far) * spread(len(edges), rng, 0.4)
    return Made(edges, np.round(fares), places, far)


@family("backbones", provider=dict(sites=30, leaves=150), carrier=dict(sites=90, leaves=900))
def backbones(rng, sites, leaves):
    """Rings of sites with access rings on them; latencies are classes of 1, 5, 10 and 100; proxy: rounded length."""
    places = scattered(sites, rng) * 10
    core = triangulated(places)
    keep = spanning(core, lengths(core, places)) | (rng.random(len(core)) < 0.25)
    pairs, where, node = core[keep].tolist(), [places], sites
    while node < sites + leaves:
        size, home = int(rng.integers(1, 9)), int(rng.integers(sites))
        ring = [home, *range(node, node + size), home if size > 1 and rng.random() < 0.8 else -1]
        pairs += [pair for pair in pairwise(ring) if min(pair) >= 0]
        where.append(places[home] + rng.normal(0, 1.5, (size, 2)))
        node += size
    places, edges = np.vstack(where), once(pairs)
    far = lengths(edges, places)
    kind = np.searchsorted([2, 6, 14], far * spread(len(edges), rng, 0.5))
    return Made(edges, np.array([1.0, 5.0, 10.0, 100.0])[kind], places, np.ceil(far))


@family("sensor-chains", county=dict(roads=8, sensors=40), state=dict(roads=20, sensors=90))
def sensor_chains(rng, roads, sensors):
    """Sensors along motorways that cross: minutes at the rush hour, with jams that have a head and a tail."""
    places, pairs, way = [], [], []
    for road in range(roads):
        start, angle = rng.random(2) * 40, rng.random() * 2 * np.pi
        turn = angle + np.cumsum(rng.normal(0, 0.05, sensors))
        steps = rng.gamma(2, 0.4, (sensors, 1)) * np.c_[np.cos(turn), np.sin(turn)]
        places.append(start + np.cumsum(steps, axis=0) - steps.sum(axis=0) / 2)
        pairs += [(road * sensors + i, road * sensors + i + 1) for i in range(sensors - 1)]
        way += [road] * (sensors - 1)
    places = np.vstack(places)
    minutes = np.ones(len(pairs))
    for _ in range(roads):
        first, jam = int(rng.integers(len(pairs))), int(rng.integers(4, 15))
        minutes[first : first + jam] += np.linspace(5, 0.5, len(minutes[first : first + jam]))
    nearby = np.argwhere(np.linalg.norm(places[:, None] - places, axis=2) < 0.5)
    links = [(i, j) for i, j in once(nearby).tolist() if i // sensors != j // sensors]
    edges = np.array(pairs + links)
    far = lengths(edges, places)
    times = np.r_[far[: len(pairs)] / 1.1 * minutes, 0.5 + far[len(pairs) :] * 2]
    return Made(edges, times * spread(len(edges), rng, 0.1), places, far / 1.1)


@family("looped-flows", feeder=dict(n=400, leaks=8), power=dict(n=2000, leaks=60))
def looped_flows(rng, n, leaks):
    """Absolute flow of a potential over a mesh (as of current): few large, many next to nothing; proxy: capacity."""
    places = scattered(n, rng)
    edges = streets(places, rng, 0.4)
    ease = spread(len(edges), rng, 0.7)
    joined = matrix(edges, ease, n)
    laplacian = (diags_array(np.asarray(joined.sum(axis=1)).ravel()) - joined).tocsc()
    given = -rng.gamma(0.6, 1.0, n)
    given[rng.choice(n, leaks, replace=False)] += rng.dirichlet(np.ones(leaks)) * -given.sum()
    given -= given.mean()
    level = np.r_[0.0, spsolve(laplacian[1:, 1:], given[1:])]
    flows = np.abs(ease * (level[edges[:, 0]] - level[edges[:, 1]]))
    return Made(edges, flows, places, 2.0 ** np.ceil(np.log2(flows + 0.5) + rng.choice([0, 1, 2], len(edges))))


@family("capped", one_fifth=dict(share=0.2), half=dict(share=0.5))
def capped(rng, share):
    """Times that were cut at a limit, which many edges reach."""
    places = clustered(900, 8, rng)
    edges = gabriel(places)
    slow = np.exp(0.7 * field(middles(edges, places), rng)) * spread(len(edges), rng, 0.4)
    times = 60 * lengths(edges, places) * slow
    limit = np.quantile(times, 1 - share)
    return Made(edges, np.minimum(times, limit), places, lengths(edges, places))


@family("heavy-zeros", spots=dict(by="chance"), regions=dict(by="region"))
def heavy_zeros(rng, by):
    """Delays: exactly 0 on 30 % of the edges, by chance or in whole regions, and exponential on the others."""
    places = scattered(1000, rng)
    edges = streets(places, rng, 0.8)
    score = rng.random(len(edges)) if by == "chance" else field(middles(edges, places), rng)
    late = score > np.quantile(score, 0.3)
    delays = np.where(late, rng.exponential(4.0, len(edges)), 0.0)
    return Made(edges, delays, places, np.round(late + rng.random(len(edges))))


@family("rounded-minutes", rail=dict(step=1.0, pace=4), coarse=dict(step=5.0, pace=10))
def rounded_minutes(rng, step, pace):
    """Railway lines between towns with a timetable in whole steps; short runs become 0."""
    places = clustered(500, 20, rng)
    edges = streets(places, rng, 0.3)
    far = lengths(edges, places)
    times = far * pace * np.exp(0.4 * field(middles(edges, places), rng)) * spread(len(edges), rng, 0.2)
    return Made(edges, np.round(times / step) * step, places, far)


@family("parallel-links", pairs=dict(n=300, share=0.5), bundles=dict(n=150, share=0.9))
def parallel_links(rng, n, share):
    """Several links between the same two ends, each with its own weight and its own proxy."""
    places = scattered(n, rng)
    edges = gabriel(places)
    twice = edges[rng.random(len(edges)) < share]
    edges = np.vstack([edges, twice])
    weights = lengths(edges, places) * spread(len(edges), rng, 0.8)
    return Made(edges, weights, places, weights * spread(len(edges), rng, 0.4), parallel=True)


@family("tidal-streets", hills=dict(n=700, kind="hills"), tide=dict(n=1500, kind="tide"))
def tidal_streets(rng, n, kind):
    """Directed: walks that take longer uphill, or a morning in which the way into the centre is slow."""
    places = scattered(n, rng)
    both = two_way(streets(places, rng, 0.7))
    far = lengths(both, places)
    if kind == "hills":
        height = 0.6 * field(places, rng)
        slope = (height[both[:, 1]] - height[both[:, 0]]) / np.maximum(far, 0.05)
        times = far * np.exp(3.5 * np.abs(np.clip(slope, -1, 1) + 0.05)) / 1.2
    else:
        out = np.linalg.norm(places - places.mean(axis=0), axis=1)
        inward = (out[both[:, 0]] - out[both[:, 1]]) / np.maximum(far, 0.05)
        times = far * (1 + 3 * np.clip(inward, 0, 1) * np.exp(-out[both[:, 1]] / 10)) * spread(len(far), rng, 0.2)
    return Made(both, times, places, far, directed=True)


@family("communities", caves=dict(groups=40, size=12, links=2), villages=dict(groups=12, size=60, links=4))
def communities(rng, groups, size, links):
    """Dense groups that are cheap inside, with few and dear edges between them."""
    pairs = []
    for group in range(groups):
        members = group * size + np.arange(size)
        pairs += [(int(a), int(b)) for a in members for b in rng.choice(members, 4, replace=False)]
    inside = once(pairs)
    between = once(rng.integers(0, groups * size, (groups * links, 2)))
    between = between[between[:, 0] // size != between[:, 1] // size]
    weights = np.r_[rng.gamma(2, 0.5, len(inside)), rng.gamma(4, 8.0, len(between))]
    return Made(np.vstack([inside, between]), weights)


@family("bus-routes", town=dict(side=25, routes=25), city=dict(side=45, routes=70))
def bus_routes(rng, side, routes):
    """Only what routes pass: shortest paths between random ends; a route's dwell times are on all of its edges."""
    edges, places = grid(side)
    costs = matrix(edges, spread(len(edges), rng, 0.5), len(places))
    ends = rng.choice(len(places), 2 * routes, replace=False)
    before = shortest_path(costs, directed=False, indices=ends[:routes], return_predecessors=True)[1]
    key = {pair: e for e, pair in enumerate(map(tuple, edges.tolist()))}
    dwell, served = np.full(len(edges), np.inf), spread(routes, rng, 0.6)
    for route, end in enumerate(ends[routes:].tolist()):
        while before[route, end] >= 0:
            other = int(before[route, end])
            e = key[min(other, end), max(other, end)]
            dwell[e] = min(dwell[e], served[route])
            end = other
    used = np.isfinite(dwell)
    return Made(edges[used], (1 + dwell[used]) * spread(used.sum(), rng, 0.15), places, np.ones(used.sum()))


@family("cul-de-sacs", suburb=dict(blocks=6, homes=25), sprawl=dict(blocks=14, homes=40))
def cul_de_sacs(rng, blocks, homes):
    """Arterials in a coarse grid, and on every junction a little tree of slow streets without another exit."""
    edges, places = grid(blocks)
    pairs, node, where = edges.tolist(), blocks * blocks, [places * 10]
    for home in range(blocks * blocks):
        size = int(rng.poisson(homes))
        members = [home, *range(node, node + size)]
        pairs += [(members[int(i * rng.random() ** 0.5)], members[i]) for i in range(1, size + 1)]
        where.append(places[home] * 10 + rng.normal(0, 1.5, (size, 2)))
        node += size
    edges, places = np.array(pairs), np.vstack(where)
    wide = np.arange(len(edges)) < 2 * blocks * (blocks - 1)
    times = np.where(wide, 2 + rng.exponential(2.0, len(edges)), 0.2 + rng.gamma(2, 0.3, len(edges)))
    return Made(edges, times, places, lengths(edges, places))


@family("mazes", small=dict(side=20, doors=0.02), large=dict(side=50, doors=0.05))
def mazes(rng, side, doors):
    """A grid in which a winding tree is cheap (1) and walls are dear (30), with a few doors: long detours."""
    edges, places = grid(side)
    open_ = spanning(edges, rng.random(len(edges))) | (rng.random(len(edges)) < doors)
    return Made(edges, np.where(open_, 1.0, 30.0) * (0.9 + 0.2 * rng.random(len(edges))), places)


@family("river-bridges", few=dict(bridges=3), many=dict(bridges=15))
def river_bridges(rng, bridges):
    """Two banks joined by a few bridges whose queues are long and differ, with nothing public that tells."""
    places = scattered(1200, rng)
    edges = streets(places, rng, 0.8)
    river = places[:, 1] - places[:, 1].mean() - 2 * np.sin(places[:, 0] / 5)
    over = np.flatnonzero((river[edges] > 0).sum(axis=1) == 1)
    stays = np.ones(len(edges), bool)
    stays[over] = False
    built = rng.choice(over, min(bridges, len(over)), replace=False)
    stays[built] = True
    far = lengths(edges, places)
    times = far * spread(len(edges), rng, 0.3)
    times[built] += rng.gamma(1.5, 6.0, len(built))
    return Made(edges[stays], times[stays], places, far[stays])


@family("regional-units", thousand=dict(factor=1000.0), knots=dict(factor=3.6))
def regional_units(rng, factor):
    """A good proxy, but a third of the plane has it in another unit."""
    places = clustered(1000, 6, rng)
    edges = streets(places, rng, 0.6)
    far = lengths(edges, places)
    other = middles(edges, places)[:, 0] > np.quantile(places[:, 0], 0.67)
    return Made(edges, far * (1 + rng.exponential(0.3, len(edges))), places, far * np.where(other, factor, 1.0))


@family("expanders", cubic=dict(kind="regular"), cube=dict(kind="lattice"))
def expanders(rng, kind):
    """No plane in sight: every node with three random others, or a lattice in three dimensions."""
    if kind == "regular":
        n = 1000
        edges = once(np.c_[np.tile(np.arange(n), 3), np.concatenate([rng.permutation(n) for _ in range(3)])])
    else:
        i = np.arange(11**3).reshape(11, 11, 11)
        edges = np.vstack([np.c_[np.moveaxis(i, axis, 0)[:-1].ravel(), np.moveaxis(i, axis, 0)[1:].ravel()]
                           for axis in range(3)])  # fmt: skip
    return Made(edges, rng.weibull(0.7, len(edges)) * 10)


@family("drainage-trees", basin=dict(width=40), continent=dict(width=110))
def drainage_trees(rng, width):
    """A tree of rivers in which every place drains down to its left or right; reaches get longer downstream."""
    i = np.arange(width * width).reshape(width, width)
    below = np.roll(i, -1, axis=0)
    below = np.where(rng.random((width, width)) < 0.5, below, np.roll(below, -1, axis=1))[:-1]
    edges = np.vstack([np.c_[i[:-1].ravel(), below.ravel()], np.c_[i[-1, :-1], i[-1, 1:]]])
    weights = rng.gamma(0.8, 1.0, len(edges)) * np.sqrt(1 + edges[:, 0] // width)
    return Made(edges, weights, np.c_[i.ravel() % width, -(i.ravel() // width)].astype(float))
