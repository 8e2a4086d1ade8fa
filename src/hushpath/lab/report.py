"""The report of a run: one self-contained page, and the same tables and pictures as files."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from .._version import __version__
from ..demo.setting import short
from ..errors import CannotError
from ..publish.statement import NOT_PRIVATE
from ..strategy.registry import MECHANISMS
from . import pages
from .cells import DELTA, MAIN_WEIGHTS
from .networks import CLASSES
from .phases import phase_diagram, table1_curves
from .pictures import error_against_hops, error_against_n, error_against_weights, names_of
from .table1 import curves, slopes
from .tables import MAIN, Row, by_hops, coverage, csv_text, exponents, final_table, measured, middle_noise, winners
from .trial import CONFIDENCE, GAMMA
from .weights import KINDS

TITLE = "The laboratory: who wins where"


@dataclass(frozen=True, eq=False)
class Findings:
    """Tables and pictures of a run, by file name without suffix."""

    results: list[Row]
    tables: dict[str, list[Row]]
    pictures: dict[str, bytes]


def find(results: list[Row]) -> Findings:
    """Compute every table and draw every picture of a run."""
    noise = middle_noise(results)
    main = [row for row in results if row["weights"] in MAIN and row["noise"] == noise]
    epsilon, bound = main[0]["epsilon"], KINDS[MAIN_WEIGHTS][1]
    tables: dict[str, list[Row]] = {
        "results": final_table(results), "exponents": exponents(results), "winners": winners(results),
        "hops": by_hops(results), "coverage": coverage(results), "table1": list(slopes(epsilon, bound, DELTA)),
        "table1-curves": list(curves(epsilon, bound, DELTA)),
    }  # fmt: skip
    tables["weights"] = [row for row in tables["results"] if row["weights"] not in MAIN]
    pictures = {
        "phases": phase_diagram(results), "hops": error_against_hops(results),
        "table1": table1_curves(tables["table1-curves"], tables["table1"], results),
    }  # fmt: skip
    if measured(results, weights=MAIN_WEIGHTS, noise=noise):
        pictures["error-n"] = error_against_n(results)
    if measured(tables["weights"]):
        pictures["weights"] = error_against_weights(results)
    return Findings(results, tables, pictures)


def write_tables(found: Findings, folder: Path) -> None:
    """Write every table as CSV."""
    for name, rows in found.tables.items():
        _write(folder / f"{name}.csv", csv_text(rows).encode())


def write_pictures(found: Findings, folder: Path) -> None:
    """Write every picture as PNG, with the tables behind them."""
    for name, data in found.pictures.items():
        _write(folder / f"{name}.png", data)
    write_tables(found, folder)


def write_report(found: Findings, path: Path, command: str) -> None:
    """Write the page."""
    tables, pictures = found.tables, found.pictures
    noise = middle_noise(found.results)
    main = [row for row in found.results if row["noise"] == noise and row["weights"] in MAIN]
    full = tables["results"]
    parts = [_banner(), _facts(found.results)]
    phases = (
        "Each field is one size (to the right) and one noise (upwards), coloured by the mechanism with the "
        "smallest mean error. The number says how many times larger the error of the next best is. Pale fields are "
        "too close to call: repeats differ by about as much as the two best mechanisms do."
    )
    parts.append(pages.section(
        "Which mechanism wins where", f"<p>{_setting()}</p>", pages.tally(tables["winners"]),
        pages.picture(pictures["phases"], "winners", phases, tables["winners"]),
    ))  # fmt: skip
    if "error-n" in pictures:
        text = (
            f"Mean absolute error against the number of nodes at noise {noise:g} (epsilon {main[0]['epsilon']:.3g}), "
            "both axes logarithmic. Beside each line: the exponent of n fitted to it, and in brackets the theorem's, "
            "which is about the worst pair of the worst network and hides logarithms; log n stands for "
            "polylogarithmic. Dotted: the mean distance, which is the error of always answering 0. Hollow marks: "
            "answers are nearly all 0 (clipped), so the error is that of the dotted line and is not fitted."
        )
        parts.append(pages.section(
            "Error against size", pages.picture(pictures["error-n"], "exponents", text, tables["exponents"]),
            pages.folded("Fitted exponents as a table", pages.exponent_table(tables["exponents"], noise)),
        ))  # fmt: skip
    hops = "Mean absolute error by the number of hops between the two nodes, on the largest network of each class."
    parts.append(pages.section(
        "Error against hops",
        "<p>Noise on edges adds up along the way; a shortcut costs the same however long it is.</p>",
        pages.picture(pictures["hops"], "hops", hops, tables["hops"]),
    ))  # fmt: skip
    if "weights" in pictures:
        kinds = "; ".join(f"<em>{name}</em>: {escape(kind[0])}" for name, kind in KINDS.items())
        parts.append(pages.section(
            "Error against the kind of weights", f"<p>{kinds}. All have median 1.</p>",
            pages.picture(pictures["weights"], "weights", "Mean absolute error by kind of weights.", tables["weights"]),
        ))  # fmt: skip
    parts.append(_table1(found))
    parts.append(_honesty(found))
    parts.append(_glossary(found.results))
    parts.append(pages.section(
        "Everything", f"<p>{len(full)} cells. {pages.download('results', full)}</p>", _skipped(full),
        f"<p>Made by</p><pre>{escape(command)}</pre>",
    ))  # fmt: skip
    page = Template(files("hushpath.demo").joinpath("page.html").read_text(encoding="utf-8"))
    lead = "Every mechanism with the same privacy on the same networks, compared with the truth."
    text = page.substitute(title=TITLE, lead=lead, body="\n".join(parts), version=__version__)
    _write(path, text.encode())


def _table1(found: Findings) -> str:
    text = (
        f"Predicted: a bound on the error of every pair at once (probability {100 * (1 - GAMMA):g}\u00a0%), computed "
        "from cut numbers and the certificate for shapes known in closed form, not measured. Exponents of n are "
        "fitted over 10<sup>6</sup> to 10<sup>9</sup> nodes, those of W and epsilon at 10<sup>9</sup> nodes. What "
        "lies above the theorem's exponent of n are logarithms."
    )
    source = pages.picture(found.pictures["table1"], "table1-curves", text, found.tables["table1-curves"])
    return pages.section(
        "Table 1 of the paper", source, pages.slope_table(found.tables["table1"]),
        f"<p>{pages.download('table1', found.tables['table1'])}</p>",
    )  # fmt: skip


def _honesty(found: Findings) -> str:
    columns = [
        ("mechanism", "mechanism"), ("cells", "cells"), ("cells_at_zero", "of these, answers nearly all 0"),
        ("intervals", "intervals checked"),
        ("coverage", f"share that holds the truth (nominal {CONFIDENCE:g})"),
        ("measured_over_predicted_median", "error / plan, median"), ("measured_over_predicted_least", "least"),
        ("measured_over_predicted_most", "most"), ("cells_above_bound", "cells above the bound"),
        ("bound_over_largest_error_median", "bound / largest error, median"),
    ]  # fmt: skip
    return pages.section(
        "Are plans, bounds and intervals honest?",
        "<p>Measured mean error over the plan's, coverage of the intervals, and whether the bound was kept. "
        "Cells whose answers are nearly all 0 take no part in the comparison with the plan: clipping caps their "
        "error.</p>",
        pages.table(columns, found.tables["coverage"]),
        f"<p>{pages.download('coverage', found.tables['coverage'])}</p>",
    )  # fmt: skip


def _setting() -> str:
    return (
        "Noise is counted in median weights: at noise r, Laplace input perturbation adds a standard deviation of r to "
        "every weight, so epsilon = √2 / r with unit 1. Every mechanism gets that epsilon and "
        f"delta = {DELTA:g}, and the law its plan prefers."
    )


def _banner() -> str:
    return (
        f'<div class="note"><p><strong>{NOT_PRIVATE}.</strong> Releases here are seeded so that they can be repeated, '
        "and are compared with the truth. If you named a network of your own, keep this page to yourself.</p></div>"
    )


def _facts(rows: list[Row]) -> str:
    pairs = sum(row.get("pairs", 0) for row in rows)
    facts = [
        ("cells", short(len(rows))), ("networks", str(len(names_of(rows, "network")))),
        ("mechanisms", str(len(names_of(rows, "mechanism")))),
        ("largest network", short(max(row["nodes"] for row in rows))),
        ("pairs compared", f"{pairs / 1e6:.0f} million" if pairs >= 1e7 else short(pairs)),
    ]  # fmt: skip
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{cells}</dl>'


def _glossary(rows: list[Row]) -> str:
    listed = "".join(f"<li><strong>{name}</strong>: {escape(kind[0])}</li>" for name, kind in CLASSES.items())
    known = "".join(
        f"<li><strong>{name}</strong>: {escape(MECHANISMS[name].summary)}</li>"
        for name in names_of(rows, "mechanism") if name in MECHANISMS
    )  # fmt: skip
    return pages.section(
        "Mechanisms and networks",
        f'<div class="lists"><div><h3>Mechanisms</h3><ul>{known}</ul></div>'
        f"<div><h3>Generated networks</h3><ul>{listed}</ul></div></div>",
    )


def _skipped(rows: list[Row]) -> str:
    """Why mechanisms were left out, each reason once."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["skipped"]:
            reasons.setdefault((row["mechanism"], row["skipped"]), []).append(f"{row['network']} {row['nodes']}")
    flat = [
        {"mechanism": name, "reason": why, "cells": len(where), "where": ", ".join(dict.fromkeys(where))}
        for (name, why), where in reasons.items()
    ]
    columns = [("mechanism", "mechanism"), ("reason", "why it was left out"), ("cells", "cells"), ("where", "where")]
    return pages.folded("What was left out, and why", pages.table(columns, flat)) if flat else ""


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise CannotError(f"cannot write {path}: {error.strerror}") from None
