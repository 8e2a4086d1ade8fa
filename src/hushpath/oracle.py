"""A release: noisy measurements with their statement, and every question one may ask of them.

Stage 6 of 6.  All answers are public.  Labels come in, numbers go out; positions stay inside.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Float, Int
from .decode import Decoder, decoder_for
from .errors import InputError, OptionError
from .fileformat import read_release, write_release
from .measure import Measurements
from .progress import steps
from .statement import Statement
from .topology import Label, Topology

if TYPE_CHECKING:
    import pandas

CHUNK_NUMBERS = 2**22  # 32 MB of answers at a time


class Release:
    """Everything that was published: ask it for any distance, for ever."""

    def __init__(self, measurements: Measurements, statement: Statement | None = None) -> None:
        self.measurements = measurements
        self.statement = statement or Statement.of(measurements)

    @property
    def topology(self) -> Topology:
        """The public network."""
        return self.measurements.strategy.topology

    @cached_property
    def _decoder(self) -> Decoder:
        return decoder_for(self.measurements)

    def __repr__(self) -> str:
        mark = "" if self.statement.private else "NOT PRIVATE, "
        return f"Release({mark}{self.statement.mechanism}, {self.topology!r}, epsilon={self.statement.epsilon:.6g})"

    def distance(self, source: Label, target: Label) -> float:
        """Return one distance: 0 from a node to itself, ``inf`` if unreachable (a public fact)."""
        return float(self.distances([(source, target)])[0])

    def distances(self, pairs: Sequence[tuple[Label, Label]]) -> Float:
        """Return the distance of each pair of labels (a list of pairs, or an array of two columns)."""
        sources, targets = self._positions(pairs)
        return self._decoder.pairs(sources, targets)

    def matrix(
        self,
        sources: Sequence[Label] | None = None,
        targets: Sequence[Label] | None = None,
        *,
        out: Any = None,
    ) -> Float:
        """Return distances from each source (row) to each target (column); ``None`` means all nodes in order.

        Memory beyond the output is bounded.  ``out`` may be a writable array (a ``numpy`` memory map, say).
        """
        rows, columns = self.topology.indices(sources), self.topology.indices(targets)
        answer = np.empty((len(rows), len(columns))) if out is None else out
        if answer.shape != (len(rows), len(columns)):
            raise OptionError(
                f"out has shape {answer.shape}, but {len(rows)} x {len(columns)} distances were asked for"
            )
        straight = targets is None and answer.dtype == np.float64 and answer.flags.c_contiguous
        for part in steps(self.chunks(len(rows)), "distances"):
            if straight:
                self._decoder.rows(rows[part], answer[part])
            else:
                answer[part] = self.rows(rows[part])[:, columns]
        return answer

    def frame(self, sources: Sequence[Label] | None = None, targets: Sequence[Label] | None = None) -> pandas.DataFrame:
        """Return ``matrix`` as a labelled table."""
        import pandas as pd

        labels = self.topology.labels
        return pd.DataFrame(
            self.matrix(sources, targets),
            index=pd.Index(labels if sources is None else list(sources), name="source"),
            columns=pd.Index(labels if targets is None else list(targets), name="target"),
        )

    def interval(self, source: Label, target: Label, confidence: float = 0.9) -> tuple[float, float]:
        """Return a range meant to hold the true distance with the given probability (see docs/PITFALLS.md)."""
        if not 0 < confidence < 1:
            raise OptionError(f"confidence must be between 0 and 1, got {confidence}")
        return self._decoder.interval(self.topology.index(source), self.topology.index(target), confidence)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the release file (atomically; see docs/FORMAT.md)."""
        write_release(path, self.measurements, self.statement)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Release:
        """Read a release file, checking its digest and proving its certificate again."""
        return cls(*read_release(path))

    def rows(self, sources: Int) -> Float:
        """Full rows by node *position*: the building block of everything larger."""
        out = np.empty((len(sources), self.topology.num_nodes))
        self._decoder.rows(sources, out)
        return out

    def chunks(self, count: int) -> list[slice]:
        """Slices of ``range(count)`` whose full rows fit in a bounded buffer."""
        rows = max(1, CHUNK_NUMBERS // max(self.topology.num_nodes, 1))
        return [slice(at, min(at + rows, count)) for at in range(0, count, rows)]

    def _positions(self, pairs: Any) -> tuple[Int, Int]:
        values = pairs.to_numpy() if hasattr(pairs, "to_numpy") else pairs
        if isinstance(values, np.ndarray):
            if values.ndim != 2 or values.shape[1] != 2:
                raise InputError(f"pairs must have two columns, not shape {values.shape}")
            columns: Iterator[Any] = iter(values.T.tolist())
            left, right = next(columns), next(columns)
        else:
            values = list(values)
            if any(isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2 for pair in values):
                raise InputError("each pair must hold two labels: (source, target)")
            left, right = [pair[0] for pair in values], [pair[1] for pair in values]
        return self.topology.indices(left), self.topology.indices(right)


def load(path: str | os.PathLike[str]) -> Release:
    """Read a release file."""
    return Release.load(path)
