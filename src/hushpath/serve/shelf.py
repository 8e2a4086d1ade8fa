"""The releases that are served: found by name and period, made ready once, each with the words its answers carry."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from threading import Lock, Thread
from typing import Any
from urllib.parse import quote

import numpy as np

from ..cells.index import MAX_BYTES
from ..data.labels import Label
from ..errors import CannotError, InputError, OptionError
from ..publish.oracle import Release
from ..publish.statement import NOT_PRIVATE
from .places import Snapper
from .replies import MARK_HEADER, QUANTITY_HEADER, Refusal, dumps

NAME = re.compile(r"[^\x00-\x1f/@\x7f\ud800-\udfff]{1,100}")  # what stands in an address without trouble
QUICK = 0.0005  # seconds: an answer that takes less is given at once, not by a thread
TRIES = 5
PATIENCE = 5.0  # seconds that the first who asks for an interval waits for what all of them need


class Book:
    """One release in one period (or of one time only), ready to answer."""

    def __init__(self, name: str, release: Release) -> None:
        self.name, self.release = name, release
        statement = release.statement
        self.mark = NOT_PRIVATE if statement.marking else ""
        period = {} if release.period is None else {"period": release.period}
        marking = {"marking": statement.marking} if statement.marking else {}
        self.words: dict[str, Any] = {
            "release": name, **period, "quantity": statement.quantity.as_dict(), "private": statement.private, **marking
        }  # fmt: skip
        self.tail = dumps(self.words)[1:]  # after the fields of an answer; most requests write it
        self.headers = {QUANTITY_HEADER: quote(str(statement.quantity) or statement.quantity.noun, safe=" ,:;()")}
        if statement.marking:
            self.headers[MARK_HEADER] = quote(statement.marking, safe=" ,:;()")
        self._starting = Lock()
        self._learner: Thread | None = None
        self._failed: str | None = None
        self.learnt = self.quick_ranges = False

    def build(self, max_bytes: int = MAX_BYTES) -> None:
        """Make the index, if this release can have one that is not too large; others answer by other means."""
        if self.release.index is None or self.release.index.labels is None:
            try:
                self.release.build_index(max_bytes=max_bytes)
            except CannotError:
                self.release.prepared(self.release.topology.num_nodes)
        # Kernels are compiled when they are first called: no visitor should wait for that.
        nodes = np.array([0, self.release.topology.num_nodes - 1])
        self.release.distances(nodes[None], positions=True)
        self.release.matrix(nodes, nodes, positions=True)

    def learn(self) -> None:
        """Get ready for intervals: minutes on a large network, once."""
        pair = np.array([[0, self.release.topology.num_nodes - 1]])
        try:
            self.release.intervals(pair, positions=True)
            self.quick_ranges = _median(lambda _: self.release.intervals(pair, positions=True)) < QUICK
        except CannotError as error:  # a release that has none says so when it is asked
            self._failed = str(error)
        except Exception as error:  # no memory, or a bug of ours; whoever asks must not be told to come back for ever
            print(f"hushpath: intervals of {self.name!r} failed ({type(error).__name__})", file=sys.stderr)
            self._failed = "intervals cannot be worked out here"
        self.learnt = True

    def need_intervals(self) -> None:
        """Be ready for intervals, or refuse: nobody's thread is kept for the minutes that learning may take.

        The first who asks starts it, in a thread of its own, and waits a little; others are told to come back.
        """
        if not self.learnt:
            with self._starting:
                first = self._learner is None
                if self._learner is None:
                    self._learner = Thread(target=self.learn, daemon=True)
                    self._learner.start()
            if first:
                self._learner.join(PATIENCE)
        if not self.learnt:
            raise Refusal(503, "Busy", "intervals of this release are being worked out; try again", retry_after="30")
        if self._failed is not None:
            raise CannotError(self._failed)  # a new one: what is raised keeps what was asked with it

    @cached_property
    def quick(self) -> bool:
        """Whether one distance takes microseconds: measured, because it depends on how a release is read."""
        last = self.release.topology.num_nodes - 1
        return _median(lambda i: self.one(min(i, last), last)) < QUICK

    def one(self, source: int, target: int) -> float:
        """One distance, by position."""
        return float(self.release.decoder.pairs(np.array([source]), np.array([target]))[0])

    def range_of(self, source: int, target: int, confidence: float) -> tuple[float, float]:
        """One interval, by position."""
        self.need_intervals()
        pair = np.array([[source, target]])
        low, high = self.release.intervals(pair, confidence, positions=True)[0].tolist()
        return low, high

    def position(self, label: Label) -> int:
        """Where a node is; an unknown one is refused."""
        return self.release.topology.index(label)

    @cached_property
    def snapper(self) -> Snapper:
        """Finds the node that is nearest to a place."""
        return Snapper(self.release.topology)

    @property
    def seconds(self) -> float:
        """How many seconds one unit is; refuses what is no time."""
        quantity = self.release.statement.quantity
        if quantity.seconds is None:
            said = f"numbers are {quantity}" if str(quantity) else "the owner did not say what the numbers are"
            raise CannotError(f"durations need a release of times in seconds, minutes or hours: {said}")
        return quantity.seconds


class Shelf:
    """All releases that are served."""

    def __init__(self, releases: Mapping[str, Release], max_bytes: int = MAX_BYTES, *, intervals: bool = False) -> None:
        if not releases:
            raise OptionError("name at least one release to serve")
        for name in releases:
            if NAME.fullmatch(name) is None:
                raise OptionError(f"a release cannot be served under the name {name[:60]!r}: it must fit in an address")
        self.releases = dict(releases)
        self.books: dict[tuple[str, str | None], Book] = {}
        for name, release in self.releases.items():
            for period in release.periods or (None,):
                book = Book(name, release if period is None else release.at(period))
                book.build(max_bytes)
                _ = book.quick
                if intervals:
                    book.learn()
                self.books[name, period] = book

    def find(self, name: str | None, period: str | None, *, any_period: bool = False) -> Book:
        """The release that is meant, in the period that is meant; neither is guessed if it makes a difference."""
        if name is None:
            if len(self.releases) > 1:
                raise OptionError(f"several releases are served: add release, one of {', '.join(self.releases)}"[:400])
            (name,) = self.releases
        if name not in self.releases:
            raise Refusal(404, "InputError", f"no release is called {name[:60]!r}")
        periods = self.releases[name].periods
        if period is None and len(periods) > 1 and not any_period:
            raise OptionError(f"this release has several periods: add period, one of {', '.join(periods)}"[:400])
        if period is None and periods:
            period = periods[0]
        if (name, period) not in self.books:
            has = f"it has {', '.join(periods)}" if periods else "it has none"
            raise InputError(f"no period of this release is called {str(period)[:60]!r}: {has}"[:400])
        return self.books[name, period]

    def listed(self) -> list[dict[str, Any]]:
        """What there is, for people and machines."""
        found = []
        for name, release in self.releases.items():
            topology = release.topology
            book = self.books[name, release.periods[0] if release.periods else None]
            words = {key: value for key, value in book.words.items() if key != "period"}
            found.append({
                **words, "nodes": topology.num_nodes, "edges": topology.num_edges, "directed": topology.directed,
                "periods": list(release.periods), "places": topology.coordinates is not None,
                "indexed": book.release.index is not None, "routes": book.release.decoder.routes,
            })  # fmt: skip
        return found


def _median(work: Callable[[int], object]) -> float:
    """Seconds that it takes, after a first time that may compile or load something."""
    took = []
    for i in range(TRIES + 1):
        began = time.perf_counter()
        work(i)
        took.append(time.perf_counter() - began)
    return sorted(took[1:])[TRIES // 2]
