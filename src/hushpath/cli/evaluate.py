"""``hushpath evaluate``: the true error, for the data owner only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c
from . import trips as t


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
    trips: t.TripsFile = None,
    person: t.Person = None,
    day: t.Day = None,
    trip: t.Trip = None,
    edge: t.Edge = None,
    seconds: t.Seconds = None,
    node: t.Node = None,
    time: t.Time = None,
    node_lists: t.NodeLists = None,
    time_lists: t.TimeLists = None,
    durations: t.Durations = None,
    period_column: Annotated[str | None, typer.Option("--period-column", help="Of the trips.")] = None,
    periods: t.PeriodNames = None,
    period: t.Period = None,
    json: c.Json = False,
) -> None:
    """Compare a release with the truth.  NOT PRIVATE: keep the output to yourself."""
    given = {**locals(), "period": period_column, "low": None, "high": None, "proxy": None}
    from ..data.network import Network
    from ..data.readers import read_network
    from ..data.trips import Trips
    from ..progress import shown
    from ..publish.evaluate import evaluate
    from ..publish.oracle import load

    c.check_inputs(network, release, nodes)
    rel = c.in_period(load(release, decoder=decoder, estimator=estimator), period)
    owned: Network | Trips
    with shown():
        if trips is not None:
            owned = t.read(network, trips, given)
        else:
            owned = read_network(network, source=source, target=target, weight=weight, directed=directed, nodes=nodes)
        result = evaluate(owned, rel, sources=sources)
    if json:
        c.print_json(result.as_dict())
    else:
        print(result)
