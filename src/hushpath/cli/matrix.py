"""``hushpath matrix``: all distances, or those between two lists of nodes, in a file or in a folder of parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from . import common as c

PANEL = "Beyond one machine (docs/SCALE.md)"
OUT = "matrix.parquet, matrix.csv, matrix.npy; or a folder (a name without a dot) of Parquet files."


def _option(name: str, words: str, **more: Any) -> Any:
    return typer.Option(name, help=words, rich_help_panel=PANEL, **more)


def command(
    release: Annotated[Path, typer.Argument(help="A release file.")],
    out: Annotated[Path, typer.Option("-o", "--out", help=OUT)],
    sources: Annotated[Path | None, typer.Option("--sources", help="One node per line; else all, sorted.")] = None,
    targets: Annotated[Path | None, typer.Option("--targets", help="One node per line; else all, sorted.")] = None,
    long: Annotated[bool, typer.Option("--long", help="Columns source, target, distance.")] = False,
    float32: Annotated[bool, typer.Option("--float32", help="Half the size, seven digits.")] = False,
    interval: Annotated[bool, typer.Option("--interval", help="Also low and high of a range for each.")] = False,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.9,
    decoder: c.DecoderName = "auto",
    estimator: c.EstimatorName = "auto",
    verify: c.Verify = None,
    dataset: c.ExpectedDataset = None,
    date: c.ExpectedDate = None,
    period: c.Period = None,
    part: Annotated[str | None, _option("--part", "Only the i-th of N shares of a folder: 3/20.")] = None,
    join: Annotated[list[Path] | None, _option("--join", "A folder with parts that shares made; repeatable.")] = None,
    dask: Annotated[str | None, _option("--dask", "Address of a scheduler, or local: make a folder there.")] = None,
    workers: Annotated[int, _option("--workers", "Processes of this machine, or of --dask local.", min=0, max=256)] = 0,
    json: c.Json = False,
) -> None:
    """Write a distance matrix; larger than memory is fine.  A folder that was begun is gone on with."""
    from ..errors import OptionError
    from ..progress import shown
    from ..publish.asked import check_confidence
    from ..publish.export import write_matrix
    from ..publish.joined import join_parts
    from ..publish.oracle import load
    from ..publish.shares import write_parts
    from ..publish.statement import NOT_PRIVATE
    from .asked import read_labels

    in_parts = out.suffix == ""
    share = _share(part)
    check_confidence(confidence)
    c.check_inputs(release, sources, targets)
    if join and (part or dask or workers):
        raise OptionError("--join puts together what is there; --part, --dask and --workers make parts")
    if not in_parts:
        c.check_output(out, release, sources, targets, verify)
        if not join and (part or dask or workers):
            raise OptionError(f"parts are made in a folder: name one, without a dot, not {out.name}")
    rel = load(release, verify=verify, dataset=dataset, date=date, decoder=decoder, estimator=estimator)
    rel = c.in_period(rel, period) if period or not in_parts else rel
    rows, columns = (None if path is None else read_labels(path) for path in (sources, targets))
    question: dict[str, Any] = {
        "long": long, "dtype": "float32" if float32 else "float64", "interval": interval, "confidence": confidence,
    }  # fmt: skip
    facts: dict[str, Any] = {}
    with shown():
        if join:
            shape = join_parts(rel, out, join, rows, columns, **question)
        elif in_parts:
            with _kept(out):
                shape, *counts = write_parts(
                    rel, out, rows, columns, share=share, dask=dask, workers=workers, **question
                )
            facts = dict(zip(("parts", "made", "kept"), counts, strict=True))
        else:
            shape = write_matrix(rel, out, rows, columns, **question)
    c.print_marking(rel.statement)
    if json:
        c.print_json({**c.privacy(rel.statement), "file": str(out), "rows": shape[0], "columns": shape[1], **facts})
    else:
        mark = f" {NOT_PRIVATE}" if rel.statement.marking else ""
        what = "distances and their intervals" if interval else "distances"
        some = f"Share {part} of " if part else ""
        print(f"{some}{shape[0]} x {shape[1]} {what} written to {out}.{mark}")


def _share(text: str | None) -> tuple[int, int]:
    """``3/20`` as two numbers; what they may be is checked where they are used."""
    if text is None:
        return 1, 1
    first, slash, count = text.partition("/")
    if not (slash and first.isdecimal() and count.isdecimal() and len(text) < 20):
        raise typer.BadParameter(f"'--part': {text[:40]!r} is no share such as 3/20.")
    return int(first), int(count)


@contextmanager
def _kept(folder: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"Finished parts stay in {folder}; the same command goes on with the others.", err=True)
        raise
