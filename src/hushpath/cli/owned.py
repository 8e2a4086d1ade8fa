"""Options that name an owner's data, spelt once for every verb that compares a release with the truth."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import common as c
from . import trips as t

if TYPE_CHECKING:
    from ..data.network import Network
    from ..data.trips import Trips
    from ..publish.oracle import Release

OPTIONS: dict[str, tuple[Any, Any]] = {
    "weight": (c.Weight, "weight"), "directed": (c.Directed, False), "parallel_edges": (c.ParallelEdges, False),
    "source": (c.Source, "source"), "target": (c.Target, "target"), "nodes": (c.Nodes, None),
    "edge_data": (c.EdgeData, None), "edge_interval": (c.EdgeInterval, None),
    "trips": (t.TripsFile, None), "person": (t.Person, None),
    "day": (t.Day, None), "trip": (t.Trip, None), "edge": (t.Edge, None), "seconds": (t.Seconds, None),
    "node": (t.Node, None), "time": (t.Time, None), "node_lists": (t.NodeLists, None),
    "time_lists": (t.TimeLists, None), "durations": (t.Durations, None),
    "period_column": (Annotated[str | None, typer.Option("--period-column", help="Of the trips.")], None),
    "periods": (t.PeriodNames, None),
}  # fmt: skip
NETWORK = ("source", "target", "weight", "directed", "parallel_edges", "nodes", "edge_data")  # of read_network


def owner(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb these options; it gets them as one mapping, ``given``."""
    shape = inspect.signature(verb, eval_str=True)
    own = [one for one in shape.parameters.values() if one.name != "given"]
    first = [one for one in own if one.default is inspect.Parameter.empty]
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in OPTIONS.items()
    ]
    rest = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own if one not in first]

    def command(**asked: Any) -> None:
        given = {name: asked.pop(name) for name in OPTIONS}
        verb(given=given, **asked)

    command.__signature__ = shape.replace(parameters=[*first, *named, *rest])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in [*first, *named, *rest]}
    command.__doc__, command.__module__ = verb.__doc__, verb.__module__
    return command


def read(network: Path, given: dict[str, Any], release: Release) -> Network | Trips:
    """The network with its weights, or the trips on it."""
    from ..data.readers import read_network
    from ..errors import OptionError

    if release.statement.trips is not None and given["trips"] is None:
        raise OptionError("this release was made of trips: say where they are with --trips, and which column is which")
    c.check_inputs(network, given["nodes"], given["edge_data"])
    c.check_edge_data(given["edge_data"], given["edge_interval"], given["trips"])
    if given["trips"] is not None:
        named = {**given, "period": given["period_column"], "low": None, "high": None, "proxy": None}
        return t.read(network, given["trips"], named)
    return read_network(
        network, interval=given["edge_interval"],
        **{name: given[name] for name in NETWORK},
    )  # fmt: skip
