"""People who drive through a street network, and the exact totals that a release of their trips would measure.

**People.**  A person lives at any node, has one place of work and a pace, and drives on up to five days; each day is
one person-day, the protected unit.  On most days the person drives to work in the first period and home in the last, at
times by way of an errand; other errands are return trips in any period.  Work and errands are at a few hundred
*places*; a place is chosen by its attraction and by how far it is (gravity).  One person in a hundred is a courier who
drives from place to place.  Every person-day is simulated by itself, also if there are a million: none stands for
several.

**Routes** are fastest paths by perceived times: the true mean time (or, by ``habit``, partly the free-flow time), times
a taste for fast or slow roads, times an error that differs between places, directions, periods and tastes.  A person
keeps one taste.  So the routes of all trips are in one tree for each place, direction, period and taste, which is found
once; a trip is a walk in its tree.

**Times** of a pass are the true mean of the edge and period, times the person's pace, times the day, times a gamma
variable for this pass, whose shape may differ between edges.  The truth that errors are measured against is the mean
of a pass *after* clipping to the bounds, as a release defines it.

Totals are sums of floats; the release counts whole lattice steps, a difference far below its noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hushpath.compiled import njit
from hushpath.kernels.routes import tree_from

LOW, HIGH = 0.5, 6.0  # public bounds of a pass, in free-flow times
DAYS, COURIERS, LEGS = 5, 0.01, 14
STEP = 2.0**-10  # seconds: paths are found in whole steps
NONE = 255
DESIGNS = ("gaussian", "laplace-1", "laplace-2")  # all edges of a unit, in L2; or one or two of them, at random


class Demand(NamedTuple):
    """How people of one case live and choose."""

    homes: np.ndarray  # weights of nodes
    attraction: np.ndarray  # weights of nodes as places
    reach: float  # km: how far people go to work; to errands half as far
    places: int = 400
    tastes: int = 4
    commute: float = 0.75
    errands: float = 0.6  # mean number on a day
    taste: float = 0.15  # spread of the exponent of speed in perceived times
    perception: float = 0.12  # spread of the logarithm of perceived times
    habit: float = 0.0  # weight of free flow in perceived times
    pace: float = 0.15  # spread of the logarithm of a person's times
    day: float = 0.05


class Net(NamedTuple):
    """Arcs in rows by tail and by head, both in the order that the other way needs."""

    start: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    back_start: np.ndarray
    back_arcs: np.ndarray  # arcs sorted by head
    place_in: np.ndarray  # of each arc among the arcs with its head

    @classmethod
    def of(cls, roads):
        n, m = len(roads.places), len(roads.tails)
        start, back_start = (
            np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))]) for ends in (roads.tails, roads.heads)
        )
        back_arcs = np.argsort(roads.heads, kind="stable")
        place_in = np.empty(m, np.int64)
        place_in[back_arcs] = np.arange(m) - back_start[roads.heads[back_arcs]]
        assert max(np.diff(start).max(), np.diff(back_start).max()) < NONE
        return cls(start, roads.heads.astype(np.int64), roads.tails.astype(np.int64), back_start, back_arcs, place_in)


@njit(cache=True)
def grow(start, ends, arcs, rank, perceived, roots, spread, seed, out):
    """Fill a row of ``out`` per root with the rank of the last arc of the path to each node."""
    np.random.seed(seed)
    n, m = len(start) - 1, len(arcs)
    lengths, distance, order = np.empty(m, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    parent, edge = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(len(roots)):
        for k in range(m):
            error = np.exp(spread * np.random.normal()) if spread > 0 else 1.0
            lengths[k] = max(1, int(perceived[arcs[k]] * error / STEP))
        tree_from(start, ends, arcs, lengths, roots[i], distance, order, parent, edge)
        for v in range(n):
            out[i, v] = rank[edge[v]] if edge[v] >= 0 and v != roots[i] else NONE


def trees(net, perceived, places, spread, seed):
    """Trees for (direction, period, taste, place) and node; ``perceived`` are seconds (periods, tastes, arcs)."""
    n, m = len(net.start) - 1, len(net.heads)
    out = np.empty((2, *perceived.shape[:2], len(places), n), np.uint8)
    outgoing, leaving = np.arange(m), np.arange(m) - net.start[net.tails]
    for q in range(perceived.shape[0]):
        for k in range(perceived.shape[1]):
            own = seed * 1_000 + 2 * (q * perceived.shape[1] + k)
            grow(net.start, net.heads, outgoing, net.place_in, perceived[q, k], places, spread, own, out[0, q, k])
            grow(net.back_start, net.tails[net.back_arcs], net.back_arcs, leaving, perceived[q, k], places, spread,
                 own + 1, out[1, q, k])  # fmt: skip
    return out


@njit(cache=True)
def choose(home, where, spots, attraction, reach, luck, out):
    """Fill ``out`` with a place for each row by gravity; rows are sorted by home."""
    total, last = np.empty(len(spots)), -1
    for i in range(len(home)):
        if home[i] != last:
            last, added = home[i], 0.0
            for z in range(len(spots)):
                away = np.hypot(spots[z, 0] - where[last, 0], spots[z, 1] - where[last, 1])
                added += attraction[z] * np.exp(-away / reach)
                total[z] = added
        out[i] = min(np.searchsorted(total, luck[i] * total[-1]), len(spots) - 1)


class Trips(NamedTuple):
    """Trips of person-days, sorted by unit."""

    first: np.ndarray  # (units + 1,): the position of the first trip of each unit
    away: np.ndarray  # whether it goes to its place; else it comes from there
    place: np.ndarray
    node: np.ndarray  # the other end
    period: np.ndarray
    taste: np.ndarray  # taste, pace: (units,)
    pace: np.ndarray


def plan_trips(roads, demand, places, units, periods, rng):
    """Draw the trips of so many person-days, each with at least one trip."""
    people = -(-units // DAYS)
    home = np.sort(rng.choice(len(roads.places), people, p=demand.homes / demand.homes.sum()))
    spots, pull = roads.places[places], demand.attraction[places]

    def goal(who, reach):
        out = np.empty(len(who), np.int64)
        choose(home[who], roads.places, spots, pull, reach, rng.random(len(who)), out)
        return out

    work = goal(np.arange(people), demand.reach)
    courier = rng.random(people) < COURIERS
    usual = np.minimum(demand.errands * rng.lognormal(-0.5, 1.0, people), 6.0)
    unit = np.arange(units)
    who = unit // DAYS
    goes = (rng.random(units) < demand.commute) & ~courier[who]
    count = np.where(courier[who], 0, np.maximum(rng.poisson(usual[who]), np.where(goes, 0, 1)))
    parts, last = [], periods - 1
    add = lambda u, away, place, node, q: parts.append(  # noqa: E731
        (u, np.full(len(u), away), place, node, np.broadcast_to(q, len(u)))
    )
    some = unit[goes]
    add(some, True, work[who[some]], home[who[some]], 0)
    detour = rng.random(len(some)) < 0.2
    add(some[~detour], False, work[who[some[~detour]]], home[who[some[~detour]]], last)
    late = some[detour]
    shop = goal(who[late], demand.reach / 2)
    add(late, False, work[who[late]], places[shop], last)
    add(late, False, shop, home[who[late]], last)
    some = np.repeat(unit, count)
    shop, when = goal(who[some], demand.reach / 2), rng.integers(0, periods, len(some))
    add(some, True, shop, home[who[some]], when)
    add(some, False, shop, home[who[some]], when)
    some = np.repeat(unit[courier[who]], LEGS)
    stop = goal(who[some], demand.reach)
    add(some, False, stop, places[goal(who[some], demand.reach)], rng.integers(0, periods, len(some)))
    u, away, place, node, q = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(u, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(u, minlength=units))])
    pace = np.exp(rng.normal(-(demand.pace**2) / 2, demand.pace, people))[who]
    pace *= np.exp(rng.normal(-(demand.day**2) / 2, demand.day, units))
    taste = rng.integers(0, demand.tastes, people)[who]
    return Trips(first, away[order], place[order], node[order], q[order], taste, pace)


@njit(cache=True)
def drive(start, heads, tails, back_start, back_arcs, found, first, away, place, node, period, taste, pace, ratio,
          shape, weight, seed, totals, passed):  # fmt: skip
    """Walk all trips and add what each unit adds to ``totals`` (designs, A or B, cells), and 1 to ``passed``."""
    np.random.seed(seed)
    m = len(heads)
    cells, share, times = np.empty(len(passed), np.int64), np.zeros(len(passed)), np.zeros(len(passed), np.int64)
    for unit in range(len(first) - 1):
        count = 0
        for trip in range(first[unit], first[unit + 1]):
            q, v, side = period[trip], node[trip], 1 if away[trip] else 0
            tree = found[side, q, min(taste[unit], found.shape[2] - 1), place[trip]]
            while tree[v] != NONE:
                if side == 1:
                    arc = start[v] + tree[v]
                    v = heads[arc]
                else:
                    arc = back_arcs[back_start[v] + tree[v]]
                    v = tails[arc]
                cell = q * m + arc
                if times[cell] == 0:
                    cells[count] = cell
                    count += 1
                times[cell] += 1
                seconds = ratio[cell] * pace[unit] * np.random.standard_gamma(shape[arc]) / shape[arc]
                share[cell] += min(max((seconds - LOW) / (HIGH - LOW), 0.0), 1.0)
        square = 0.0
        for i in range(count):
            square += weight[cells[i] % m] ** 2
        for i in range(count):
            cell = cells[i]
            part, u = share[cell] / times[cell], weight[cell % m] / np.sqrt(square)
            totals[0, 0, cell] += u * part
            totals[0, 1, cell] += u * (1 - part)
            passed[cell] += 1
        for most in range(1, totals.shape[0]):
            for i in range(min(most, count)):
                j = np.random.randint(i, count)
                cells[i], cells[j] = cells[j], cells[i]
                cell = cells[i]
                part = share[cell] / times[cell]
                totals[most, 0, cell] += part / most
                totals[most, 1, cell] += (1 - part) / most
        for i in range(count):
            share[cells[i]], times[cells[i]] = 0.0, 0


def run(net, found, trips, ratio, shape, weight, seed):
    """Totals (designs, 2, periods, arcs) of the trips, and how many units passed each edge in each period."""
    totals, passed = np.zeros((len(DESIGNS), 2, ratio.size)), np.zeros(ratio.size)
    drive(net.start, net.heads, net.tails, net.back_start, net.back_arcs, found, *trips, ratio.ravel(), shape, weight,
          seed, totals, passed)  # fmt: skip
    return totals.reshape(len(DESIGNS), 2, *ratio.shape), passed.reshape(ratio.shape)


def clipped_mean(ratio, shape, demand, rng):
    """The mean of a clipped pass, in free-flow times, where the mean of all passes is ``ratio``."""
    steps, out = np.geomspace(0.2, 12.0, 120), np.empty(ratio.shape)
    spread = np.hypot(demand.pace, demand.day)
    usual = np.exp(rng.normal(-(spread**2) / 2, spread, 200_000))
    for kind in np.unique(shape):
        factor = usual * rng.gamma(kind, 1 / kind, len(usual))
        level = np.array([np.clip(step * factor, LOW, HIGH).mean() for step in steps])
        out[:, shape == kind] = np.interp(ratio[:, shape == kind], steps, level)
    return out
