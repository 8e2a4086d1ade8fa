"""``hushpath release``: measure once, privately, and write the file that may be published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import common as c
from . import trips as t

if TYPE_CHECKING:
    from ..data.network import Network
    from ..data.trips import Trips


DATE = "Reporting period (free text), for example 2026-03."


def command(
    network: Annotated[Path, typer.Argument(help=c.NETWORK)],
    out: Annotated[Path, typer.Option("-o", "--out", help="The release file to write, e.g. roads.hush.")],
    epsilon: c.Epsilon,
    delta: c.Delta = 1e-6,
    unit: c.Unit = None,
    weight: c.Weight = "weight",
    max_weight: c.MaxWeight = None,
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
    typical_weight: c.TypicalWeight = None,
    anyway: c.Anyway = False,
    nodes: c.Nodes = None,
    edge_data: c.EdgeData = None,
    edge_interval: c.EdgeInterval = None,
    sampler: Annotated[str, typer.Option("--sampler", help="auto, opendp or vector.")] = "auto",
    seed: Annotated[int | None, typer.Option("--seed", help="For tests: reproducible and NOT PRIVATE.")] = None,
    estimator: c.EstimatorName = "auto",
    option: c.Options = None,
    sign: Annotated[Path | None, typer.Option("--sign", help="Sign with this private key; see `keygen`.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing release file.")] = False,
    unit_l2: c.UnitL2 = None,
    unit_edges: c.UnitEdges = None,
    trips: t.TripsFile = None,
    protects: t.Protects = None,
    low: t.Low = None,
    high: t.High = None,
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
    period: t.PeriodColumn = None,
    periods: t.PeriodNames = None,
    days: t.Days = None,
    neighbours: t.Neighbours = None,
    max_edges: t.MaxEdges = None,
    emphasis: t.Emphasis = None,
    ledger: Annotated[Path | None, typer.Option("--ledger", help="Charge this ledger first; see `ledger`.")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="Name of the data; published.")] = None,
    quantity: Annotated[str | None, typer.Option("--quantity", help="What a distance is: 'travel time'.")] = None,
    measured_in: Annotated[str | None, typer.Option("--in", help="What it is measured in: seconds.")] = None,
    date: Annotated[str | None, typer.Option("--date", help=DATE)] = None,
    publisher: Annotated[str | None, typer.Option("--publisher", help="Who publishes the release.")] = None,
    json: c.Json = False,
) -> None:
    """Release all distances of a network, from its weights or from people's trips, with differential privacy."""
    given = locals()
    from ..data.readers import read_network
    from ..errors import OptionError
    from ..files.keys import private_key
    from ..files.signing import signature_path
    from ..privacy.accounting import Budget
    from ..progress import shown
    from ..publish.release import release

    c.check_inputs(network, nodes, edge_data)
    given_files = network, nodes, edge_data, trips, ledger, sign
    c.check_output(out, *given_files)
    if sign is not None:
        c.check_output(signature_path(out), *given_files)
    c.check_edge_data(edge_data, edge_interval, trips)
    if out.exists() and not force:
        raise OptionError(
            f"{out} exists; releasing the same data again spends the budget again, even if this file is replaced: "
            "name another file, or use --force"
        )
    if sign is not None:
        private_key(sign)  # a wrong key is said before the data are opened, as a wrong budget is
    Budget(epsilon, delta)  # a wrong budget is said before the data are opened
    typical = c.numbers("--typical-weight", typical_weight, "15,40")
    edges = c.edges_of_unit(unit_edges)
    owned: Network | Trips
    with shown():
        if trips is not None:
            owned = t.read(network, trips, given)
        else:
            unit = c.the_unit(unit) if edges is None else unit
            owned = read_network(
                network, source=source, target=target, weight=weight, directed=directed, nodes=nodes,
                lower=c.bound(lower, 0.0), upper=c.bound(upper, float("inf")),
                proxy=proxy, edge_data=edge_data, interval=edge_interval, parallel_edges=parallel_edges,
            )  # fmt: skip
        made = release(
            owned, epsilon=epsilon, delta=delta, unit=unit, max_weight=max_weight, mechanism=mechanism, law=law,
            sampler=sampler, seed=seed, population=population, unit_l2=unit_l2, unit_edges=edges,
            estimator=estimator, typical_weight=typical, anyway=anyway, **t.declared(given),
            ledger=ledger, dataset=dataset, file=out.name, quantity=quantity, measured_in=measured_in, date=date,
            publisher=publisher,
            **c.mechanism_options(option),
        )  # fmt: skip
        made.save(out, sign=sign)
        if sign is None:
            signature_path(out).unlink(missing_ok=True)  # of the release that was replaced: it fits no longer
    if json:
        signature = str(signature_path(out)) if sign else None
        c.print_json({
            **c.privacy(made.statement), "promise": made.statement.promise.as_dict(), "file": str(out),
            "signature": signature, "statement": made.statement.as_dict(),
        })  # fmt: skip
    else:
        print(f"{made.statement}\nWritten to {out}{f', signed in {signature_path(out)}' if sign else ''}.")
