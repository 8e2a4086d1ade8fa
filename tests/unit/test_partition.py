"""The core divided into cells: the elimination tree, the axiom, and the partition file."""

import numpy as np
import pytest
from forging import put_together, taken_apart
from hypothesis import given, settings
from hypothesis import strategies as st
from named_graphs import ALL, build, delaunay_ends, exact_distances, grid_ends, named, random_network

import hushpath
from hushpath import Partition
from hushpath.errors import CannotError, FileFormatError
from hushpath.index import partition as dissection
from hushpath.index.index import Index
from hushpath.index.partition import FORMAT
from hushpath.kernels.partition import divide_tree, elimination_tree


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_elimination_trees_and_their_cells(seed, leaf_size):
    rng = np.random.default_rng(seed)
    network = random_network(rng, most_nodes=40).topology.wiring
    n, order = network.num_nodes, rng.permutation(network.num_nodes)
    parent = elimination_tree(*network.neighbours, order)
    near = {v: set() for v in range(n)}
    for a, b in zip(network.tails.tolist(), network.heads.tolist(), strict=True):
        near[a].add(b)
        near[b].add(a)
    turn = np.argsort(order)
    for v in order.tolist():  # by the book: eliminate, join the neighbours, and look who comes next
        later = near.pop(v)
        assert parent[v] == (min(later, key=lambda u: turn[u]) if later else -1)
        for u in later:
            near[u] |= later - {u}
            near[u].discard(v)
    cells, home = divide_tree(parent, order, leaf_size)
    assert cells[0] == -1
    assert (cells[1:] < np.arange(1, len(cells))).all()
    assert np.isin(np.bincount(cells[1:], minlength=len(cells)), (0, 2)).all()
    assert set(home.tolist()) <= set(range(len(cells)))


@pytest.mark.parametrize("name", ALL)
def test_every_network_is_partitioned(name):
    topology = named(name).topology
    made = hushpath.partition(topology)
    made.layout.check()
    assert made.belongs_to(topology)
    assert f"{topology.num_nodes} nodes" in repr(made)


@pytest.fixture
def net():
    ends = delaunay_ends(300)
    return build(300, ends, np.random.default_rng(0).uniform(1, 9, len(ends)))


def answers(partition, topology, lengths):
    out = np.empty((topology.num_nodes, topology.num_nodes))
    Index.customise(partition, lengths, 1.0).matrix(np.arange(topology.num_nodes), None, out)
    return out


def test_a_partition_is_kept_in_a_file_for_any_weights(net, tmp_path):
    made = hushpath.partition(net.topology)
    made.save(tmp_path / "roads.hushd")
    again = Partition.load(tmp_path / "roads.hushd", net.topology)
    assert np.array_equal(again.layout.home, made.layout.home)
    for seed in (1, 2):
        lengths = np.random.default_rng(seed).integers(0, 99, net.topology.num_edges).astype(float)
        assert np.array_equal(answers(again, net.topology, lengths), exact_distances(net.topology, lengths))
    again.save(tmp_path / "again.hushd")
    assert (tmp_path / "again.hushd").read_bytes() == (tmp_path / "roads.hushd").read_bytes()


def test_a_partition_of_another_network_is_refused(net, tmp_path):
    hushpath.partition(net.topology).save(tmp_path / "roads.hushd")
    other = build(300, grid_ends(20, 15), np.ones(565)).topology
    with pytest.raises(FileFormatError, match="another network"):
        Partition.load(tmp_path / "roads.hushd", other)
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=1)
    with pytest.raises(CannotError):
        rel.build_index(partition=hushpath.partition(other))
    measured = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="separator", seed=1).with_decoder(
        decoder="hierarchy"
    )
    with pytest.raises(CannotError):
        measured.build_index(partition=hushpath.partition(net.topology))


def test_a_forged_partition_is_refused_or_gives_the_same_answers(net, tmp_path):
    hushpath.partition(net.topology).save(tmp_path / "roads.hushd")
    header, arrays = taken_apart(tmp_path / "roads.hushd", FORMAT)
    rng, refused, used = np.random.default_rng(0), 0, 0
    lengths = rng.integers(0, 99, net.topology.num_edges).astype(float)
    expected = exact_distances(net.topology, lengths)
    for turn in range(300):
        forged = {name: array.copy() for name, array in arrays.items()}
        name = ("parent", "home")[turn % 2]
        at = rng.integers(0, len(forged[name]), 1 + turn % 3)
        spread = 3 if turn % 4 < 2 else 10**9
        forged[name][at] = np.clip(forged[name][at] + rng.integers(-spread, spread + 1, len(at)), -(2**31), 2**31 - 1)
        path = put_together(tmp_path / "forged.hushd", header, forged, FORMAT)
        try:
            found = Partition.load(path, net.topology)
        except FileFormatError:
            refused += 1
        else:
            used += 1
            assert np.array_equal(answers(found, net.topology, lengths), expected)
    assert refused > 100
    assert used > 10


@pytest.mark.parametrize(
    "change",
    [
        {"home": None}, {"home": np.zeros((3, 2), np.int32)}, {"home": np.zeros(9, np.int64)}, {"more": np.zeros(1)},
        {"parent": np.zeros(0, np.int32)}, {"home": np.zeros(0, np.int32)}, {"parent": np.full(1, -1, np.int32)},
    ],
)  # fmt: skip
def test_an_invalid_partition_is_refused(net, tmp_path, change):
    hushpath.partition(net.topology).save(tmp_path / "roads.hushd")
    header, arrays = taken_apart(tmp_path / "roads.hushd", FORMAT)
    arrays = {name: array for name, array in (arrays | change).items() if array is not None}
    put_together(tmp_path / "roads.hushd", header, arrays, FORMAT)
    with pytest.raises(FileFormatError, match="not a valid partition"):
        Partition.load(tmp_path / "roads.hushd", net.topology)


def test_large_partitions_are_found_again_by_others(net, tmp_path, monkeypatch):
    monkeypatch.setenv("HUSHPATH_CACHE", str(tmp_path))
    monkeypatch.setattr(dissection, "KEPT_FROM", 1)
    dissection.partition.cache_clear()
    first = dissection.partition(net.topology)
    (kept,) = (tmp_path / "partitions").iterdir()
    dissection.partition.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(dissection, "_order", lambda _: pytest.fail("it was partitioned again"))
        assert np.array_equal(dissection.partition(net.topology).layout.home, first.layout.home)
    dissection.partition.cache_clear()
    kept.write_bytes(b"spoilt")
    assert np.array_equal(dissection.partition(net.topology).layout.home, first.layout.home)
    assert kept.read_bytes() != b"spoilt"  # and mended
    dissection.partition.cache_clear()


def test_a_partition_that_is_valid_but_terrible_is_refused_before_it_takes_memory():
    """A ladder of cells, each with one hub from anywhere: boundaries that grow with every step."""
    ends = grid_ends(150, 150)
    topology = build(22_500, ends, np.ones(len(ends))).topology
    core = len(hushpath.partition(topology).layout.home)
    steps = 10_000
    parent = np.array([-1, *np.repeat(2 * np.arange(steps), 2)])
    home = np.full(core, 2 * steps)
    home[np.random.default_rng(0).permutation(core)[:steps]] = 2 * np.arange(steps)
    # Cells in preorder: of each pair of children the leaf comes first.
    with pytest.raises((FileFormatError, CannotError)):
        Partition.from_cells(topology, parent, home)
