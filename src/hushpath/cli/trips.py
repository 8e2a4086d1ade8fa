"""Options about people's trips that several verbs share, and the way from them to ``read_trips``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import common as c

if TYPE_CHECKING:
    from ..data.trips import Trips

PANEL = "People's trips (docs/TRIPS.md)"


def _option(name: str, words: str) -> Any:
    return typer.Option(name, help=words, rich_help_panel=PANEL)


TripsFile = Annotated[Path | None, _option("--trips", "PRIVATE table: .parquet, .csv, .jsonl, or a folder of parts.")]
Protects = Annotated[str | None, _option("--protects", "Required with --trips: person, person-day or trip.")]
Low = Annotated[str | None, _option("--low", "Bound of a pass: a multiple of --proxy, or a column.")]
High = Annotated[str | None, _option("--high", "The same above, e.g. --low 0.5 --high 6.")]
Person = Annotated[str | None, _option("--person", "Column of the person.")]
Day = Annotated[str | None, _option("--day", "Column of the day, or a timestamp.")]
Trip = Annotated[str | None, _option("--trip", "Column of the trip.")]
Edge = Annotated[str | None, _option("--edge", "Columns of both ends: from,to; or of an edge id.")]
Seconds = Annotated[str | None, _option("--seconds", "Column of the time a pass took.")]
Node = Annotated[str | None, _option("--node", "A row per node: its column.")]
Time = Annotated[str | None, _option("--time", "A row per node: when it was entered.")]
NodeLists = Annotated[str | None, _option("--node-lists", "A row per trip: column of lists of nodes.")]
TimeLists = Annotated[str | None, _option("--time-lists", "A row per trip: when each was entered.")]
Durations = Annotated[str | None, _option("--durations", "A row per trip: seconds from each node to the next.")]
PeriodColumn = Annotated[str | None, _option("--period", "Column of the period, or a timestamp.")]
PeriodNames = Annotated[str | None, _option("--periods", "PUBLIC periods: am,pm or am=7-10,pm=16-19 or hours.")]
Days = Annotated[str | None, _option("--days", "Only these days: 2026-10-01..2026-10-31.")]
Neighbours = Annotated[str | None, _option("--neighbours", "add-remove (default) or replace.")]
MaxEdges = Annotated[int | None, _option("--max-edges", "With Laplace noise: so many cells of a unit.")]
Emphasis = Annotated[str | None, _option("--emphasis", "quiet (default) or even.")]
Units = Annotated[float | None, _option("--units", "PUBLIC: about how many protected units a release has.")]
Cells = Annotated[float | None, _option("--cells", "PUBLIC: about how many edges and periods one touches.")]
Period = Annotated[str | None, typer.Option("--period", help="One period of a release that has several.")]
COLUMNS = ("person", "day", "trip", "seconds", "node", "time", "durations", "period")


def read(network: Path, trips: Path, given: Mapping[str, Any]) -> Trips:
    """The public network and the private trips, from the options of a verb."""
    from ..data.readers import read_topology
    from ..data.trips import read_trips

    c.check_public(trips, network, given["nodes"])
    edge = None if given["edge"] is None else tuple(given["edge"].split(","))
    named = named_bounds(given["low"], given["high"]) + (list(edge) if edge is not None and len(edge) == 1 else [])
    topology = read_topology(
        network, source=given["source"], target=given["target"], directed=given["directed"], nodes=given["nodes"],
        proxy=given["proxy"], columns=named, parallel_edges=given["parallel_edges"],
    )  # fmt: skip
    return read_trips(
        trips, topology, edge=edge[0] if edge is not None and len(edge) == 1 else edge,
        periods=periods(given["periods"]), nodes=given["node_lists"], times=given["time_lists"],
        **{name: given[name] for name in COLUMNS},
    )  # fmt: skip


def periods(text: str | None) -> Any:
    """Names between commas, each perhaps with hours; or the word hours.

    >>> periods("am,pm"), periods("am=7-10,night=22-5.5"), periods("hours")
    (['am', 'pm'], {'am': ('7', '10'), 'night': ('22', '5.5')}, 'hours')
    """
    if text is None or text == "hours":
        return text
    parts = [part.strip().partition("=") for part in text.split(",")]
    if any(equals for _, equals, _ in parts):
        return {name.strip(): tuple(hours.split("-")) for name, _, hours in parts}
    return [name for name, _, _ in parts]


def declared(given: Mapping[str, Any]) -> dict[str, Any]:
    """What ``release`` is told of trips."""
    plain = {name: given[name] for name in ("protects", "days", "neighbours", "max_edges", "emphasis")}
    return {**plain, **bounds(given["low"], given["high"])}


def bounds(low: str | None, high: str | None) -> dict[str, Any]:
    """Bounds of a pass: multiples of free flow, or names of columns."""
    return {name: None if text is None else c.bound(text, 0.0) for name, text in (("low", low), ("high", high))}


def named_bounds(low: str | None, high: str | None) -> list[str]:
    """The bounds that are columns of the network."""
    return [bound for bound in bounds(low, high).values() if isinstance(bound, str)]
