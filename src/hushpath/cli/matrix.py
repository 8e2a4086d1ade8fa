"""``hushpath matrix``: all distances, or those between two lists of nodes, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c
from . import trips as t


def command(
    release: Annotated[Path, typer.Argument(help="A release file.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="matrix.parquet, matrix.csv or matrix.npy")],
    sources: Annotated[Path | None, typer.Option("--sources", help="One node per line; else all, sorted.")] = None,
    targets: Annotated[Path | None, typer.Option("--targets", help="One node per line; else all, sorted.")] = None,
    long: Annotated[bool, typer.Option("--long", help="Columns source, target, distance.")] = False,
    float32: Annotated[bool, typer.Option("--float32", help="Half the size, seven digits.")] = False,
    interval: Annotated[bool, typer.Option("--interval", help="Also low and high of a range for each.")] = False,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.9,
    decoder: c.DecoderName = "auto",
    estimator: c.EstimatorName = "auto",
    verify: c.Verify = None,
    period: t.Period = None,
    json: c.Json = False,
) -> None:
    """Write a distance matrix; larger than memory is fine."""
    from ..progress import shown
    from ..publish.asked import check_confidence
    from ..publish.export import write_matrix
    from ..publish.oracle import load
    from ..publish.statement import NOT_PRIVATE
    from .asked import read_labels

    check_confidence(confidence)
    c.check_inputs(release, sources, targets)
    c.check_output(out, release, sources, targets, verify)
    rel = c.in_period(load(release, verify=verify, decoder=decoder, estimator=estimator), period)
    rows, columns = (None if path is None else read_labels(path) for path in (sources, targets))
    with shown():
        shape = write_matrix(
            rel, out, rows, columns, long=long, dtype="float32" if float32 else "float64",
            interval=interval, confidence=confidence,
        )  # fmt: skip
    c.print_marking(rel.statement)
    if json:
        c.print_json({**c.privacy(rel.statement), "file": str(out), "rows": shape[0], "columns": shape[1]})
    else:
        mark = f" {NOT_PRIVATE}" if rel.statement.marking else ""
        what = "distances and their intervals" if interval else "distances"
        print(f"{shape[0]} x {shape[1]} {what} written to {out}.{mark}")
