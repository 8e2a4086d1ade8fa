"""Simulated trips, what is computed from them, and the unit: how far one trip can move the weights.

What a trip reports.  One random stretch of at most K consecutive streets of its route, with the delay on
each: how much longer than on the empty street it took.

What is computed.  With a *public* number of planned reports D_e >= D for every street e,

    w_e  =  free_flow_e  +  min(c,  (1 / D_e) * sum over reports (e, delay) of clip(delay, 0, c))

**Proposition.**  Adding or removing one trip moves w by at most K c / D in L1; replacing one trip by any
other moves it by at most 2 K c / D.  We promise the larger:
``UNIT = 2 K c / D`` = 2 * 5 * 30 s / 100 = 3 s.

*Proof.*  ``free_flow`` and every D_e are public, so the same on both sides.  A trip adds at most K terms to
the sums, each in [0, c] whatever it reports, so it moves the inner terms by at most K c / min D_e <= K c /
D in total (also if it names a street twice).  min(c, .) never moves two values further apart.  To replace
is to remove and to add.  QED

Why D_e must not be the data's own count.  Then one trip would change denominators too, and a lone trip on a
quiet street would move its mean by up to c: the bound would be K c, a hundred times as much.  So D_e comes
from a public traffic model (empty streets, a gravity law, no trip of anyone), and the delay reads "per
planned report".

Rounding.  Delays are summed in whole milliseconds, exactly.  What is left is the rounding of one division
and one sum on at most 2 K streets, about 1e-13 s; ``weights.Lattice`` allows one lattice step for every
street of the city.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from ..arrays import Bool, Float, Int
from ..noise import simulation
from ..progress import steps
from .streets import ARTERIAL, Streets

STRETCH = 5  # K: streets one trip may report
LARGEST_DELAY = 30.0  # c: seconds
LEAST_PLANNED = 100  # D: reports
UNIT = 2 * STRETCH * LARGEST_DELAY / LEAST_PLANNED  # seconds, over all streets together
ORIGINS = 800  # evenly spread corners where trips start


@dataclass(frozen=True, eq=False)
class Trips:
    """What each trip reports: a row of at most K streets (-1 fills up), the delay on each in s.  Private."""

    streets: Int
    delays: Float

    def __repr__(self) -> str:
        return "Trips(hidden)"

    def __len__(self) -> int:
        return len(self.streets)


def travel_times(free_flow: Float, planned: Int, trips: Trips) -> Float:
    """Compute the private weights w_e in seconds.

    Guarantees:
        - adding or removing any one row of ``trips`` moves the result by at most ``UNIT / 2`` in L1;
        - replacing any one row by any other moves it by at most ``UNIT``.
    """
    if planned.min(initial=LEAST_PLANNED) < LEAST_PLANNED:
        raise ValueError(f"every street needs at least {LEAST_PLANNED} planned reports, or the unit does not hold")
    streets, delays = trips.streets[:, :STRETCH], trips.delays[:, :STRETCH]
    there = (streets >= 0) & np.isfinite(delays)
    milliseconds = np.rint(1000 * np.clip(delays[there], 0, LARGEST_DELAY)).astype(np.int64)
    total = np.zeros(len(free_flow), np.int64)
    np.add.at(total, streets[there], milliseconds)
    answer: Float = free_flow + np.minimum(total / (1000 * planned), LARGEST_DELAY)
    return answer


def planned_reports(streets: Streets, count: int, seed: int) -> Int:
    """Reports per street that a public traffic model expects from ``count`` trips, at least D each."""
    rng = simulation(seed)
    reports = _stretches(streets, streets.free_flow, _attraction(streets), count, rng)
    expected = np.bincount(reports[reports >= 0], minlength=len(streets.tails))
    return np.maximum(expected, LEAST_PLANNED).astype(np.int64)


def simulate_trips(streets: Streets, count: int, seed: int) -> Trips:
    """Simulate the private day: people choose where to go and avoid congestion that no public model knows."""
    rng = simulation(seed)
    middle = (streets.places[streets.tails] + streets.places[streets.heads]) / 2
    radius = float(np.hypot(*streets.places.T).max())
    busy = np.array([0.18, 0.55, 0.35])[streets.kinds] * (0.6 + 1.1 * np.exp(-4 * np.hypot(*middle.T) / radius))
    bridge = _bridges(streets)
    busy = np.where(bridge, 1.1, busy)
    delay = streets.free_flow * busy * rng.lognormal(0, 0.45, len(busy))
    wanted = _attraction(streets) * rng.lognormal(0, 0.3, len(streets.places))
    reports = _stretches(streets, streets.free_flow + delay, wanted, count, rng)
    hurry = rng.gamma(4, 1 / 4, (len(reports), 1))  # the hour of the day, the same for a whole trip
    delays = np.where(reports >= 0, delay[reports] * hurry * rng.gamma(2, 1 / 2, reports.shape), 0.0)
    return Trips(reports, delays)


def _attraction(streets: Streets) -> Float:
    """How often a corner is an end of a trip, in the public model: the nearer to the centre, the more."""
    away = np.hypot(*streets.places.T)
    weight = np.exp(-1.5 * away / away.max())
    return np.asarray(weight / weight.sum(), np.float64)


def _bridges(streets: Streets) -> Bool:
    """Whether each street crosses the river."""
    south = streets.places[:, 1] < np.interp(streets.places[:, 0], *streets.river.T)
    crossing = south[streets.tails] != south[streets.heads]
    return np.asarray(crossing & (streets.kinds >= ARTERIAL), np.bool_)


def _stretches(streets: Streets, seconds: Float, wanted: Float, count: int, rng: np.random.Generator) -> Int:
    """Route ``count`` trips along fastest paths; return the stretch each reports: (count, K), -1 fills up."""
    n = len(streets.places)
    ends = np.concatenate([streets.tails, streets.heads]), np.concatenate([streets.heads, streets.tails])
    arc = ends[0] * n + ends[1]
    order = np.argsort(arc)
    sorted_arcs, street_of = arc[order], order % len(streets.tails)
    graph = csr_array((np.empty(len(arc)), np.divmod(sorted_arcs, n)), shape=(n, n))
    share = wanted / wanted.sum()
    origins = np.unique(np.linspace(0, n - 1, min(ORIGINS, n)).astype(np.int64))
    previous = np.empty((len(origins), n), np.int64)
    for row in steps(range(len(origins)), "routes"):  # each origin sees the streets a little differently
        graph.data[:] = (seconds * rng.lognormal(0, 0.15, len(seconds)))[street_of]
        previous[row] = dijkstra(graph, indices=int(origins[row]), return_predecessors=True)[1]
    # A trip starts at one of the origins and ends where people want to go; walk its path back from the end.
    trip_origin = rng.choice(len(origins), count, p=share[origins] / share[origins].sum())
    trip_end = rng.choice(n, count, p=share)
    answer = np.full((count, STRETCH), -1, np.int64)
    blocks = [slice(i, min(i + 50_000, count)) for i in range(0, count, 50_000)]
    for block in steps(blocks, "trips"):
        origin, end = trip_origin[block], trip_end[block]
        hops = _walk(previous, origin, end)
        skip = (rng.random(len(end)) * (np.maximum(hops - STRETCH, 0) + 1)).astype(np.int64)
        node = _walk(previous, origin, end, skip)
        for column in range(STRETCH):
            before = previous[origin, node]
            on = np.flatnonzero(before >= 0)
            found = np.searchsorted(sorted_arcs, before[on] * n + node[on])
            answer[block][on, column] = street_of[found]
            node = np.where(before >= 0, before, node)
    return answer


def _walk(previous: Int, origin: Int, end: Int, skip: Int | None = None) -> Int:
    """Walk from each end to its origin: ``skip`` steps (returns where that leads) or all (returns how many)."""
    node, taken = end.copy(), np.zeros(len(end), np.int64)
    going = np.arange(len(end))
    while len(going):
        if skip is not None:
            going = going[taken[going] < skip[going]]
        before = previous[origin[going], node[going]]
        going, before = going[before >= 0], before[before >= 0]
        node[going] = before
        taken[going] += 1
    return taken if skip is None else node
