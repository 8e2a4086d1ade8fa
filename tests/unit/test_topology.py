"""The public half: what is kept, what is refused, and that nobody can change it afterwards."""

from itertools import pairwise

import numpy as np
import pytest

from hushpath.errors import InputError, NetworkError
from hushpath.network.topology import Topology


def path(labels=("a", "b", "c"), **options):
    n = len(labels)
    return Topology.build(labels, range(n - 1), range(1, n), **options)[0]


def test_parallel_edges_are_kept_and_self_loops_dropped_with_their_rows():
    topology, kept = Topology.build("ab", [0, 0, 1, 1], [1, 0, 0, 1], parallel_edges=True)
    assert kept.tolist() == [0, 2]
    assert topology.tails.tolist() == [0, 0]
    assert topology.heads.tolist() == [1, 1]
    assert topology.dropped_loops == 2
    arcs, kept = Topology.build("ab", [1, 0, 0, 1], [0, 0, 1, 1], directed=True)
    assert kept.tolist() == [2, 0]
    assert (arcs.tails.tolist(), arcs.heads.tolist()) == ([0, 1], [1, 0])


def test_arrays_are_frozen_copies():
    tails = np.array([0, 1])
    topology, _ = Topology.build("abc", tails, [1, 2], coordinates=np.zeros((3, 2)))
    tails[0] = 2
    assert topology.tails.tolist() == [0, 1]
    for array in (topology.tails, topology.heads, topology.lower, topology.upper, topology.coordinates):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_arcs_list_an_undirected_edge_at_both_ends_and_an_arc_at_its_tail():
    ends = ([0, 2, 0], [1, 0, 1])
    both = Topology.build("abc", *ends, parallel_edges=True)[0].arcs
    assert both.start.tolist() == [0, 3, 5, 6]
    assert both.heads.tolist() == [1, 1, 2, 0, 0, 0]
    assert both.edges.tolist() == [0, 1, 2, 0, 1, 2]
    one = Topology.build("abc", *ends, directed=True, parallel_edges=True)[0].arcs
    assert one.start.tolist() == [0, 2, 2, 3]
    assert one.heads.tolist() == [1, 1, 0]
    assert one.edges.tolist() == [0, 1, 2]


def test_components_are_weak_and_numbered_by_first_node():
    topology, _ = Topology.build("abcdef", [4, 0, 3], [1, 5, 5], directed=True)
    assert topology.components.tolist() == [0, 1, 2, 0, 1, 0]


def test_isolated_nodes_alone_are_a_network():
    topology, kept = Topology.build(["x"], [], [])
    assert (topology.num_nodes, topology.num_edges, kept.size) == (1, 0, 0)
    assert topology.arcs.start.tolist() == [0, 0]
    assert topology.components.tolist() == [0]


# --- canonical order --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([10, 9, -1, 2**62], (-1, 9, 10, 2**62)),
        (["10", "9", "a", "Z", "é", "🚲", "\uffff"], ("10", "9", "Z", "a", "é", "\uffff", "🚲")),
        ([2, "10", 1], ("1", "10", "2")),
    ],
)
def test_nodes_are_sorted_integers_by_value_and_text_by_code_point(labels, expected):
    n = len(labels)
    places = np.array([[i, -i] for i in range(n)], float)
    topology, _ = Topology.build(labels, range(n - 1), range(1, n), coordinates=places)
    assert topology.labels == expected
    plain = [expected.index(type(expected[0])(label)) for label in labels]
    assert topology.coordinates[plain].tolist() == places.tolist()
    joined = {frozenset(ends) for ends in pairwise(plain)}
    assert {frozenset(ends) for ends in zip(topology.tails.tolist(), topology.heads.tolist(), strict=True)} == joined


