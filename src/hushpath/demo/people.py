"""Simulated drivers on any road map: who goes where and when, by which route, and how long each street takes.

The true mean times are known because they are simulated, so the error of a release can be measured.  The input is a
directed road map (``Roads``): any network with coordinates and free-flow times.

**People.**  Homes become fewer away from the centre; work places concentrate there and around a few other nuclei.  On
most days a person drives to work in the first period and home in the last, and makes return trips for errands at any
time.  The number of errands differs widely between people, and one person in a hundred is a taxi driver.

**Congestion.**  The mean time of each arc in each period (``truth``) follows from the trips: the trips of each period
are first routed over empty streets, and a street whose load is high for its capacity (the faster, the larger) becomes
slow, similar to the Bureau of Public Roads function.  So main roads and bridges are slow, more so in the direction
that most people take.  On top of that come

* queues towards the centre in the first period and away from it in the last;
* a smooth field over the city, partly shared by all periods (weather, road works, parking, driving habits);
* effects of a single street: in both directions, in one direction, and in one period (a school, a bus stop);
* waiting at the signals of busy crossings: additive, so short streets become relatively slower.

**Routes** are fastest paths by the perceived mean times; trips with the same origin and period share one perception
error.  **Seconds** of one pass are the true mean, times a factor of the trip (the driver), times a factor of the pass
(a red light); both factors have mean 1 and are never negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from ..arrays import Bool, Float, Int
from ..noise import simulation
from ..progress import steps
from .streets import Streets

PERIODS = ("am", "pm")
DAYS = 5
COMMUTES, TAXIS, TAXI_TRIPS = 0.85, 0.01, 14
ZONES = 2_500  # largest number of nodes where trips begin and end
NUCLEI = 3
LOADED_ORIGINS = 600  # origins of the trips that cause congestion
DRIVER_SPREAD, PASS_SHAPE = 0.15, 8.0  # of the logarithm of a trip's factor; of the gamma law of a pass's factor
FIELD, PERIOD_FIELD = 0.10, 0.08  # spreads of logarithms
STREET, ARC, MOMENT = 0.10, 0.10, 0.06
TIDE = 0.12  # size of queues on arcs that lead straight to the centre
WAVES = 128  # cosines of a field
SIGNAL = 7.0  # seconds, on average
LOWEST, HIGHEST = 0.85, 5.0  # true mean over free-flow time
RUSH, BETWEEN, HOUR = 8.0, 10.0, 3600.0
PERCEPTION = 0.12  # spread of the logarithm of a perceived time


@dataclass(frozen=True, eq=False)
class Roads:
    """A directed road map: arcs with free-flow times between nodes with coordinates."""

    places: Float  # (n, 2), in any unit
    tails: Int
    heads: Int
    free_flow: Float  # seconds, positive

    @classmethod
    def of(cls, streets: Streets) -> Roads:
        """Return two arcs for each street, sorted by tail and head."""
        tails, heads, street = streets.both_ways
        return cls(streets.places, tails, heads, streets.free_flow[street])

    @property
    def centre(self) -> Float:
        """The median of the coordinates."""
        return np.asarray(np.median(self.places, axis=0), np.float64)

    @cached_property
    def radius(self) -> float:
        """The distance from the centre within which 98 % of the nodes are."""
        away = np.hypot(*(self.places - self.centre).T)
        return float(np.quantile(away, 0.98)) + 1e-9

    @cached_property
    def street(self) -> Int:
        """The index of one arc per street: the same for an arc and its reverse."""
        n = len(self.places)
        low, high = np.minimum(self.tails, self.heads), np.maximum(self.tails, self.heads)
        _, first, which = np.unique(low * n + high, return_index=True, return_inverse=True)
        return np.asarray(first[which], np.int64)

    @cached_property
    def inward(self) -> Float:
        """1 for an arc that leads straight to the centre, -1 for an arc that leads straight away from it."""
        way, out = self.places[self.heads] - self.places[self.tails], self.places[self.tails] - self.centre
        size = np.hypot(*way.T) * (np.hypot(*out.T) + 0.1 * self.radius)
        return np.asarray(-(way * out).sum(1) / np.maximum(size, 1e-300), np.float64)

    @cached_property
    def capacity(self) -> Float:
        """Relative capacity of each arc: fast roads are wide."""
        speed = np.hypot(*(self.places[self.tails] - self.places[self.heads]).T) / self.free_flow
        usual = float(np.median(speed)) if len(speed) else 1.0
        return np.asarray(np.clip(speed / max(usual, 1e-12), 0.3, 4.0) ** 1.5, np.float64)


class TripEnds(NamedTuple):
    """Origin, target and period of each trip."""

    origin: Int
    target: Int
    period: Int


def find_routes(roads: Roads, seconds: Float, ends: TripEnds, rng: np.random.Generator) -> tuple[Int, Int]:
    """Find the fastest route of every trip, given its ``ends``, by perceived times.

    ``seconds`` are the true times per period and arc of ``roads``, and ``rng`` draws errors of perception.  Return the
    trip and the arc of every pass, in driving order.
    """
    n, m = len(roads.places), len(roads.tails)
    key = roads.tails * n + roads.heads
    order = np.lexsort((roads.free_flow, key))  # of parallel arcs, keep the fastest
    order = order[np.concatenate([[True], np.diff(key[order]) > 0])] if m else order
    key = key[order]
    graph = csr_array((np.empty(len(key)), np.divmod(key, n)), shape=(n, n))
    starts, start = np.unique(ends.origin * len(seconds) + ends.period, return_inverse=True)
    arrived = np.full((len(starts), n), -1, np.int32)  # the last arc of the path to each node
    for row in steps(range(len(starts)), "routes"):
        origin, period = divmod(int(starts[row]), len(seconds))
        graph.data[:] = (seconds[period, order]) * np.exp(PERCEPTION * rng.normal(size=len(order)))
        before = dijkstra(graph, indices=origin, return_predecessors=True)[1].astype(np.int64)
        reached = np.flatnonzero(before >= 0)
        arrived[row, reached] = order[np.searchsorted(key, before[reached] * n + reached)]
    # Walk all trips back from their targets at once, one arc at a time.
    going, node = np.arange(len(start)), ends.target.copy()
    passes: list[tuple[Int, Int]] = []
    while len(going):
        arc = arrived[start[going], node[going]]
        going, arc = going[arc >= 0], arc[arc >= 0]
        node[going] = roads.tails[arc]
        passes.append((going, arc.astype(np.int64)))
    which, arcs = (np.concatenate(column) for column in zip(*passes, strict=True)) if passes else (going, going)
    hops = np.bincount(which, minlength=len(start))
    last = np.cumsum(hops) - 1
    step = np.repeat(np.arange(len(passes)), [len(trips) for trips, _ in passes])
    route = np.empty(len(arcs), np.int64)
    route[last[which] - step] = arcs
    return np.repeat(np.arange(len(start)), hops), route


@dataclass(frozen=True, eq=False)
class Drives:
    """A table with one row per pass over an arc, trip after trip, in driving order.  Private."""

    person: NDArray[np.int32]
    day: NDArray[np.int32]
    trip: NDArray[np.int32]
    period: NDArray[np.int32]  # position among the periods
    arc: NDArray[np.int32]  # position among the arcs of the roads
    enter: NDArray[np.float32]  # time of day in seconds
    seconds: NDArray[np.float32]

    def __repr__(self) -> str:
        return "Drives(hidden)"

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True, eq=False)
class Town:
    """Simulated drivers: their drives, and the true mean seconds per period and arc (known to the simulation only)."""

    roads: Roads
    periods: tuple[str, ...]
    drives: Drives
    truth: Float


def simulate_people(roads: Roads, people: int, seed: int, days: int = DAYS, periods: tuple[str, ...] = PERIODS) -> Town:
    """Simulate ``people`` who drive on ``roads`` for ``days`` of these ``periods``; the same ``seed`` repeats it."""
    rng = simulation(seed)
    persons, at, ends = _draw_trips(roads, people, days, len(periods), rng)
    truth = _simulate_congestion(roads, ends, len(periods), rng)
    which, arc = find_routes(roads, truth, ends, rng)
    period = ends.period[which]
    mean = truth[period, arc].astype(np.float32)
    factor = np.exp(rng.normal(-(DRIVER_SPREAD**2) / 2, DRIVER_SPREAD, len(persons))).astype(np.float32)
    seconds = mean * factor[which] * rng.standard_gamma(PASS_SHAPE, len(arc), dtype=np.float32) / np.float32(PASS_SHAPE)
    # Times add up along each trip, from its start.
    spent = np.cumsum(seconds, dtype=np.float64) - seconds
    first = np.diff(which, prepend=-1) != 0
    begun = spent[first][np.cumsum(first) - 1]
    hour = RUSH + BETWEEN * np.arange(len(periods)) / max(len(periods) - 1, 1)
    start = HOUR * np.clip(rng.normal(hour[ends.period], 0.7), 0.0, 23.0)
    enter = start[which] + spent - begun
    person, day, trip, when, where = (x.astype(np.int32) for x in (persons[which], at[which], which, period, arc))
    return Town(roads, periods, Drives(person, day, trip, when, where, enter.astype(np.float32), seconds), truth)


def _draw_trips(
    roads: Roads, people: int, days: int, periods: int, rng: np.random.Generator
) -> tuple[Int, Int, TripEnds]:
    """Draw commutes, errands and taxi trips, in any order: the person, the day and the ends of each.

    ``people``, ``days`` and ``periods`` are how many there are on these ``roads``; ``rng`` draws everything.
    """
    n, last = len(roads.places), periods - 1
    zones = np.sort(rng.choice(n, min(n, ZONES), replace=False))
    away = np.hypot(*(roads.places[zones] - roads.centre).T) / roads.radius
    nuclei = roads.places[rng.choice(zones, NUCLEI)]
    near = np.exp(-12 * np.linalg.norm(roads.places[zones, None] - nuclei, axis=2) / roads.radius).sum(1)
    living = _normalise(np.exp(-0.6 * away) * rng.lognormal(0, 0.4, len(zones)))
    working = _normalise((np.exp(-5.0 * away) + 0.3 * near) * rng.lognormal(0, 0.8, len(zones)))
    home, work = (zones[rng.choice(len(zones), people, p=share)] for share in (living, working))
    errands = np.minimum(rng.lognormal(-1.4, 1.0, people), 6.0)
    taxi = rng.random(people) < TAXIS
    person, day = np.repeat(np.arange(people), days), np.tile(np.arange(days), people)
    parts: list[tuple[Int, Int, Int, Int, Int]] = []  # person, day, origin, target, period
    works = (rng.random(len(person)) < COMMUTES) & ~taxi[person]
    who, when = person[works], day[works]
    parts.append((who, when, home[who], work[who], np.zeros(len(who), np.int64)))
    parts.append((who, when, work[who], home[who], np.full(len(who), last)))
    count = rng.poisson(np.where(taxi, 0.0, errands)[person])
    who, when = np.repeat(person, count), np.repeat(day, count)
    where = zones[rng.choice(len(zones), len(who), p=0.5 * (living + working))]
    period = rng.integers(0, periods, len(who))
    parts.append((who, when, home[who], where, period))
    parts.append((who, when, where, home[who], period))
    count = rng.poisson(np.where(taxi, TAXI_TRIPS, 0.0)[person])
    who, when = np.repeat(person, count), np.repeat(day, count)
    ends = zones[rng.choice(len(zones), (2, len(who)), p=0.5 * (living + working))]
    parts.append((who, when, ends[0], ends[1], rng.integers(0, periods, len(who))))
    who, when, start, end, period = (np.concatenate(column) for column in zip(*parts, strict=True))
    moves = start != end
    return who[moves], when[moves], TripEnds(start[moves], end[moves], period[moves])


def _normalise(values: Float) -> Float:
    return np.asarray(values / max(float(values.sum()), 1e-300), np.float64)


def _simulate_congestion(roads: Roads, ends: TripEnds, periods: int, rng: np.random.Generator) -> Float:
    """Return the true mean seconds per period and arc of ``roads``, given the ``ends`` of all trips.

    ``periods`` is how many there are; ``rng`` draws what the load does not explain.
    """
    m = len(roads.tails)
    if not m:
        return np.zeros((periods, 0))
    volume = _count_loads(roads, ends, periods, rng)
    strain = volume / roads.capacity
    usual = np.sort(strain.ravel())
    share = np.cumsum(usual * np.tile(roads.capacity, periods)[np.argsort(strain.ravel())])
    heavy = usual[min(int(np.searchsorted(share, 0.9 * share[-1])), len(usual) - 1)]  # 90 % of the passes are below
    strain = np.minimum(strain / max(float(heavy), 1e-300), 1.6)
    middle, scale = (roads.places[roads.tails] + roads.places[roads.heads]) / 2, roads.radius / 4
    fields = [draw_field(middle, scale, rng) for _ in range(periods + 1)]
    field = FIELD * fields[0] + PERIOD_FIELD * np.stack(fields[1:])
    own = STREET * rng.normal(size=m)[roads.street] + ARC * rng.normal(size=m) + MOMENT * rng.normal(size=(periods, m))
    tide = TIDE * np.linspace(1.0, -1.0, periods)[:, None] * roads.inward if periods > 1 else 0.0
    ratio = (1.12 + 0.9 * strain**1.5) * np.exp(field + own + tide)
    waiting = rng.gamma(3.0, SIGNAL / 3.0, m) * _find_signals(roads, volume.sum(0)) * (0.6 + 0.4 * strain)
    truth = np.clip(ratio * roads.free_flow + waiting, LOWEST * roads.free_flow, HIGHEST * roads.free_flow)
    return np.asarray(truth, np.float64)


def _count_loads(roads: Roads, ends: TripEnds, periods: int, rng: np.random.Generator) -> Float:
    """Count how often trips use each arc of empty ``roads``, in each of so many ``periods``.

    Of ``ends`` only a sample of origins counts, drawn by ``rng``.
    """
    m, places = len(roads.tails), np.unique(ends.origin)
    chosen = np.isin(ends.origin, rng.choice(places, min(len(places), LOADED_ORIGINS), replace=False))
    some = TripEnds(ends.origin[chosen], ends.target[chosen], ends.period[chosen])
    which, arc = find_routes(roads, np.tile(roads.free_flow, (periods, 1)), some, rng)
    volume = np.bincount(some.period[which] * m + arc, minlength=periods * m)
    return np.asarray(volume.reshape(periods, m), np.float64)


def draw_field(points: Float, length_scale: float, rng: np.random.Generator) -> Float:
    """Draw a smooth random field of variance 1 at points of the plane: a sum of random cosine waves."""
    frequency = rng.normal(size=(2, WAVES)) / length_scale
    waves = np.cos(points @ frequency + rng.uniform(0, 2 * np.pi, WAVES))
    return np.asarray(waves.sum(axis=1) * np.sqrt(2 / WAVES), np.float64)


def _find_signals(roads: Roads, volume: Float) -> Bool:
    """Return whether each arc ends at a signal: the busiest 30 % of the crossings of three streets or more."""
    n = len(roads.places)
    streets = np.bincount(roads.tails[np.unique(roads.street)], minlength=n)
    streets += np.bincount(roads.heads[np.unique(roads.street)], minlength=n)
    passed = np.bincount(roads.heads, volume, minlength=n)
    crossing = streets >= 3
    busy = passed > (np.quantile(passed[crossing], 0.7) if crossing.any() else np.inf)
    return np.asarray((crossing & busy)[roads.heads], np.bool_)
