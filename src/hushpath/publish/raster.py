"""Times along the edges of a network as polygons: a grid of cells, the least time in each, and its contours.

| step | what happens |
|---|---|
| flat | longitudes and latitudes become metres around their middle; other places stay as they are |
| along | each edge is walked in steps of half a cell; a place has the time of the sooner end plus its part |
| burn | a cell keeps the least time of the places in it |
| spread | cells up to ``reach`` from the network take the time of the nearest cell that has one; others have none |
| polygons | marching squares (contourpy), which keep holes; a hull around nodes would hide what is not reached |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from ..extras import library
from ..geodesy import metres_per_degree
from .places import Places

AT_ONCE = 2**20  # places along edges in one go
BLUNT = 0.05  # contours are drawn over times cut off at so much of a step from it
DIGITS = 7  # of longitudes and latitudes: a centimetre

Polygons = list[list[list[list[float]]]]


class Flat(NamedTuple):
    """Places on a plane, and how to get back."""

    places: Float
    scale: Float

    @classmethod
    def of(cls, places: Places) -> Flat:
        """Metres where places are on Earth."""
        if not places.degrees:
            return cls(places.xy, np.ones(2))
        scale = metres_per_degree(float(np.nanmean(places.xy[:, 1])))
        return cls(places.xy * scale, scale)


@dataclass(frozen=True)
class Grid:
    """Square cells over a part of the plane; a value belongs to the middle of its cell."""

    corner: Float
    cell: float
    shape: tuple[int, int]  # rows (y), columns (x)

    @classmethod
    def over(cls, places: Float, reach: float, cells: int) -> Grid:
        """So many cells along the longer side, and room for ``reach`` and an empty ring around."""
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
        """The number of the cell of each place; -1 outside."""
        column, row = np.floor((places - self.corner) / self.cell).astype(np.int64).T
        inside = (row >= 0) & (column >= 0) & (row < self.shape[0]) & (column < self.shape[1])
        return np.where(inside, row * self.shape[1] + column, -1)

    def middles(self) -> tuple[Float, Float]:
        """The coordinates of the columns and of the rows."""
        x, y = (self.corner[i] + (np.arange(self.shape[1 - i]) + 0.5) * self.cell for i in (0, 1))
        return x, y


def inside(grid: Grid, starts: Float, ends: Float) -> tuple[Float, Float]:
    """From which part of each line to which it runs inside of the grid; the first is larger where it never does."""
    way = ends - starts
    held = np.where((starts >= grid.corner) & (starts <= grid.opposite), np.inf, -np.inf)  # across one axis only
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (grid.corner - starts) / way, (grid.opposite - starts) / way
    enter = np.where(way == 0, -held, np.minimum(low, high)).max(axis=1)
    leave = np.where(way == 0, held, np.maximum(low, high)).min(axis=1)
    return np.maximum(enter, 0.0), np.minimum(leave, 1.0)


def along(topology: Topology, places: Float, edges: Int, grid: Grid) -> Iterator[tuple[Int, Float]]:
    """Places along edges, not further apart than half a cell, as edges and parts of them from 0 to 1.

    Only where an edge runs inside of the grid: one that is much longer than the region would take all memory.
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
    """The time at a part of an edge: from its tail, or against it from its head unless it is one-way."""
    ahead = times[topology.tails[edges]] + part * weights[edges]
    if topology.directed:
        return ahead
    return np.minimum(ahead, times[topology.heads[edges]] + (1 - part) * weights[edges])


def burn(grid: Grid, topology: Topology, places: Float, weights: Float, layers: Float) -> tuple[Float, Any]:
    """The least time in each cell, layer by layer (rows of ``layers``: a time per node), and which cells have edges.

    Edges that nobody reaches are drawn too: the places beside them are theirs, not those of the nearest reached one.
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
    near = (np.maximum(*ends) >= grid.corner) & (np.minimum(*ends) <= grid.opposite)  # false where a place is unknown
    for edge, part in along(topology, places, np.flatnonzero(near.all(axis=1)), grid):
        spots = places[tails[edge]] + part[:, None] * (places[heads[edge]] - places[tails[edge]])
        keep(spots, partial(_times_of, topology, weights, edge, part))
    return out.reshape(len(layers), *grid.shape), touched.reshape(grid.shape)


def _times_of(topology: Topology, weights: Float, edge: Int, part: Float, times: Float, some: Int) -> Float:
    return time_at(topology, weights, times, edge[some], part[some])


def spread(burnt: Float, touched: Any, reach: float, cell: float) -> Float:
    """The same, with cells beside the network: each takes the times of the nearest cell that has an edge."""
    from scipy.ndimage import distance_transform_edt

    distance, nearest = distance_transform_edt(~touched, return_indices=True)
    return np.where(distance * cell <= reach, burnt[:, nearest[0], nearest[1]], np.inf)


def polygons(grid: Grid, above: Float, scale: float, back: Any) -> Polygons:
    """Where ``above`` is not positive, as polygons: a ring around each and one for every hole; ``back`` as places.

    Rings run as GeoJSON wants them, outer ones against the clock.  Values far from 0 are cut off, so that a contour
    beside a cell without any time runs between the two cells, not at the first one's middle.
    """
    contourpy = library("contourpy", "pictures", "a map of what is reached")
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a tiny scale: infinite is cut off as well
        z = np.clip(np.nan_to_num(above / scale, nan=1.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)
    x, y = grid.middles()
    drawn = contourpy.contour_generator(x, y, z, fill_type=contourpy.FillType.OuterOffset).filled(-2.0, 0.0)
    found = []
    for points, offsets in zip(*drawn, strict=True):
        rings = [back(points[a:b]) for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
        found.append([ring.tolist() for ring in rings])
    return found
