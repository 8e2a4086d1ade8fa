"""Simulated people who drive: who goes where and when, on which streets, and how long each street takes them.

Everything is made up, so that what a release gets wrong can be known.  The inputs are a directed road map
(``Roads``), so any network with places and free-flow times will do.

**People.**  Homes thin out away from the centre, work places crowd there and around a few other nuclei.  On most days
a person drives to work in the first period and home in the last, and runs errands there and back at any time; how many
differs widely between people, and one in a hundred is a taxi that drives all day.

**Congestion.**  What nobody knows in advance is the mean time of each arc in each period, ``truth``.  It is not painted
on: the trips of each period are first routed over empty streets, and where they are many for what a street can carry
(the faster, the more) it gets slow, by a law like that of the Bureau of Public Roads.  So main
roads and bridges are slow, more so in the direction most people take.  On top of that come

* queues towards the centre in the first period and away from it in the last;
* a smooth field over the city, part of it the same in all periods (weather, works, parking, driving habits);
* what a street has for itself, in both directions, in one, and in one period (a school, a bus stop);
* waiting at the signals of busy crossings: seconds, not shares, so short streets get relatively slower.

**Routes** are the fastest by the true means as people see them: those who start at one place and period share one
mistaken view.  **Seconds** of one pass are the true mean, times a factor of the trip (a hasty driver), times a factor
of the pass (a red light); both have mean 1 and are never negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Float, Int
from ..estimate.fields import plane_waves
from ..noise import simulation
from .routing import Roads, Tour, tours

ONE_DAY = ("day",)
TWO_PERIODS = ("am", "pm")
DAYS = 5
COMMUTES, TAXIS, TAXI_TRIPS = 0.85, 0.01, 14
ZONES = 2_500  # places where trips begin and end, at most
NUCLEI = 3
LOADED_ORIGINS = 600  # of the trips that congestion is made from
HASTE, LUCK = 0.15, 8.0  # spread of a trip's factor; shape of a pass's
FIELD, PERIOD_FIELD = 0.10, 0.08  # spreads of logarithms
STREET, ARC, MOMENT = 0.10, 0.10, 0.06
TIDE = 0.12  # of queues, on arcs that lead straight to the centre
WAVES = 128  # of a field
SIGNAL = 7.0  # seconds, on average
LOWEST, HIGHEST = 0.85, 5.0  # of a true mean beside free flow
RUSH, BETWEEN, HOUR = 8.0, 10.0, 3600.0


@dataclass(frozen=True, eq=False)
class Drives:
    """A long table: a row per pass of an arc, trip after trip, in the order of driving.  Private.

    Attributes:
        person, day, trip: who, when, and the number of the trip.
        period, arc: positions among the periods and the arcs of the roads.
        enter, seconds: time of the day in seconds, and how long the arc took.
    """

    person: NDArray[np.int32]
    day: NDArray[np.int32]
    trip: NDArray[np.int32]
    period: NDArray[np.int32]
    arc: NDArray[np.int32]
    enter: NDArray[np.float32]
    seconds: NDArray[np.float32]

    def __repr__(self) -> str:
        return "Drives(hidden)"

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True, eq=False)
class Town:
    """Simulated people: what they drove, and the true mean seconds per period and arc that nobody could know."""

    roads: Roads
    periods: tuple[str, ...]
    drives: Drives
    truth: Float


def simulate_people(
    roads: Roads, people: int, seed: int, days: int = DAYS, periods: tuple[str, ...] = TWO_PERIODS
) -> Town:
    """``people`` times ``days`` person-days; the same seed gives the same."""
    rng = simulation(seed)
    trips = _asked(roads, people, days, len(periods), rng)
    truth = _congestion(roads, trips, len(periods), rng)
    if not len(trips.origin) or not len(roads.tails):
        none, never = np.zeros(0, np.int32), np.zeros(0, np.float32)
        return Town(roads, periods, Drives(none, none, none, none, none, never, never), truth)
    which, arc = tours(roads, truth, trips.tour, rng)
    period = trips.tour.period[which]
    mean = truth[period, arc].astype(np.float32)
    haste = np.exp(rng.normal(-(HASTE**2) / 2, HASTE, len(trips.origin))).astype(np.float32)
    seconds = mean * haste[which] * rng.standard_gamma(LUCK, len(arc), dtype=np.float32) / np.float32(LUCK)
    # Times add up along each trip, from its start.
    spent = np.cumsum(seconds, dtype=np.float64) - seconds
    first = np.concatenate([[True], which[1:] != which[:-1]])
    begun = spent[first][np.cumsum(first) - 1]
    hour = RUSH + BETWEEN * np.arange(len(periods)) / max(len(periods) - 1, 1)
    start = HOUR * np.clip(rng.normal(hour[trips.tour.period], 0.7), 0.0, 23.0)
    enter = start[which] + spent - begun
    person, day, trip, when, where = (
        x.astype(np.int32) for x in (trips.person[which], trips.day[which], which, period, arc)
    )
    return Town(roads, periods, Drives(person, day, trip, when, where, enter.astype(np.float32), seconds), truth)


@dataclass(frozen=True, eq=False)
class _Asked:
    """Trips people want to make: whose, when, from where to where."""

    person: Int
    day: Int
    tour: Tour

    @property
    def origin(self) -> Int:
        """Where each begins."""
        return self.tour.origin


def _asked(roads: Roads, people: int, days: int, periods: int, rng: np.random.Generator) -> _Asked:
    """Commutes, errands and taxis, in any order."""
    n, last = len(roads.places), periods - 1
    zones = np.sort(rng.choice(n, min(n, ZONES), replace=False))
    away = np.hypot(*(roads.places[zones] - roads.centre).T) / roads.radius
    nuclei = roads.places[rng.choice(zones, NUCLEI)] if n else np.zeros((0, 2))
    near = np.exp(-12 * np.linalg.norm(roads.places[zones, None] - nuclei, axis=2) / roads.radius).sum(1)
    living = _shares(np.exp(-0.6 * away) * rng.lognormal(0, 0.4, len(zones)))
    working = _shares((np.exp(-5.0 * away) + 0.3 * near) * rng.lognormal(0, 0.8, len(zones)))
    if not n or not people:
        return _Asked(*(np.zeros(0, np.int64),) * 2, Tour(*(np.zeros(0, np.int64),) * 3))
    home, work = (zones[rng.choice(len(zones), people, p=share)] for share in (living, working))
    errands = np.minimum(rng.lognormal(-1.4, 1.0, people), 6.0)
    taxi = rng.random(people) < TAXIS
    person, day = np.repeat(np.arange(people), days), np.tile(np.arange(days), people)
    parts: list[tuple[Int, Int, Int, Int, Int]] = []  # person, day, origin, target, period

    def add(who: Int, when: Int, start: Int, end: Int, period: Int) -> None:
        parts.append((who, when, start, end, period))

    works = (rng.random(len(person)) < COMMUTES) & ~taxi[person]
    who, when = person[works], day[works]
    add(who, when, home[who], work[who], np.zeros(len(who), np.int64))
    add(who, when, work[who], home[who], np.full(len(who), last))
    count = rng.poisson(np.where(taxi, 0.0, errands)[person])
    who, when = np.repeat(person, count), np.repeat(day, count)
    where = zones[rng.choice(len(zones), len(who), p=0.5 * (living + working))]
    period = rng.integers(0, periods, len(who))
    add(who, when, home[who], where, period)
    add(who, when, where, home[who], period)
    count = rng.poisson(np.where(taxi, TAXI_TRIPS, 0.0)[person])
    who, when = np.repeat(person, count), np.repeat(day, count)
    ends = zones[rng.choice(len(zones), (2, len(who)), p=0.5 * (living + working))]
    add(who, when, ends[0], ends[1], rng.integers(0, periods, len(who)))
    who, when, start, end, period = (np.concatenate(column) for column in zip(*parts, strict=True))
    moves = start != end
    return _Asked(who[moves], when[moves], Tour(start[moves], end[moves], period[moves]))


def _shares(values: Float) -> Float:
    return np.asarray(values / max(float(values.sum()), 1e-300), np.float64)


def _congestion(roads: Roads, trips: _Asked, periods: int, rng: np.random.Generator) -> Float:
    """True mean seconds per period and arc."""
    m = len(roads.tails)
    if not m:
        return np.zeros((periods, 0))
    volume = _loads(roads, trips.tour, periods, rng)
    strain = volume / roads.capacity
    usual = np.sort(strain.ravel())
    share = np.cumsum(usual * np.tile(roads.capacity, periods)[np.argsort(strain.ravel())])
    heavy = usual[min(int(np.searchsorted(share, 0.9 * share[-1])), len(usual) - 1)]  # nine passes in ten are below
    strain = np.minimum(strain / max(float(heavy), 1e-300), 1.6)
    field = FIELD * _field(roads, rng) + PERIOD_FIELD * np.stack([_field(roads, rng) for _ in range(periods)])
    own = STREET * rng.normal(size=m)[roads.street] + ARC * rng.normal(size=m) + MOMENT * rng.normal(size=(periods, m))
    tide = TIDE * np.linspace(1.0, -1.0, periods)[:, None] * roads.inward if periods > 1 else 0.0
    ratio = (1.12 + 0.9 * strain**1.5) * np.exp(field + own + tide)
    waiting = rng.gamma(3.0, SIGNAL / 3.0, m) * _signals(roads, volume.sum(0)) * (0.6 + 0.4 * strain)
    truth = np.clip(ratio * roads.free_flow + waiting, LOWEST * roads.free_flow, HIGHEST * roads.free_flow)
    return np.asarray(truth, np.float64)


def _loads(roads: Roads, tour: Tour, periods: int, rng: np.random.Generator) -> Float:
    """How often trips from a sample of places would use each arc if streets were empty, in each period."""
    m, places = len(roads.tails), np.unique(tour.origin)
    chosen = np.isin(tour.origin, rng.choice(places, min(len(places), LOADED_ORIGINS), replace=False))
    some = Tour(tour.origin[chosen], tour.target[chosen], tour.period[chosen])
    which, arc = tours(roads, np.tile(roads.free_flow, (periods, 1)), some, rng)
    volume = np.bincount(some.period[which] * m + arc, minlength=periods * m)
    return np.asarray(volume.reshape(periods, m), np.float64)


def _field(roads: Roads, rng: np.random.Generator) -> Float:
    """A smooth random field with variance 1 at the middle of each arc, a quarter of the city wide."""
    middle = (roads.places[roads.tails] + roads.places[roads.heads]) / 2
    return plane_waves(middle, roads.radius / 4, rng, WAVES)


def _signals(roads: Roads, volume: Float) -> Bool:
    """Whether each arc ends at a signal: the busiest three in ten of the crossings of three streets or more."""
    n = len(roads.places)
    streets = np.bincount(roads.tails[np.unique(roads.street)], minlength=n)
    streets += np.bincount(roads.heads[np.unique(roads.street)], minlength=n)
    passed = np.bincount(roads.heads, volume, minlength=n)
    crossing = streets >= 3
    busy = passed > (np.quantile(passed[crossing], 0.7) if crossing.any() else np.inf)
    return np.asarray((crossing & busy)[roads.heads], np.bool_)
