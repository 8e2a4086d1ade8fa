"""TNTP, the text format of the Transportation Networks repository: ``NAME_net.tntp``, and ``NAME_node.tntp`` as nodes.

| in the file | treatment |
|---|---|
| ``<NUMBER OF LINKS>`` | required, and must be the number of rows: a truncated file is an error |
| ``<FIRST THRU NODE>`` | a warning if it is above 1: in hushpath paths may pass every node |
| other metadata | not needed |
| last ``~`` line before the rows | names of columns, in small letters: "Free Flow Time (min)" is ``free_flow_time`` |
| no such line | the ten columns of the format |
| rows | fields between blanks, the first two are the ends, ``;`` at the end (a node file may leave it out) |

Links go one way, so the network is directed; parallel links are kept, each with its own weight.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import IO

from ...errors import NetworkError, warn
from ...network.network import Table
from ...network.public_rows import WantedColumns
from .base import Reader
from .edge_lists import read_text_table

LONGEST = 2**16  # characters of a line
LINKS = ["init_node", "term_node", "capacity", "length", "free_flow_time", "b", "power", "speed", "toll", "link_type"]
PLACES = ["node", "x", "y"]
RATES = ("capacity", "b", "power", "speed", "speed_limit", "link_type", "type")
METADATA = re.compile(r"<([A-Za-z ]+)>\s*([0-9]{0,18})")


def _read(raw: IO[bytes], wanted: WantedColumns) -> Table:
    return replace(read_text_table(_read_rows(raw, wanted), wanted), directed=True, names_edges=True)


def _read_rows(raw: IO[bytes], wanted: WantedColumns) -> Iterator[list[str]]:
    """Yield the names of the columns, the ends as the caller names them, then every row."""
    what, needed = wanted.what, list(wanted.needed)
    places = needed == ["node"]
    metadata: dict[str, int] = {}
    comment, count = "", 0
    for line in _lines(raw, what):
        fields = line.removesuffix(";").split()
        bare = places and not comment and fields[:1] and fields[0].lower() == "node"  # node files may do without "~"
        if line.startswith("~") or (bare and not count):
            comment = comment if count else line
        elif found := METADATA.match(line):
            metadata[" ".join(found[1].upper().split())] = int(found[2] or 0)
        else:
            if not count:
                names = _header(comment, len(fields), what, PLACES if places else LINKS)
                yield names if places else [*needed[:2], *names[2:]]
            count += 1
            if not line.endswith(";") and not places:
                raise NetworkError(f"row {count} of {what} does not end with a semicolon; is it whole?")
            yield fields
    if not count:
        yield [] if places else [*needed[:2], *LINKS[2:]]
    if not places:
        _check(metadata, count, what)


def _check(metadata: dict[str, int], count: int, what: str) -> None:
    """Check the number of links, and warn of nodes that paths may not pass."""
    links, first = metadata.get("NUMBER OF LINKS"), metadata.get("FIRST THRU NODE", 1)
    if links is None:
        raise NetworkError(f"{what} is not TNTP: it does not say <NUMBER OF LINKS>")
    if links != count:
        raise NetworkError(f"{what} says that it has {links} links, but {count} rows follow; is it whole?")
    if first > 1:
        warn(f"zones: in this file paths do not pass nodes below {first}; here they may, which can make them shorter")


def _lines(raw: IO[bytes], what: str) -> Iterator[str]:
    """Yield lines that are not empty, of bounded length."""
    with io.TextIOWrapper(raw, encoding="utf-8-sig") as lines:
        at = 0
        while line := lines.readline(LONGEST):
            at += 1
            if len(line) == LONGEST or "\0" in line:
                raise NetworkError(f"{what} is not well-formed near line {at}: a NUL or a very long line")
            if line := line.strip():
                yield line


def _header(comment: str, count: int, what: str, standard: list[str]) -> list[str]:
    """Return names of ``count`` columns, from ``comment`` if it has as many, else the ``standard`` ones of ``what``.

    Units in brackets are not part of a name.

    A comment with numbers is a disabled link, not a list of names.
    """
    plain = re.sub(r"\([^()]*\)", "", comment.strip("~; \t").lower())
    for names in ([name for name in plain.split("\t") if name.strip()], plain.split()):
        if len(names) == count and all(name.strip()[0].isalpha() for name in names):
            return ["_".join(name.split()) for name in names]
    if count == len(standard):
        return standard
    raise NetworkError(f"row 1 of {what} has {count} fields, but no line before it names as many columns")


TNTP = Reader("tntp", "TNTP", (".tntp",), _read, rates=RATES)
