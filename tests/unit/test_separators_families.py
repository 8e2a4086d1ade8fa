"""The choice between families."""

import networkx as nx
import numpy as np
import pytest
from scipy.spatial import Delaunay

from hushpath.errors import OptionError
from hushpath.separators.families import FAMILIES, choose_family
from hushpath.separators.graph import Graph


def as_graph(network):
    network = nx.convert_node_labels_to_integers(network)
    ends = np.array(list(network.edges), np.int64).reshape(-1, 2)
    return Graph.from_edges(network.number_of_nodes(), ends[:, 0], ends[:, 1])


def delaunay(n):
    triangles = Delaunay(np.random.default_rng(0).random((n, 2))).simplices.astype(np.int64)
    return Graph.from_edges(n, triangles.ravel(), np.roll(triangles, 1, axis=1).ravel())


@pytest.mark.parametrize(
    ("network", "name"),
    [
        (nx.balanced_tree(2, 5), "tree"),
        (nx.path_graph(30), "tree"),
        (nx.disjoint_union(nx.path_graph(5), nx.star_graph(5)), "tree"),
        (nx.empty_graph(4), "tree"),
        (nx.disjoint_union(nx.cycle_graph(5), nx.empty_graph(5)), "treewidth"),
        (nx.grid_2d_graph(6, 30), "grid"),
        (nx.cycle_graph(30), "treewidth"),
        (nx.grid_2d_graph(3, 30, periodic=(False, True)), "treewidth"),
        (nx.complete_graph(30), "general"),
        (nx.gnm_random_graph(200, 600, seed=1), "general"),
    ],
)
def test_the_shape_decides(network, name):
    splitter, chosen, why = choose_family(as_graph(network))
    assert chosen == name
    assert why.endswith(".")
    assert hasattr(splitter, "split")


def test_planar_networks_are_cut_as_any_other():
    assert choose_family(delaunay(900))[1] == "general"


@pytest.mark.parametrize("name", FAMILIES)
def test_a_named_family_is_taken(name):
    splitter, chosen, why = choose_family(as_graph(nx.path_graph(9)), name)
    assert (chosen, why) == (name, f"The family {name!r} was asked for.")
    assert splitter.split(as_graph(nx.path_graph(9))) is not None


def test_a_named_family_may_refuse():
    with pytest.raises(OptionError, match="without cycles"):
        choose_family(as_graph(nx.cycle_graph(5)), "tree")


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(OptionError, match="auto, tree, treewidth, grid, planar, general, got 'oak'"):
        choose_family(as_graph(nx.path_graph(3)), "oak")
