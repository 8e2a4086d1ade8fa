"""Cases of simulated people on street networks, in two pools: ``development`` and ``test``.

Estimators are chosen on development alone; the test pool is looked at when all is chosen.  Test cases differ from those
of development in the pattern of their streets, in why roads are slow, and in how people live and choose:

    case             pool   roads are slow ...
    demo city        dev    by load, a smooth field, single streets, signals (so on ``grid``, ``sprawl``, real networks)
    ring-radial      dev    near the centre, toward it first and away from it last; some crossings
    corridor         dev    along the fast roads, in the direction that most people take
    harbour          test   by load alone, in equilibrium: a volume-delay function (BPR) on assigned flows
    superblocks      test   at crossings: seconds that are added, not ratios; their waits vary more than driving does
    islands          test   at the busiest few arcs and in the queues before them; it rains in a part of the city, and
                            people take the way that is fastest on empty streets
    country          test   in dense towns, before road works, in one region; about 100 000 arcs, most hardly used

Real networks are of the development pool, and there only if $HUSHPATH_DATA names their folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import trip_cities as cities
from scipy.spatial import cKDTree
from trip_people import Demand, Net, clipped_mean, plan_trips, run, trees

from hushpath.demo.people import Roads, draw_field
from hushpath.measurement.trip_strategy import inverse_traffic
from hushpath.network.topology import Topology

PERSONS = (20_000, 150_000, 1_000_000)
VERSION = 1  # of the simulation: raise it when totals change, so that no old ones are read
LOADED = 20_000  # person-days that cause congestion
USUAL_SHAPE = 8.0  # of the gamma law of a pass


class Streets(NamedTuple):
    """What congestion is made from."""

    roads: Roads
    periods: int
    loads: Callable  # from ratios (periods, arcs) to how many person-days pass each arc in each period
    rng: np.random.Generator

    @property
    def plain(self):
        return np.ones((self.periods, len(self.roads.tails)))

    @property
    def middle(self):
        return (self.roads.places[self.roads.tails] + self.roads.places[self.roads.heads]) / 2

    @property
    def tide(self):
        """1 toward the centre in the first period, -1 in the last; 0 if there is one period."""
        turn = np.linspace(1.0, -1.0, self.periods) if self.periods > 1 else np.zeros(1)
        return turn[:, None] * self.roads.inward

    @property
    def streets_at(self):
        """How many streets meet at each node."""
        street = np.unique(self.roads.street)
        ends = np.concatenate([self.roads.tails[street], self.roads.heads[street]])
        return np.bincount(ends, minlength=len(self.roads.places))

    def own(self, street, arc, moment):
        """Log effects of single streets, arcs, and arcs in one period, with these spreads."""
        m, draw = len(self.roads.tails), self.rng.normal
        return street * draw(size=m)[self.roads.street] + arc * draw(size=m) + moment * draw(size=(self.periods, m))

    def heavy(self, volume, share):
        """The load over capacity for which a ``share`` of all passes is on roads with less."""
        strain = (volume / self.roads.capacity).ravel()
        order = np.argsort(strain)
        passes = np.cumsum(volume.ravel()[order])
        return strain[order][np.searchsorted(passes, share * passes[-1])]

    def strain(self, volume, share=0.9):
        """Load over capacity, relative to a heavy one."""
        return volume / self.roads.capacity / self.heavy(volume, share)


# Why roads are slow: each returns mean ratios to free flow (periods, arcs), and gamma shapes of passes (arcs,) --------


def by_load(at):
    roads, rng, m = at.roads, at.rng, len(at.roads.tails)
    volume = at.loads(at.plain)
    strain = np.minimum(at.strain(volume), 1.6)
    fields = [draw_field(at.middle, roads.radius / 4, rng) for _ in range(at.periods + 1)]
    field = 0.10 * fields[0] + 0.08 * np.stack(fields[1:])
    ratio = (1.12 + 0.9 * strain**1.5) * np.exp(field + at.own(0.10, 0.10, 0.06) + 0.12 * at.tide)
    busy = np.bincount(roads.heads, volume.sum(0), minlength=len(roads.places))
    crossing = at.streets_at >= 3
    signal = (crossing & (busy > np.quantile(busy[crossing], 0.7)))[roads.heads]
    waiting = rng.gamma(3.0, 7.0 / 3, m) * signal * (0.6 + 0.4 * strain)
    return ratio + waiting / roads.free_flow, np.full(m, USUAL_SHAPE)


def by_centre(at):
    roads, rng, m = at.roads, at.rng, len(at.roads.tails)
    away = np.hypot(*(at.middle - roads.centre).T) / roads.radius
    wide = np.minimum(roads.capacity, 2.0) ** 0.5
    near = np.exp(-((away / 0.4) ** 2))
    ratio = (1.08 + 0.9 * near * wide * (1 + 0.5 * at.tide)) * np.exp(at.own(0.05, 0.12, 0.05))
    waiting = rng.gamma(2.0, 5.0, m) * (rng.random(len(roads.places)) < 0.15)[roads.heads]
    return ratio + waiting / roads.free_flow, np.full(m, USUAL_SHAPE)


def by_corridor(at):
    roads, rng = at.roads, at.rng
    way = roads.places[roads.heads] - roads.places[roads.tails]
    east = way[:, 0] / np.maximum(np.hypot(*way.T), 1e-9)
    fast = np.clip(roads.capacity - 1.2, 0.0, 2.0) / 2
    spots, peak = rng.uniform(0, 70, 3), np.linspace(1.0, -1.0, at.periods) if at.periods > 1 else np.full(1, 0.5)
    queue = np.exp(-np.abs(at.middle[:, :1] - spots) / 5.0).sum(1)
    ratio = 1.1 + fast * queue * (0.9 + 0.8 * peak[:, None] * east) + 0.25 * (1 - fast)
    field = 0.12 * draw_field(at.middle, 6.0, rng)
    return ratio * np.exp(field + at.own(0.08, 0.06, 0.04)), np.full(len(east), USUAL_SHAPE)


def by_equilibrium(at):
    volume = at.loads(at.plain)
    usual = at.roads.capacity * at.heavy(volume, 0.55)
    delay = lambda flow: 1.02 + 0.8 * np.minimum(flow / usual, 1.45) ** 4  # noqa: E731
    for turn in range(1, 6):
        volume = volume + (at.loads(delay(volume)) - volume) / (turn + 1)
    return delay(volume) * np.exp(at.own(0.0, 0.07, 0.03)), np.full(volume.shape[1], 12.0)


def by_crossings(at):
    roads, rng = at.roads, at.rng
    streets = at.streets_at
    speed = np.hypot(*(roads.places[roads.tails] - roads.places[roads.heads]).T) / roads.free_flow
    widest = np.zeros(len(streets))
    np.maximum.at(widest, roads.heads, speed)
    signal = (streets >= 3) & (widest * 3600 > 40) & (rng.random(len(streets)) < 0.7)
    red, minor = rng.gamma(4.0, 4.0, len(streets)), speed < 0.8 * widest[roads.heads]
    wait = np.where(signal[roads.heads], red[roads.heads] * np.where(minor, 1.6, 0.8), np.where(minor, 4.0, 1.0))
    wait = wait * rng.lognormal(0, 0.3, (at.periods, len(wait)))
    shape = np.where(signal[roads.heads], 2.5, 20.0)
    return 1.05 * np.exp(at.own(0.0, 0.04, 0.0)) + wait / roads.free_flow, shape


def by_bottlenecks(at):
    roads, rng, m = at.roads, at.rng, len(at.roads.tails)
    volume = at.loads(at.plain)
    ratio = 1.05 * np.exp(at.own(0.06, 0.08, 0.03))
    middle = at.middle
    for q in range(at.periods):
        busiest = np.argsort(-volume[q] / roads.capacity)[: max(4, m // 600)]
        away, which = cKDTree(roads.places[roads.tails[busiest]]).query(roads.places[roads.heads])
        toward = roads.places[roads.tails[busiest]][which] - middle
        way = roads.places[roads.heads] - roads.places[roads.tails]
        leads = (toward * way).sum(1) > 0
        ratio[q] += 2.2 * np.exp(-away / 0.35) * leads * np.minimum(volume[q] / np.quantile(volume[q], 0.9), 1.0)
        ratio[q, busiest] += 2.5
    rain = 1 / (1 + np.exp(-(middle @ rng.normal(size=2)) / (0.25 * roads.radius)))
    return ratio * (1 + 0.3 * rain), np.full(m, 5.0)


def by_towns(at):
    roads, rng, m = at.roads, at.rng, len(at.roads.tails)
    dense = np.log1p(_density(roads))[roads.heads]
    dense = np.clip((dense - np.quantile(dense, 0.3)) / np.ptp(np.quantile(dense, [0.3, 0.99])), 0, 1.1)
    strain = np.minimum(at.strain(at.loads(at.plain), 0.85), 1.3)
    ratio = 1.04 + 0.65 * dense**2 * (1 + 0.25 * at.tide) + 0.35 * strain**3
    away, which = cKDTree(at.middle[rng.integers(0, m, 40)]).query(at.middle)
    ratio += (away < 1.5) * (roads.capacity > 1.3) * rng.uniform(0.4, 1.8, 40)[which]  # road works
    snow = np.exp(0.12 * draw_field(at.middle, roads.radius, rng))
    return ratio * snow * np.exp(at.own(0.05, 0.05, 0.03)), np.full(m, 10.0)


# How people live ------------------------------------------------------------------------------------------------------


def _density(roads, reach=2.0):
    tree = cKDTree(roads.places)
    return tree.query_ball_point(roads.places, reach, return_length=True)


def city_life(roads, rng, inner=5.0, **more):
    """Homes thin out slowly, work places fast, around the centre and three other nuclei."""
    away = np.hypot(*(roads.places - roads.centre).T) / roads.radius
    nuclei = roads.places[rng.integers(0, len(away), 3)]
    near = np.exp(-12 * np.linalg.norm(roads.places[:, None] - nuclei, axis=2) / roads.radius).sum(1)
    homes = np.exp(-0.6 * away) * rng.lognormal(0, 0.4, len(away))
    pull = (np.exp(-inner * away) + 0.3 * near) * rng.lognormal(0, 0.8, len(away))
    return Demand(homes, pull, reach=roads.radius, **more)


def spread_life(roads, rng, **more):
    """No centre: work places are everywhere, some of them large."""
    n = len(roads.places)
    return Demand(rng.lognormal(0, 0.3, n), rng.pareto(1.3, n) + 0.1, reach=0.5 * roads.radius, **more)


def town_life(roads, rng, reach=12.0, **more):
    """Homes at all nodes; work places where nodes are dense."""
    n = len(roads.places)
    return Demand(rng.lognormal(0, 0.5, n), (_density(roads) + 1.0) ** 0.6 * rng.lognormal(0, 0.8, n), reach, **more)


class Spec(NamedTuple):
    network: Callable
    congestion: Callable
    life: Callable


DEVELOPMENT = {
    "demo city": Spec(cities.demo, by_load, city_life),
    "grid, one-way": Spec(cities.manhattan, by_load, city_life),
    "sprawl": Spec(cities.sprawl, by_load, city_life),
    "ring-radial": Spec(cities.spider, by_centre, lambda roads, rng: city_life(roads, rng, inner=3.0)),
    "corridor": Spec(cities.corridor, by_corridor, lambda roads, rng: town_life(roads, rng, 15.0)),
    "luxembourg extract": Spec(cities.luxembourg_extract, by_load, city_life),
    "hersfeld": Spec(cities.hersfeld, by_load, lambda roads, rng: city_life(roads, rng, inner=8.0)),
    "luxembourg": Spec(cities.luxembourg, by_load, lambda roads, rng: town_life(roads, rng, 10.0, tastes=2)),
}
TEST = {
    "harbour": Spec(cities.harbour, by_equilibrium, lambda roads, rng: city_life(roads, rng, 2.0, commute=0.5)),
    "superblocks": Spec(cities.superblocks, by_crossings, lambda roads, rng: spread_life(roads, rng, errands=1.2)),
    "islands": Spec(
        cities.islands, by_bottlenecks,
        lambda roads, rng: spread_life(roads, rng, habit=1.0, taste=0.4, perception=0.25, pace=0.25),
    ),
    "country": Spec(cities.country, by_towns, lambda roads, rng: town_life(roads, rng, tastes=2, habit=0.5)),
}  # fmt: skip
POOLS = {"development": DEVELOPMENT, "test": TEST}
LARGE = ("luxembourg", "country")


class Case(NamedTuple):
    """One network, one draw of its people, and what is measured of them without noise."""

    roads: Roads
    topology: Topology
    weight: np.ndarray  # (arcs,): public weights of edges in a unit, as the release has them
    truth: np.ndarray  # (periods, arcs): mean seconds of a clipped pass
    totals: np.ndarray  # (designs, A or B, periods, arcs), see trip_people.DESIGNS
    passed: np.ndarray  # (periods, arcs): how many person-days


def public(name):
    """The network of a case, or none without its data."""
    roads = (DEVELOPMENT | TEST)[name].network()
    if roads is None:
        return None
    topology, kept = Topology.build(range(len(roads.places)), roads.tails, roads.heads, directed=True,
                                    coordinates=roads.places, proxy=roads.free_flow)  # fmt: skip
    assert np.array_equal(kept, np.arange(len(kept)))
    return roads, topology


def _file(work, name, persons, periods, seed, weight):
    mark = hashlib.sha256(weight.tobytes()).hexdigest()[:8]
    return Path(work) / f"{name.replace(', ', '-').replace(' ', '-')}-{persons}-{periods}p-{seed}-v{VERSION}-{mark}.npz"


def cases(name, persons, periods, seed, work):
    """Yield (number of person-days, case) for each of several numbers; totals are kept as files in ``work``."""
    if (found := public(name)) is None:
        return
    roads, topology = found
    weight = inverse_traffic(topology).astype(float)
    files = [_file(work, name, count, periods, seed, weight) for count in persons]
    simulate = None
    for count, file in zip(persons, files, strict=True):
        if not file.is_file():
            simulate = simulate or _simulator(name, roads, weight, periods, seed)
            file.parent.mkdir(parents=True, exist_ok=True)
            truth, totals, passed = simulate(count)
            np.savez(file.with_suffix(".part.npz"), truth=truth, totals=totals, passed=passed)
            file.with_suffix(".part.npz").rename(file)
        kept = np.load(file)
        yield count, Case(roads, topology, weight, kept["truth"], kept["totals"], kept["passed"])


def _simulator(name, roads, weight, periods, seed):
    """A function from a number of person-days to truth, totals and passes; the trees of routes are found once."""
    spec, net, m = (DEVELOPMENT | TEST)[name], Net.of(roads), len(roads.tails)
    rng = [np.random.default_rng([seed, stage]) for stage in range(4)]
    demand = spec.life(roads, rng[0])
    some = min(demand.places, len(roads.places))
    places = np.sort(rng[0].choice(len(roads.places), some, replace=False, p=_mixed(demand)))
    sample = plan_trips(roads, demand, places, LOADED, periods, rng[1])

    def loads(ratio):
        found = trees(net, (roads.free_flow * ratio)[:, None], places, 0.05, seed)
        return run(net, found, sample, ratio, np.full(m, USUAL_SHAPE), weight, seed)[1]

    ratio, shape = spec.congestion(Streets(roads, periods, loads, rng[2]))
    ratio = np.clip(ratio, 0.85, 6.0)
    truth = roads.free_flow * clipped_mean(ratio, shape, demand, rng[3])
    perceived = (roads.free_flow * ratio) ** (1 - demand.habit) * (roads.free_flow * ratio.mean()) ** demand.habit
    liking = demand.taste * np.linspace(-1, 1, demand.tastes)[:, None] * np.log(roads.capacity)
    found = trees(net, perceived[:, None] * np.exp(liking), places, demand.perception, seed + 1)

    def simulate(persons):
        trips = plan_trips(roads, demand, places, persons, periods, np.random.default_rng([seed, 10, persons]))
        totals, passed = run(net, found, trips, ratio, shape, weight, seed + persons)
        return truth, totals, passed

    return simulate


def _mixed(demand):
    """Where places are: half by attraction, half by where people live."""
    return 0.5 * demand.homes / demand.homes.sum() + 0.5 * demand.attraction / demand.attraction.sum()
