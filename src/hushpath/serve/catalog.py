"""The releases that are served: found by name and period, prepared once, each with the facts its answers carry."""

from __future__ import annotations

import re
import timeit
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote

import numpy as np

from ..arrays import Float, Int
from ..errors import CannotError, InputError, OptionError
from ..geodesy import great_circle, unit_vectors
from ..index.index import MAX_BYTES
from ..network.topology import Topology
from ..published.edges import places_of
from ..published.release import Release
from .limits import HttpError
from .responses import json_bytes

NAME = re.compile(r"[^\x00-\x1f/@\x7f\ud800-\udfff]{1,100}")  # fits in an address
QUICK = 0.0005  # seconds: shorter work runs on the event loop, not in a thread
NEAREST = 10_000.0  # metres: a place so far from a small network is still taken to be on it


class NearestNode:
    """Find the node that is nearest to a longitude and latitude, among those whose place is known."""

    def __init__(self, topology: Topology) -> None:
        from scipy.spatial import cKDTree

        self.places, degrees = places_of(topology)
        if not degrees:
            raise CannotError("the coordinates of this release are not longitudes and latitudes")
        self.known = np.flatnonzero(np.isfinite(self.places).all(axis=1))
        known = self.places[self.known]
        # As far as the network is wide: what is farther away is another region, or has its latitude first.
        width = float(great_circle(known.min(axis=0)[None], known.max(axis=0)[None])[0])
        self.reach = max(width, NEAREST)
        self._tree = cKDTree(unit_vectors(known))

    def find(self, places: Float) -> tuple[Int, Float]:
        """Return the positions of the nearest nodes, and how many metres away they are."""
        _, found = self._tree.query(unit_vectors(places))
        nodes = self.known[found]
        return nodes, great_circle(places, self.places[nodes])


class ServedRelease:
    """One release in one period (or without periods), prepared to answer."""

    def __init__(self, name: str, release: Release) -> None:
        self.name, self.release = name, release
        statement = release.statement
        period = {} if release.period is None else {"period": release.period}
        marking = {"marking": statement.marking} if statement.marking else {}
        self.facts: dict[str, Any] = {
            "release": name, **period, "quantity": statement.quantity.as_dict(), "private": statement.private, **marking
        }  # fmt: skip
        self.facts_json = json_bytes(self.facts)[1:]  # ends the document of nearly every answer
        self.headers = {"hushpath-quantity": quote(str(statement.quantity) or statement.quantity.noun, safe=" ,:;()")}
        if statement.marking:
            self.headers["hushpath-marking"] = quote(statement.marking, safe=" ,:;()")
        self.no_intervals = "this server was started without intervals"  # why there are none; empty if there are
        self.quick_intervals = False

    def prepare(self, max_bytes: int = MAX_BYTES) -> None:
        """Build the index, if this release can have one of that size, and compile the kernels of a first request."""
        if self.release.index is None or self.release.index.labels is None:
            try:
                self.release.build_index(max_bytes=max_bytes)
            except CannotError:
                self.release.decoder.index_for(self.release.topology.num_nodes)
        nodes = np.array([0, self.release.topology.num_nodes - 1])
        self.release.distances(nodes[None], positions=True)
        self.release.matrix(nodes, nodes, positions=True)

    def prepare_intervals(self) -> None:
        """Prepare intervals: minutes on a large network, once."""
        pair = np.array([[0, self.release.topology.num_nodes - 1]])
        try:
            self.release.intervals(pair, positions=True)
            seconds = timeit.repeat(lambda: self.release.intervals(pair, positions=True), number=1, repeat=5)
            self.no_intervals, self.quick_intervals = "", min(seconds) < QUICK
        except CannotError as error:  # this release has no intervals: say so when one is requested
            self.no_intervals = str(error)

    def require_intervals(self) -> None:
        """Raise an error unless intervals are ready."""
        if self.no_intervals:
            raise CannotError(self.no_intervals)

    @property
    def quick(self) -> bool:
        """Return whether one distance takes microseconds, so that no thread is needed."""
        return self.release.index is not None

    def distance(self, source: int, target: int) -> float:
        """Return one distance, by position."""
        return float(self.release.decoder.pairs(np.array([source]), np.array([target]))[0])

    def interval(self, source: int, target: int, confidence: float) -> tuple[float, float]:
        """Return one interval, by position."""
        self.require_intervals()
        low, high = self.release.intervals(np.array([[source, target]]), confidence, positions=True)[0].tolist()
        return low, high

    @cached_property
    def nearest(self) -> NearestNode:
        """Return what finds the node nearest to a place."""
        return NearestNode(self.release.topology)

    @property
    def seconds(self) -> float:
        """Return the seconds of one unit of the release; raise if the release does not hold times."""
        quantity = self.release.statement.quantity
        if quantity.seconds is None:
            found = f"numbers are {quantity}" if str(quantity) else "the owner did not say what the numbers are"
            raise CannotError(f"durations need a release of times in seconds, minutes or hours: {found}")
        return quantity.seconds


class ReleaseCatalog:
    """All releases that are served."""

    def __init__(self, releases: Mapping[str, Release], max_bytes: int = MAX_BYTES, *, intervals: bool = True) -> None:
        if not releases:
            raise OptionError("name at least one release to serve")
        for name in releases:
            if NAME.fullmatch(name) is None:
                raise OptionError(f"a release cannot be served under the name {name[:60]!r}: it must fit in an address")
        self.releases = dict(releases)
        self.served: dict[tuple[str, str | None], ServedRelease] = {}
        for name, release in self.releases.items():
            for period in release.periods or (None,):
                served = ServedRelease(name, release if period is None else release.for_period(period))
                served.prepare(max_bytes)
                if intervals:
                    served.prepare_intervals()
                self.served[name, period] = served

    def find(self, name: str | None, period: str | None, *, any_period: bool = False) -> ServedRelease:
        """Return a release in a period; either may be left out only where there is one."""
        if name is None:
            if len(self.releases) > 1:
                raise OptionError(f"several releases are served: add release, one of {', '.join(self.releases)}"[:400])
            (name,) = self.releases
        if name not in self.releases:
            raise HttpError(404, "InputError", f"release {name[:60]!r} does not exist; /releases lists those served")
        periods = self.releases[name].periods
        if period is None and len(periods) > 1 and not any_period:
            raise OptionError(f"this release has several periods: add period, one of {', '.join(periods)}"[:400])
        if period is None and periods:
            period = periods[0]
        if (name, period) not in self.served:
            known = f"choose from {', '.join(periods)}" if periods else "this release has none"
            raise InputError(f"period {str(period)[:60]!r} does not exist: {known}"[:400])
        return self.served[name, period]

    @property
    def not_private(self) -> list[ServedRelease]:
        """Return the releases that are NOT PRIVATE, in one period each."""
        return list({served.name: served for served in self.served.values() if "marking" in served.facts}.values())

    def summaries(self) -> list[dict[str, Any]]:
        """Describe what is served, for ``/releases``."""
        found = []
        for name, release in self.releases.items():
            topology = release.topology
            served = self.served[name, release.periods[0] if release.periods else None]
            facts = {key: value for key, value in served.facts.items() if key != "period"}
            found.append({
                **facts, "nodes": topology.num_nodes, "edges": topology.num_edges, "directed": topology.directed,
                "periods": list(release.periods), "places": topology.coordinates is not None,
                "indexed": served.release.index is not None, "routes": served.release.decoder.routes,
            })  # fmt: skip
        return found
