"""``hushpath plan``: what error to expect, before any weight is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c


def command(
    network: Annotated[Path, typer.Argument(help="Edge list: .csv, .parquet or .graphml.")],
    epsilon: c.Epsilon,
    delta: c.Delta = 1e-6,
    unit: c.Unit = None,
    max_weight: c.MaxWeight = None,
    population: c.Population = None,
    mechanism: c.MechanismName = "auto",
    law: c.LawName = "auto",
    directed: c.Directed = False,
    source: c.Source = "source",
    target: c.Target = "target",
    lower: c.Lower = None,
    upper: c.Upper = None,
    proxy: c.Proxy = None,
    nodes: c.Nodes = None,
    option: c.Options = None,
    weight: Annotated[str | None, typer.Option("--weight", help="Of `release`; never read here.")] = None,
    json: c.Json = False,
) -> None:
    """Show every mechanism's predicted error and the choice.  Reads no weights."""
    from ..data.columns import bounds_are_public
    from ..data.readers import read_topology
    from ..progress import shown
    from ..publish.plan import plan

    c.check_inputs(network, nodes)
    if weight is not None:
        bounds_are_public(weight, c.bound(lower, 0.0), c.bound(upper, float("inf")))
    unit = c.the_unit(unit)
    with shown():
        topology = read_topology(
            network, source=source, target=target, directed=directed, nodes=nodes,
            lower=c.bound(lower, 0.0), upper=c.bound(upper, float("inf")), proxy=proxy, weight=weight or "weight",
        )  # fmt: skip
        made = plan(
            topology, epsilon=epsilon, delta=delta, unit=unit, max_weight=max_weight, mechanism=mechanism, law=law,
            population=population, **c.mechanism_options(option),
        )  # fmt: skip
    if json:
        c.print_json(made.as_dict())
    else:
        print(made)
