"""``hushpath evaluate``: the true error, for the data owner only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c


def command(
    network: Annotated[Path, typer.Argument(help="The private edge list the release was made from.")],
    release: Annotated[Path, typer.Argument(help="The release file.")],
    weight: c.Weight = "weight",
    directed: c.Directed = False,
    source: c.Source = "source",
    target: c.Target = "target",
    nodes: c.Nodes = None,
    sources: Annotated[int, typer.Option("--sources", min=1, help="Compare from this many nodes to all.")] = 64,
    decoder: c.DecoderName = "auto",
    estimator: c.EstimatorName = "auto",
    json: c.Json = False,
) -> None:
    """Compare a release with the truth.  NOT PRIVATE: keep the output to yourself."""
    from ..data.readers import read_network
    from ..progress import shown
    from ..publish.evaluate import evaluate
    from ..publish.oracle import load

    c.check_inputs(network, release, nodes)
    rel = load(release, decoder=decoder, estimator=estimator)
    with shown():
        net = read_network(network, source=source, target=target, weight=weight, directed=directed, nodes=nodes)
        result = evaluate(net, rel, sources=sources)
    if json:
        c.print_json(result.as_dict())
    else:
        print(result)
