"""Isochrones: the regions within given distances of an origin, with their uncertainty, as GeoJSON.

For each limit there are three regions: ``within`` (the upper end of the interval is at most the limit), ``uncertain``
(the limit is between both ends), and ``released`` (the released distance is at most the limit).  Distances along an
edge are interpolated with its released weight, along directed edges in their direction only.  Everything is computed
from the release, so isochrones cost no privacy.

| step | what it does |
|---|---|
| ``sample_edges`` | sample each edge every half cell of a grid |
| ``time_at`` | the time at a point of an edge: that of the earlier end plus its part of the edge |
| ``rasterize`` | the least time of the samples in each cell |
| ``extend`` | cells up to ``reach`` from the network take the time of the nearest cell with an edge; others have none |
| ``polygons`` | marching squares (contourpy), which keep holes; a hull around nodes would hide what is not reached |
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validate import between, check_confidence, integer
from ..arrays import Float, Int
from ..errors import CannotError, OptionError
from ..extras import library
from ..network.labels import Label
from ..network.topology import Topology
from ..published.edges import places_of
from ..published.release import Release

CELLS = 300  # along the longer side
MOST_CELLS = 2_000
DIGITS = 7  # of longitudes and latitudes: a centimetre
KINDS = ("within", "uncertain", "released")
AT_ONCE = 2**20  # samples along edges per block
CLIP = 0.05  # times are clipped at this share of the limit above and below it before contours are drawn


def isochrones(
    release: Release, origin: Label, steps: Iterable[float], *, confidence: float | None = 0.9, cells: int = CELLS,
    reach: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Compute isochrones as a GeoJSON feature collection.

    Parameters
    ----------
    release : Release
        Of one period.
    origin : label
        The node to start from.
    steps : iterable of float
        The limits, in the units of the release.
    confidence : float, optional
        Confidence of the intervals; None computes the ``released`` regions only, which need no intervals.
    cells : int
        Resolution: cells along the longer side of the reached region.
    reach : float, optional
        Width of the region beside the network, in metres for longitudes and latitudes, else in the units of the
        coordinates; at least one and a half cells.  The median length of an edge by default.

    Returns
    -------
    dict
        One feature per limit and kind, the largest limit first; ``reach`` and ``cell`` are the widths that were used.

    Raises
    ------
    CannotError
        If the network has no coordinates.
    OptionError
        If a limit is not a positive number, or ``cells`` or ``reach`` is out of range.
    """
    limits = _check_limits(steps)
    if confidence is not None:
        check_confidence(confidence)
    integer(cells, "cells", 10, MOST_CELLS)
    if reach is not None:
        between(reach, "reach", 0, sys.float_info.max)
    topology, places = release.topology, places_of(release.topology)
    source = topology.index(origin)
    layers, most = _times(release, source, confidence), max(limits)
    plane = places.projected()
    seen = np.isfinite(plane.xy).all(axis=1) & (layers.min(axis=0) <= most)
    if not seen.any():
        raise CannotError("isochrones need coordinates, and no reached node has coordinates")
    weights = _weights(release, layers)
    touched = seen[topology.tails] | (seen[topology.heads] & (not topology.directed))
    ends = np.unique(np.concatenate([np.flatnonzero(seen), topology.tails[touched], topology.heads[touched]]))
    ends = ends[np.isfinite(plane.xy[ends]).all(axis=1)]
    width = _median_length(plane.xy, topology) if reach is None else reach
    grid = Grid.over(plane.xy[ends], width, cells)
    width = max(width, 1.5 * grid.cell)  # so that an edge is inside its polygon
    times = extend(*rasterize(grid, topology, plane.xy, weights, layers), width, grid.cell)
    earth = places.degrees

    def back(points: Float) -> Float:
        return np.round(points / plane.scale, DIGITS) if earth else points

    statement, kinds = release.statement, KINDS if confidence is not None else KINDS[2:]
    facts = {"quantity": str(statement.quantity) or statement.quantity.noun, "private": statement.private}
    if statement.marking:
        facts["marking"] = statement.marking
    features = []
    for step in sorted(limits, reverse=True):
        for kind in kinds:
            drawn = polygons(grid, _distance_outside(times, step, kind), CLIP * step, back)
            level = {} if kind == "released" else {"confidence": confidence}
            features.append({
                "type": "Feature",
                "properties": {"step": step, "kind": kind, **level, **facts},
                "geometry": {"type": "MultiPolygon", "coordinates": drawn},
            })  # fmt: skip
    header = {"origin": topology.labels[source], "reach": width, "cell": grid.cell, "in_metres": earth, **facts}
    return {"type": "FeatureCollection", **header, "features": features}


