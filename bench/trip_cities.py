"""Cities of different shape for ``bench/trips.py``, people who drive in them, and the totals that are measured.

Totals are computed here in floats from the simulated table: the private path counts in whole lattice steps.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

from hushpath.demo.people import DAYS, Roads, simulate_people
from hushpath.demo.streets import generate_streets, triangulate
from hushpath.measurement.samples import usage
from hushpath.network.topology import Topology

PERSON_DAYS = 150_000
STAY_AT_HOME = 0.107  # share of person-days without a trip
LOW, HIGH = 0.5, 6.0  # public bounds, in free-flow times
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
    road = coo_array((length, (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()
    hub = [int(np.linalg.norm(places - town, axis=1).argmin()) for town in towns]
    before = dijkstra(road, directed=False, indices=hub, return_predecessors=True)[1]
    fast = set()
    for i, row in enumerate(before):
        for target in hub[:i]:
            while row[target] >= 0:
                fast.add((min(target, row[target]), max(target, row[target])))
                target = row[target]
    motorway = np.array([(a, b) in fast for a, b in ends.tolist()])
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


def luxembourg(x=6.13, y=49.61):
    """The part of luxembourg_time nearest to a place, by road; none without $HUSHPATH_DATA."""
    folder = Path(os.environ.get("HUSHPATH_DATA", ""))
    if not (os.environ.get("HUSHPATH_DATA") and (folder / "luxembourg_time.csv").is_file()):
        return None
    edges, nodes = pd.read_csv(folder / "luxembourg_time.csv"), pd.read_csv(folder / "luxembourg_time.nodes.csv")
    nodes = nodes.set_index("node").sort_index()
    place = nodes.to_numpy() * [np.cos(np.radians(y)), 1.0] * 111.2  # km
    spot = pd.Series(np.arange(len(nodes)), nodes.index)
    ends = np.c_[spot[edges.source], spot[edges.target]]
    time = edges.weight.to_numpy()
    graph = coo_array((time + 0.1, (ends[:, 0], ends[:, 1])), shape=(len(nodes),) * 2).tocsr()
    start = int(np.nanargmin(np.linalg.norm(place - np.array([x * np.cos(np.radians(y)), y]) * 111.2, axis=1)))
    near = np.argsort(dijkstra(graph, directed=False, indices=start))[:EXTRACT]
    inside = np.zeros(len(nodes), bool)
    inside[near] = True
    kept = inside[ends].all(1)
    position = np.cumsum(inside) - 1
    return arcs(place[inside], position[ends[kept]], time[kept])


CITIES = {
    "demo city": demo, "grid, one-way": manhattan, "sprawl": sprawl, "luxembourg extract": luxembourg,
    "demo, another": lambda: demo(1_500, 77), "spider": spider, "sprawl, another": lambda: sprawl(2_500, 23),
    "esch extract": lambda: luxembourg(5.98, 49.50),
}  # fmt: skip
HELD_OUT = ("demo, another", "spider", "sprawl, another", "esch extract")  # looked at only when all was chosen


class Case(NamedTuple):
    """One city and one draw of its people."""

    roads: Roads
    topology: Topology
    truth: np.ndarray  # (periods, arcs), seconds
    emphasis: np.ndarray
    unit: np.ndarray  # of each cell that a unit touches
    cell: np.ndarray  # period * arcs + arc
    share: np.ndarray  # p in [0, 1]
    count: int  # of units


def case(name, periods, seed, person_days=PERSON_DAYS):
    roads = CITIES[name]()
    n, m = len(roads.places), len(roads.tails)
    topology, kept = Topology.build(range(n), roads.tails, roads.heads, directed=True, coordinates=roads.places,
                                    proxy=roads.free_flow)  # fmt: skip
    assert np.array_equal(kept, np.arange(m))
    used = usage(topology, roads.free_flow / roads.free_flow.mean())
    emphasis = (used / used.mean() + 0.1) ** -0.25
    people = round(person_days / DAYS / (1 - STAY_AT_HOME))
    town = simulate_people(roads, people, seed, DAYS, ("am", "pm") if periods == 2 else ("day",))
    drives = town.drives
    unit = drives.person.astype(np.int64) * DAYS + drives.day
    key = unit * (periods * m) + drives.period.astype(np.int64) * m + drives.arc
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    mean = np.add.reduceat(drives.seconds[order].astype(float), first) / np.diff(np.append(first, len(key)))
    unit, cell = np.divmod(key[first], periods * m)
    free = roads.free_flow[cell % m]
    share = np.clip((mean / free - LOW) / (HIGH - LOW), 0, 1)
    return Case(roads, topology, town.truth, emphasis, unit, cell, share, len(np.unique(unit)))


def totals(found, norm):
    """Exact A and B with units of norm 1, in L1 or L2."""
    g = found.emphasis[found.cell % len(found.emphasis)]
    size = np.bincount(found.unit, g**norm) ** (1 / norm)
    u = g / size[found.unit]
    cells = found.truth.size
    above = np.bincount(found.cell, u * found.share, minlength=cells)
    below = np.bincount(found.cell, u * (1 - found.share), minlength=cells)
    return above.reshape(found.truth.shape), below.reshape(found.truth.shape)
