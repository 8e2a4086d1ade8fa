"""Every table and picture of a run, and the report: one self-contained page that holds the numbers of its pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ..estimator.registry import ESTIMATORS
from ..mechanism.registry import MECHANISMS
from ..output.report import html as page
from ..output.report.html import bullets, data_url, figure, note, records, section, short, write_file
from ..published.statement import NOT_PRIVATE
from . import pictures as draw
from . import tables as t
from .cases import DELTA, MAIN_WEIGHTS
from .networks import CLASSES, KINDS
from .table1 import curves, points, rates, slopes
from .tables import AGAINST, MAIN, REFERENCE, Row, csv_text, measured, names_of
from .trial import CONFIDENCE, GAMMA


@dataclass(frozen=True, eq=False)
class Findings:
    """Tables and pictures of a run, by file name without suffix."""

    results: list[Row]
    noise: float  # of comparisons at one noise
    epsilon: float  # at that noise
    tables: dict[str, list[Row]]
    pictures: dict[str, bytes]


def find(results: list[Row]) -> Findings:
    """Compute every table and draw every picture of a run."""
    everyday = t.with_default_estimator(results)
    noise = t.middle_noise(everyday)
    epsilon = next(row["epsilon"] for row in everyday if row["weights"] in MAIN and row["noise"] == noise)
    bound = KINDS[MAIN_WEIGHTS][1]
    tables: dict[str, list[Row]] = {
        "results": t.final_table(results), "exponents": t.exponents(everyday), "winners": t.winners(everyday),
        "hops": t.by_hops(everyday), "coverage": t.coverage(everyday), "estimators": t.estimators(results),
        "rates": rates(results), "rates-points": points(results), "table1": list(slopes(epsilon, bound, DELTA)),
        "table1-curves": list(curves(epsilon, bound, DELTA)),
    }  # fmt: skip
    tables["weights"] = [row for row in t.final_table(everyday) if row["weights"] not in MAIN]
    pictures = {
        "phases": draw.phase_diagram(everyday), "hops": draw.error_against_hops(everyday),
        "table1": draw.table1_curves(tables["table1-curves"], tables["table1"], everyday),
    }  # fmt: skip
    if measured(everyday, weights=MAIN_WEIGHTS, noise=noise):
        pictures["error-n"] = draw.error_against_n(everyday)
    if measured(tables["weights"]):
        pictures["weights"] = draw.error_against_weights(everyday)
    if tables["rates"]:
        pictures["rates"] = draw.measured_rates(results, tables["rates"])
    if len({row["estimator"] for row in tables["estimators"]}) > 1:
        pictures["estimators"] = draw.estimator_panels(tables["estimators"])
    return Findings(results, noise, epsilon, tables, pictures)


def write_tables(found: Findings, folder: Path) -> None:
    """Write every table as CSV."""
    for name, rows in found.tables.items():
        write_file(folder / f"{name}.csv", csv_text(rows).encode(), owner_only=True)


def write_pictures(found: Findings, folder: Path) -> None:
    """Write every picture as PNG, with the tables behind them."""
    for name, data in found.pictures.items():
        write_file(folder / f"{name}.png", data, owner_only=True)
    write_tables(found, folder)


def picture(found: Findings, name: str, rows: str, caption: str) -> str:
    """Return a picture with a link to its table."""
    return figure(found.pictures[name], rows, f"{caption} {download(found, rows)}")


def download(found: Findings, name: str) -> str:
    """Return a link that contains the table as CSV."""
    data = data_url(csv_text(found.tables[name]).encode(), "text/csv")
    return f'<a download="{name}.csv" href="{data}">The numbers ({name}.csv)</a>.'


def measured_table1(found: Findings) -> list[str]:
    """Compare measured errors with the shapes of the theorems, where nothing is clipped."""
    text = (
        "The largest measured error, in privacy units, at epsilon 1 and a unit so small that noise is small "
        "against distances. Dashed: the theorem's shape with one fitted constant; p is the largest separator "
        "of the measured strategy. &ldquo;Largest factor&rdquo; is that between a point and the curve."
    )
    caution = (
        "Two decades of n cannot distinguish p log<sup>2</sup> n from a slightly larger power of n: the table also "
        "has the best power of n and its largest factor. Theorems bound the worst pair of the worst network; these are "
        "random weights on one network per size, so constants far below 1 are expected. At the larger unit, minima "
        "over noisy shortcuts become biased downwards as n grows, so errors grow faster than at either end. "
        "Bounds for bounded weights do not apply here: with so little noise their k would be below one hop."
    )
    columns = {
        "network": "class", "mechanism": "mechanism", "unit": "unit", "nodes": "nodes", "shape": "the theorem's shape",
        "constant": "constant", "within": "largest factor", "exponent_of_n": "best power of n",
        "within_power": "its largest factor", "exponent_of_log": "a in p log^a n", "zeros": "answers that are 0",
    }  # fmt: skip
    rows = [
        {
            **row, "unit": f"{row['unit']:g}", "nodes": f"{row['least_nodes']:.0f} to {row['most_nodes']:.0f}",
            "shape": row["shape"] + (" (logarithms hidden)" if row["hides_logarithms"] else ""),
            "constant": f"{row['constant']:.2g}", "within": f"{row['within']:.2f}",
            "exponent_of_n": f"{row['exponent_of_n']:.2f}", "within_power": f"{row['within_power']:.2f}",
            "exponent_of_log": "–" if row["exponent_of_log"] is None else f"{row['exponent_of_log']:.1f}",
            "zeros": f"{100 * row['zeros']:.1f} %",
        }
        for row in found.tables["rates"]
    ]  # fmt: skip
    return [
        section(
            "Table 1 of the paper, measured", picture(found, "rates", "rates-points", text), f"<p>{caution}</p>",
            records(columns, rows), f"<p>{download(found, 'rates')}</p>",
        )
    ]  # fmt: skip


def predicted_table1(found: Findings) -> str:
    """Show bounds from certificates, for sizes far beyond what can be run."""
    text = (
        f"Predicted: a bound on the error of every pair at once (probability {100 * (1 - GAMMA):g} %), computed "
        "from cut numbers and the certificate for shapes known in closed form, not measured. Exponents of n are "
        "fitted over 10<sup>6</sup> to 10<sup>9</sup> nodes, those of W and epsilon at 10<sup>9</sup> nodes; beside "
        "each stands the theorem's shape over the same range, logarithms included where the theorem states them."
    )
    numbers = {
        f"{axis}_{kind}": f"{name}, {kind}"
        for axis, name in {"n": "n", "W": "W", "epsilon": "eps"}.items()
        for kind in ("fitted", "theorem")
    }
    rows = [{**row, **{key: f"{row[key]:.2f}" for key in numbers}} for row in found.tables["table1"]]
    return section(
        "Table 1 of the paper, predicted", picture(found, "table1", "table1-curves", text),
        records({"family": "family", "mechanism": "mechanism", "shape": "the theorem's shape", **numbers}, rows),
        f"<p>{download(found, 'table1')}</p>",
    )  # fmt: skip


TITLE = "Mechanisms compared"
LEAD = "Every mechanism with the same privacy on the same networks, and its error against the truth."
BANNER = (
    f"<strong>{NOT_PRIVATE}.</strong> Releases here are seeded so that they can be repeated, and are compared with the "
    "truth. If it includes a network of your own, do not publish this page."
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
    parts += [predicted_table1(found), _accuracy(found), _glossary(found.results), _everything(found, command)]
    page.write_page(path, title=TITLE, lead=LEAD, parts=parts, owner_only=True)


def _facts(rows: list[Row]) -> str:
    pairs = sum(row.get("pairs", 0) for row in rows)
    return page.facts({
        "cases": short(len(rows)), "networks": str(len(names_of(rows, "network"))),
        "mechanisms": str(len(names_of(rows, "mechanism"))),
        "largest network": short(max(row["nodes"] for row in rows)),
        "pairs compared": f"{pairs / 1e6:.0f} million" if pairs >= 1e7 else short(pairs),
    })  # fmt: skip


def _phases(found: Findings) -> str:
    setting = (
        "Noise is measured in median weights: at noise r, Laplace input perturbation adds a standard deviation of r "
        "to every weight, so epsilon = √2 / r with unit 1. Every mechanism gets that epsilon, "
        f"delta = {DELTA:g}, and the noise distribution that its plan prefers."
    )
    text = (
        "Each field is one size (horizontal) and one noise (vertical), coloured by the mechanism with the smallest "
        "mean error. The number is the error of the second best as a multiple of it. In pale fields the two best are "
        "not distinguishable: repeats differ by about as much as they do."
    )
    return section(
        "Best mechanism by size and noise", f"<p>{setting}</p>", _tally(found.tables["winners"]),
        picture(found, "phases", "winners", text),
    )  # fmt: skip


def _tally(rows: Sequence[Row]) -> str:
    """List the mechanisms that are best in some field, and where."""
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
        "both axes logarithmic. Beside each line: its fitted exponent of n. (Theorems are about the worst pair, with "
        "logarithms, without clipping; they are compared below.) Dotted: the mean distance, which is the error of "
        "always answering 0. Hollow markers: answers are nearly all 0 (clipped), so the error is that of the dotted "
        "line and is not fitted."
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
        page.folded("Fitted exponents as a table", table),
    )  # fmt: skip


def _hops(found: Findings) -> str:
    text = "Mean absolute error by the number of hops between the two nodes, on the largest network of each class."
    return section(
        "Error against hops",
        "<p>Noise on edges adds up along a path; the noise of a shortcut does not depend on its length.</p>",
        picture(found, "hops", "hops", text),
    )


def _weights(found: Findings) -> str:
    kinds = "; ".join(f"<em>{name}</em>: {escape(kind[0])}" for name, kind in KINDS.items())
    return section(
        "Error against the kind of weights", f"<p>{kinds}. All have median 1.</p>",
        picture(found, "weights", "weights", "Mean absolute error by kind of weights."),
    )  # fmt: skip


def _estimators(found: Findings) -> str:
    """Compare estimators: one row per mechanism and estimator."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in found.tables["estimators"]:
        groups.setdefault((row["mechanism"], row["estimator"]), []).append(row)
    flat = []
    for (mechanism, estimator), rows in groups.items():
        ratios = [row[AGAINST] for row in rows if row[AGAINST]]
        flat.append({
            "mechanism": mechanism, "estimator": estimator, "cases": len(rows),
            "default": sum(row["default"] for row in rows),
            "mean": f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}" if ratios else "–",
            "worst": f"{max(ratios):.2f}" if ratios else "–",
        })  # fmt: skip
    columns = {
        "mechanism": "mechanism", "estimator": "estimator", "cases": "cases", "default": "of these, the default",
        "mean": f"mean error / {REFERENCE}'s, geometric mean", "worst": "worst",
    }  # fmt: skip
    shown = []
    if "estimators" in found.pictures:
        shown.append(picture(found, "estimators", "estimators", "Releases by mechanism input, by estimator."))
    return section(
        "Error by estimator",
        "<p>Each release is decoded by every estimator, which costs no privacy. All other comparisons on this page "
        "use the default estimator.</p>", *shown, records(columns, flat),
        f"<p>{download(found, 'estimators')}</p>",
    )  # fmt: skip


