"""``hushpath evaluate``: the true error, for the data owner only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c
from . import options as o

Sources = Annotated[int, typer.Option("--sources", min=1, help="Compare from this many nodes to all.")]


@o.spec_options([*o.READ, *o.PRIVATE_WEIGHTS])
def command(
    given: Annotated[Path, typer.Argument(metavar="SPEC|NETWORK", help=c.SPEC_OR_NETWORK)],
    release: Annotated[Path, typer.Argument(help="The release file.")],
    changes: o.Changes,
    sources: Sources = 64,
    decoder: c.DecoderName = "auto",
    estimator: c.EstimatorName = "auto",
    period: c.Period = None,
    json: c.Json = False,
) -> None:
    """Compare a release with the truth.  NOT PRIVATE: keep the output to yourself."""
    from ..progress import shown
    from ..published.release import load
    from ..releasing.evaluate import evaluate

    c.check_inputs(release)
    rel = c.in_period(load(release, decoder=decoder, estimator=estimator), period)
    spec = o.spec_of_release(given, changes, rel)
    c.check_inputs(*c.public_files(spec))
    with shown():
        result = evaluate(spec.read(), rel, sources=sources)
    if json:
        c.print_json(result.as_dict())
    else:
        print(result)
