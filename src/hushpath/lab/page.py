"""The report of a run: one self-contained page, with the numbers behind every picture inside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ..estimate.registry import ESTIMATORS
from ..publish.statement import NOT_PRIVATE
from ..report.page import bullets, facts, folded, lists, note, records, section, short, write_page
from ..strategy.registry import MECHANISMS
from .cases import DELTA
from .findings import Findings
from .networks import CLASSES
from .table1_page import download, measured_table1, picture, predicted_table1
from .tables import AGAINST, REFERENCE, Row, names_of
from .trial import CONFIDENCE
from .weights import KINDS

TITLE = "The laboratory: who wins where"
LEAD = "Every mechanism with the same privacy on the same networks, compared with the truth."
BANNER = (
    f"<strong>{NOT_PRIVATE}.</strong> Releases here are seeded so that they can be repeated, and are compared with the "
    "truth. If you named a network of your own, keep this page to yourself."
)


def write_report(found: Findings, path: Path, command: str) -> None:
    """Write the page."""
    parts = [note(BANNER), _facts(found.results), _phases(found)]
    if "error-n" in found.pictures:
        parts.append(_sizes(found))
    parts.append(_hops(found))
    if "weights" in found.pictures:
        parts.append(_weights(found))
    parts.append(_estimators(found))
    parts += measured_table1(found) if "rates" in found.pictures else []
    parts += [predicted_table1(found), _honesty(found), _glossary(found.results), _everything(found, command)]
    write_page(path, title=TITLE, lead=LEAD, parts=parts, owner_only=True)


def _facts(rows: list[Row]) -> str:
    pairs = sum(row.get("pairs", 0) for row in rows)
    return facts({
        "cells": short(len(rows)), "networks": str(len(names_of(rows, "network"))),
        "mechanisms": str(len(names_of(rows, "mechanism"))),
        "largest network": short(max(row["nodes"] for row in rows)),
        "pairs compared": f"{pairs / 1e6:.0f} million" if pairs >= 1e7 else short(pairs),
    })  # fmt: skip


def _phases(found: Findings) -> str:
    setting = (
        "Noise is counted in median weights: at noise r, Laplace input perturbation adds a standard deviation of r to "
        "every weight, so epsilon = √2 / r with unit 1. Every mechanism gets that epsilon and "
        f"delta = {DELTA:g}, and the law its plan prefers."
    )
    text = (
        "Each field is one size (to the right) and one noise (upwards), coloured by the mechanism with the "
        "smallest mean error. The number says how many times larger the error of the next best is. Pale fields are "
        "too close to call: repeats differ by about as much as the two best mechanisms do."
    )
    return section(
        "Which mechanism wins where", f"<p>{setting}</p>", _tally(found.tables["winners"]),
        picture(found, "phases", "winners", text),
    )  # fmt: skip


def _tally(rows: Sequence[Row]) -> str:
    """Who won how often, in one sentence per mechanism that won at all."""
    won: dict[str, list[Row]] = {}
    for row in rows:
        won.setdefault(row["winner"], []).append(row)
    items = []
    for name, mine in sorted(won.items(), key=lambda item: -len(item[1])):
        where = ", ".join(names_of(mine, "network"))
        items.append(f"<strong>{escape(name)}</strong>: {len(mine)} of {len(rows)} fields ({escape(where)})")
    return bullets(items)


def _sizes(found: Findings) -> str:
    text = (
        f"Mean absolute error against the number of nodes at noise {found.noise:g} (epsilon {found.epsilon:.3g}), "
        "both axes logarithmic. Beside each line: the exponent of n fitted to it. (Theorems are about the worst pair, "
        "with logarithms, and where nothing is clipped: they are compared further down.) Dotted: the mean distance, "
        "which is the error of always answering 0. Hollow marks: answers are nearly all 0 (clipped), so the error is "
        "that of the dotted line and is not fitted."
    )
    rows = found.tables["exponents"]
    mechanisms = list(dict.fromkeys(row["mechanism"] for row in rows))
    fitted = {(row["network"], row["mechanism"]): row for row in rows if row["noise"] == found.noise}

    def fit(network: str, mechanism: str) -> str:
        row = fitted.get((network, mechanism), {})
        slope = row.get("exponent_mean_error")
        return "–" if slope is None else f"{slope:.2f}"

    flat = [
        {"network": network, **{name: fit(network, name) for name in mechanisms}}
        for network in names_of(rows, "network")
    ]
    table = records({"network": "class", **{name: name for name in mechanisms}}, flat)
    return section(
        "Error against size", picture(found, "error-n", "exponents", text),
        folded("Fitted exponents as a table", table),
    )  # fmt: skip


def _hops(found: Findings) -> str:
    text = "Mean absolute error by the number of hops between the two nodes, on the largest network of each class."
    return section(
        "Error against hops",
        "<p>Noise on edges adds up along the path; a shortcut costs the same however long it is.</p>",
        picture(found, "hops", "hops", text),
    )


def _weights(found: Findings) -> str:
    kinds = "; ".join(f"<em>{name}</em>: {escape(kind[0])}" for name, kind in KINDS.items())
    return section(
        "Error against the kind of weights", f"<p>{kinds}. All have median 1.</p>",
        picture(found, "weights", "weights", "Mean absolute error by kind of weights."),
    )  # fmt: skip


def _estimators(found: Findings) -> str:
    """Readings side by side: one line per mechanism and estimator."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in found.tables["estimators"]:
        groups.setdefault((row["mechanism"], row["estimator"]), []).append(row)
    flat = []
    for (mechanism, estimator), rows in groups.items():
        ratios = [row[AGAINST] for row in rows if row[AGAINST]]
        flat.append({
            "mechanism": mechanism, "estimator": estimator, "cells": len(rows),
            "default": sum(row["default"] for row in rows),
            "mean": f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}" if ratios else "–",
            "worst": f"{max(ratios):.2f}" if ratios else "–",
        })  # fmt: skip
    columns = {
        "mechanism": "mechanism", "estimator": "estimator", "cells": "cells", "default": "of these, by default",
        "mean": f"mean error / {REFERENCE}'s, geometric mean", "worst": "worst",
    }  # fmt: skip
    shown = []
    if "estimators" in found.pictures:
        shown.append(picture(found, "estimators", "estimators", "Releases by input, by estimator."))
    return section(
        "Error against the way edge weights are estimated",
        "<p>One release each, read by every estimator: reading is free. All other comparisons on this page are about "
        "the reading that is the default.</p>", *shown, records(columns, flat),
        f"<p>{download(found, 'estimators')}</p>",
    )  # fmt: skip


