"""Every table and picture of a run, and the report: one self-contained page that holds the numbers of its pictures."""

from __future__ import annotations

from collections.abc import Iterable
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
from .measure import CONFIDENCE, GAMMA
from .networks import CLASSES, KINDS
from .table1 import curves, rates, slopes
from .tables import MAIN, REFERENCE, Row, csv_text, group, measured, names_of


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
    main = t.with_default_estimator(results)
    settings = {(row["noise"], row["epsilon"]) for row in results if row["unit"] == 1.0 and row["weights"] in MAIN}
    noise, epsilon = sorted(settings)[len(settings) // 2]
    setting = epsilon, KINDS[MAIN_WEIGHTS][1], DELTA
    tables: dict[str, list[Row]] = {
        "results": t.final_table(results), "exponents": t.exponents(main), "winners": t.winners(main),
        "hops": t.by_hops(main), "coverage": t.coverage(main), "estimators": t.estimators(results),
        "rates": rates(results), "table1": slopes(*setting), "table1-curves": curves(*setting),
    }  # fmt: skip
    pictures = {
        "phases": draw.phase_diagram(tables["winners"]), "hops": draw.error_against_hops(tables["hops"], noise),
        "error-n": draw.error_against_n(main, tables["exponents"], noise),
        "table1": draw.predicted_bounds(tables["table1-curves"], tables["table1"], main),
    }  # fmt: skip
    if tables["rates"]:
        pictures["rates"] = draw.measured_rates(results, tables["rates"])
    return Findings(results, noise, epsilon, tables, pictures)


def write_findings(found: Findings, folder: Path) -> None:
    """Write every table as CSV and every picture as PNG."""
    for name, rows in found.tables.items():
        write_file(folder / f"{name}.csv", csv_text(rows).encode(), owner_only=True)
    for name, data in found.pictures.items():
        write_file(folder / f"{name}.png", data, owner_only=True)


TITLE = "Mechanisms compared"
LEAD = "Every mechanism with the same privacy on the same networks, and its error against the truth."
BANNER = (
    f"<strong>{NOT_PRIVATE}.</strong> Releases here are seeded so that they can be repeated, and are compared with the "
    "truth. If it includes a network of your own, do not publish this page."
)


def write_report(found: Findings, path: Path, command: str) -> None:
    """Write the page."""
    parts = [note(BANNER), _facts(found.results), _phases(found), _sizes(found), _hops(found), _weights(found)]
    parts.append(_estimators(found))
    parts += [_measured_table1(found)] if "rates" in found.pictures else []
    parts += [_predicted_table1(found), _accuracy(found), _glossary(found.results), _everything(found, command)]
    page.write_page(path, title=TITLE, lead=LEAD, parts=parts, owner_only=True)


def _picture(found: Findings, name: str, rows: str, caption: str) -> str:
    """Return the picture of this ``name`` and its table ``rows`` among what was ``found``, with a ``caption``."""
    return figure(found.pictures[name], rows, f"{caption} {_download(found, rows)}")


def _download(found: Findings, name: str) -> str:
    """Return a link that contains the table as CSV."""
    data = data_url(csv_text(found.tables[name]).encode(), "text/csv")
    return f'<a download="{name}.csv" href="{data}">The numbers ({name}.csv)</a>.'


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
    rows = found.tables["winners"]
    best = sorted(group(rows, "winner").items(), key=lambda item: -len(item[1]))
    tally = bullets(
        f"<strong>{escape(name)}</strong>: {len(mine)} of {len(rows)} fields "
        f"({escape(', '.join(names_of(mine, 'network')))})"
        for name, mine in best
    )
    picture = _picture(found, "phases", "winners", text)
    return section("Best mechanism by size and noise", f"<p>{setting}</p>", tally, picture)


def _sizes(found: Findings) -> str:
    text = (
        f"Mean absolute error against the number of nodes at noise {found.noise:g} (epsilon {found.epsilon:.3g}), "
        "both axes logarithmic. Beside each line: its fitted exponent of n. (Theorems are about the worst pair, with "
        "logarithms, without clipping; they are compared below.) Dotted: the mean distance, which is the error of "
        "always answering 0. Hollow markers: answers are nearly all 0 (clipped), so the error is that of the dotted "
        "line and is not fitted."
    )
    rows = [row for row in found.tables["exponents"] if row["noise"] == found.noise]
    table = _pivot(rows, "network", "exponent_mean_error")
    return section(
        "Error against size", _picture(found, "error-n", "exponents", text),
        page.folded("Fitted exponents as a table", table),
    )  # fmt: skip


def _pivot(rows: list[Row], key: str, value: str) -> str:
    """Return a table with one line per value of a column and one column per mechanism."""
    mechanisms = names_of(rows, "mechanism")
    lines = [
        {key: name, **dict.fromkeys(mechanisms), **{row["mechanism"]: row[value] for row in mine}}
        for name, mine in group(rows, key).items()
    ]
    return records({key: key, **{name: name for name in mechanisms}}, lines)


def _hops(found: Findings) -> str:
    text = "Mean absolute error by the number of hops between the two nodes, on the largest network of each class."
    return section(
        "Error against hops",
        "<p>Noise on edges adds up along a path; the noise of a shortcut does not depend on its length.</p>",
        _picture(found, "hops", "hops", text),
    )


def _weights(found: Findings) -> str:
    """Compare kinds of weights, at the sizes and noises that were measured with all of them."""
    results = measured(t.with_default_estimator(found.results))
    settings = group((row for row in results if row["weights"] not in MAIN), "network", "nodes", "noise")
    rows = [
        {**row, "setting": f"{row['network']} {row['nodes']}, noise {row['noise']:g}: {row['weights']}"}
        for row in results
        if (row["network"], row["nodes"], row["noise"]) in settings
    ]
    kinds = "; ".join(f"<em>{name}</em>: {escape(kind[0])}" for name, kind in KINDS.items())
    return section(
        "Mean error by kind of weights", f"<p>{kinds}. All have median 1.</p>", _pivot(rows, "setting", "mean_error")
    )


def _estimators(found: Findings) -> str:
    columns = {
        "mechanism": "mechanism", "estimator": "estimator", "cases": "cases", "default": "of these, the default",
        "geometric_mean": f"mean error / {REFERENCE}'s, geometric mean", "worst": "worst",
    }  # fmt: skip
    return section(
        "Error by estimator",
        "<p>Each release is decoded by every estimator, which costs no privacy. All other comparisons on this page "
        "use the default estimator.</p>",
        records(columns, t.estimators_by_mechanism(found.tables["estimators"])),
        f"<p>{_download(found, 'estimators')}</p>",
    )  # fmt: skip


def _measured_table1(found: Findings) -> str:
    """Compare measured errors with the shapes of the theorems, where nothing is clipped."""
    text = (
        "The largest measured error, in privacy units, at epsilon 1 and a unit so small that noise is small "
        "against distances. Dashed: the theorem's shape with one fitted constant; p is the largest separator "
        "of the measured strategy. &ldquo;Largest factor&rdquo; is that between a point and the curve."
    )
    caution = (
        "Two decades of n cannot distinguish p log<sup>2</sup> n from a slightly larger power of n: the table also "
        "has the best power of n and its largest factor. Only the theorem about separators states its logarithms; the "
        "others hide them. Theorems bound the worst pair of the worst network; these are "
        "random weights on one network per size, so constants far below 1 are expected. At the larger unit, minima "
        "over noisy shortcuts become biased downwards as n grows, so errors grow faster than at either end. "
        "Bounds for bounded weights do not apply here: with so little noise their k would be below one hop."
    )
    columns = {
        "network": "class", "mechanism": "mechanism", "unit": "unit", "least_nodes": "nodes from", "most_nodes": "to",
        "shape": "the theorem's shape", "constant": "constant", "within": "largest factor",
        "exponent_of_n": "best power of n", "within_power": "its largest factor",
        "exponent_of_log": "a in p log^a n", "zeros": "share of answers that are 0",
    }  # fmt: skip
    return section(
        "Table 1 of the paper, measured", _picture(found, "rates", "rates", text), f"<p>{caution}</p>",
        records(columns, found.tables["rates"]),
    )  # fmt: skip


def _predicted_table1(found: Findings) -> str:
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
    columns = {"family": "family", "mechanism": "mechanism", "shape": "the theorem's shape", **numbers}
    return section(
        "Table 1 of the paper, predicted", _picture(found, "table1", "table1-curves", text),
        records(columns, found.tables["table1"]),
        f"<p>{_download(found, 'table1')}</p>",
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
        records(columns, found.tables["coverage"]), f"<p>{_download(found, 'coverage')}</p>",
    )  # fmt: skip


def _glossary(rows: list[Row]) -> str:
    listed = {
        "Mechanisms": {name: MECHANISMS[name].summary for name in names_of(rows, "mechanism")},
        "Estimators": {name: ESTIMATORS[name].summary for name in names_of(rows, "estimator") if name in ESTIMATORS},
        "Generated networks": {name: kind[0] for name, kind in CLASSES.items()},
    }
    return section("Mechanisms and networks", page.lists({
        heading: bullets(f"<strong>{name}</strong>: {escape(text)}" for name, text in named.items())
        for heading, named in listed.items()
    }))  # fmt: skip


def _everything(found: Findings, command: str) -> str:
    rows = found.tables["results"]
    return section(
        "All results", f"<p>{len(rows)} cases. {_download(found, 'results')}</p>", _skipped(rows),
        f"<p>Made by</p><pre>{escape(command)}</pre>",
    )  # fmt: skip


def _skipped(rows: Iterable[Row]) -> str:
    """List why mechanisms were skipped, each reason once."""
    reasons = group((row for row in rows if row["skipped"]), "mechanism", "skipped")
    lines = [
        {
            "mechanism": name, "reason": why, "cases": len(mine),
            "where": ", ".join(dict.fromkeys(f"{row['network']} {row['nodes']}" for row in mine)),
        }
        for (name, why), mine in reasons.items()
    ]  # fmt: skip
    columns = {"mechanism": "mechanism", "reason": "reason", "cases": "cases", "where": "where"}
    return page.folded("Skipped cases", records(columns, lines)) if lines else ""