def random_rows(rng, directed):
    """Ends and bounds of a small network with loops, parallel edges and twins."""
    n, m = int(rng.integers(1, 7)), int(rng.integers(0, 25))
    lower = rng.choice([0.0, -0.0, 1.0], m)
    upper = rng.choice([2.0, np.inf], m)
    return n, rng.integers(0, n, m), rng.integers(0, n, m), {"lower": lower, "upper": upper, "directed": directed}


@pytest.mark.parametrize("directed", [False, True])
def test_another_order_of_rows_and_labels_gives_the_same_bits(directed):
    rng = np.random.default_rng(1)
    for _ in range(200):
        n, tails, heads, public = random_rows(rng, directed)
        names = np.array([f"n{i}" for i in range(n)])
        places = rng.random((n, 2))
        first, kept = Topology.build(names, tails, heads, coordinates=places, parallel_edges=True, **public)
        node, row = rng.permutation(n), rng.permutation(len(tails))
        position = np.argsort(node)
        a, b = position[tails[row]], position[heads[row]]
        if not directed:
            swap = rng.random(len(row)) < 0.5
            a, b = np.where(swap, b, a), np.where(swap, a, b)
        moved = {**public, "lower": public["lower"][row], "upper": public["upper"][row]}
        second, again = Topology.build(names[node], a, b, coordinates=places[node], parallel_edges=True, **moved)
        assert first.labels == second.labels
        assert first.dropped_loops == second.dropped_loops
        for name in ("tails", "heads", "lower", "upper", "coordinates", "twins"):
            assert getattr(first, name).tobytes() == getattr(second, name).tobytes(), name
        assert sorted(kept.tolist()) == sorted(row[again].tolist())
        # Edge i is the row that keep says it is.
        ends = np.stack([tails[kept], heads[kept]], 1)
        ends = ends if directed else np.sort(ends, axis=1)
        assert ends.tolist() == np.stack([first.tails, first.heads], 1).tolist()
        assert first.lower.tolist() == public["lower"][kept].tolist()


@pytest.mark.parametrize("directed", [False, True])
def test_build_leaves_canonical_input_as_it_is_and_restore_takes_nothing_else(directed):
    """Positions in a release file are those of its topology: a loader must not move them."""
    rng, refused = np.random.default_rng(2), 0
    for _ in range(200):
        n, tails, heads, public = random_rows(rng, directed)
        topology, _ = Topology.build(range(n), tails, heads, parallel_edges=True, **public)
        stored = {"lower": topology.lower, "upper": topology.upper, "directed": directed, "dropped_loops": 3}
        again, kept = Topology.build(topology.labels, topology.tails, topology.heads, parallel_edges=True, **stored)
        assert kept.tolist() == list(range(topology.num_edges))
        assert again.tails.tolist() == topology.tails.tolist()
        assert again.heads.tolist() == topology.heads.tolist()
        assert Topology.restore(list(topology.labels), topology.tails, topology.heads, **stored).dropped_loops == 3
        canonical = np.array_equal(topology.tails, tails) and np.array_equal(topology.heads, heads)
        if not (canonical and np.array_equal(topology.lower, public["lower"] + 0.0)):
            refused += 1
            with pytest.raises(NetworkError, match="not in canonical order"):
                Topology.restore(range(n), tails, heads, **public)
    assert refused > 50


@pytest.mark.parametrize(
    ("labels", "tails", "heads", "more"),
    [
        ("ba", [0], [1], {}),
        ("ab", [1], [0], {}),
        ("ab", [0, 0], [1, 0], {}),
        ("abc", [0, 0], [2, 1], {}),
        ("ab", [0, 0], [1, 1], {"lower": [1.0, 0.0]}),
        ("ab", [0, 0], [1, 1], {"upper": [3.0, 2.0]}),
    ],
)
def test_what_restore_refuses(labels, tails, heads, more):
    with pytest.raises(NetworkError, match="not in canonical order"):
        Topology.restore(labels, tails, heads, **more)


