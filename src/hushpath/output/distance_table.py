"""A table of distances: what is asked of which release, its columns and metadata, and its numbers block by block.

Files, folders and the server all write this one object, in one of three layouts:

| layout | a row is | columns |
|---|---|---|
| ``wide`` | a source | ``source`` and one per target; with intervals three per target: ``T``, ``T low``, ``T high`` |
| ``long`` | a pair | ``source``, ``target``, ``distance``; with intervals also ``low`` and ``high`` |
| ``lists`` | a source | ``source`` and ``distance``, a list in the order of the targets; also ``low`` and ``high`` |

A table of a release that is NOT PRIVATE has a first column of that name, which also stands in every row: a program that
expects a private table stops there, and no copy or conversion leaves it behind.  Arrow and Parquet schemas carry the
statement of every release in their metadata.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from .._version import __version__
from ..arrays import Int
from ..errors import OptionError
from ..network.labels import Label
from ..progress import steps
from ..published.edges import about
from ..published.release import Release
from ..published.statement import NOT_PRIVATE

Layout = Literal["wide", "long", "lists"]
BLOCK_CELLS = 2**22  # distances computed at a time: 32 MB
BATCH_ROWS = 2**20  # rows of a long table in one batch
MAX_PARQUET_COLUMNS = 20_000  # Parquet stores metadata for every column in every row group
ALL_ROWS = slice(None)


def schema_metadata(release: Release) -> dict[str, str]:
    """Return what the schema of every Parquet and Arrow file says about its release."""
    return {f"hushpath.{name}": text for name, text in about(release.statement, release.period).items()}


@dataclass(frozen=True, eq=False)
class DistanceTable:
    """Distances from some nodes of a release to some others.

    Attributes:
        release: the release, in one period if it has several.
        sources: positions of the sources in ``release.topology.labels``.
        targets: positions of the targets; ``None`` means all nodes in canonical order.
        long: whether a row is a pair of nodes instead of a source.
        dtype: ``float64`` or ``float32``.
        confidence: of the intervals; ``None`` means distances without intervals.
    """

    release: Release
    sources: Int
    targets: Int | None = None
    long: bool = False
    dtype: Any = np.float64
    confidence: float | None = None

    @classmethod
    def from_labels(
        cls, release: Release, sources: Sequence[Label] | None = None, targets: Sequence[Label] | None = None, *,
        long: bool = False, dtype: Any = np.float64, interval: bool = False, confidence: float = 0.9,
    ) -> DistanceTable:  # fmt: skip
        """Make a table of a release from labels of nodes; all parameters are those of ``hushpath.write_matrix``."""
        find = release.topology.indices
        columns = None if targets is None else find(targets)
        return cls(release, find(sources), columns, long, np.dtype(dtype), confidence if interval else None)

    @cached_property
    def source_labels(self) -> list[Label]:
        """The labels of the sources, as in the release."""
        return self._labels(self.sources)

    @cached_property
    def target_labels(self) -> list[Label]:
        """The labels of the targets, as in the release."""
        return list(self.release.topology.labels) if self.targets is None else self._labels(self.targets)

    def _labels(self, positions: Int) -> list[Label]:
        return list(map(self.release.topology.labels.__getitem__, positions.tolist()))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sources and of targets."""
        return len(self.sources), self.release.topology.num_nodes if self.targets is None else len(self.targets)

    @property
    def values(self) -> list[str]:
        """The numbers of each pair."""
        return ["distance"] if self.confidence is None else ["distance", "low", "high"]

    @property
    def row_bytes(self) -> int:
        """Size of the numbers of one source."""
        return self.shape[1] * len(self.values) * int(np.dtype(self.dtype).itemsize)

    @property
    def marks(self) -> list[str]:
        """The first column and what stands in it; empty for a private release."""
        return [NOT_PRIVATE] if self.release.statement.marking else []

    @cached_property
    def wide_columns(self) -> list[str]:
        """The columns of a wide table after ``source``."""
        endings = ["", " low", " high"][: len(self.values)]
        return [f"{target}{ending}" for target in self.target_labels for ending in endings]

    @cached_property
    def question(self) -> str:
        """What distinguishes this table from every other one, as the files of a folder state it."""
        release = self.release
        nodes = json.dumps([self.source_labels, self.target_labels]).encode()
        facts = {
            "hushpath": __version__, "release": release.fingerprint, "read as": str(release.decoder_choice),
            "period": release.period or "", "nodes": hashlib.sha256(nodes).hexdigest(),
            "layout": "long" if self.long else "lists", "numbers": np.dtype(self.dtype).name,
            "confidence": self.confidence,
        }  # fmt: skip
        return json.dumps(facts, sort_keys=True)

    def check_columns(self, most: int | None = None) -> None:
        """Raise ``OptionError`` if a wide table would have two columns of one name, or more than ``most``."""
        if self.long:
            return
        count = len(self.wide_columns)
        if len({"source", *self.wide_columns}) <= count:
            raise OptionError("two columns would have the same name: name each target once, or use the long layout")
        if most is not None and count > most:
            raise OptionError(f"Parquet takes at most {most} columns, got {count}: use the long layout, or .npy")

    # --- numbers ------------------------------------------------------------------------------------------------------

    def fill(self, rows: slice, out: Any) -> None:
        """Write the numbers of some rows into ``out``, an array of values x sources x targets."""
        self.release.decoder.index_for(len(self.sources))  # as for all rows: one block alone may not be worth an index
        ask = partial(self.release.matrix, self.sources[rows], self.targets, positions=True)
        if self.confidence is None:
            ask(out=out[0])
        else:
            ask(out=out, interval=True, confidence=self.confidence)

    def slices(self, cells: int = BLOCK_CELLS, rows: slice = ALL_ROWS) -> list[slice]:
        """Return the rows of each block."""
        first, last, _ = rows.indices(len(self.sources))
        height = max(1, cells // max(1, self.shape[1]))
        return [slice(at, min(at + height, last)) for at in range(first, last, height)]

    def blocks(self, cells: int = BLOCK_CELLS, rows: slice = ALL_ROWS) -> Iterator[tuple[slice, Any]]:
        """Yield some rows at a time with their numbers (values x sources x targets), about ``cells`` distances each."""
        for some in steps(self.slices(cells, rows), "writing"):
            block = np.empty((len(self.values), some.stop - some.start, self.shape[1]), self.dtype)
            self.fill(some, block)
            yield some, block

    # --- Arrow --------------------------------------------------------------------------------------------------------

    @property
    def label_type(self) -> Any:
        """The Arrow type of labels."""
        import pyarrow as pa

        return pa.int64() if isinstance(self.release.topology.labels[0], int) else pa.string()

    def schema(self, layout: Layout, more: dict[str, str] | None = None) -> Any:
        """Return the Arrow schema of a layout, with metadata about the release and ``more``."""
        import pyarrow as pa

        label, number = self.label_type, pa.from_numpy_dtype(np.dtype(self.dtype))
        fields = [*((text, pa.string()) for text in self.marks), ("source", label)]
        if layout == "wide":
            fields += [(name, number) for name in self.wide_columns]
        elif layout == "long":
            fields += [("target", label), *((name, number) for name in self.values)]
        else:
            numbers = pa.list_(pa.field("element", number), self.shape[1])
            fields += [(name, numbers) for name in self.values]
        return pa.schema(fields, metadata={**schema_metadata(self.release), **(more or {})})

    def batches(self, schema: Any, layout: Layout, cells: int = BLOCK_CELLS, rows: slice = ALL_ROWS) -> Iterator[Any]:
        """Yield ``rows`` as Arrow record batches of ``schema`` in its ``layout``, about ``cells`` distances each."""
        import pyarrow as pa

        targets = pa.array(self.target_labels if layout == "long" else [], self.label_type)
        for some, block in self.blocks(cells, rows):
            sources, count = pa.array(self.source_labels[some], self.label_type), self.shape[1]
            if layout == "long":
                for at in range(0, len(sources) * count, BATCH_ROWS):
                    pair = np.arange(at, min(at + BATCH_ROWS, len(sources) * count))
                    numbers = [pa.array(value.ravel()[pair[0] : pair[-1] + 1]) for value in block]
                    ends = [sources.take(pa.array(pair // count)), targets.take(pa.array(pair % count))]
                    yield self._batch(schema, [*ends, *numbers])
            elif layout == "wide":
                wide = np.moveaxis(block, 0, 2).reshape(len(sources), -1)
                yield self._batch(schema, [sources, *map(pa.array, wide.T.copy())])
            else:
                lists = schema.types[-1]
                numbers = [pa.FixedSizeListArray.from_arrays(pa.array(value.ravel()), type=lists) for value in block]
                yield self._batch(schema, [sources, *numbers])

    def _batch(self, schema: Any, columns: list[Any]) -> Any:
        import pyarrow as pa

        marks = [pa.array([text] * len(columns[0]), pa.string()) for text in self.marks]
        return pa.RecordBatch.from_arrays([*marks, *columns], schema=schema)
