"""Grids: recognition without coordinates, and the lines."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushpath.errors import OptionError
from hushpath.separators.families import GridSplitter, grid_coordinates
from hushpath.separators.graph import SEPARATOR, Graph


def as_graph(network, seed=None):
    names = list(network)
    n = len(names)
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    place = {name: int(i) for name, i in zip(names, order, strict=True)}
    ends = np.array([(place[a], place[b]) for a, b in network.edges], np.int64).reshape(-1, 2)
    return Graph.from_edges(n, ends[:, 0], ends[:, 1])


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 99))
def test_shuffled_grids_are_recognised(a, b, seed):
    graph = as_graph(nx.grid_2d_graph(a, b), seed)
    rows, columns = grid_coordinates(graph)
    assert (rows.max() + 1, columns.max() + 1) == (min(a, b), max(a, b))
    assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == a * b
    tails, heads = graph.edges()
    assert (np.abs(rows[tails] - rows[heads]) + np.abs(columns[tails] - columns[heads]) == 1).all()


def rewired_grid():
    """As many vertices and edges as a 4 x 5 grid, and the same degrees at the corners."""
    network = nx.grid_2d_graph(4, 5)
    network.remove_edges_from([((1, 1), (1, 2)), ((2, 1), (2, 2))])
    network.add_edges_from([((1, 1), (2, 2)), ((2, 1), (1, 2))])
    return network


NOT_GRIDS = {
    "nothing": nx.empty_graph(0),
    "two lone vertices": nx.empty_graph(2),
    "star": nx.star_graph(3),
    "triangle": nx.cycle_graph(3),
    "hexagon": nx.cycle_graph(6),
    "torus": nx.grid_2d_graph(4, 5, periodic=True),
    "cylinder": nx.grid_2d_graph(4, 5, periodic=(True, False)),
    "one edge less": nx.Graph(list(nx.grid_2d_graph(4, 5).edges)[1:]),
    "one edge more": nx.Graph([*nx.grid_2d_graph(4, 5).edges, ((0, 0), (1, 1))]),
    "rewired": rewired_grid(),
    "path and cycle": nx.disjoint_union(nx.path_graph(4), nx.cycle_graph(4)),
    "two grids": nx.disjoint_union(nx.grid_2d_graph(3, 3), nx.grid_2d_graph(3, 3)),
    "clique": nx.complete_graph(6),
    "cube": nx.hypercube_graph(3),
}


@pytest.mark.parametrize("name", NOT_GRIDS)
def test_other_networks_are_refused(name):
    with pytest.raises(OptionError, match="needs a full a x b grid network"):
        GridSplitter(as_graph(NOT_GRIDS[name]))


def test_the_line_is_the_shorter_one_through_the_middle():
    graph = as_graph(nx.grid_2d_graph(30, 50), seed=1)
    splitter = GridSplitter(graph)
    side = splitter.split(graph).side
    assert np.bincount(side).tolist() in ([30, 24 * 30, 25 * 30], [30, 25 * 30, 24 * 30])
    assert len(np.unique(splitter.columns[side == SEPARATOR])) == 1


def test_a_large_grid_has_a_line_of_300():
    graph = as_graph(nx.grid_2d_graph(300, 300), seed=2)
    assert (GridSplitter(graph).split(graph).side == SEPARATOR).sum() == 300


def test_a_cell_that_lost_its_shape_is_still_split_or_left_alone():
    whole = as_graph(nx.grid_2d_graph(3, 3))
    splitter = GridSplitter(whole)
    bend = Graph.from_edges(3, np.array([0, 1]), np.array([1, 2]), np.array([0, 1, 4]))  # (0,0) (0,1) (1,1)
    assert splitter.split(bend) is None
    spiral = Graph.from_edges(5, np.arange(4), np.arange(1, 5), np.array([0, 1, 2, 5, 8]))  # top row, right column
    side = splitter.split(spiral).side
    assert (side == SEPARATOR).sum() == 1
    assert np.bincount(side)[1:].min() >= 1
