"""Pieces of the report as HTML: tables, pictures with the numbers behind them, and short texts that cite results."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import Any

from ..demo.setting import short
from .tables import Row, csv_text
from .theorems import power


def section(heading: str, *body: str) -> str:
    """One framed part of the page; everything in a laboratory is marked."""
    return f'<section class="public"><h2>{escape(heading)}</h2>{"".join(body)}</section>'


def picture(source: bytes, name: str, caption: str, rows: Sequence[Row]) -> str:
    """A picture inside the page, with its numbers as a CSV file inside the page."""
    data = base64.b64encode(source).decode()
    return (
        f'<figure style="margin-bottom:1.1rem"><img src="data:image/png;base64,{data}" alt="{escape(name)}">'
        f"<figcaption>{caption} {download(name, rows)}</figcaption></figure>"
    )


def download(name: str, rows: Sequence[Row]) -> str:
    """A link that holds the numbers themselves."""
    data = base64.b64encode(csv_text(rows).encode()).decode()
    return f'<a download="{name}.csv" href="data:text/csv;base64,{data}">The numbers ({name}.csv)</a>.'


def table(columns: Sequence[tuple[str, str]], rows: Sequence[Row]) -> str:
    """A table of chosen columns: (key, heading); numbers are set to the right."""
    numeric = {key for key, _ in columns if any(isinstance(row[key], (int, float)) for row in rows)}

    def side(key: str) -> str:
        return ' class="n"' if key in numeric else ""

    head = "".join(f"<th{side(key)}>{escape(name)}</th>" for key, name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td{side(key)}>{escape(_shown(row[key]))}</td>" for key, _ in columns) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return short(value) if isinstance(value, (int, float)) else str(value)


def folded(summary: str, body: str) -> str:
    """Something long that opens on a click."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def exponent_table(rows: Sequence[Row], noise: float) -> str:
    """Fitted exponents of n, class by mechanism, with the theorem's in brackets."""
    mechanisms = list(dict.fromkeys(row["mechanism"] for row in rows))
    flat = []
    for network in dict.fromkeys(row["network"] for row in rows):
        line: Row = {"network": network}
        for name in mechanisms:
            found = [
                row for row in rows if (row["network"], row["mechanism"], row["noise"]) == (network, name, noise)
            ]  # fmt: skip
            slope = found[0]["exponent_mean_error"] if found else None
            line[name] = "–" if slope is None else f"{slope:.2f} ({power(found[0]['theorem'])})"
        flat.append(line)
    return table([("network", "class"), *((name, name) for name in mechanisms)], flat)


def slope_table(rows: Sequence[Row]) -> str:
    """Table 1: exponents of n, W and epsilon, predicted and stated."""
    flat = [
        {
            "family": row["family"], "mechanism": row["mechanism"],
            **{
                f"{axis}_{kind}": f"{row[f'{axis}_{kind}']:.2f}"
                for axis in ("n", "W", "epsilon") for kind in ("fitted", "theorem")
            },
        }
        for row in rows
    ]  # fmt: skip
    names = {"n": "n", "W": "W", "epsilon": "eps"}
    columns = [("family", "family"), ("mechanism", "mechanism")]
    columns += [(f"{a}_{k}", f"{names[a]}, {k}") for a in names for k in ("fitted", "theorem")]
    return table(columns, flat)


def tally(rows: Sequence[Row]) -> str:
    """Who won how often, in one sentence per mechanism that won at all."""
    won: dict[str, list[Row]] = {}
    for row in rows:
        won.setdefault(row["winner"], []).append(row)
    items = []
    for name, mine in sorted(won.items(), key=lambda item: -len(item[1])):
        where = ", ".join(dict.fromkeys(row["network"] for row in mine))
        items.append(f"<li><strong>{escape(name)}</strong>: {len(mine)} of {len(rows)} fields ({escape(where)})</li>")
    return f"<ul>{''.join(items)}</ul>"