def _check_limits(steps: Iterable[float]) -> list[float]:
    try:
        wanted = sorted({float(step) for step in steps})
    except (TypeError, ValueError, OverflowError):
        raise OptionError("`steps` must be numbers, such as 300, 600, 900") from None
    if not wanted or not all(0 < step < math.inf for step in wanted):
        raise OptionError("`steps` must be positive numbers, such as 300, 600, 900")
    return wanted


def _times(release: Release, source: int, confidence: float | None) -> Float:
    """Return the distances to every node, in rows: released and, with a confidence, low and high."""
    here = np.array([source])
    if confidence is None:
        return np.asarray(release.matrix(here, positions=True), np.float64)
    found = release.matrix(here, positions=True, interval=True, confidence=confidence)
    low, high = np.minimum(found.low, found.distance), np.maximum(found.high, found.distance)
    return np.concatenate([found.distance, low, high])


def _weights(release: Release, layers: Float) -> Float:
    """Return the weight of every edge; for decoders without weights the difference of its ends, at least the bound."""
    topology = release.topology
    if release.decoder.routes:
        return release.edge_weights
    ends = layers[0][topology.tails], layers[0][topology.heads]
    both = np.isfinite(ends[0]) & np.isfinite(ends[1])
    between = np.abs(np.where(both, ends[0], 0.0) - np.where(both, ends[1], 0.0))
    return np.asarray(np.maximum(between, topology.lower), np.float64)


def _median_length(places: Float, topology: Topology) -> float:
    span = np.hypot(*(places[topology.heads] - places[topology.tails]).T)
    return float(np.median(span[np.isfinite(span)])) if np.isfinite(span).any() else 0.0


def _distance_outside(times: Float, step: float, kind: str) -> Float:
    """Return how far each cell is outside a region; not positive inside."""
    if kind == "uncertain":
        return np.asarray(np.maximum(times[1] - step, step - times[2]), np.float64)
    return np.asarray(times[0 if kind == "released" else 2] - step, np.float64)


@dataclass(frozen=True)
class Grid:
    """Square cells over a part of the plane; a value belongs to the centre of its cell."""

    corner: Float
    cell: float
    shape: tuple[int, int]  # rows (y), columns (x)

    @classmethod
    def over(cls, places: Float, reach: float, cells: int) -> Grid:
        """Make a grid with ``cells`` cells along the longer side, a margin of ``reach`` and an empty ring around."""
        low, high = places.min(axis=0), places.max(axis=0)
        extent = float(max(high - low)) + 2 * reach
        cell = extent / cells if extent > 0 else 1.0
        corner = low - reach - 2 * cell
        columns, rows = np.ceil((high - corner + reach) / cell).astype(int) + 3
        return cls(corner, cell, (int(rows), int(columns)))

    @property
    def opposite(self) -> Float:
        """The corner with the largest coordinates."""
        return self.corner + np.array(self.shape[::-1]) * self.cell

    def cells_of(self, places: Float) -> Int:
        """Return the index of the cell of each point; -1 outside."""
        column, row = np.floor((places - self.corner) / self.cell).astype(np.int64).T
        inside = (row >= 0) & (column >= 0) & (row < self.shape[0]) & (column < self.shape[1])
        return np.where(inside, row * self.shape[1] + column, -1)

    def centres(self) -> tuple[Float, Float]:
        """Return the coordinates of the columns and of the rows."""
        x, y = (self.corner[i] + (np.arange(self.shape[1 - i]) + 0.5) * self.cell for i in (0, 1))
        return x, y


def _clip_lines(grid: Grid, starts: Float, ends: Float) -> tuple[Float, Float]:
    """Return the first and last part (0 to 1) of each line inside the grid; first > last if it is outside."""
    way = ends - starts
    held = np.where((starts >= grid.corner) & (starts <= grid.opposite), np.inf, -np.inf)  # parallel to an axis
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (grid.corner - starts) / way, (grid.opposite - starts) / way
    enter = np.where(way == 0, -held, np.minimum(low, high)).max(axis=1)
    leave = np.where(way == 0, held, np.maximum(low, high)).min(axis=1)
    return np.maximum(enter, 0.0), np.minimum(leave, 1.0)


