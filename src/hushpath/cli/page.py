"""``hushpath page``: one self-contained page to explore a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c


def command(
    release: Annotated[Path, typer.Argument(help="A release file.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write, e.g. city.html.")],
    title: Annotated[str | None, typer.Option("--title", help="Of the page; else what the numbers are.")] = None,
    origin: Annotated[str | None, typer.Option("--origin", help="A node to open the page with.")] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.9,
    decoder: c.DecoderName = "auto",
    estimator: c.EstimatorName = "auto",
    period: c.Period = None,
    verify: c.Verify = None,
    dataset: c.ExpectedDataset = None,
    date: c.ExpectedDate = None,
    json: c.Json = False,
) -> None:
    """Write a page with a map to explore a release: one file that loads nothing and works anywhere."""
    from .._validate import check_confidence
    from ..output.page.explorer import write_explorer
    from ..progress import shown
    from ..published.release import load
    from ..published.statement import NOT_PRIVATE

    check_confidence(confidence)
    c.check_inputs(release)
    c.check_output(out, release, verify)
    rel = load(release, verify=verify, dataset=dataset, date=date, decoder=decoder, estimator=estimator)
    rel = rel if period is None else rel.for_period(period)
    with shown():
        size = write_explorer(rel, out, title=title, origin=origin, confidence=confidence)
    c.print_marking(rel.statement)
    if json:
        c.print_json({**c.privacy(rel.statement), "file": str(out), "bytes": size})
    else:
        mark = f" {NOT_PRIVATE}" if rel.statement.marking else ""
        print(f"{size / 1e6:.2g} MB written to {out}: open it in a browser; it needs no network.{mark}")
