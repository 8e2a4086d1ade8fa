"""``hushpath matrix``: all distances, or those between two lists of nodes, in a file or in a folder of parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from . import common as c

PANEL = "Beyond one machine (guide to scale)"
OUT = "matrix.parquet, matrix.csv, matrix.npy; or a folder (a name without a dot) of Parquet files."


def _option(name: str, words: str, **more: Any) -> Any:
    return typer.Option(name, help=words, rich_help_panel=PANEL, **more)


def command(
    release: Annotated[Path, typer.Argument(help="A release file.")],
    out: Annotated[Path, typer.Option("-o", "--out", help=OUT)],
    sources: Annotated[Path | None, typer.Option("--sources", help="One node per line; default: all, sorted.")] = None,
    targets: Annotated[Path | None, typer.Option("--targets", help="One node per line; default: all, sorted.")] = None,
    long: Annotated[bool, typer.Option("--long", help="Columns source, target, distance.")] = False,
    float32: Annotated[bool, typer.Option("--float32", help="Half the size, seven digits.")] = False,
    interval: Annotated[bool, typer.Option("--interval", help="Also low and high of an interval for each.")] = False,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.9,
    decoder: c.DecoderName = "auto",
    estimator: c.EstimatorName = "auto",
    verify: c.Verify = None,
    dataset: c.ExpectedDataset = None,
    date: c.ExpectedDate = None,
    period: c.Period = None,
    dask: Annotated[str | None, _option("--dask", "Scheduler whose workers write a folder, or local.")] = None,
    workers: Annotated[int, _option("--workers", "Processes of this machine, or of --dask local.", min=0, max=256)] = 0,
    json: c.Json = False,
) -> None:
    """Write a distance matrix; it may be larger than memory.  A folder that was interrupted is continued."""
    from .._validate import check_confidence
    from ..output.matrix import write_matrix
    from ..progress import shown
    from ..published.release import load
    from ..published.statement import NOT_PRIVATE
    from .input_files import read_labels

    folder = out.suffix == ""
    check_confidence(confidence)
    c.check_inputs(release, sources, targets)
    if not folder:
        c.check_output(out, release, sources, targets, verify)
    rel = load(release, verify=verify, dataset=dataset, date=date, decoder=decoder, estimator=estimator)
    rel = c.in_period(rel, period) if period or not folder else rel
    rows, columns = (None if path is None else read_labels(path) for path in (sources, targets))
    with shown(), _how_to_continue(out) if folder else nullcontext():
        written = write_matrix(
            rel, out, rows, columns, long=long, dtype="float32" if float32 else "float64", interval=interval,
            confidence=confidence, workers=workers, dask=dask,
        )  # fmt: skip
    c.print_marking(rel.statement)
    shape = written.shape
    if json:
        facts = {"parts": written.parts, "made": written.made, "kept": written.kept} if folder else {}
        c.print_json({**c.privacy(rel.statement), "file": str(out), "rows": shape[0], "columns": shape[1], **facts})
    else:
        mark = f" {NOT_PRIVATE}" if rel.statement.marking else ""
        what = "distances and their intervals" if interval else "distances"
        print(f"{shape[0]} x {shape[1]} {what} written to {out}.{mark}")


@contextmanager
def _how_to_continue(folder: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"Finished parts stay in {folder}; run the same command again to write the others.", err=True)
        raise
