"""What a reader is, how a file is opened, and what the XML formats share.

Errors of parsers may quote the data, so they are never passed on: neither in our messages nor as the context of our
exceptions.  A DOCTYPE is refused: entities turn a small file into a huge one.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, TypeVar
from xml.parsers import expat

from ...errors import NetworkError
from ...network.network import Table
from ...network.public_rows import WantedColumns

T = TypeVar("T")
FilePath = str | PathLike[str]
Read = Callable[[IO[bytes], WantedColumns], Table]
# Bytes, the name of the weight, the interval of time (None: there is one) -> weights as they stand, by id of the edge.
Join = Callable[[IO[bytes], str, float | None], dict[str, str | None]]


@dataclass(frozen=True)
class Reader:
    """One format.  Labels without a type are text, stripped, and integers if *every* label of the network is one."""

    name: str  # as an option
    title: str  # in a sentence
    suffixes: tuple[str, ...]  # each may have .gz after it
    read: Read  # the first two needed columns of an edge list are the ends
    typed: bool = False  # labels keep their type and spaces
    whole: bool = False  # a file has its own nodes and its own direction, so it neither takes a node table nor is one
    rates: tuple[str, ...] = ()  # columns that do not add up along a path, as speeds do not: never a weight
    join: Join | None = None  # private weights may be in a second file, by edge id


def check_path(path: FilePath) -> None:
    """Raise ``NetworkError`` for what is not a path."""
    if not isinstance(path, (str, PathLike)) or not isinstance(fspath(path), str):
        raise NetworkError(f"a path must be text or a Path, not {type(path).__name__}")


def show_path(path: FilePath) -> str:
    """Return a path for messages, on one line."""
    return repr(fspath(path)[-200:])


def decode_file(path: FilePath, decode: Callable[[Any], T]) -> T:
    """Return ``decode`` of an open file, decompressed if its name ends in .gz."""
    reason = ""
    try:
        raw = Path(path).open("rb")  # noqa: SIM115 - closed below
    except (OSError, ValueError) as error:  # ValueError: a NUL or a surrogate in the name
        reason = getattr(error, "strerror", None) or "not a usable name"
    if reason:
        raise NetworkError(f"cannot read {show_path(path)}: {reason}")
    with raw:
        try:
            return decode(gzip.open(raw) if fspath(path).lower().endswith(".gz") else raw)
        except UnicodeDecodeError:  # it holds the bytes it could not read
            problem = "is not UTF-8 text"
        except (OSError, EOFError, zlib.error):
            problem = "cannot be read to its end; it may be cut short"
    raise NetworkError(f"{show_path(path)} {problem}")


def parse_xml(
    raw: IO[bytes], what: str,
    start: Callable[[str, dict[str, str]], None], end: Callable[[str], None],
    characters: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Parse the XML of ``raw``, called ``what`` in messages, with callbacks for ``start``, ``end`` and ``characters``.

    Names of elements have their namespace and a space before them.
    """

    def doctype(*_: object) -> None:
        raise NetworkError(f"{what} has a DOCTYPE, which is not allowed: entities can expand without limit")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    try:
        parser.ParseFile(raw)
        return
    except (expat.ExpatError, LookupError, ValueError):  # the latter two: an unknown encoding is declared
        line = parser.ErrorLineNumber
    raise NetworkError(f"{what} is not well-formed XML near line {line}")
