"""What a run found: every table and every picture, by file name without suffix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..report.page import write_file
from .cases import DELTA, MAIN_WEIGHTS
from .pictures import error_against_hops, error_against_n, error_against_weights, phase_diagram, table1_curves
from .table1 import curves, slopes
from .tables import MAIN, Row, by_hops, coverage, csv_text, exponents, final_table, measured, middle_noise, winners
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
    noise = middle_noise(results)
    epsilon = next(row["epsilon"] for row in results if row["weights"] in MAIN and row["noise"] == noise)
    bound = KINDS[MAIN_WEIGHTS][1]
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
    return Findings(results, noise, epsilon, tables, pictures)


def write_tables(found: Findings, folder: Path) -> None:
    """Write every table as CSV."""
    for name, rows in found.tables.items():
        write_file(folder / f"{name}.csv", csv_text(rows).encode())


def write_pictures(found: Findings, folder: Path) -> None:
    """Write every picture as PNG, with the tables behind them."""
    for name, data in found.pictures.items():
        write_file(folder / f"{name}.png", data)
    write_tables(found, folder)
