"""What a run found: every table and every picture, by file name without suffix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..report.page import write_file
from .cases import DELTA, MAIN_WEIGHTS
from .pictures import error_against_hops, error_against_n, error_against_weights, phase_diagram
from .rates import points, rates
from .table1 import curves, slopes
from .table1_pictures import estimator_panels, measured_rates, table1_curves
from .tables import (
    MAIN,
    Row,
    by_hops,
    coverage,
    csv_text,
    estimators,
    exponents,
    final_table,
    measured,
    middle_noise,
    usual,
    winners,
)  # fmt: skip
from .weights import KINDS


@dataclass(frozen=True, eq=False)
class Findings:
    """Tables and pictures of a run."""

    results: list[Row]
    noise: float  # where one noise must do
    epsilon: float  # at that noise
    tables: dict[str, list[Row]]
    pictures: dict[str, bytes]


def find(results: list[Row]) -> Findings:
    """Compute every table and draw every picture of a run."""
    everyday = usual(results)
    noise = middle_noise(everyday)
    epsilon = next(row["epsilon"] for row in everyday if row["weights"] in MAIN and row["noise"] == noise)
    bound = KINDS[MAIN_WEIGHTS][1]
    tables: dict[str, list[Row]] = {
        "results": final_table(results), "exponents": exponents(everyday), "winners": winners(everyday),
        "hops": by_hops(everyday), "coverage": coverage(everyday), "estimators": estimators(results),
        "rates": rates(results), "rates-points": points(results), "table1": list(slopes(epsilon, bound, DELTA)),
        "table1-curves": list(curves(epsilon, bound, DELTA)),
    }  # fmt: skip
    tables["weights"] = [row for row in final_table(everyday) if row["weights"] not in MAIN]
    pictures = {
        "phases": phase_diagram(everyday), "hops": error_against_hops(everyday),
        "table1": table1_curves(tables["table1-curves"], tables["table1"], everyday),
    }  # fmt: skip
    if measured(everyday, weights=MAIN_WEIGHTS, noise=noise):
        pictures["error-n"] = error_against_n(everyday)
    if measured(tables["weights"]):
        pictures["weights"] = error_against_weights(everyday)
    if tables["rates"]:
        pictures["rates"] = measured_rates(results, tables["rates"])
    if len({row["estimator"] for row in tables["estimators"]}) > 1:
        pictures["estimators"] = estimator_panels(tables["estimators"])
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
