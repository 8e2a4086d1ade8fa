"""CSV that no spreadsheet takes for a program: text that begins like a formula gets a single quote in front."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any, Literal, TextIO, TypeVar

from ..network.labels import Label

FORMULA = re.compile(r"'*\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r\n]")  # how formulas begin, also in full width
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
T = TypeVar("T")


def csv_cell(value: T) -> T | str:
    """Return a value as a CSV cell that no spreadsheet evaluates as a formula.

    Text that begins like a formula, after blanks, gets a single quote in front, and so does such text that already has
    quotes there: removing one quote restores the text.  Numbers stay as they are, also those given as text.
    """
    if not isinstance(value, str) or value[:1].isalnum() or not FORMULA.match(value):
        return value
    return value if NUMBER.fullmatch(value) else f"'{value}"


class CsvWriter:
    """Writes rows of CSV; every cell passes through ``csv_cell``."""

    def __init__(self, file: TextIO, quoting: Literal[0, 2]) -> None:
        self._writer = csv.writer(file, lineterminator="\n", quoting=quoting)

    def writerow(self, row: Iterable[Any]) -> None:
        """Write one row."""
        self._writer.writerow(map(csv_cell, row))

    def writerows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write many rows."""
        self._writer.writerows(map(csv_cell, row) for row in rows)


def csv_writer(file: TextIO, labels: Iterable[Label]) -> CsvWriter:
    """Return a writer of rows with these labels.

    All text is quoted if a label holds a carriage return: Python writes that one bare, and readers would start a new
    row there.
    """
    bare = any("\r" in str(label) for label in labels)
    return CsvWriter(file, csv.QUOTE_NONNUMERIC if bare else csv.QUOTE_MINIMAL)
