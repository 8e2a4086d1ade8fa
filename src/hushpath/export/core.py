"""What a format is, what it may be asked, and what it says when a file is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from ..data.labels import Label
from ..publish.oracle import Release

Rows = str | PathLike[str] | Iterable[Sequence[Any]]  # a public CSV file, or its rows


@dataclass(frozen=True)
class Asked:
    """What may be asked of an export; a format takes some of it."""

    zones: str | PathLike[str] | Iterable[Any] | None = None  # a file of zones, or nodes, or pairs of zone and node
    interval: bool = False  # also low and high
    confidence: float | None = None  # of them; 0.9 unless told
    lengths: Rows | None = None  # public: source, target, metres
    ids: Rows | None = None  # public: source, target, id of another program
    night: str | None = None  # the period of the night
    crs: str | None = None  # what coordinates are
    isochrone: Label | None = None  # the node from which to draw what can be reached
    steps: Sequence[float] | None = None  # within how much

    @property
    def given(self) -> set[str]:
        """The names of what was asked."""
        return {name for name, value in vars(self).items() if value is not None and value is not False}

    @property
    def held(self) -> float:
        """How often a range is meant to hold."""
        return 0.9 if self.confidence is None else self.confidence


@dataclass(frozen=True)
class Written:
    """What was written, in a sentence for people and as facts for machines."""

    text: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """One format.

    Attributes:
        name: as ``--to`` takes it.
        summary: what it is, in a line.
        write: from releases of one time each, a path and what was asked.
        takes: what of ``Asked`` means something to it.
        unmarked: why there is no room for NOT PRIVATE, if there is none.
        folder: whether a folder is written, not a file.
        every_period: whether all periods of a release go in together.
    """

    name: str
    summary: str
    write: Callable[[Sequence[Release], Path, Asked], Written]
    takes: frozenset[str] = frozenset()
    unmarked: str = ""
    folder: bool = False
    every_period: bool = False
