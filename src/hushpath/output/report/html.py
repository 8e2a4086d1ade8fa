"""A report as one self-contained HTML page, which loads nothing and runs no script; its parts, and its texts.

Texts are escaped here unless the docstring calls them HTML.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from ..._version import __version__
from ...errors import CannotError
from ...io.container import replacing
from ...network.labels import Label
from ...noise import simulation
from ...published.release import Release

SOME_PAIRS = 5
Columns = Mapping[str, bool]  # headings, and whether the column holds numbers (right-aligned)


def write_page(
    path: str | PathLike[str], *, title: str, lead: str, parts: Iterable[str], owner_only: bool = False
) -> None:
    """Write a page to ``path`` with ``title``, ``lead`` (a paragraph) and ``parts`` of HTML.

    Set ``owner_only`` if it shows true data.
    """
    page = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    text = page.substitute(title=escape(title), lead=escape(lead), body="\n".join(parts), version=__version__)
    write_file(path, text.encode(), owner_only=owner_only)


def write_file(path: str | PathLike[str], data: bytes, *, owner_only: bool = False) -> None:
    """Write a file completely or not at all; with ``owner_only`` only the owner can read it (mode 0600)."""
    with replacing(path, owner_only=owner_only) as temporary:
        temporary.write_bytes(data)


def make_folder(path: Path) -> None:
    """Make a folder and its parents if missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotError(f"cannot make the folder {path}: {error.strerror}") from None


def section(heading: str, *body: str, kind: str = "public", tag: str = "") -> str:
    """Return one framed part of the page; ``body`` is HTML, ``tag`` says who may see it."""
    label = f'<span class="tag">{escape(tag)}</span>' if tag else ""
    return f'<section class="{kind}">{label}<h2>{escape(heading)}</h2>{"".join(body)}</section>'


def note(body: str, *, calm: bool = False) -> str:
    """Return a banner of HTML; ``calm`` for information instead of a warning."""
    return f'<div class="note{" calm" if calm else ""}"><p>{body}</p></div>'


def facts(named: Mapping[str, str]) -> str:
    """Return the main figures as tiles."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in named.items())
    return f'<dl class="facts">{items}</dl>'


def figure(picture: bytes, name: str, caption: str) -> str:
    """Embed a PNG picture, with a caption in HTML."""
    source = data_url(picture, "image/png")
    return f'<figure><img src="{source}" alt="{escape(name)}"><figcaption>{caption}</figcaption></figure>'


def data_url(data: bytes, kind: str) -> str:
    """Return a data URL, so that the page needs no other file."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def bullets(items: Iterable[str]) -> str:
    """Return a list of HTML items."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def lists(named: Mapping[str, str]) -> str:
    """Return HTML blocks side by side, each under a small heading."""
    inner = "".join(f"<div><h3>{escape(name)}</h3>{body}</div>" for name, body in named.items())
    return f'<div class="lists">{inner}</div>'


def folded(summary: str, body: str) -> str:
    """Return HTML that opens on a click."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def table(columns: Columns, rows: Iterable[str], kind: str = "scroll") -> str:
    """Return a table of rows made by ``row``."""
    return f'<div class="{kind}"><table>{row(columns, columns, tag="th")}{"".join(rows)}</table></div>'


def row(columns: Columns, values: Iterable[Any], kind: str = "", tag: str = "td") -> str:
    """Return a row of ``values`` under ``columns``; ``kind`` is a CSS class, ``tag`` the element of a cell."""
    side = {True: ' class="n"', False: ""}
    pairs = zip(columns.values(), values, strict=True)
    inner = "".join(f"<{tag}{side[number]}>{escape(_format_cell(value))}</{tag}>" for number, value in pairs)
    return f'<tr class="{kind}">{inner}</tr>' if kind else f"<tr>{inner}</tr>"


def records(columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of chosen keys of records, under the headings given for them."""
    headed = {name: any(isinstance(one[key], (int, float)) for one in rows) for key, name in columns.items()}
    return table(headed, [row(headed, [one[key] for key in columns]) for one in rows])


def _format_cell(value: Any) -> str:
    """Format a value: numbers short, None as a dash."""
    if value is None:
        return "–"
    return short(value) if isinstance(value, (int, float)) else str(value)


def short(value: float) -> str:
    """Format a number with four digits, thousands separated, powers of ten if huge."""
    if abs(value) >= 1e7:
        return f"{value:.2e}"
    text = f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return text.replace(",", "\u202f")


@dataclass(frozen=True)
class ReportTexts:
    """Texts of a report."""

    lead: str = ""  # one or two sentences under the title
    quantity: str = "distance"  # what a distance is, for example "travel time"
    units: str = ""  # its unit of measure
    how: Sequence[str] = ()  # paragraphs: why one protected unit cannot change more than the unit
    public: Sequence[str] = ()  # what is public besides the topology and the bounds
    unprotected: Sequence[str] = ()  # what a reader might wrongly expect to be promised
    page: str = ""  # file name of the map page beside the report
    pairs: Sequence[tuple[Label, Label]] = ()  # pairs of nodes to show answers for
    commands: Sequence[tuple[str, str]] = ()  # explanations and command lines to try next

    @classmethod
    def of(cls, release: Release) -> ReportTexts:
        """Take the quantity from a release, and some pairs of its nodes."""
        quantity, labels = release.statement.quantity, release.topology.labels
        count = len(labels)
        drawn = simulation(4).integers(0, count, (SOME_PAIRS, 2)).tolist() if count > 1 else []
        pairs = [(labels[i], labels[j if i != j else (i + 1) % count]) for i, j in drawn]
        return cls(quantity=quantity.noun, units=quantity.unit_of_measure, pairs=pairs)

    @property
    def title(self) -> str:
        """The default title of a report."""
        return f"A release of {self.quantity}s"

    def amount(self, value: float) -> str:
        """Format a number with its unit of measurement."""
        return f"{short(value)}\u00a0{self.units}".strip()

    def measured(self, text: str) -> str:
        """Append the unit of measurement to the name of a quantity."""
        return f"{text} ({self.units})" if self.units else text
