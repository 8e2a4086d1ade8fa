"""``hushpath plan``: what error to expect, before any weight is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import common as c
from . import trips as t

PICTURES = (".svg", ".png")


def command(
    network: Annotated[Path, typer.Argument(help=c.NETWORK)],
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", help="Privacy budget; several to compare: 0.5,1,2. inf: NOT PRIVATE.")
    ] = None,
    target_error: Annotated[
        str | None, typer.Option("--target-error", help="Instead of --epsilon: the mean error to reach, 2 or 5%.")
    ] = None,
    delta: c.Delta = 1e-6,
    unit: c.Unit = None,
    max_weight: c.MaxWeight = None,
    typical_weight: c.TypicalWeight = None,
    like: Annotated[
        Path | None, typer.Option("--like", help="An earlier release file of this network: weights will be like those.")
    ] = None,
    population: c.Population = None,
    mechanism: c.MechanismName = "auto",
    law: c.LawName = "auto",
    directed: c.Directed = False,
    parallel_edges: c.ParallelEdges = False,
    source: c.Source = "source",
    target: c.Target = "target",
    lower: c.Lower = None,
    upper: c.Upper = None,
    proxy: c.Proxy = None,
    nodes: c.Nodes = None,
    option: c.Options = None,
    anyway: c.Anyway = False,
    weight: Annotated[str | None, typer.Option("--weight", help="Of `release`; never read here.")] = None,
    unit_l2: c.UnitL2 = None,
    unit_edges: c.UnitEdges = None,
    protects: t.Protects = None,
    units: t.Units = None,
    cells: t.Cells = None,
    low: t.Low = None,
    high: t.High = None,
    periods: t.PeriodNames = None,
    neighbours: t.Neighbours = None,
    max_edges: t.MaxEdges = None,
    emphasis: t.Emphasis = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw error against epsilon, for several: FILE.svg or FILE.png.")
    ] = None,
    json: c.Json = False,
) -> None:
    """Show every mechanism's predicted error and the choice.  Reads no weights."""
    from ..data.readers import read_topology
    from ..errors import OptionError
    from ..progress import shown
    from ..publish.oracle import load
    from ..publish.plan import plan
    from ..publish.planned import Sweep

    if epsilon is None and target_error is None:
        raise typer.BadParameter("Missing option '--epsilon' (or '--target-error').")
    if epsilon is not None and target_error is not None:
        raise OptionError("--target-error is solved for epsilon: give one of the two")
    asked = c.numbers("--epsilon", epsilon, "0.5,1,2")
    typical = c.numbers("--typical-weight", typical_weight, "15,40")
    c.check_inputs(network, nodes, like)
    if picture is not None:
        if not isinstance(asked, list):
            raise OptionError("--picture draws error against epsilon: give several, such as --epsilon 0.5,1,2")
        if picture.suffix.lower() not in PICTURES:
            raise OptionError(f"a picture is a file that ends in {' or '.join(PICTURES)}, not {picture.name[:60]!r}")
        c.check_output(picture, network, nodes, like)
    edges = c.edges_of_unit(unit_edges)
    if protects is None and edges is None:
        unit = c.the_unit(unit)
    told: dict[str, Any] = {}
    if protects is not None:
        told = {
            name: value for name, value in (("neighbours", neighbours), ("emphasis", emphasis)) if value is not None
        }
        told |= dict(protects=protects, max_edges=max_edges, periods=t.periods(periods), **t.bounds(low, high))
    if picture is not None:
        from ..report.canvas import needs_matplotlib

        needs_matplotlib()
    with shown():
        topology = read_topology(
            network, source=source, target=target, directed=directed, nodes=nodes,
            lower=c.bound(lower, 0.0), upper=c.bound(upper, float("inf")), proxy=proxy, weight=weight or "weight",
            columns=t.named_bounds(low, high), parallel_edges=parallel_edges,
        )  # fmt: skip
        made: Any = plan(
            topology, epsilon=asked, delta=delta, unit=unit, max_weight=max_weight, mechanism=mechanism, law=law,
            population=population, typical_weight=typical, target_error=target_error, anyway=anyway, units=units,
            cells=cells, unit_l2=unit_l2, unit_edges=edges,
            like=None if like is None else load(like), **told, **c.mechanism_options(option),
        )  # fmt: skip
    if picture is not None and isinstance(made, Sweep):
        from ..report.pictures import write_sweep

        write_sweep(picture, made)
    if json:
        c.print_json({**made.as_dict(), **({"picture": str(picture)} if picture is not None else {})})
    else:
        print(made)
        if picture is not None:
            print(f"Picture written to {picture}.")
