"""The edges of a release with their released weights, as a networkx graph or a geopandas table, and where nodes are.

What is NOT PRIVATE is marked in the attributes of the graph and in the name of every weight, or in a first column of
the table: conversions drop attributes, but keep names and columns.

A release holds two coordinates per node without their meaning.  It can be given (``crs="EPSG:25832"``, or "planar").
Otherwise they are taken as longitude and latitude if all are in range and they do not lie around (0, 0), which is in
the sea and the origin of many planar systems, unless they span a continent.
"""

from __future__ import annotations

import json
import re
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import Float
from ..errors import CannotError, OptionError
from ..extras import library
from ..geodesy import metres_per_degree
from ..network.labels import Label
from ..network.topology import Topology
from .quantity import Quantity
from .statement import NOT_PRIVATE, Statement

if TYPE_CHECKING:
    import geopandas
    import networkx

TAKEN = {"source", "target", "period", "geometry", "key", "id", "units", "date", "coordinates", "marking"}
PLANAR = "planar"
DEGREES = ("EPSG:4326", "OGC:CRS84")
CONTINENT = 60  # degrees: wider coordinates may lie around (0, 0)
FARTHEST = 1e15  # in any unit; beyond it differences are lost to rounding


def field_name(quantity: Quantity, otherwise: str = "weight") -> str:
    """Return a name for a column or attribute of these numbers, in characters that every format accepts.

    >>> field_name(Quantity("Travel time")), field_name(Quantity())
    ('travel_time', 'weight')
    """
    name = re.sub(r"\W+", "_", quantity.name.lower(), flags=re.ASCII).strip("_")
    return otherwise if not name.isidentifier() or iskeyword(name) or name in TAKEN else name


def about(statement: Statement, period: str | None = None) -> dict[str, str]:
    """Return the description that every export of a release carries, as texts; a NOT PRIVATE marking comes first."""
    facts = {
        "marking": statement.marking, **statement.quantity.as_dict(), "period": period or "",
        "statement": json.dumps(statement.as_dict()),
    }  # fmt: skip
    named = {"name": "quantity"}
    return {named.get(key, key): text for key, text in facts.items() if text}


def edge_ends(topology: Topology) -> list[tuple[Label, Label]]:
    """Return the labels of both ends of each edge."""
    labels, tails, heads = topology.labels, topology.tails.tolist(), topology.heads.tolist()
    return [(labels[tail], labels[head]) for tail, head in zip(tails, heads, strict=True)]


def edge_lines(topology: Topology, places: Places) -> list[list[list[float]] | None]:
    """Return the two points of each edge, rounded to less than a centimetre; None where one is unknown."""
    if not topology.num_edges:
        return []
    points = np.round(places.xy, 7 if places.degrees else 9)
    both = np.stack([points[topology.tails], points[topology.heads]], axis=1)
    unknown = np.asarray(np.isnan(both).any(axis=(1, 2))).tolist()
    return [None if missing else line for missing, line in zip(unknown, both.tolist(), strict=True)]


def make_graph(topology: Topology, weights: Float, statement: Statement, period: str | None) -> networkx.Graph[Any]:
    """Return a graph of a ``topology`` with released ``weights`` in a ``period``, marked by their ``statement``."""
    nx, ends = library("networkx", "networkx", "a networkx graph"), edge_ends(topology)
    kinds = {(False, False): nx.Graph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph,
             (True, True): nx.MultiDiGraph}  # fmt: skip
    parallel = len(set(ends)) < topology.num_edges
    graph = kinds[topology.directed, parallel](**about(statement, period))
    graph.add_nodes_from(topology.labels)
    if topology.coordinates is not None:
        for label, (x, y) in zip(topology.labels, topology.coordinates.tolist(), strict=True):
            if x == x:  # not NaN
                graph.add_node(label, x=x, y=y)
    name = field_name(statement.quantity) + (f" {NOT_PRIVATE}" if statement.marking else "")
    graph.add_edges_from((*pair, {name: weight}) for pair, weight in zip(ends, weights.tolist(), strict=True))
    return graph


