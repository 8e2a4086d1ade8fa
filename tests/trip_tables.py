"""Many small tables of trips side by side, and what one changed unit does to each: a query answers for all of them.

The network is many copies of one small grid, and every copy has people of its own.  So one table holds many tables,
and the totals of a copy are the totals of its table.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from named_graphs import grid_ends

from hushpath import Budget, TripUnit
from hushpath.measurement.trip_strategy import TripTerms, trip_strategy
from hushpath.network.topology import Topology
from hushpath.trips.trips import read_trips

SIDE = 4
ENDS = grid_ends(SIDE, SIDE)
EDGES, NODES = 2 * len(ENDS), SIDE * SIDE  # both directions
PERIODS = ["am", "pm", "night"]
COLUMNS = ["person", "day", "trip", "tail", "head", "seconds", "period"]
ODD_TIMES = [0.0, -5.0, 1e300, np.inf, -np.inf, np.nan, 4.999999, 60.000001]


def copies(count):
    """A directed network of ``count`` copies of the grid."""
    ends = np.concatenate([ENDS, ENDS[:, ::-1]])
    labels = [f"{copy}:{node}" for copy in range(count) for node in range(NODES)]
    at = np.repeat(np.arange(count) * NODES, EDGES)
    tails, heads = np.tile(ends[:, 0], count) + at, np.tile(ends[:, 1], count) + at
    free_flow = 10 + np.arange(len(tails)) % 7 / 1.0
    return Topology.build(labels, tails, heads, directed=True, proxy=free_flow, proxy_name="free_flow")[0]


def terms_for(topology, protects, law="gaussian", **more):
    rng = np.random.default_rng(5)
    periods = more.pop("periods")
    weights = rng.integers(1000, 30_000, topology.num_edges)
    budget = Budget(1.0, 1e-6 if law == "gaussian" else 0.0)
    return TripTerms(
        budget, TripUnit(protects, **more), 0.5 * topology.proxy, 6 * topology.proxy, weights, periods
    )  # fmt: skip


def read(table, topology):
    return read_trips(
        table, topology, person="person", day="day", trip="trip", edge=("tail", "head"), seconds="seconds",
        period="period", periods=PERIODS,
    )  # fmt: skip


def strategy_for(topology, protects, law="gaussian", **more):
    periods = read(frame([]), topology).periods
    return trip_strategy(topology, terms_for(topology, protects, law, periods=periods, **more), law)


def frame(rows):
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({"person": str, "tail": str, "head": str, "period": str, "seconds": float, "day": "int64"})


def walk(rng, copy, person, day, trip, passes, kind="any"):
    """The rows of one trip; ``kind`` says what is odd about it."""
    ends = np.concatenate([ENDS, ENDS[:, ::-1]])
    edges = rng.integers(0, EDGES, passes)
    if kind == "one edge":
        edges[:] = edges[0]
    times = rng.uniform(0, 90, passes)
    if kind == "bounds":
        times = np.where(edges % 2, 0.0, 1e9)
    if kind == "odd":
        times = rng.choice(ODD_TIMES, passes)
    periods = rng.choice([*PERIODS, "noon"] if kind == "odd" else PERIODS, passes)
    rows = []
    for edge, seconds, period in zip(edges, times, periods, strict=True):
        tail, head = ends[edge]
        stray = kind == "odd" and rng.random() < 0.3
        rows.append([person, day, trip, f"{copy}:{tail}", f"{copy}:{head if not stray else 99}", seconds, period])
    return rows * 3 if kind == "twice" else rows


def people(rng, copy):
    """A handful of people with some days and trips each."""
    rows = []
    for one in range(rng.integers(0, 4)):
        for day in range(rng.integers(1, 3)):
            for trip in range(rng.integers(1, 3)):
                rows += walk(rng, copy, f"{copy}-p{one}", day, 10 * day + trip, int(rng.integers(1, 9)))
    return rows


def unit(rng, copy, protects, kind):
    """The rows of one protected unit of the kind that is asked for, in more rows than one would think."""
    person = f"{copy}-new"
    passes = 250 if kind == "thousands" else int(rng.integers(1, 30))  # of one trip: a unit has up to nine
    if protects == "trip":
        return walk(rng, copy, person, 0, 1, 9 * passes, kind)
    days = range(1) if protects == "person-day" else range(3)
    parts = [(day, trip) for day in days for trip in range(3)]
    return [row for day, trip in parts for row in walk(rng, copy, person, day, 10 * day + trip, passes, kind)]
