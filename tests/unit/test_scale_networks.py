"""The generated networks of bench/scale.py are what they are said to be, and the same every time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from at_scale.networks import CHAIN, TREE, delaunay, osm_like, road_like, shares, tiled

MADE = {
    "delaunay": lambda: delaunay(3000), "road_like": lambda: road_like(3000), "osm_like": lambda: osm_like(3000),
    "tiled": lambda: tiled(road_like(500), 6),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_a_network_is_connected_simple_and_the_same_every_time(name):
    made, twin = MADE[name](), MADE[name]()
    assert np.array_equal(made.ends, twin.ends)
    assert made.nodes == 3000
    graph = csr_array((np.ones(len(made.ends)), made.ends.T), shape=(3000, 3000))
    assert connected_components(graph)[0] == 1
    low, high = np.sort(made.ends, axis=1).T
    assert (low < high).all()
    assert len(np.unique(low * 3000 + high)) == len(made.ends)


def test_roads_have_as_many_edges_as_roads_have():
    assert len(road_like(3000).ends) == int(1.38 * 3000)


@pytest.mark.parametrize("nodes", [3000, 20_000])
def test_a_city_is_mostly_chains_and_trees(nodes):
    chain, tree, _ = shares(nodes, osm_like(nodes).ends)
    assert chain == pytest.approx(CHAIN, abs=0.01)
    assert tree == pytest.approx(TREE, abs=0.01)


def test_shares_of_a_square_with_a_twig():
    square_and_twig = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [4, 5]])
    assert shares(6, square_and_twig) == pytest.approx((4 / 6, 2 / 6, 0.0))
