"""How far a release is from the truth: for the data owner only.  Everything computed here is NOT PRIVATE.

The only module besides the private step that opens the weights, or the trips.  Its results are marked and must stay
with the owner.  The truth of a release of trips is the mean time of the passes over each edge, weighted as they were
measured; an edge without passes has none, and counts as it was released.

Where a public proxy is declared, the release is compared with the baseline from public data: distances over the proxy
as it is, and over the proxy times one number, the ratio of the released mean edge weight to the mean proxy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np

from ..arrays import Float, Int
from ..decoder.trips import totals_of
from ..errors import InputError
from ..estimator.base import NoisyEdges
from ..measurement.samples import distance_rows
from ..measurement.trip_strategy import TripStrategy
from ..measurement.trip_totals import trip_totals
from ..network.network import Network
from ..network.topology import Topology
from ..noise import simulation
from ..progress import steps
from ..published.release import Release
from ..published.statement import NOT_PRIVATE, OWNER_ONLY
from ..trips.trips import Trips


@dataclass(frozen=True, eq=False)
class Comparison:
    """True and released distances of the same pairs, side by side.  NOT PRIVATE."""

    true: Float
    released: Float
    hops: Int
    proxy: Float | None = None  # distances over the public proxy alone
    scaled: Float | None = None  # the same, scaled to the released size
    passed: float | None = None  # the share of edges that trips say anything about; the others count as released

    @classmethod
    def joined(cls, parts: Sequence[Comparison]) -> Comparison:
        """Return several periods as one."""

        def join(name: str) -> Any:
            columns = [getattr(part, name) for part in parts]
            return None if any(column is None for column in columns) else np.concatenate(columns)

        shares = [part.passed for part in parts if part.passed is not None]
        passed = float(np.mean(shares)) if shares else None
        return cls(join("true"), join("released"), join("hops"), join("proxy"), join("scaled"), passed)


@dataclass(frozen=True)
class Evaluation:
    """Error of a release over pairs of connected nodes.  NOT PRIVATE: for the data owner only."""

    pairs: int
    mean_distance: float
    mean_error: float
    p95_error: float
    max_error: float
    bias: float
    relative_error: float
    proxy_error: float | None = None  # mean |error| of the public proxy alone, used as it is
    proxy_scaled_error: float | None = None  # the same, times the ratio of the released mean weight to its own
    passed: float | None = None  # the share of edges that trips say anything about; the others count as released

    @classmethod
    def of(cls, comparison: Comparison) -> Evaluation:
        """Summarise a comparison."""
        difference = comparison.released - comparison.true
        error, found = np.abs(difference), len(difference) > 0
        mean, mean_error = (float(one.mean()) if found else 0.0 for one in (comparison.true, error))
        alone, scaled = (
            float(np.abs(proxy - comparison.true).mean()) if found and proxy is not None else None
            for proxy in (comparison.proxy, comparison.scaled)
        )
        return cls(
            pairs=len(error),
            mean_distance=mean,
            mean_error=mean_error,
            p95_error=float(np.quantile(error, 0.95)) if found else 0.0,
            max_error=float(error.max(initial=0.0)),
            bias=float(difference.mean()) if found else 0.0,
            relative_error=mean_error / mean if mean > 0 else 0.0,
            proxy_error=alone,
            proxy_scaled_error=scaled,
            passed=comparison.passed,
        )

    @property
    def baseline_summary(self) -> str:
        """The error of the public column beside that of the release; empty without a proxy."""
        if self.proxy_error is None or self.proxy_scaled_error is None:
            return ""
        errors = (("as it is", self.proxy_error), ("scaled", self.proxy_scaled_error))
        as_good = [name for name, error in errors if error <= self.mean_error]
        verdict = f"NOT better than the column {' or '.join(as_good)}" if as_good else "better than both"
        return (
            f"mean error {self.proxy_error:.4g} with the public column as it is, {self.proxy_scaled_error:.4g} with "
            f"it scaled to the released mean weight, {self.mean_error:.4g} with the release, which is {verdict}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, marked."""
        return {"publishable": False, "marking": OWNER_ONLY, **asdict(self)}

    def __str__(self) -> str:
        return "\n".join([
            f"{NOT_PRIVATE}: computed from the true weights, for the data owner only. Do not publish.",
            f"pairs compared      {self.pairs}",
            f"mean true distance  {self.mean_distance:.6g}",
            f"mean |error|        {self.mean_error:.6g}  ({100 * self.relative_error:.3g} % of the mean distance)",
            f"95 % of errors <=   {self.p95_error:.6g}",
            f"largest error       {self.max_error:.6g}",
            f"bias                {self.bias:+.6g}",
            *([f"edges passed        {100 * self.passed:.3g} %  (others have no truth: they count as released)"]
              if self.passed is not None else []),
            *([f"baseline from public data: {self.baseline_summary}."] if self.baseline_summary else []),
        ])  # fmt: skip