def sample_edges(topology: Topology, places: Float, edges: Int, grid: Grid) -> Iterator[tuple[Int, Float]]:
    """Yield samples of ``edges`` at most half a cell of ``grid`` apart, as edges and parts of them from 0 to 1.

    ``places`` are coordinates per node of ``topology``.  Only the part of an edge inside the grid is sampled: an edge
    much longer than the grid would need too much memory.
    """
    starts, ends = places[topology.tails[edges]], places[topology.heads[edges]]
    first_part, last_part = _clip_lines(grid, starts, ends)
    crossing = first_part <= last_part
    edges, first_part, last_part = edges[crossing], first_part[crossing], last_part[crossing]
    span, pace = np.hypot(*(ends - starts)[crossing].T) * (last_part - first_part), grid.cell / 2
    counts = np.maximum(np.ceil(span / pace).astype(np.int64), 1) + 1
    bounds = np.concatenate([[0], np.cumsum(counts)])
    first = 0
    while first < len(edges):
        last = max(first + 1, int(np.searchsorted(bounds, bounds[first] + AT_ONCE, side="right")) - 1)
        mine = counts[first:last]
        which = np.repeat(np.arange(first, last), mine)
        step = np.arange(bounds[first], bounds[last]) - bounds[which]
        share = step / (counts[which] - 1)
        yield edges[which], first_part[which] + share * (last_part - first_part)[which]
        first = last


def time_at(topology: Topology, weights: Float, times: Float, edges: Int, part: Float) -> Float:
    """Return the time at a ``part`` (0 to 1) of ``edges``, per row of ``times``, which has a time per node.

    It is counted from the tail; in an undirected ``topology``, from the earlier end.  ``weights`` has one per edge.
    """
    ahead = times[..., topology.tails[edges]] + part * weights[edges]
    if topology.directed:
        return ahead
    return np.minimum(ahead, times[..., topology.heads[edges]] + (1 - part) * weights[edges])


def rasterize(grid: Grid, topology: Topology, places: Float, weights: Float, layers: Float) -> tuple[Float, Any]:
    """Return the least time in each cell of ``grid`` per layer, and which cells have edges.

    Rows of ``layers`` have a time per node of ``topology``, ``places`` their coordinates, ``weights`` one per edge.
    Unreachable edges count too: cells beside them belong to them and not to the nearest reached edge.
    """
    size = grid.shape[0] * grid.shape[1]
    out, touched = np.full((len(layers), size), np.inf), np.zeros(size, bool)
    tails, heads = topology.tails, topology.heads

    def keep(spots: Float, times: Float) -> None:
        cells = grid.cells_of(spots)
        inside = cells >= 0
        touched[cells[inside]] = True
        for layer, found in zip(out, times, strict=True):
            np.minimum.at(layer, cells[inside], found[inside])

    nodes = np.flatnonzero(np.isfinite(places).all(axis=1))
    keep(places[nodes], layers[:, nodes])
    ends = places[tails], places[heads]
    near = (np.maximum(*ends) >= grid.corner) & (np.minimum(*ends) <= grid.opposite)  # false for NaN
    for edge, part in sample_edges(topology, places, np.flatnonzero(near.all(axis=1)), grid):
        spots = places[tails[edge]] + part[:, None] * (places[heads[edge]] - places[tails[edge]])
        keep(spots, time_at(topology, weights, layers, edge, part))
    return out.reshape(len(layers), *grid.shape), touched.reshape(grid.shape)


def extend(times: Float, touched: Any, reach: float, cell: float) -> Float:
    """Extend ``times`` to all cells (``cell`` wide) within ``reach``, each from the nearest ``touched`` one."""
    from scipy.ndimage import distance_transform_edt

    distance, nearest = distance_transform_edt(~touched, return_indices=True)
    return np.where(distance * cell <= reach, times[:, nearest[0], nearest[1]], np.inf)


def polygons(grid: Grid, above: Float, scale: float, back: Any) -> list[Any]:
    """Return the region of ``grid`` where ``above`` is not positive as polygons with holes.

    Rings are oriented as in GeoJSON: outer rings counterclockwise.  Values beyond ``scale`` are clipped, so that a
    contour beside a cell without a time runs between the two cells and not at the centre of the first.  ``back``
    converts points of the plane to coordinates.
    """
    contourpy = library("contourpy", "pictures", "isochrones")
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # infinities are clipped
        z = np.clip(np.nan_to_num(above / scale, nan=1.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)
    x, y = grid.centres()
    drawn = contourpy.contour_generator(x, y, z, fill_type=contourpy.FillType.OuterOffset).filled(-2.0, 0.0)
    found = []
    for points, offsets in zip(*drawn, strict=True):
        rings = [back(points[a:b]) for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
        found.append([ring.tolist() for ring in rings])
    return found
