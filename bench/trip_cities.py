"""Street networks of different shape, generated or real, on which ``trip_pools`` simulates people.

All are directed: arcs with free-flow seconds between nodes with coordinates in km.  Those of the development pool come
first, those of the test pool last; how people live, drive and wait there is in ``trip_pools``.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra, minimum_spanning_tree
from scipy.spatial import cKDTree

from hushpath.demo.people import Roads
from hushpath.demo.streets import generate_streets, triangulate

EXTRACT = 5_000


def demo(size=2_500, seed=2016):
    return Roads.of(generate_streets(size, seed))


def arcs(places, ends, seconds, one_way=None):
    """Both directions of each street, but of a one-way street only the first."""
    back = np.ones(len(ends), bool) if one_way is None else ~one_way
    tails, heads = np.concatenate([ends[:, 0], ends[back, 1]]), np.concatenate([ends[:, 1], ends[back, 0]])
    seconds = np.concatenate([seconds, seconds[back]])
    part = connected_components(coo_array((np.ones(len(tails)), (tails, heads)), shape=(len(places),) * 2),
                                connection="strong")[1]  # fmt: skip
    kept = part == np.bincount(part).argmax()
    there, position = kept[tails] & kept[heads], np.cumsum(kept) - 1
    tails, heads, seconds = position[tails[there]], position[heads[there]], seconds[there]
    order = np.lexsort((heads, tails))
    return Roads(places[kept], tails[order], heads[order], np.maximum(seconds[order], 1.0))


def lengths_of(places, ends):
    return np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1)


def nearest(places, spots):
    return np.unique(cKDTree(places).query(spots)[1])


def between(ends, length, n, hubs, pairs=None):
    """Which streets are on a shortest way between two hubs; of all pairs of hubs, or of these."""
    road = coo_array((length, (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()
    before = dijkstra(road, directed=False, indices=hubs, return_predecessors=True)[1]
    used = set()
    every = [(a, b) for a in range(len(hubs)) for b in range(a)]
    for i, j in every if pairs is None else pairs:
        row, target = before[i], hubs[j]
        while row[target] >= 0:
            used.add((min(target, row[target]), max(target, row[target])))
            target = row[target]
    return np.array([(min(a, b), max(a, b)) in used for a, b in ends.tolist()])


def tree_of(ends, length, n):
    """Which streets are in a shortest spanning tree."""
    tree = minimum_spanning_tree(coo_array((length, (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()).tocoo()
    key = np.minimum(tree.row, tree.col) * n + np.maximum(tree.row, tree.col)
    return np.isin(ends.min(1) * n + ends.max(1), key)


def manhattan(rows=60, columns=40):
    """Long blocks and short ones, one-way streets in turns, a two-way avenue every eighth, a park without streets."""
    rng = np.random.default_rng(3)
    spot = np.arange(rows * columns).reshape(rows, columns)
    places = np.c_[np.tile(np.arange(columns) * 0.25, rows), np.repeat(np.arange(rows) * 0.08, columns)]
    along = [(spot[r, ::-1] if r % 2 else spot[r], r % 8 == 4, 30.0, r % 8 != 4) for r in range(rows)]
    up = [(spot[::-1, c] if c % 2 else spot[:, c], c % 4 == 2, 40.0, c % 4 != 2) for c in range(columns)]
    ends, speed, one_way = [], [], []
    for line, wide, usual, single in [*along, *up]:
        pairs = np.c_[line[:-1], line[1:]]
        ends.append(pairs)
        speed.append(np.full(len(pairs), usual + 15 * wide))
        one_way.append(np.full(len(pairs), single))
    ends, speed, one_way = np.concatenate(ends), np.concatenate(speed), np.concatenate(one_way)
    middle = places[ends].mean(1)
    park = (np.abs(middle[:, 0] - 5.0) < 1.1) & (np.abs(middle[:, 1] - 3.2) < 0.6) & (rng.random(len(ends)) < 0.9)
    length = np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1)
    return arcs(places, ends[~park], (3600 * length / speed)[~park], one_way[~park])


def sprawl(n=4_000, seed=11):
    """Towns that grew together: uneven corners, crooked streets, motorways between the towns."""
    rng = np.random.default_rng(seed)
    towns = rng.normal(0, 6, (9, 2))
    which = rng.choice(9, n, p=rng.dirichlet(np.full(9, 3.0)))
    places = towns[which] + rng.normal(0, 1, (n, 2)) * rng.uniform(0.8, 3.0, 9)[which, None]
    ends = triangulate(places)
    length = np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1)
    keep = (rng.random(len(ends)) < 0.72) & (length < 2.5)
    ends, length = ends[keep], length[keep]
    motorway = between(ends, length, n, nearest(places, towns))
    speed = np.where(motorway, 90.0, rng.choice([30.0, 40.0, 50.0], len(ends), p=[0.6, 0.25, 0.15]))
    return arcs(places, ends, 3600 * length / speed)


def spider(rings=24, spokes=72, seed=5):
    """A radial city: rings and spokes, half of the inner spokes end early; a few places are missing."""
    rng = np.random.default_rng(seed)
    ring, turn = np.repeat(np.arange(1, rings + 1), spokes), np.tile(np.arange(spokes), rings)
    angle = 2 * np.pi * turn / spokes + 0.02 * rng.normal(size=len(ring))
    places = 0.18 * ring[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    index = lambda r, t: (r - 1) * spokes + t % spokes  # noqa: E731
    around = np.c_[index(ring, turn), index(ring, turn + 1)]
    out = ring < rings
    spoke = np.c_[index(ring[out], turn[out]), index(ring[out] + 1, turn[out])]
    ends = np.concatenate([around, spoke])
    main = np.concatenate([ring % 8 == 4, turn[out] % 9 == 0])
    keep = main | (rng.random(len(ends)) < 0.8)
    inner = np.concatenate([(ring < 6) & (turn % 2 == 1), (ring[out] < 6) & (turn[out] % 2 == 1)])
    keep &= ~inner
    ends, main = ends[keep], main[keep]
    length = np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1)
    return arcs(places, ends, 3600 * length / np.where(main, 55.0, 30.0))


def real(name, degrees):
    """A real network, each street in both directions, and where its nodes are; none without $HUSHPATH_DATA."""
    folder = Path(os.environ.get("HUSHPATH_DATA", ""))
    if not (os.environ.get("HUSHPATH_DATA") and (folder / f"{name}.csv").is_file()):
        return None
    edges, nodes = pd.read_csv(folder / f"{name}.csv"), pd.read_csv(folder / f"{name}.nodes.csv")
    nodes = nodes.set_index("node").sort_index()
    scale = np.array([np.cos(np.radians(nodes.y.mean())), 1.0]) * 111.2 if degrees else 1e-3  # km
    spot = pd.Series(np.arange(len(nodes)), nodes.index)
    ends = np.c_[spot[edges.source], spot[edges.target]]
    places = nodes.to_numpy() * scale
    known = np.isfinite(places).all(1)
    places[~known] = places[known].mean(0)
    return arcs(places, ends, edges.weight.to_numpy(float))


def luxembourg():
    """A country: about 75 000 nodes."""
    return real("luxembourg_time", degrees=True)


def luxembourg_extract():
    """The part of it nearest to the centre of its capital, by road."""
    if (whole := luxembourg()) is None:
        return None
    capital = np.array([6.13 * np.cos(np.radians(49.77)), 49.61]) * 111.2
    start = int(np.linalg.norm(whole.places - capital, axis=1).argmin())
    graph = coo_array((whole.free_flow, (whole.tails, whole.heads)), shape=(len(whole.places),) * 2).tocsr()
    inside = np.zeros(len(whole.places), bool)
    inside[np.argsort(dijkstra(graph, indices=start))[:EXTRACT]] = True
    kept, position = inside[whole.tails] & inside[whole.heads], np.cumsum(inside) - 1
    ends = np.c_[position[whole.tails[kept]], position[whole.heads[kept]]]
    return arcs(whole.places[inside], ends, whole.free_flow[kept], np.ones(kept.sum(), bool))


def hersfeld():
    """A small town and the roads around it."""
    return real("hersfeld_sumo_s", degrees=False)


def corridor(n=3_500, seed=41):
    """Eleven towns along a valley, 70 km long: one motorway, one old road beside it, little else from town to town."""
    rng = np.random.default_rng(seed)
    towns = np.c_[np.linspace(0, 70, 11) + rng.normal(0, 1, 11), rng.normal(0, 1.0, 11)]
    which = rng.choice(11, n, p=rng.dirichlet(np.full(11, 4.0)))
    far = rng.random(n) < 0.25
    places = np.where(far[:, None], np.c_[rng.uniform(-3, 73, n), rng.normal(0, 2.0, n)],
                      towns[which] + rng.normal(0, 1, (n, 2)) * rng.uniform(0.5, 1.2, 11)[which, None])  # fmt: skip
    ends = triangulate(places)
    length = lengths_of(places, ends)
    keep = tree_of(ends, length, n) | ((rng.random(len(ends)) < 0.55) & (length < 2.0))
    ends, length = ends[keep], length[keep]
    hubs = nearest(places, towns)
    hubs = hubs[np.argsort(places[hubs, 0])]
    chain = [(i, i + 1) for i in range(len(hubs) - 1)]
    motorway = between(ends, length, n, hubs, chain)
    old = between(ends, length * np.where(motorway, 3.0, 1.0), n, hubs, chain) & ~motorway
    speed = np.where(motorway, 100.0, np.where(old, 65.0, rng.choice([30.0, 45.0], len(ends))))
    return arcs(places, ends, 3600 * length / speed)


# Test pool ------------------------------------------------------------------------------------------------------------


def harbour(n=3_600, seed=71):
    """A city at a bay: crooked streets that nobody planned, a few wide ones, no straight way across the water."""
    rng = np.random.default_rng(seed)
    spots = rng.uniform([-8, -1], [8, 9], (2 * n, 2)) * np.array([1.0, 0.9])
    water = (np.hypot(spots[:, 0] - 0.5, (spots[:, 1] + 1.0) * 0.7) < 2.6) | (rng.random(2 * n) < 0.06 * spots[:, 1])
    spots = spots[~water]
    crowded = cKDTree(spots).query_pairs(0.11, output_type="ndarray")
    spots = np.delete(spots, np.unique(crowded.max(axis=1)), axis=0)[:n]
    ends = triangulate(spots)
    middle, length = spots[ends].mean(1), lengths_of(spots, ends)
    alone = cKDTree(spots).query(middle)[0] >= length / 2 - 1e-9  # no third corner in the circle over a street
    keep = (alone & (length < 0.7) & (rng.random(len(ends)) < 0.92)) | tree_of(ends, length, len(spots))
    ends, length = ends[keep], length[keep] * rng.uniform(1.0, 1.35, keep.sum())
    wide = between(ends, length, len(spots), nearest(spots, rng.uniform([-7, 0], [7, 8], (14, 2))))
    return arcs(spots, ends, 3600 * length / np.where(wide, 48.0, 24.0))


def superblocks(blocks=14, seed=83):
    """Wide roads around blocks of half a kilometre; inside, trees of dead ends with one to three ways out."""
    rng = np.random.default_rng(seed)
    step, fine = 0.5, 4
    side = blocks * fine + 1
    line = np.array([(x, y) for x in range(side) for y in range(side) if x % fine == 0 or y % fine == 0])
    number = {tuple(spot): i for i, spot in enumerate(line.tolist())}
    places, ends, speed = [line * step / fine], [], []
    for (x, y), i in number.items():
        for other, along in (((x + 1, y), y), ((x, y + 1), x)):
            if other in number and (along % fine == 0):
                ends.append((i, number[other]))
                speed.append(60.0 if along % (4 * fine) == 0 else 45.0)
    total = len(line)
    for bx in range(blocks):
        for by in range(blocks):
            count = int(rng.integers(5, 16))
            inner = (np.array([bx, by]) + rng.uniform(0.12, 0.88, (count, 2))) * step
            pairs = triangulate(inner)
            pairs = pairs[tree_of(pairs, lengths_of(inner, pairs), count)]
            ends += [(total + a, total + b) for a, b in pairs.tolist()]
            for exit_ in rng.choice(count, int(rng.integers(1, 4)), replace=False):
                ends.append((total + exit_, int(np.linalg.norm(places[0] - inner[exit_], axis=1).argmin())))
            places.append(inner)
            total += count
    places, ends = np.concatenate(places), np.array(ends)
    speed = np.concatenate([speed, np.full(len(ends) - len(speed), 20.0)])
    return arcs(places, ends, 3600 * lengths_of(places, ends) / speed)


def islands(seed=97):
    """Three islands of hexagons, which differ in size, and four bridges."""
    rng = np.random.default_rng(seed)
    size = 0.14
    rows = np.array([(c, r, s) for c in range(-60, 61) for r in range(-60, 61) for s in (0, 1)])
    across, up = np.array([np.sqrt(3), 0.0]), np.array([np.sqrt(3) / 2, 1.5])
    places = size * (rows[:, [0]] * across + rows[:, [1]] * up + rows[:, [2]] * np.array([0.0, 1.0]))
    centres = np.array([[-3.4, 0.3], [3.3, 1.6], [1.5, -4.2]])
    reach = np.array([3.9, 2.7, 2.2])
    away = np.linalg.norm(places[:, None] - centres, axis=2) / reach
    bumpy = 1 + 0.15 * np.sin(5 * np.arctan2(*(places[:, None] - centres).transpose(2, 0, 1)))
    land = (away < bumpy).any(1)
    places, island = places[land] + rng.normal(0, 0.02, (land.sum(), 2)), (away / bumpy).argmin(1)[land]
    tree = cKDTree(places)
    ends = tree.query_pairs(1.35 * size, output_type="ndarray")
    ends = ends[(island[ends[:, 0]] == island[ends[:, 1]]) & (rng.random(len(ends)) < 0.95)]
    bridges = []
    for a, b, angle in ((0, 1, 0.1), (0, 1, 0.5), (0, 2, -0.9), (1, 2, -1.9)):
        toward = centres[a] + reach[a] * np.array([np.cos(angle), np.sin(angle)])
        shore = np.flatnonzero(island == a)[np.linalg.norm(places[island == a] - toward, axis=1).argmin()]
        there = np.flatnonzero(island == b)
        bridges.append((shore, there[np.linalg.norm(places[there] - places[shore], axis=1).argmin()]))
    ends = np.concatenate([ends, np.array(bridges)])
    length = lengths_of(places, ends)
    hubs = nearest(places, np.concatenate([centres, *(centres[i] + reach[i] * rng.uniform(-0.7, 0.7, (3, 2))
                                                     for i in range(3))]))  # fmt: skip
    main = between(ends, length, len(places), hubs)
    return arcs(places, ends, 3600 * length / np.where(main, 55.0, 32.0))


def country(n=34_000, seed=113):
    """Towns of very different size, 180 km across, villages and farms, sparse roads between them, a few motorways."""
    rng = np.random.default_rng(seed)
    towns = rng.uniform(0, 180, (150, 2)) * np.array([1.0, 0.7])
    weight = rng.pareto(1.1, 150) + 0.15
    lives = rng.random(n)
    which = rng.choice(150, n, p=weight / weight.sum())
    spread = 0.35 + 0.9 * np.sqrt(weight / weight.max()) * 4
    town = towns[which] + rng.normal(0, 1, (n, 2)) * spread[which, None]
    places = np.where((lives < 0.7)[:, None], town, rng.uniform(-3, 183, (n, 2)) * np.array([1.0, 0.7]))
    ends = triangulate(places)
    length = lengths_of(places, ends)
    keep = tree_of(ends, length, n) | ((rng.random(len(ends)) < 0.30) & (length < 2.5))
    ends, length = ends[keep], length[keep] * rng.uniform(1.0, 1.3, keep.sum())
    large = np.argsort(-weight)
    near = triangulate(towns)
    main = between(ends, length, n, cKDTree(places).query(towns)[1], near.tolist())
    chief = cKDTree(places).query(towns[large[:14]])[1]
    motorway = between(ends, length * np.where(main, 0.7, 1.0), n, chief, triangulate(towns[large[:14]]).tolist())
    speed = np.where(motorway, 115.0, np.where(main, 75.0, rng.choice([30.0, 45.0, 60.0], len(ends))))
    return arcs(places, ends, 3600 * length / speed)
