"""One release from file to file, as an owner would make it, and how wrong it is.

Errors are those of distances from a sample of places to all others.  Where there are trips, the truth is the mean time
of the simulation, which no owner knows; ``owner`` is what ``hushpath.evaluate`` tells the owner instead: how far the
release is from the trips at hand.
"""

from __future__ import annotations

import math
import time
from functools import cached_property

import duckdb
import numpy as np

import hushpath
from hushpath.measurement.samples import distance_rows

SOURCES, PAIRS = 64, 300
COVERED = 0.9
TARGETS = ("5%", "10%")


class Owned:
    """The files of one case, read once."""

    def __init__(self, case, folder):
        self.case, self.folder, self.plans = case, folder, {}
        edges, nodes = folder / "edges.csv", folder / "nodes.csv"
        if case.weight is None:
            self.topology = hushpath.read_topology(edges, directed=True, nodes=nodes, proxy=case.proxy)
            self.data = hushpath.read_trips(
                folder / f"trips-{case.size}.parquet", self.topology, person="person", day="day",
                edge=("source", "target"), seconds="seconds",
            )  # fmt: skip
            known = hushpath.read_network(folder / "truth.csv", weight="seconds", directed=True, nodes=nodes)
        else:
            self.data = known = hushpath.read_network(edges, weight=case.weight, nodes=nodes, proxy=case.proxy)
            self.topology = self.data.topology
        self.true = known.weights.reveal()
        rng = np.random.default_rng(7)
        count = self.topology.num_nodes
        self.sources = np.sort(rng.choice(count, min(SOURCES, count), replace=False))
        self.far = distance_rows(self.topology, self.true, self.sources)
        self.asked = np.isfinite(self.far) & (self.far > 0)
        which = rng.choice(np.flatnonzero(self.asked.ravel()), PAIRS)
        self.pairs = np.c_[self.sources[which // count], which % count]
        self.between = self.far.ravel()[which]

    @property
    def origin(self):
        """The place whose map is drawn: a node, or the one nearest to a spot."""
        if isinstance(self.case.origin, tuple):
            return int(np.hypot(*(self.topology.coordinates - self.case.origin).T).argmin())
        return self.topology.index(self.case.origin)

    @cached_property
    def passed(self):
        """Which arcs anybody passed.  Labels of both networks with trips are whole numbers."""
        trips, labels = str(self.folder / f"trips-{self.case.size}.parquet"), np.asarray(self.topology.labels)
        found = duckdb.execute("SELECT DISTINCT source, target FROM read_parquet(?)", [trips]).fetchnumpy()
        size = int(labels.max()) + 1
        arcs = labels[self.topology.tails] * size + labels[self.topology.heads]
        return np.isin(arcs, found["source"].astype(np.int64) * size + found["target"])

    def off(self, rows):
        """Mean |error| of distances, its 95 % point and the bias."""
        difference = (rows - self.far)[self.asked]
        error = np.abs(difference)
        return float(error.mean()), float(np.quantile(error, 0.95)), float(difference.mean())

    def known(self):
        """How wrong what everybody knows is: the public column, or the typical weight on every edge.

        As it is, and times the one number, which nobody knows, that makes the mean distance right.
        """
        if self.case.proxy is not None:
            weights = self.topology.proxy
        else:
            weights = np.full(self.topology.num_edges, math.sqrt(math.prod(self.case.told["typical_weight"])))
        rows, far = distance_rows(self.topology, weights, self.sources), self.far[self.asked].mean()
        scaled = rows * (far / rows[self.asked].mean())
        return dict(case=self.case.name, known=self.off(rows)[0] / far, known_scaled=self.off(scaled)[0] / far)


def planned(owned, epsilon):
    """What a plan says of one epsilon, from public facts alone; releases of weights are made by it."""
    if epsilon not in owned.plans:
        case = owned.case
        forecast = hushpath.plan if case.weight else hushpath.plan_trips
        plan = forecast(owned.topology, epsilon=epsilon, ignore_baseline=True, **case.terms, **case.told)
        owned.plans[epsilon] = plan
    return owned.plans[epsilon]


def one_plan(owned, epsilon):
    """Its figures, for the results."""
    case, plan = owned.case, planned(owned, epsilon)
    share = plan.share if case.weight is None else plan.choice.relative
    how = "trips" if case.weight is None else plan.choice.mechanism
    return dict(case=case.name, epsilon=epsilon, planned=share, worth_it=plan.worth_it, mechanism=how)


def solved(owned, target):
    """The epsilon that a plan finds for a target error."""
    case = owned.case
    forecast = hushpath.plan if case.weight else hushpath.plan_trips
    try:
        plan = forecast(owned.topology, target_error=target, ignore_baseline=True, **case.terms, **case.told)
        return dict(
            case=case.name, target=target, epsilon=plan.strategy.budget.epsilon, mechanism=plan.strategy.mechanism
        )  # fmt: skip
    except hushpath.HushpathError as refused:
        return dict(case=case.name, target=target, epsilon=None, refused=str(refused))


def released(owned, epsilon, repeat):
    """A release, saved and loaded again.  The seed makes it NOT PRIVATE: this is a study."""
    case, file = owned.case, owned.folder / "release.hush"
    seed = 1000 * repeat + round(100 * epsilon)
    if case.weight:
        rel = hushpath.release(owned.data, seed=seed, plan=planned(owned, epsilon))
    else:
        law = planned(owned, epsilon).noise
        rel = hushpath.release_trips(owned.data, epsilon=epsilon, seed=seed, **{"noise": law, **case.terms})
    rel.save(file)
    return hushpath.load(file)


def one_release(owned, epsilon, repeat):
    """What is found out about one release."""
    case, began = owned.case, time.perf_counter()
    rel = released(owned, epsilon, repeat)
    took = time.perf_counter() - began
    far = float(owned.far[owned.asked].mean())
    mean, p95, bias = owned.off(rel.matrix(owned.sources, positions=True))
    row = dict(
        case=case.name, epsilon=epsilon, repeat=repeat, mechanism=rel.measurements.strategy.mechanism,
        read_as=str(rel.decoder_choice), mean_distance=far, mean_error=mean, p95_error=p95, bias=bias,
        relative=mean / far, bytes=rel.file.stat().st_size, seconds=took,
    )  # fmt: skip
    if epsilon in case.ranges:
        row["owner"] = hushpath.evaluate(owned.data, rel, sources=SOURCES).relative_error
    if rel.decoder.routes:
        edges = rel.edge_weights - owned.true
        row["edge_error"] = float(np.abs(edges).mean())
        row["edge_relative"] = float(np.abs(edges).mean() / owned.true.mean())
        row["edge_median"] = float(np.median(np.abs(edges)))
    if case.size:
        row |= by_use(owned, rel)
    if epsilon in case.ranges and repeat == 0:
        low, high = rel.intervals(owned.pairs, COVERED, positions=True).T
        row["cover"] = float(np.mean((low <= owned.between) & (owned.between <= high)))
        row["width"] = float(np.median(high - low))
    return row, rel


def by_use(owned, rel):
    """How slow arcs that somebody passed are, and those that nobody did: in multiples of the public time."""
    row = dict(unpassed=float((~owned.passed).mean()))
    for name, some in (("passed", owned.passed), ("unpassed", ~owned.passed)):
        public = max(float(owned.topology.proxy[some].sum()), 1e-300)
        row[f"{name}_share"] = public / float(owned.topology.proxy.sum())
        row[f"{name}_true"] = float(owned.true[some].sum()) / public
        row[f"{name}_released"] = float(rel.edge_weights[some].sum()) / public
    return row


def of_map(owned, rel):
    """Everything that a picture of the map from one place needs."""
    topology, origin = owned.topology, np.array([owned.origin])
    return dict(
        places=topology.coordinates, tails=topology.tails, heads=topology.heads, origin=origin,
        true=distance_rows(topology, owned.true, origin)[0], released=rel.matrix(origin, positions=True)[0],
    )  # fmt: skip
