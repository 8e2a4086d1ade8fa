"""Metres of the shortest paths from a few nodes: along the public coordinates of a path over released weights.

A path is one of least released duration, and among those one with fewest edges, as ``Release.route`` tells it.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Float, Int
from ..publish.places import great_circle
from .shelf import Book

MOST_SOURCES = 100  # each takes a search over the whole network


def metres_between(book: Book, sources: Int, targets: Int) -> Float:
    """A row for each source; infinite where no path leads, not a number where it passes a node without a place."""
    return np.stack([_metres_from(book, source)[targets] for source in sources.tolist()])


def _metres_from(book: Book, source: int) -> Float:
    """Metres from one node to every other: lengths added up along a tree of shortest paths."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    release, places = book.release, book.snapper.places
    around, size = release.topology.arcs, release.topology.num_nodes
    row, lengths = release.rows(np.array([source]))[0], release.edge_weights[around.edges]
    tails = np.repeat(np.arange(size), np.diff(around.start))
    tight = np.flatnonzero(np.isfinite(row[tails]) & (row[tails] + lengths == row[around.heads]))  # on a shortest path
    graph = csr_array((np.ones(len(tight)), (tails[tight], around.heads[tight])), shape=(size, size))
    _, before = breadth_first_order(graph, source, directed=True, return_predecessors=True)
    reached = before >= 0
    before = np.where(reached, before, np.arange(size))
    metres = np.where(reached, great_circle(places[before], places), 0.0)
    while (before != before[before]).any():  # twice as far back each time
        metres, before = metres + metres[before], before[before]
    metres[~np.isfinite(row)] = np.inf
    return np.asarray(metres, np.float64)
