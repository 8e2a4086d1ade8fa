"""The report's sections on Table 1 of the paper, measured and predicted, and what every section needs."""

from __future__ import annotations

from ..report.page import address, figure, records, section
from .findings import Findings
from .tables import csv_text
from .trial import GAMMA


def picture(found: Findings, name: str, rows: str, caption: str) -> str:
    """A picture with the table it was drawn from."""
    return figure(found.pictures[name], rows, f"{caption} {download(found, rows)}")


def download(found: Findings, name: str) -> str:
    """A link that holds the numbers themselves."""
    data = address(csv_text(found.tables[name]).encode(), "text/csv")
    return f'<a download="{name}.csv" href="{data}">The numbers ({name}.csv)</a>.'


def measured_table1(found: Findings) -> list[str]:
    """What was measured where nothing is clipped, beside the theorem's own shapes."""
    text = (
        "The largest error that was met, in privacy units, at epsilon 1 and a unit so small that noise is small "
        "against distances. Dashed: the theorem's shape with one fitted constant; p is the largest separator "
        "of the strategy "
        "that was measured. &ldquo;Off by&rdquo; says how far the points stray from it."
    )
    caution = (
        "Two decades of n cannot tell p log<sup>2</sup> n from a slightly larger power of n: the table has the bare "
        "power that fits the same points, and how well. Theorems are about the worst pair of the worst network; "
        "these are "
        "random weights on one network per size, so a constant far below 1 is no surprise. At the larger unit minima "
        "over noisy shortcuts begin to come out low as n grows, so errors grow faster than at either end. "
        "Bounds for bounded weights cannot be met here: where noise is so small, their k would be below one hop."
    )
    columns = {
        "network": "class", "mechanism": "mechanism", "unit": "unit", "nodes": "nodes", "shape": "the theorem's shape",
        "constant": "constant", "within": "points off by at most", "exponent_of_n": "bare power of n",
        "within_power": "off by at most", "exponent_of_log": "a in p log^a n", "zeros": "answers that are 0",
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
    """Bounds from certificates, far beyond what can be run."""
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
