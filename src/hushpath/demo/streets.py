"""A generated street map: intersections, streets by class, a river with few bridges.  Everything here is public.

Main roads come first (radial arterials, a ring road).  Street grids that differ by quarter fill the space between
them, and a Delaunay triangulation decides which intersections are neighbours, so streets do not cross.  Diagonals and
a share of the side streets are removed, but the city stays connected: this leaves irregular blocks and dead ends.
Only main roads cross the river.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial import Delaunay, cKDTree

from ..arrays import Bool, Float, Int
from ..noise import simulation

SIDE, ARTERIAL, RING = 0, 1, 2
KINDS = ("side street", "arterial", "ring road")
SPEEDS = np.array([30.0, 50.0, 70.0])  # km/h, free flow
SPACING = 0.2  # km between corners
LANDMARKS = {  # positions, in radii of the city
    "market": (0.0, 0.0), "station": (0.25, 0.2), "university": (-0.38, 0.42), "hospital": (0.5, -0.5),
    "harbour": (-0.6, -0.38), "airport": (0.92, 0.3), "stadium": (0.1, 0.88),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Streets:
    """Intersections and streets of a city, with free-flow times."""

    labels: tuple[str, ...]
    places: Float  # (n, 2), km
    tails: Int
    heads: Int
    kinds: Int  # position in KINDS
    lengths: Float  # km
    free_flow: Float  # seconds on the empty street

    @property
    def both_ways(self) -> tuple[Int, Int, Int]:
        """Tail, head and street of the two arcs of every street, sorted by tail and head."""
        tails, heads = np.concatenate([self.tails, self.heads]), np.concatenate([self.heads, self.tails])
        order = np.lexsort((heads, tails))
        return tails[order], heads[order], order % len(self.tails)


def generate_streets(size: int, seed: int) -> Streets:
    """Generate a connected street map."""
    rng, radius = simulation(seed), city_radius(size)
    main = _draw_main_roads(radius, rng)
    places = np.concatenate([main.corners, _place_side_streets(radius, main.drawn, rng)])
    n = len(places)
    ends = triangulate(places)
    lengths = np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1)
    near = lengths < 2.5 * SPACING
    ends, lengths = ends[near], lengths[near]
    kind = np.array([main.kinds.get((a, b), SIDE) for a, b in ends.tolist()])
    south = places[:, 1] < river_y(places[:, 0], radius)
    dry = (south[ends[:, 0]] == south[ends[:, 1]]) | (kind != SIDE)
    ends, kind, lengths = ends[dry], kind[dry], lengths[dry]

    # Keep main roads, a spanning tree of short streets, and most of the other short streets.
    cost = np.where(kind != SIDE, 1e-3, lengths * rng.uniform(1.0, 1.4, len(ends)))
    narrow = tuple(ends.T.astype(np.int32))  # scipy before 1.17.1 accepts this index type only
    spanning = minimum_spanning_tree(coo_array((cost, narrow), shape=(n, n)).tocsr()).tocoo()
    stays = np.sort(np.stack(spanning.coords, axis=1).astype(np.int64), axis=1)
    needed = np.isin(_edge_key(ends, n), _edge_key(stays, n))
    short = (lengths < 1.28 * SPACING) & (rng.random(len(ends)) > 0.14)
    keep = (kind != SIDE) | needed | short
    ends, kind, lengths = ends[keep], kind[keep], lengths[keep]

    kept = _in_largest_component(ends, n)
    inside, position = kept[ends[:, 0]], np.cumsum(kept) - 1
    ends, kind, lengths = position[ends[inside]], kind[inside], lengths[inside]
    return Streets(
        labels=_name_corners(places[kept], radius),
        places=np.round(places[kept], 4),
        tails=ends[:, 0],
        heads=ends[:, 1],
        kinds=kind,
        lengths=np.round(lengths, 4),
        free_flow=np.round(3600 * lengths / SPEEDS[kind], 1),
    )


def city_radius(size: int) -> float:
    """Return the radius, in km, of a city with so many intersections."""
    return 1.08 * SPACING * math.sqrt(size / math.pi)


def river_y(x: Float, radius: float) -> Float:
    """Return the river's y for each x: south of the centre, with two bends."""
    return radius * (-0.27 + 0.1 * np.sin(3.4 * x / radius + 0.6) + 0.05 * np.sin(7.1 * x / radius))


def _city_limit(angle: Float, radius: float) -> Float:
    """Return the distance of the city limit from the centre in each direction."""
    return radius * (1 + 0.07 * np.sin(3 * angle + 1) + 0.05 * np.sin(5 * angle))