def test_twins_share_ends_and_bounds():
    topology, kept = Topology.build(
        "abc", [1, 0, 0, 1, 0, 0], [0, 1, 1, 2, 1, 1], lower=[0, 0, 1, 0, -0.0, 0], upper=[5, 5, 5, 5, 5, 7],
        parallel_edges=True,
    )  # fmt: skip
    assert kept.tolist() == [0, 1, 4, 5, 2, 3]
    assert topology.twins.tolist() == [0, 0, 0, 1, 2, 3]
    assert Topology.build("ab", [], [])[0].twins.tolist() == []


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"tails": [0], "heads": [1, 2]}, "1 tails and 2 heads"),
        ({"tails": [0, 3], "heads": [1, 1]}, "edge 2 names node position 3, but the network has 3"),
        ({"tails": [0], "heads": [-1]}, "edge 1 names node position -1"),
        ({"tails": [0.5], "heads": [1]}, "integers"),
        ({"tails": [0], "heads": [float("nan")]}, "integers"),
        ({"tails": ["0"], "heads": [1]}, "integers"),
        ({"lower": -1.0}, "not negative"),
        ({"lower": np.inf}, "finite"),
        ({"lower": np.nan}, "lower bound is missing"),
        ({"upper": [1.0, np.nan]}, "upper bound is missing"),
        ({"upper": [1.0]}, r"one per edge \(2\)"),
        ({"upper": "high"}, "must be numbers"),
        ({"lower": [0.0, 3.0], "upper": 2.0}, "edge 2 has lower bound 3 above its upper bound 2"),
        ({"coordinates": [[0, 0]]}, "3 rows and 2 columns"),
        ({"coordinates": [[0, 0], [1], [2, 2]]}, "must be numbers"),
        ({"coordinates": [[0, 0], [1, np.nan], [2, 2]]}, "finite"),
    ],
)
def test_what_build_refuses(arguments, match):
    with pytest.raises(NetworkError, match=match):
        Topology.build("abc", **{"tails": [0, 1], "heads": [1, 2], **arguments})


def test_bounds_of_a_dropped_loop_do_not_matter_and_equal_bounds_are_fine():
    topology, _ = Topology.build("ab", [0, 0], [0, 1], lower=[5, 2], upper=[1, 2])
    assert (topology.lower.tolist(), topology.upper.tolist()) == ([2.0], [2.0])


def test_index_finds_integers_by_their_text_and_text_by_its_integer():
    numbers, words = path((10, 20, 30)), path(("007", "10", "x"))
    assert [numbers.index(key) for key in (20, np.int64(20), "20")] == [1, 1, 1]
    assert [words.index(key) for key in ("10", 10, "007")] == [1, 1, 0]


@pytest.mark.parametrize("key", ["020", "2_0", " 20", "+20", 20.0, None, [20], (20,), "\ud800", "no\nsuch", 2**70])
def test_index_refuses_what_only_resembles_a_label(key):
    with pytest.raises(InputError, match=r"^unknown node ") as caught:
        path((10, 20, 30)).index(key)
    assert "\n" not in str(caught.value)


def test_truth_is_not_a_label():
    with pytest.raises(InputError):
        path((0, 1, 2)).index(True)
    with pytest.raises(InputError):
        path((0, 1, 2)).indices([True])


def test_indices():
    topology = path((10, 20, 30))
    assert topology.indices(None).tolist() == [0, 1, 2]
    assert topology.indices([30, 10, 30]).tolist() == [2, 0, 2]
    assert topology.indices(np.array([30, 10])).tolist() == [2, 0]
    assert topology.indices(["30", 10]).tolist() == [2, 0]
    assert topology.indices([]).tolist() == []
    with pytest.raises(InputError, match="unknown node '40'"):
        topology.indices([10, 40])
    with pytest.raises(InputError, match="list of labels"):
        topology.indices("10")


def test_repr_is_public_facts():
    assert repr(path()) == "Topology(3 nodes, 2 edges, undirected)"
    assert repr(path(directed=True)) == "Topology(3 nodes, 2 edges, directed)"