def _honesty(found: Findings) -> str:
    columns = {
        "mechanism": "mechanism", "cells": "cells", "cells_at_zero": "of these, answers nearly all 0",
        "intervals": "intervals checked",
        "coverage": f"share that holds the truth (nominal {CONFIDENCE:g})",
        "measured_over_predicted_median": "error / plan, median", "measured_over_predicted_least": "least",
        "measured_over_predicted_most": "most", "cells_above_bound": "cells above the bound",
        "bound_over_largest_error_median": "bound / largest error, median",
    }  # fmt: skip
    return section(
        "Are plans, bounds and intervals honest?",
        "<p>Measured mean error over the plan's, coverage of the intervals, and whether the bound was kept. "
        "Cells whose answers are nearly all 0 take no part in the comparison with the plan: clipping caps their "
        "error.</p>",
        records(columns, found.tables["coverage"]),
        f"<p>{download(found, 'coverage')}</p>",
    )


def _glossary(rows: list[Row]) -> str:
    known = {name: MECHANISMS[name].summary for name in names_of(rows, "mechanism")}
    used = {name: one.summary for name, one in ESTIMATORS.items() if name in names_of(rows, "estimator")}
    classes = {name: kind[0] for name, kind in CLASSES.items()}
    listed = {"Mechanisms": known, "Estimators": used, "Generated networks": classes}
    return section("Mechanisms and networks", lists({
        heading: bullets(f"<strong>{name}</strong>: {escape(text)}" for name, text in named.items())
        for heading, named in listed.items()
    }))  # fmt: skip


def _everything(found: Findings, command: str) -> str:
    rows = found.tables["results"]
    return section(
        "Everything", f"<p>{len(rows)} cells. {download(found, 'results')}</p>", _skipped(rows),
        f"<p>Made by</p><pre>{escape(command)}</pre>",
    )  # fmt: skip


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
    columns = {"mechanism": "mechanism", "reason": "why it was left out", "cells": "cells", "where": "where"}
    return folded("What was left out, and why", records(columns, flat)) if flat else ""
