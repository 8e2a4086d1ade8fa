"""Small releases to export: a square of streets in Berlin, and a town with trips in two periods."""

from __future__ import annotations

import numpy as np
import pandas as pd
from named_graphs import grid_ends

import hushpath

DECLARED = hushpath.Quantity("travel time", "seconds", "2026-03")
SQUARE = [(10, 11), (11, 12), (12, 13), (13, 10)]
BERLIN = {10: (13.40, 52.50), 11: (13.41, 52.50), 12: (13.41, 52.51), 13: (13.40, 52.51)}


def released(ends=SQUARE, places=BERLIN, directed=False, epsilon=5.0, quantity=DECLARED):
    edges = pd.DataFrame(ends, columns=["source", "target"]).assign(weight=60.0 + np.arange(len(ends)))
    nodes = None if places is None else pd.DataFrame([[n, *xy] for n, xy in places.items()], columns=["node", "x", "y"])
    net = hushpath.Network.from_pandas(edges, directed=directed, nodes=nodes, parallel_edges=True)
    plan = hushpath.plan(net.topology, epsilon=epsilon, unit=1, mechanism="input", ignore_baseline=True)
    return hushpath.release(net, plan=plan, quantity=quantity)


def of_trips(epsilon=3.0, periods=("am", "pm"), **more):
    """A town of sixteen corners, named by whole numbers, whose people travel slower in the evening."""
    ends = [(a, b) for pair in grid_ends(4, 4).tolist() for a, b in (pair, pair[::-1])]
    streets = pd.DataFrame(ends, columns=["source", "target"]).assign(free_flow=30.0)
    nodes = pd.DataFrame({"node": range(16), "x": 13.4 + np.arange(16) % 4 / 200, "y": 52.5 + np.arange(16) // 4 / 300})
    topology = hushpath.Network.from_pandas(streets, weight="free_flow", directed=True, nodes=nodes).topology
    topology = topology.with_proxy(np.full(topology.num_edges, 30.0), name="free_flow")
    rows = [
        [f"p{person}", day, a, b, 40.0 if period == "am" else 80.0, period]
        for person in range(20) for day in range(2) for period in periods for a, b in ends[:: 1 + person % 3]
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["person", "day", "from", "to", "seconds", "period"])
    trips = hushpath.read_trips(
        table, topology, person="person", day="day", edge=("from", "to"), seconds="seconds", period="period",
        periods=list(periods),
    )  # fmt: skip
    return hushpath.release_trips(trips, epsilon=epsilon, delta=1e-6, protects="person-day", low=0.5, high=6, **more)