def _accuracy(found: Findings) -> str:
    columns = {
        "mechanism": "mechanism", "cases": "cases", "cases_at_zero": "of these, answers nearly all 0",
        "intervals": "intervals checked",
        "coverage": f"coverage (nominal {CONFIDENCE:g})",
        "measured_over_predicted_median": "error / predicted, median", "measured_over_predicted_least": "least",
        "measured_over_predicted_most": "most", "cases_above_bound": "cases above the bound",
        "bound_over_largest_error_median": "bound / largest error, median",
    }  # fmt: skip
    return section(
        "Accuracy of plans, bounds and intervals",
        "<p>Measured mean error over the predicted one, coverage of the intervals, and whether the bound held. "
        "Cases whose answers are nearly all 0 are left out of the comparison with the plan: clipping limits their "
        "error.</p>",
        records(columns, found.tables["coverage"]),
        f"<p>{download(found, 'coverage')}</p>",
    )


def _glossary(rows: list[Row]) -> str:
    known = {name: MECHANISMS[name].summary for name in names_of(rows, "mechanism")}
    used = {name: one.summary for name, one in ESTIMATORS.items() if name in names_of(rows, "estimator")}
    classes = {name: kind[0] for name, kind in CLASSES.items()}
    listed = {"Mechanisms": known, "Estimators": used, "Generated networks": classes}
    return section("Mechanisms and networks", page.lists({
        heading: bullets(f"<strong>{name}</strong>: {escape(text)}" for name, text in named.items())
        for heading, named in listed.items()
    }))  # fmt: skip


def _everything(found: Findings, command: str) -> str:
    rows = found.tables["results"]
    return section(
        "All results", f"<p>{len(rows)} cases. {download(found, 'results')}</p>", _skipped(rows),
        f"<p>Made by</p><pre>{escape(command)}</pre>",
    )  # fmt: skip


def _skipped(rows: list[Row]) -> str:
    """List why mechanisms were skipped, each reason once."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["skipped"]:
            reasons.setdefault((row["mechanism"], row["skipped"]), []).append(f"{row['network']} {row['nodes']}")
    flat = [
        {"mechanism": name, "reason": why, "cases": len(where), "where": ", ".join(dict.fromkeys(where))}
        for (name, why), where in reasons.items()
    ]
    columns = {"mechanism": "mechanism", "reason": "reason", "cases": "cases", "where": "where"}
    return page.folded("Skipped cases", records(columns, flat)) if flat else ""
