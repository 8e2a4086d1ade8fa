"""One self-contained HTML page and its parts: it loads nothing, runs no script, and says what may be published.

Texts are escaped here unless a parameter is said to be HTML.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from .._version import __version__
from ..errors import CannotError
from ..files.container import replacing

Columns = Mapping[str, bool]  # headings, and whether numbers stand below: they are set to the right


def write_page(
    path: str | PathLike[str], *, title: str, lead: str, parts: Iterable[str], owner_only: bool = False
) -> None:
    """Write a page whose ``parts`` are HTML; ``owner_only`` if it shows private truth."""
    page = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    text = page.substitute(title=escape(title), lead=escape(lead), body="\n".join(parts), version=__version__)
    write_file(path, text.encode(), owner_only=owner_only)


def write_file(path: str | PathLike[str], data: bytes, *, owner_only: bool = False) -> None:
    """Write a file as a whole or not at all; with ``owner_only`` nobody else can read it (mode 0600)."""
    with replacing(path, owner_only=owner_only) as temporary:
        temporary.write_bytes(data)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotError(f"cannot make the folder {path}: {error.strerror}") from None


def section(heading: str, *body: str, kind: str = "public", tag: str = "") -> str:
    """One framed part of the page; ``body`` is HTML, the tag says who may see it."""
    label = f'<span class="tag">{escape(tag)}</span>' if tag else ""
    return f'<section class="{kind}">{label}<h2>{escape(heading)}</h2>{"".join(body)}</section>'


def note(body: str, *, calm: bool = False) -> str:
    """A banner: HTML that stands out; ``calm`` if there is nothing to fear."""
    return f'<div class="note{" calm" if calm else ""}"><p>{body}</p></div>'


def facts(named: Mapping[str, str]) -> str:
    """The numbers one looks for first."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in named.items())
    return f'<dl class="facts">{items}</dl>'


def figure(picture: bytes, name: str, caption: str) -> str:
    """A PNG picture inside the page, with a caption in HTML."""
    source = address(picture, "image/png")
    return f'<figure><img src="{source}" alt="{escape(name)}"><figcaption>{caption}</figcaption></figure>'


def address(data: bytes, kind: str) -> str:
    """An address that holds the data itself, so that the page needs no other file."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def bullets(items: Iterable[str]) -> str:
    """A list of HTML items."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def lists(named: Mapping[str, str]) -> str:
    """HTML side by side, each under a small heading."""
    inner = "".join(f"<div><h3>{escape(name)}</h3>{body}</div>" for name, body in named.items())
    return f'<div class="lists">{inner}</div>'


def folded(summary: str, body: str, *, unfolded: bool = False) -> str:
    """Something long, in HTML, that opens on a click."""
    return f"<details{' open' if unfolded else ''}><summary>{escape(summary)}</summary>{body}</details>"


def table(columns: Columns, rows: Iterable[str], kind: str = "scroll") -> str:
    """A table of rows made by ``row``."""
    return f'<div class="{kind}"><table>{row(columns, columns, tag="th")}{"".join(rows)}</table></div>'


def row(columns: Columns, values: Iterable[Any], kind: str = "", tag: str = "td") -> str:
    """One line of a table."""
    side = {True: ' class="n"', False: ""}
    pairs = zip(columns.values(), values, strict=True)
    inner = "".join(f"<{tag}{side[number]}>{escape(shown(value))}</{tag}>" for number, value in pairs)
    return f'<tr class="{kind}">{inner}</tr>' if kind else f"<tr>{inner}</tr>"


def records(columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> str:
    """A table of chosen keys of records, under the headings given for them."""
    headed = {name: any(isinstance(one[key], (int, float)) for one in rows) for key, name in columns.items()}
    return table(headed, [row(headed, [one[key] for key in columns]) for one in rows])


def shown(value: Any) -> str:
    """A value for people: numbers short, nothing as a dash."""
    if value is None:
        return "–"
    return short(value) if isinstance(value, (int, float)) else str(value)


def short(value: float) -> str:
    """Four figures, thousands apart, powers of ten where it is huge."""
    if abs(value) >= 1e7:
        return f"{value:.2e}"
    text = f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return text.replace(",", "\u202f")
