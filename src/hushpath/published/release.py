"""A release: noisy measurements with their statement, and every query to them.  All answers are public.

Nodes are given by label, or for millions of queries by position (``positions=True``).  Releases of edge weights and of
separator shortcuts can have an index (the guide to the index) beside their file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from .._validate import check_confidence, integer
from ..arrays import Float, Int
from ..decoder.base import Decoder
from ..decoder.edges import EdgeDecoder
from ..decoder.registry import DecoderChoice, choose_decoder, make_decoder
from ..errors import CannotError, FileFormatError, InputError, OptionError, warn
from ..estimator.base import NOTHING_SAVED, SavedEstimate
from ..extras import library
from ..index import Index
from ..index.index import MAX_BYTES
from ..index.partition import Partition
from ..index.storage import index_path, load_index, save_index
from ..io.signing import verify_signature, write_signed
from ..measurement.private_step import Measurements
from ..network.labels import Label
from ..network.topology import Topology
from ..progress import steps
from .edges import make_frame, make_graph, marked_ends
from .file import fingerprint, read_release, write_release
from .statement import NOT_PRIVATE, Statement

if TYPE_CHECKING:
    import geopandas
    import networkx
    import pandas

CHUNK_NUMBERS = 2**22  # 32 MB of answers at a time
EDGE_DRAWS, DRAWS_SEED = 100, 950  # the same release has the same intervals everywhere


class Ranges(NamedTuple):
    """Matrices of distances and of the ends of their intervals."""

    distance: Any
    low: Any
    high: Any


class Route(NamedTuple):
    """One shortest path: its nodes by label, its edges by number, and its distance."""

    nodes: tuple[Label, ...]
    edges: Int
    distance: float


class Release:
    """What may be published: ask it for any distance, as often as you like.

    ``load``, ``hushpath.release`` and ``hushpath.release_trips`` make one.  It holds noisy ``measurements`` with their
    ``statement`` and the ``saved`` estimate, and is decoded by this ``decoder`` and ``estimator``; ``fingerprint`` is
    that of the file it was read from, whose digest was checked.
    """

    def __init__(
        self, measurements: Measurements, statement: Statement | None = None, saved: SavedEstimate = NOTHING_SAVED,
        fingerprint: str | None = None, *, decoder: str = "auto", estimator: str = "auto",
    ) -> None:  # fmt: skip
        self.measurements, self._given = measurements, saved
        self.period: str | None = None  # the one that queries are about, if there are several
        self.file: Path | None = None  # that it was loaded from, if its index was looked for there too
        self._at: dict[str, Release] = {}
        self._asked = decoder, estimator
        self.statement = replace(statement or Statement.of(measurements), read_as=str(self.decoder_choice))
        if fingerprint is not None:
            self.fingerprint = fingerprint

    @property
    def topology(self) -> Topology:
        """The public network."""
        return self.measurements.strategy.topology

    def with_decoder(self, decoder: str = "auto", estimator: str = "auto") -> Release:
        """Return the same release with another decoder or estimator; this costs no privacy.

        ``hushpath inspect`` lists the names; an estimator applies to decoders that search paths.  "auto" chooses from
        public facts.
        """
        known = vars(self).get("fingerprint")  # if it was computed
        other = Release(self.measurements, self.statement, self._given, known, decoder=decoder, estimator=estimator)
        _ = other.decoder  # raises now what cannot be decoded
        return other if self.period is None else other.for_period(self.period)

    @property
    def periods(self) -> tuple[str, ...]:
        """The names of the periods; empty if there are none."""
        return self.measurements.strategy.terms.periods.names

    def for_period(self, period: str) -> Release:
        """Return the same release in one of its periods."""
        if not self.periods:
            raise OptionError("this release has no periods")
        number = self.measurements.strategy.terms.periods.position(period)
        if period not in self._at:
            other = copy(self)
            other.period, other.decoder = period, self.decoder.at(number)
            if self.file is not None:
                other._map_index(index_path(self.file, number))
            self._at[period] = other
        return self._at[period]

    @property
    def decoder_choice(self) -> DecoderChoice:
        """The decoder and the estimator that answer."""
        return choose_decoder(self.measurements.strategy, *self._asked, self._given)

    @cached_property
    def decoder(self) -> Decoder:
        """The decoder that answers."""
        return make_decoder(self.measurements, *self._asked, self._given)

    @property
    def saved_estimate(self) -> SavedEstimate:
        """The estimator, and its weights if they are costly, as a file of this release stores them."""
        if not self.decoder_choice.decoder.searches:
            return NOTHING_SAVED
        estimator = self.decoder_choice.estimator
        return SavedEstimate(estimator.name, np.ravel(self.decoder.all_weights) if estimator.costly else None)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything in the release: the same fingerprint gives the same answers."""
        return fingerprint(self.measurements, self.statement, self.saved_estimate)

    def __repr__(self) -> str:
        mark = "" if self.statement.private else f"{NOT_PRIVATE}, "
        when = "" if self.period is None else f", period {self.period}"
        epsilon = f"epsilon={self.statement.epsilon:.6g}"
        return f"Release({mark}{self.statement.mechanism}, {self.topology!r}, {epsilon}{when})"

    def distance(self, source: Label, target: Label) -> float:
        """Return one distance: 0 from a node to itself, ``inf`` if unreachable (a public fact)."""
        first, last = self.topology.index(source), self.topology.index(target)
        return float(self.decoder.pairs(np.array([first]), np.array([last]))[0])

    def distances(self, pairs: Any, *, positions: bool = False) -> Float:
        """Return the distance of each pair of labels (a list of pairs, or an array of two columns).

        With ``positions`` the pairs are positions in ``topology.labels``: an array of integers with two columns.
        """
        return self.decoder.pairs(*_resolve_pairs(self.topology, pairs, positions))

    def intervals(self, pairs: Any, confidence: float = 0.9, *, positions: bool = False) -> Float:
        """Return a row (low, high) for each pair, as ``interval`` would; pairs as in ``distances``.

        Each interval is meant to hold the true distance with the given probability (see Pitfalls).  The first call
        prepares for all later ones, which may take minutes on a large network.
        """
        check_confidence(confidence)
        return self.decoder.intervals(*_resolve_pairs(self.topology, pairs, positions), confidence)

    def matrix(
        self, sources: Any = None, targets: Any = None, *, out: Any = None, dtype: Any = np.float64,
        positions: bool = False, interval: bool = False, confidence: float = 0.9,
    ) -> Any:  # fmt: skip
        """Return distances from ``sources`` (rows) to ``targets`` (columns), in the order asked for.

        ``None`` means all nodes in the order of ``topology.labels``.  ``out`` may be a writable array, for example a
        memory map, of ``float64`` or ``float32``; otherwise ``dtype`` chooses.  With ``positions`` nodes are positions
        in ``topology.labels``.  With ``interval`` the result is a named tuple ``distance, low, high`` of matrices with
        this ``confidence``, and ``out`` has three layers.
        """
        if interval:
            check_confidence(confidence)
        rows, columns = (_resolve_nodes(self.topology, nodes, positions) for nodes in (sources, targets))
        shape = (3, len(rows), len(columns)) if interval else (len(rows), len(columns))
        answer = np.empty(shape, dtype) if out is None else out
        if answer.shape != shape:
            raise OptionError(f"`out` must have shape {shape}, got {answer.shape}")
        if answer.dtype not in (np.float64, np.float32):
            raise OptionError(f"distances must be float64 or float32, got {answer.dtype}")
        self._fill(rows, None if targets is None else columns, answer[0] if interval else answer)
        if not interval:
            return answer
        for part in steps(self.chunks(len(rows)), "intervals"):
            ends = np.repeat(rows[part], len(columns)), np.tile(columns, len(rows[part]))
            exact = answer[0, part].ravel().astype(np.float64)
            low_high = self.decoder.intervals(*ends, confidence, exact)
            answer[1:, part] = low_high.T.reshape(2, -1, len(columns))
        return Ranges(*answer)

    def _fill(self, rows: Int, columns: Int | None, answer: Any) -> None:
        """Write distances from ``rows`` to ``columns`` (None: all nodes) into ``answer``."""
        index = self.decoder.index_for(len(rows))
        if index is not None and answer.flags.c_contiguous:
            index.matrix(rows, columns, np.asarray(answer))
            return
        straight = columns is None and answer.dtype == np.float64 and answer.flags.c_contiguous
        for part in steps(self.chunks(len(rows)), "distances"):
            if straight:
                self.decoder.rows(rows[part], answer[part])
            else:
                answer[part] = self.rows(rows[part])[:, slice(None) if columns is None else columns]

    @property
    def index(self) -> Index | None:
        """The index, or None."""
        return self.decoder.index

    def build_index(
        self, *, max_bytes: int = MAX_BYTES, labels: bool = True, partition: Partition | None = None
    ) -> Index:
        """Build the index (the guide to the index): later answers are the same to the last bit, but faster.

        Without ``labels`` it is much smaller and single pairs take longer.  ``partition`` is one made before
        (``hushpath.partition``).  ``CannotError`` if it exceeds ``max_bytes`` or the decoder needs no index.
        """
        return self.decoder.build_index(max_bytes, labels=labels, partition=partition)

    def save_index(self, path: str | os.PathLike[str], *, labels: bool = True) -> None:
        """Write the index, built if it is missing; without ``labels`` for matrices only."""
        save_index(path, self.build_index(labels=labels), self._index_of, self.statement.marking)

    @property
    def _index_of(self) -> str:
        """What an index belongs to: release, decoder, estimator and period."""
        mine = self.decoder_choice.decoder.name, self.decoder_choice.estimator.name
        when = () if self.period is None else (f"period {self.periods.index(self.period)}",)
        return " ".join([self.fingerprint, *mine, *when])

    def load_index(self, path: str | os.PathLike[str]) -> None:
        """Map an index file; refuse one of another release, another machine, or changed."""
        if not self.decoder.indexed:
            raise CannotError(f"decoder {self.decoder.name!r} has no index")
        granularity = self.measurements.strategy.lattice.granularity
        self.decoder.index = load_index(path, self._index_of, self.topology.num_nodes, granularity)

    def frame(self, sources: Sequence[Label] | None = None, targets: Sequence[Label] | None = None) -> pandas.DataFrame:
        """Return ``matrix`` as a labelled table; NOT PRIVATE is part of the names of both axes."""
        pd = library("pandas", "pandas", "a labelled table")
        labels, marking = self.topology.labels, self.statement.marking
        mark = f" {NOT_PRIVATE}" if marking else ""
        table = pd.DataFrame(
            self.matrix(sources, targets),
            index=pd.Index(labels if sources is None else list(sources), name=f"source{mark}"),
            columns=pd.Index(labels if targets is None else list(targets), name=f"target{mark}"),
        )
        if marking:
            table.attrs["marking"] = marking
        return cast("pandas.DataFrame", table)

    def interval(self, source: Label, target: Label, confidence: float = 0.9) -> tuple[float, float]:
        """Return an interval meant to hold the true distance with the given probability (see Pitfalls)."""
        low, high = self.intervals([(source, target)], confidence)[0].tolist()
        return low, high

    def route(self, source: Label, target: Label) -> Route:
        """Return a shortest path over released edge weights; among equally short ones, one with fewest edges."""
        first, last = self.topology.index(source), self.topology.index(target)
        edges = self.decoder.route(first, last)
        if first != last and not len(edges):
            raise CannotError(f"no path leads from {source!r} to {target!r}")
        nodes = [first]
        for tail, head in zip(self.topology.tails[edges].tolist(), self.topology.heads[edges].tolist(), strict=True):
            nodes.append(head if nodes[-1] == tail else tail)
        labels = tuple(self.topology.labels[node] for node in nodes)
        return Route(labels, edges, float(self.edge_weights[edges].sum()))

    @property
    def edge_weights(self) -> Float:
        """The released weight of every edge, in the order of the topology."""
        if not self.decoder.routes:
            raise CannotError(f"decoder {self.decoder.name!r} gives distances, not edge weights")
        return self.decoder.lattice.floats(self.decoder.weights)

    def edges(self, confidence: float = 0.9) -> pandas.DataFrame:
        """Return one row per edge: its ends, the released weight, an interval, and how much of it is measured.

        Parameters
        ----------
        confidence
            The probability with which an interval holds the true weight, approximately.

        Returns
        -------
        DataFrame
            Columns ``source``, ``target``, ``estimate``, ``low``, ``high`` and ``measured``: 1 where the weight rests
            on its own measurement, 0 where it is what public facts and other edges say (a road nobody passed).
            A release that is NOT PRIVATE has a first column that says so.
        """
        check_confidence(confidence)
        pd = library("pandas", "pandas", "a table of edges")
        drawn, measured = self._draw_weights(EDGE_DRAWS)
        low, high = np.quantile(drawn, ((1 - confidence) / 2, (1 + confidence) / 2), axis=0)
        estimate = self.edge_weights
        table = pd.DataFrame({
            **marked_ends(self.topology, self.statement), "estimate": estimate, "low": np.minimum(low, estimate),
            "high": np.maximum(high, estimate), "measured": measured,
        })  # fmt: skip
        if self.statement.marking:
            table.attrs["marking"] = self.statement.marking
        return cast("pandas.DataFrame", table)

    def draws(self, count: int = 50) -> Float:
        """Draw the weights of all edges given this release, one row per draw; the same release gives the same draws."""
        return self._draw_weights(integer(count, "count", 1, 10_000))[0]

    def _draw_weights(self, count: int) -> tuple[Float, Float]:
        decoder = self.decoder
        if not isinstance(decoder, EdgeDecoder):
            raise CannotError(f"decoder {decoder.name!r} gives distances, not edge weights")
        drawn, measured = decoder.draw_weights(count, DRAWS_SEED)
        return drawn * decoder.lattice.granularity, measured

    def explore(self, origin: Label | None = None, *, height: int = 640) -> Any:
        """Show the map page in a notebook, starting at a node; `hushpath page` writes it to a file."""
        from ..output.report.release import framed

        return framed(self, origin, height)

    def _repr_html_(self) -> str:
        from ..output.report.release import release_card

        return release_card(self)

    def to_networkx(self) -> networkx.Graph[Any]:
        """Return a networkx graph with released weights; ``graph.graph`` holds the statement.

        The weight is an edge attribute named after the quantity (``travel_time``), or ``weight``; nodes have ``x`` and
        ``y`` where known.  NOT PRIVATE is part of the attribute's name.
        """
        return make_graph(self.topology, self.edge_weights, self.statement, self.period)

    def to_geopandas(self, crs: str | None = None) -> geopandas.GeoDataFrame:
        """Return a row per edge with its released weight and a line, in degrees where possible.

        ``crs`` is the coordinate system, for example ``EPSG:25832`` or ``planar``.  NOT PRIVATE is a first column.
        """
        return make_frame(self.topology, self.edge_weights, self.statement, self.period, crs)

    def save(
        self, path: str | os.PathLike[str], *, index: bool = False, sign: str | os.PathLike[str] | None = None
    ) -> None:
        """Write the release file (see the file format), with ``index`` also its index beside it.

        ``sign`` is a private Ed25519 key (PEM): ``roads.hush.sig`` is written with ``roads.hush``, or neither.
        """
        content = self.measurements, self.statement, self.saved_estimate
        if sign is None:
            self.fingerprint = write_release(Path(path), *content)
        else:
            written: list[str] = []
            write_signed(path, sign, lambda at: written.append(write_release(at, *content)))
            self.fingerprint = written[-1]
        if index:
            self.save_index(self.index_file(path))

    def index_file(self, path: str | os.PathLike[str]) -> Path:
        """Return the path of the index of this release, or of its period."""
        return index_path(path, None if self.period is None else self.periods.index(self.period))

    def _map_index(self, beside: Path) -> None:
        """Map an index beside the file, or warn why not."""
        if beside.is_file() and beside != self.file and self.decoder.indexed:
            try:
                self.load_index(beside)
            except FileFormatError as error:
                warn(str(error))

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, verify: str | os.PathLike[str] | None = None, index: bool = True,
        decoder: str = "auto", estimator: str = "auto", dataset: str | None = None, date: str | None = None,
    ) -> Release:  # fmt: skip
        """Read the release file at ``path``, checking its digest and proving its certificate again.

        ``index``: map an index beside it (``roads.hushx``) that was made on this machine; others are ignored with a
        warning.  ``verify``: a public Ed25519 key (PEM) that must have signed the file under its name.  ``dataset``,
        ``date``: what a signed file must state; with ``date`` it may have been renamed.  ``decoder``, ``estimator``: as
        in ``with_decoder``.
        """
        if verify is None and (dataset is not None or date is not None):
            raise OptionError("`dataset` and `date` need `verify`: they are checked in signed files only")
        signed = None if verify is None else verify_signature(path, verify, renamed=date is not None)
        found = read_release(Path(path), sha256=signed)
        release = cls(*found, decoder=decoder, estimator=estimator)
        said = release.statement
        for what, wanted, stated in (("data set", dataset, said.quantity.dataset), ("date", date, said.quantity.date)):
            if wanted is not None and wanted != stated:
                raise FileFormatError(f"{path} is signed for the {what} {stated!r}, not {str(wanted)[:100]!r}")
        if (decoder, estimator) != ("auto", "auto"):
            _ = release.decoder  # raises now what cannot be decoded
        if index:
            release.file = Path(path)
            if not release.periods:
                release._map_index(index_path(path))
        return release

    def rows(self, sources: Int) -> Float:
        """Return full rows by node position."""
        out = np.empty((len(sources), self.topology.num_nodes))
        self.decoder.rows(sources, out)
        return out

    def chunks(self, count: int) -> list[slice]:
        """Return slices of ``range(count)`` whose full rows fit in a bounded buffer."""
        rows = max(1, CHUNK_NUMBERS // max(self.topology.num_nodes, 1))
        return [slice(at, min(at + rows, count)) for at in range(0, count, rows)]


def in_periods(release: Release) -> dict[str, Release]:
    """Return the release in each of its periods; under an empty name if it has none."""
    if release.period is not None or not release.periods:
        return {release.period or "": release}
    return {period: release.for_period(period) for period in release.periods}


load = Release.load


def _resolve_nodes(topology: Topology, nodes: Any, positions: bool) -> Int:
    """Return the positions of nodes; ``None`` means all."""
    if nodes is None or not positions:
        return topology.indices(nodes)
    found = _check_positions(topology, nodes)
    if found.ndim != 1:
        raise InputError(f"node positions must be one-dimensional, got shape {found.shape}")
    return found


def _resolve_pairs(topology: Topology, pairs: Any, positions: bool) -> tuple[Int, Int]:
    """Return the positions of both ends of each pair."""
    values = pairs.to_numpy() if hasattr(pairs, "to_numpy") else pairs
    if positions:
        values = _check_positions(topology, values)
    if isinstance(values, np.ndarray):
        if values.ndim != 2 or values.shape[1] != 2:
            raise InputError(f"pairs must have two columns, got shape {values.shape}")
        if positions:
            return np.ascontiguousarray(values[:, 0]), np.ascontiguousarray(values[:, 1])
        left, right = values[:, 0].tolist(), values[:, 1].tolist()
    else:
        values = list(values) if isinstance(values, Iterable) else [values]
        if any(isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2 for pair in values):
            raise InputError("each pair must hold two labels: (source, target)")
        left, right = [pair[0] for pair in values], [pair[1] for pair in values]
    return topology.indices(left), topology.indices(right)


def _check_positions(topology: Topology, nodes: Any) -> Int:
    found = np.asarray(nodes)
    if found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind not in "iu":
        raise InputError(f"node positions must be integers, got {found.dtype}")
    n = topology.num_nodes
    if found.size and (int(found.min()) < 0 or int(found.max()) >= n):
        raise InputError(f"node positions must be from 0 to {n - 1}")
    return np.ascontiguousarray(found, np.int64)