def make_frame(
    topology: Topology, weights: Float, statement: Statement, period: str | None, crs: str | None = None
) -> geopandas.GeoDataFrame:
    """Return a row per edge: its ends, its weight, the period, and a line between the ends.

    ``topology``, released ``weights``, their ``statement`` and ``period`` are those of a release; ``crs`` is the
    coordinate system.
    """
    gpd = geopandas_library()
    from shapely import LineString

    places, count = places_of(topology, crs), topology.num_edges
    columns = marked_ends(topology, statement)
    columns[field_name(statement.quantity)] = weights
    if period is not None:
        columns["period"] = [period] * count
    shapes = [None if line is None else LineString(line) for line in edge_lines(topology, places)]
    table = gpd.GeoDataFrame(columns, geometry=shapes, crs=DEGREES[0] if places.degrees else None)
    table.attrs.update(about(statement, period), coordinates=places.description)
    return table


def marked_ends(topology: Topology, statement: Statement) -> dict[str, Any]:
    """Return the first columns of a table of edges: what is NOT PRIVATE says so, then both ends."""
    columns: dict[str, Any] = {NOT_PRIVATE: [NOT_PRIVATE] * topology.num_edges} if statement.marking else {}
    ends = edge_ends(topology)
    return columns | {"source": [source for source, _ in ends], "target": [target for _, target in ends]}


def geopandas_library() -> Any:
    """Return geopandas; raise an error that says what to install if it is missing."""
    return library("geopandas", "geo", "a geopandas table")


class Places(NamedTuple):
    """Coordinates per node, NaN where unknown, and whether these are longitude and latitude in degrees."""

    xy: Float
    degrees: bool

    @property
    def description(self) -> str:
        """What the coordinates are, for the metadata of files."""
        return "longitude and latitude" if self.degrees else "planar, not longitude and latitude"

    def projected(self) -> Projection:
        """Project to a plane: metres for longitudes and latitudes, else the coordinates themselves."""
        if not self.degrees:
            return Projection(self.xy, np.ones(2))
        scale = metres_per_degree(float(np.nanmean(self.xy[:, 1])))
        return Projection(self.xy * scale, scale)


class Projection(NamedTuple):
    """Coordinates on a plane, accurate for a city or a region, and their scale: plane = scale * coordinates."""

    xy: Float
    scale: Float


def places_of(topology: Topology, crs: str | None = None) -> Places:
    """Return the coordinates of all nodes, converted to degrees from the system that ``crs`` names."""
    xy = topology.coordinates
    if xy is None or np.isnan(xy).all():
        raise CannotError("a map needs coordinates, and this release has no coordinates")
    if np.nanmax(np.abs(xy)) > FARTHEST:
        raise CannotError(f"coordinates must be between -{FARTHEST:g} and {FARTHEST:g} to be drawn")
    if crs is None:
        return Places(xy, _like_degrees(xy))
    if not isinstance(crs, str):
        raise OptionError(f"`crs` must be a text such as EPSG:25832, or {PLANAR}, got {type(crs).__name__}")
    if crs == PLANAR:
        return Places(xy, False)
    found = xy if crs.upper() in DEGREES else _as_degrees(xy, crs)
    if not _in_range(found):
        raise OptionError(f"the coordinates do not fit `crs` {crs[:40]}: no longitude and latitude result")
    return Places(found, True)


def _in_range(xy: Float) -> bool:
    known = xy[~np.isnan(xy[:, 0])]
    return bool(np.isfinite(known).all() and (np.abs(known) <= (180, 90)).all())


def _like_degrees(xy: Float) -> bool:
    low, high = np.nanmin(xy, axis=0), np.nanmax(xy, axis=0)
    around_zero = bool((low <= 1).all() and (high >= -1).all() and (high - low).min() < CONTINENT)
    return _in_range(xy) and not around_zero


def _as_degrees(xy: Float, crs: str) -> Float:
    pyproj = library("pyproj", "geo", "a coordinate reference system")
    try:
        turned = pyproj.Transformer.from_crs(crs, DEGREES[0], always_xy=True).transform(xy[:, 0], xy[:, 1])
    except pyproj.exceptions.ProjError:
        raise OptionError(f"`crs` must be a coordinate reference system such as EPSG:25832, got {crs[:40]!r}") from None
    return np.where(np.isnan(xy), np.nan, np.column_stack(turned))
