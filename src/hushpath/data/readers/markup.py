"""What the XML formats share: one pass with the parser of the standard library, and nothing that can blow up.

A DOCTYPE is refused, since entities are how a small file becomes a huge one; without it no name in the file stands for
anything else, so what is kept is never larger than what was read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO
from xml.parsers import expat

import numpy as np

from ...errors import NetworkError
from ..proxy import Raw, TextColumn


def parse(
    raw: IO[bytes], what: str,
    start: Callable[[str, dict[str, str]], None], end: Callable[[str], None],
    characters: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Call back as elements start and end; their names come with a namespace and a space before them, if they have one.

    What the parser says about a broken file is not passed on: it may quote it.
    """

    def doctype(*_: object) -> None:
        raise NetworkError(f"{what} has a DOCTYPE, which is refused: entities can blow it up")

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


def spread(count: int, found: dict[int, str], default: str | None = None) -> Raw:
    """A column from the values that stand in the file: with many names, one entry per edge would be a huge table."""
    packed, rows = TextColumn(), np.fromiter(found, np.int64, count=len(found))
    if found:
        packed.add(list(found.values()))
    raw = packed.raw

    def column() -> list[str | None]:
        out = [default] * count
        for row, value in zip(rows.tolist(), raw() if raw else (), strict=True):
            out[row] = value
        return out

    return None if raw is None else column