class MainRoads(NamedTuple):
    """Intersections, the class of road between two of them (smaller first), and densely spaced points of the lines."""

    corners: Float
    kinds: dict[tuple[int, int], int]
    drawn: Float


def _draw_main_roads(radius: float, rng: np.random.Generator) -> MainRoads:
    lines: list[tuple[Float, int]] = []
    around = np.linspace(0, 2 * np.pi, 721)
    ring = 0.6 * radius * (1 + 0.05 * np.sin(2 * around + 0.5))
    lines.append((np.stack([ring * np.cos(around), ring * np.sin(around)], axis=1), RING))
    turns = 2 * np.pi * (np.arange(9) + rng.uniform(-0.22, 0.22, 9)) / 9 + 0.35
    for turn in turns:
        out = np.linspace(0, 0.97 * float(_city_limit(np.array(turn), radius)), 400)
        bend = turn + rng.uniform(-0.18, 0.18) * (out / radius) ** 2
        lines.append((np.stack([out * np.cos(bend), out * np.sin(bend)], axis=1), ARTERIAL))
    corners: list[Float] = []
    kinds: dict[tuple[int, int], int] = {}
    for line, kind in lines:
        along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
        stops = np.linspace(0, along[-1], max(2, round(along[-1] / SPACING)) + 1)
        passed: list[int] = []
        for point in np.stack([np.interp(stops, along, line[:, i]) for i in (0, 1)], axis=1):
            away = np.linalg.norm(np.array(corners).reshape(-1, 2) - point, axis=1)
            if len(corners) and away.min() < 0.6 * SPACING:  # lines that meet share an intersection
                passed.append(int(away.argmin()))
            else:
                passed.append(len(corners))
                corners.append(point)
        kinds |= {(min(ends), max(ends)): kind for ends in pairwise(passed)}
    return MainRoads(np.array(corners), kinds, np.concatenate([line for line, _ in lines]))


def _place_side_streets(radius: float, drawn: Float, rng: np.random.Generator) -> Float:
    """Place the intersections of side streets: a rotated grid per bank, and an irregular old town."""
    reach = math.ceil(1.3 * radius / SPACING)
    grid = SPACING * np.stack(np.meshgrid(*2 * [np.arange(-reach, reach + 1)]), axis=-1).reshape(-1, 2)
    parts = []
    for turn, crooked, quarter in ((0.2, 0.07, "north"), (-0.45, 0.08, "south"), (0.7, 0.2, "old town")):
        turned = grid @ np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
        place = turned + rng.normal(0, crooked * SPACING, turned.shape)
        old = np.hypot(place[:, 0] / 1.3, place[:, 1]) < 0.2 * radius
        bank = place[:, 1] - river_y(place[:, 0], radius)
        here = {"north": (bank > 0) & ~old, "south": bank < 0, "old town": (bank > 0) & old}[quarter]
        angle = np.arctan2(place[:, 1], place[:, 0])
        here &= np.hypot(*place.T) < _city_limit(angle, radius)
        parts.append(place[here & (np.abs(bank) > 0.6 * SPACING)])
    corners = np.concatenate(parts)
    clear = cKDTree(drawn).query(corners)[0] > 0.55 * SPACING
    corners = corners[clear]
    crowded = cKDTree(corners).query_pairs(0.5 * SPACING, output_type="ndarray")  # where quarters meet
    return np.delete(corners, np.unique(crowded.max(axis=1)) if len(crowded) else [], axis=0)


def triangulate(places: Float) -> Int:
    """Return the edges of the Delaunay triangulation, each once, smaller end first."""
    triangles = Delaunay(places).simplices
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]), axis=1)
    return np.unique(ends, axis=0).astype(np.int64)


def _edge_key(ends: Int, n: int) -> Int:
    return ends[:, 0].astype(np.int64) * n + ends[:, 1]


def _in_largest_component(ends: Int, n: int) -> Bool:
    """Return whether each node belongs to the largest component."""
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    part = connected_components(graph, directed=False)[1]
    return np.asarray(part == np.bincount(part).argmax(), np.bool_)


def _name_corners(places: Float, radius: float) -> tuple[str, ...]:
    """Name the landmarks; number all other intersections."""
    labels = [str(i) for i in range(1, len(places) + 1)]
    for name, (x, y) in LANDMARKS.items():
        labels[int(np.hypot(places[:, 0] - x * radius, places[:, 1] - y * radius).argmin())] = name
    return tuple(labels)
