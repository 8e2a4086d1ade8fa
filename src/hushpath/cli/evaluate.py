"""``hushpath evaluate``: the true error, for the data owner only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import common as c
from . import owned as o
from . import trips as t


@o.owner
def command(
    network: Annotated[Path, typer.Argument(help="The private edge list the release was made from.")],
    release: Annotated[Path, typer.Argument(help="The release file.")],
    given: dict[str, Any],
    sources: Annotated[int, typer.Option("--sources", min=1, help="Compare from this many nodes to all.")] = 64,
    decoder: c.DecoderName = "auto",
    estimator: c.EstimatorName = "auto",
    period: t.Period = None,
    json: c.Json = False,
) -> None:
    """Compare a release with the truth.  NOT PRIVATE: keep the output to yourself."""
    from ..progress import shown
    from ..publish.evaluate import evaluate
    from ..publish.oracle import load

    c.check_inputs(release)
    rel = c.in_period(load(release, decoder=decoder, estimator=estimator), period)
    with shown():
        result = evaluate(o.read(network, given, rel), rel, sources=sources)
    if json:
        c.print_json(result.as_dict())
    else:
        print(result)
