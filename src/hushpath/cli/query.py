"""``hushpath query``: one distance, or many from a file of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import common as c

if TYPE_CHECKING:
    from ..published.quantity import Quantity


def command(
    release: Annotated[Path, typer.Argument(help="A release file.")],
    source: Annotated[str | None, typer.Argument(help="From this node")] = None,
    target: Annotated[str | None, typer.Argument(help="to this one.")] = None,
    pairs: Annotated[Path | None, typer.Option("--pairs", help="CSV with columns source, target.")] = None,
    interval: Annotated[bool, typer.Option("--interval", help="Also a range for the true distance.")] = False,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the interval.")] = 0.9,
    decoder: c.DecoderName = "auto",
    estimator: c.EstimatorName = "auto",
    verify: c.Verify = None,
    dataset: c.ExpectedDataset = None,
    date: c.ExpectedDate = None,
    period: c.Period = None,
    json: c.Json = False,
) -> None:
    """Ask a release for distances.  Free: asking costs no privacy."""
    from .._validate import check_confidence
    from ..errors import OptionError
    from ..progress import shown
    from ..published.release import load
    from ..published.statement import NOT_PRIVATE
    from .input_files import read_pairs

    if (pairs is None) == (source is None or target is None) or (pairs is not None and source is not None):
        raise OptionError("pass two nodes, or --pairs FILE")
    check_confidence(confidence)
    c.check_inputs(release, pairs)
    rel = load(release, verify=verify, dataset=dataset, date=date, decoder=decoder, estimator=estimator)
    rel = c.in_period(rel, period)
    asked = [(str(source), str(target))] if pairs is None else read_pairs(pairs)
    answers = rel.distances(asked).tolist()
    with shown():
        ranges = [(low, high) for low, high in rel.intervals(asked, confidence).tolist()] if interval else None
    mark = NOT_PRIVATE if rel.statement.marking else ""
    c.print_marking(rel.statement)
    if json:
        rows = [{"source": a, "target": b, "distance": c.finite(d)} for (a, b), d in zip(asked, answers, strict=True)]
        for row, ends in zip(rows, ranges or [], strict=False):
            row["interval"] = [c.finite(end) for end in ends]  # type: ignore[assignment]
        c.print_json({**c.privacy(rel.statement), "quantity": rel.statement.quantity.as_dict(), "answers": rows})
    elif pairs is None:
        line = _format_answer(answers[0], ranges[0] if ranges else None, 100 * confidence, rel.statement.quantity)
        print(f"{line}   {mark}" if mark else line)
    else:
        _print_csv([mark] if mark else [], asked, answers, ranges)


def _format_answer(answer: float, ends: tuple[float, float] | None, percent: float, quantity: Quantity) -> str:
    """One answer with the digits that noise leaves; ``--json`` and ``--pairs`` have all of them."""
    from ..published.quantity import format_interval, format_value

    if ends is None:
        return quantity.amount(format_value(answer))
    number, low, high = format_interval(answer, *ends)
    return f"{quantity.amount(number)}   ({percent:g} % interval {low} to {quantity.amount(high)})"


def _print_csv(
    mark: list[str], asked: list[tuple[str, str]], answers: list[float], ranges: list[tuple[float, float]] | None
) -> None:
    """Print a table; what is NOT PRIVATE has a first column that says so in every row, as ``matrix`` writes it."""
    import sys

    from ..output.encode import csv_row_writer

    write_row = csv_row_writer(sys.stdout, (label for pair in asked for label in pair))
    write_row([*mark, "source", "target", "distance", *(["low", "high"] if ranges else [])])
    for i, (a, b) in enumerate(asked):
        write_row([*mark, a, b, answers[i], *(ranges[i] if ranges else [])])