def compare(network: Network | Trips, release: Release, *, sources: int = 64) -> Comparison:
    """Compare released with true distances from up to ``sources`` nodes to all they reach.  NOT PRIVATE."""
    topology = network.topology
    if release.measurements.strategy.terms.unit.measures_edges != isinstance(network, Network):
        raise InputError("a release of trips is compared with trips, and one of weights with weights")
    if not topology.is_same(release.topology, bounds=False):
        raise InputError("the release was made from another topology than this network")
    n = topology.num_nodes
    chosen = np.arange(n) if n <= sources else np.sort(simulation(0).choice(n, sources, replace=False))
    truth, passed = _true_weights(network, release)
    proxy = _fill_proxy(release.topology if release.topology.proxy is not None else topology)
    parts: list[list[Float]] = []
    for part in steps(release.chunks(len(chosen)), "comparing"):
        rows = chosen[part]
        hops = distance_rows(topology, np.ones(topology.num_edges), rows)
        keep = (hops > 0) & np.isfinite(hops)
        known = hops if proxy is None else distance_rows(topology, proxy, rows)
        found = distance_rows(topology, truth, rows), release.rows(rows), hops, known
        parts.append([distances[keep] for distances in found])
    true, released, hops, known = (np.concatenate(column) for column in zip(*parts, strict=True))
    if proxy is None:
        return Comparison(true, released, hops.astype(np.int64), passed=passed)
    scaled = _scale_of_proxy(release, proxy, released, known) * known
    return Comparison(true, released, hops.astype(np.int64), known, scaled, passed)


def _true_weights(owned: Network | Trips, release: Release) -> tuple[Float, float | None]:
    """Return the true weight of every edge (of trips, their mean time), and the share of edges that trips passed."""
    if isinstance(owned, Network):
        return np.maximum(owned.weights.reveal(), 0.0), None
    strategy = cast("TripStrategy", release.measurements.strategy)
    if strategy.terms.periods != owned.periods:
        raise InputError("the release was made with other periods than these trips are read with")
    if release.period is None and len(release.periods) > 1:
        raise InputError(f"the release has several periods: choose one of {', '.join(release.periods)}")
    exact = trip_totals(strategy, owned, "")
    totals = totals_of(replace(release.measurements, values=exact))
    number = 0 if release.period is None else release.periods.index(release.period)
    above, count = totals.above[number], totals.above[number] + totals.below[number]
    released = release.measurements.strategy.lattice.floats(release.decoder.weights)
    part = np.divide(above, count, out=np.zeros_like(count), where=count > 0)
    if len(count) and not (count > 0).any():
        raise InputError(
            "no row of these trips fits, so there is nothing to compare with: look at the names of nodes, at the days "
            "and periods, and at which column is which"
        )
    times = np.where(count > 0, totals.low + part * (totals.high - totals.low), released)
    return times, float((count > 0).mean()) if len(count) else None


def _fill_proxy(topology: Topology) -> Float | None:
    """Return the public proxy, at its mean where it is unknown."""
    if topology.proxy is None:
        return None
    return np.where(np.isnan(topology.proxy), np.nanmean(topology.proxy), topology.proxy)


def _scale_of_proxy(release: Release, proxy: Float, released: Float, known: Float) -> float:
    """Return the mean edge weight of ``release`` over the mean ``proxy``.

    Where no edges were measured, the mean of ``released`` distances over that of ``known`` ones.
    """
    if not release.measurements.strategy.terms.unit.measures_edges:
        released, known = release.measurements.strategy.lattice.floats(release.decoder.weights), proxy
    elif len((edges := NoisyEdges.from_measurements(release.measurements)).edges):
        released, known = edges.lattice.floats(edges.values), proxy[edges.edges]
    total = float(known.sum())
    return max(float(released.sum()) / total, 0.0) if total > 0 else 1.0


def evaluate(network: Network | Trips, release: Release, *, sources: int = 64) -> Evaluation:
    """Return the true error of a release.  NOT PRIVATE: for the data owner only.

    Parameters
    ----------
    network
        The network with its true weights, or the trips, that the release was made from.
    release
        The release, in one period if it has several.
    sources
        How many nodes to compare from, each to every node that it reaches.

    Returns
    -------
    Evaluation
        Errors, bias and the comparison with the public proxy, if there is one.

    Raises
    ------
    InputError
        If the release was made from another network or with other periods.

    Examples
    --------
    >>> import hushpath
    >>> net = hushpath.Network.build(range(3), [0, 1], [1, 2], [5.0, 7.0])
    >>> hushpath.evaluate(net, hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input")).pairs
    6
    """
    return Evaluation.of(compare(network, release, sources=sources))
