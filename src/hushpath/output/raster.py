"""Raster of times along the edges of a network, and its contours as polygons.

| function | what it does |
|---|---|
| ``along`` | sample each edge every half cell |
| ``time_at`` | the time at a point of an edge: that of the earlier end plus its part of the edge |
| ``burn`` | the least time of the samples in each cell |
| ``spread`` | cells up to ``reach`` from the network take the time of the nearest cell with an edge; others have none |
| ``polygons`` | marching squares (contourpy), which keep holes; a hull around nodes would hide what is not reached |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Float, Int
from ..extras import library
from ..network.topology import Topology

AT_ONCE = 2**20  # samples along edges per block
CLIP = 0.05  # times are clipped at this share of the limit above and below it before contours are drawn

Polygons = list[list[list[list[float]]]]


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


def inside(grid: Grid, starts: Float, ends: Float) -> tuple[Float, Float]:
    """Return the first and last part (0 to 1) of each line inside the grid; first > last if it is outside."""
    way = ends - starts
    held = np.where((starts >= grid.corner) & (starts <= grid.opposite), np.inf, -np.inf)  # parallel to an axis
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (grid.corner - starts) / way, (grid.opposite - starts) / way
    enter = np.where(way == 0, -held, np.minimum(low, high)).max(axis=1)
    leave = np.where(way == 0, held, np.maximum(low, high)).min(axis=1)
    return np.maximum(enter, 0.0), np.minimum(leave, 1.0)


def along(topology: Topology, places: Float, edges: Int, grid: Grid) -> Iterator[tuple[Int, Float]]:
    """Yield samples at most half a cell apart, as edges and parts of them from 0 to 1.

    Only the part of an edge inside the grid is sampled: an edge much longer than the grid would need too much memory.
    """
    starts, ends = places[topology.tails[edges]], places[topology.heads[edges]]
    first_part, last_part = inside(grid, starts, ends)
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
    """Return the time at a part of an edge: from its tail or, in an undirected network, the earlier of both ends."""
    ahead = times[topology.tails[edges]] + part * weights[edges]
    if topology.directed:
        return ahead
    return np.minimum(ahead, times[topology.heads[edges]] + (1 - part) * weights[edges])


def burn(grid: Grid, topology: Topology, places: Float, weights: Float, layers: Float) -> tuple[Float, Any]:
    """Return the least time in each cell per layer (rows of ``layers``: a time per node), and which cells have edges.

    Unreachable edges count too: cells beside them belong to them and not to the nearest reached edge.
    """
    size = grid.shape[0] * grid.shape[1]
    out, touched = np.full((len(layers), size), np.inf), np.zeros(size, bool)
    tails, heads = topology.tails, topology.heads

    def keep(spots: Float, times_of: Callable[[Float, Int], Float]) -> None:
        cells = grid.cells_of(spots)
        some = np.flatnonzero(cells >= 0)
        touched[cells[some]] = True
        for layer, times in zip(out, layers, strict=True):
            np.minimum.at(layer, cells[some], times_of(times, some))

    nodes = np.flatnonzero(np.isfinite(places).all(axis=1))
    keep(places[nodes], lambda times, some: times[nodes[some]])
    ends = places[tails], places[heads]
    near = (np.maximum(*ends) >= grid.corner) & (np.minimum(*ends) <= grid.opposite)  # false for NaN
    for edge, part in along(topology, places, np.flatnonzero(near.all(axis=1)), grid):
        spots = places[tails[edge]] + part[:, None] * (places[heads[edge]] - places[tails[edge]])
        keep(spots, partial(_times_of, topology, weights, edge, part))
    return out.reshape(len(layers), *grid.shape), touched.reshape(grid.shape)


def _times_of(topology: Topology, weights: Float, edge: Int, part: Float, times: Float, some: Int) -> Float:
    return time_at(topology, weights, times, edge[some], part[some])


def spread(burnt: Float, touched: Any, reach: float, cell: float) -> Float:
    """Extend the times to cells within ``reach``: each takes those of the nearest cell with an edge."""
    from scipy.ndimage import distance_transform_edt

    distance, nearest = distance_transform_edt(~touched, return_indices=True)
    return np.where(distance * cell <= reach, burnt[:, nearest[0], nearest[1]], np.inf)


def polygons(grid: Grid, above: Float, scale: float, back: Any) -> Polygons:
    """Return the region where ``above`` is not positive as polygons with holes; ``back`` converts coordinates.

    Rings are oriented as in GeoJSON: outer rings counterclockwise.  Values far from 0 are clipped, so that a contour
    beside a cell without a time runs between the two cells and not at the centre of the first.
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
