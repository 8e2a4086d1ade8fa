"""What the XML formats share: one pass with the parser of the standard library, and nothing that can blow up.

A DOCTYPE is refused, since entities are how a small file becomes a huge one; without it no name in the file stands for
anything else, so what is kept is never larger than what was read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO
from xml.parsers import expat

from ...errors import NetworkError


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
