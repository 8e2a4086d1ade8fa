"""Layout, tables and labels: each kernel against its slow twin on small networks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels_reference import climb_reference, pair_reference, preorder_reference, slots_reference
from named_graphs import build, exact_distances, grid_ends, named, random_network

from hushpath.errors import CannotError, FileFormatError
from hushpath.index.index import Index
from hushpath.index.partition import partition
from hushpath.index.tables import Layout, as_tables, build_labels, cell_graphs, fill_tables, outer_room
from hushpath.kernels.layout import preorder
from hushpath.kernels.queries import end_column, meeting_cell, merge_label, upward_query
from hushpath.separators.build import separator_hierarchy
from hushpath.separators.hierarchy import Hierarchy, Lists


def made(net, leaf_size=3, seed=0, from_edges=True):
    topology = net.topology
    hierarchy, _ = separator_hierarchy(topology, leaf_size=leaf_size)
    lengths = np.random.default_rng(seed).integers(0, 50, topology.num_edges).astype(float)
    return over(hierarchy, topology, lengths, from_edges=from_edges), hierarchy, lengths


def over(hierarchy, topology, lengths, from_edges=True):
    """An index over a hierarchy like those that mechanisms measure, from lengths."""
    layout = Layout.of(hierarchy)
    sizes = layout.table_sizes
    tables = as_tables(layout, np.empty(sum(sizes)), np.empty(sum(sizes[:2])) if topology.directed else None)
    place, room = outer_room(layout)
    fill_tables(layout, cell_graphs(hierarchy, topology, lengths), tables, np.inf, place, np.empty(room))
    return Index(layout, tables, 1.0, from_edges)


def grid():
    ends = grid_ends(6, 7)
    return build(42, ends, np.ones(len(ends)))


NETWORKS = {"grid": grid, "directed": lambda: named("directed"), "disconnected": lambda: named("disconnected")}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_layout_of_random_networks(seed):
    net = random_network(np.random.default_rng(seed), most_nodes=40)
    index, hierarchy, _ = made(net, leaf_size=2)
    layout = index.layout
    layout.check()
    at, end = preorder(hierarchy.parent)
    assert (at.tolist(), end.tolist()) == preorder_reference(hierarchy.parent)
    expected = slots_reference(layout.parent, layout.hub_start, layout.hubs, layout.bound_start, layout.bound)
    assert layout.slot.tolist() == expected
    assert np.array_equal(layout.hubs[layout.slot], layout.bound)
    split = ~layout.leaf[layout.home]
    assert np.array_equal(layout.hubs[(layout.hub_start[layout.home] + layout.row)[split]], np.flatnonzero(split))
    assert np.array_equal(
        layout.own.items[(layout.own.start[layout.home] + layout.row)[~split]], np.flatnonzero(~split)
    )
    for level, cells in enumerate(layout.levels):
        assert np.array_equal(np.sort(layout.cells[cells]), np.flatnonzero(hierarchy.level == level))


def test_cells_in_another_order_give_the_same_answers():
    net = grid()
    index, hierarchy, lengths = made(net)
    # Number cells level by level: still parents first, no longer preorder.
    order = np.argsort(hierarchy.level, kind="stable")
    back = np.argsort(order)
    parent = hierarchy.parent[order]
    other = Hierarchy.proved(
        net.topology, parent=np.where(parent >= 0, back[parent], -1),
        vertices=Lists.of([hierarchy.vertices[i] for i in order]),
        separators=Lists.of([hierarchy.separators[i] for i in order]),
    )  # fmt: skip
    assert np.array_equal(other.home, back[hierarchy.home])
    again = over(other, net.topology, lengths)
    out = np.empty((2, 42, 42))
    for one, matrix in zip((index, again), out, strict=True):
        one.matrix(np.arange(42), None, matrix)
    assert np.array_equal(out[0], out[1])


@pytest.mark.parametrize("name", NETWORKS)
def test_tables_are_distances_inside_cells(name):
    net = NETWORKS[name]()
    topology = net.topology
    index, hierarchy, lengths = made(net)
    layout, tables = index.layout, index.tables
    side, square, inner = layout.flat.side_start, layout.flat.square_start, layout.flat.inner_start
    for at in range(layout.num_cells):
        below = {c for c in range(hierarchy.num_cells) if at <= np.flatnonzero(layout.cells == c)[0] < layout.last[at]}
        inside = np.where(np.isin(hierarchy.home, list(below)), lengths, np.inf)
        keep = np.flatnonzero(np.isfinite(inside))
        ends = np.stack([topology.tails[keep], topology.heads[keep]], 1)
        graph = build(topology.num_nodes, ends, np.ones(len(keep)), directed=topology.directed)
        distance = exact_distances(graph.topology, lengths[keep])
        bound = layout.bound[layout.bound_start[at] : layout.bound_start[at + 1]]
        hubs = layout.own[at] if layout.leaf[at] else layout.hubs[layout.hub_start[at] : layout.hub_start[at + 1]]
        part = slice(side[at], side[at + 1])
        assert np.array_equal(tables.side_out[part], distance[np.ix_(hubs, bound)].ravel())
        assert np.array_equal(tables.side_in[part], distance.T[np.ix_(hubs, bound)].ravel())
        if layout.leaf[at]:
            assert np.array_equal(tables.inner[inner[at] : inner[at + 1]], distance[np.ix_(hubs, hubs)].ravel())
        else:
            part = slice(square[at], square[at + 1])
            assert np.array_equal(tables.square_out[part], distance[np.ix_(hubs, hubs)].ravel())
            assert np.array_equal(tables.square_in[part], distance.T[np.ix_(hubs, hubs)].ravel())


@pytest.mark.quick(every=2)
@pytest.mark.parametrize("from_edges", [True, False])
@pytest.mark.parametrize("name", NETWORKS)
def test_labels_climbs_and_answers_against_their_twins(name, from_edges):
    index, _, _ = made(NETWORKS[name](), from_edges=from_edges)
    layout, tables = index.layout, index.tables
    n = layout.num_nodes
    rng = np.random.default_rng(1)
    if not from_edges:  # any numbers will do: noise that is no distance, some of it below zero
        tables.side_out[:] += rng.integers(-4, 5, len(tables.side_out))
        tables.side_out[:] = np.where(np.abs(tables.side_out) < 5, 0, tables.side_out)
        tables.inner[:] += rng.integers(0, 5, len(tables.inner))
        tables.square_out[:] += rng.integers(0, 5, len(tables.square_out)) * (tables.square_out > 0)
        if not tables.symmetric:
            tables.side_in[:] += tables.side_in > 0
    labels = build_labels(layout, tables, np.inf, from_edges=from_edges)
    index.labels = labels
    query, index.labels = index._query, None
    out_tables, in_tables = (tables.side_out, tables.square_out), (tables.side_in, tables.square_in)
    spare, got = np.empty(layout.room), np.empty(layout.room)
    for v in range(n):
        before, after = climb_reference(v, layout.flat, *out_tables)
        upward_query(v, query, False, layout.num_cells, spare, got)
        assert np.array_equal(spare[: len(before)], before)
        assert np.array_equal(got[: len(after)], after)
        whole = end_column(layout.home[v], layout.flat)
        for columns in (whole, whole // 2):
            merge_label(v, columns, query, False, got)
            assert np.array_equal(got[:columns], after[:columns])
        before, after = climb_reference(v, layout.flat, *in_tables)
        merge_label(v, whole, query, True, got)
        assert np.array_equal(got[:whole], (after if from_edges else before)[:whole])
    expected = np.array([
        [pair_reference(s, g, layout.flat, tables) for g in range(n)] for s in range(n)
    ]).clip(0)  # fmt: skip
    everyone = np.arange(n)
    one_by_one, panels, products = np.empty((3, n, n))
    for s in range(n):
        index.rows(everyone[s : s + 1], one_by_one[s : s + 1])
    index.matrix(everyone, None, panels)
    climbed = index.pairs(np.repeat(everyone, n), np.tile(everyone, n)).reshape(n, n)
    index.labels = labels
    looked_up = index.pairs(np.repeat(everyone, n), np.tile(everyone, n)).reshape(n, n)
    order = np.argsort(layout.home, kind="stable")
    index._products(everyone, everyone, order, products)
    for answer in (one_by_one, panels, climbed, looked_up, products):
        assert np.array_equal(answer, expected)
    index.matrix(everyone, None, panels)  # sources from labels
    assert np.array_equal(panels, expected)


def test_common_columns_are_those_of_the_cells_above_both():
    index, hierarchy, _ = made(grid())
    layout = index.layout
    for a in range(layout.num_cells):
        for b in range(layout.num_cells):
            both = [c for c in range(layout.num_cells) if c <= min(a, b) and max(a, b) < layout.last[c]]
            hubs = sum(len(hierarchy.hubs[layout.cells[c]]) for c in both)
            assert end_column(meeting_cell(a, b, layout.flat), layout.flat) == hubs


def test_an_index_larger_than_allowed_is_refused():
    net = grid()
    index, _, lengths = made(net)
    with pytest.raises(CannotError, match="more than max_bytes"):
        Index.customise(partition(net.topology), lengths, 1.0, max_bytes=100)
    with pytest.raises(CannotError, match="more than max_bytes"):
        index.with_labels(max_bytes=100)
    assert "without labels" in repr(index)
    assert "with labels" in repr(index.with_labels())


def test_empty_requests():
    index, _, _ = made(grid())
    nothing = np.empty(0, np.int64)
    index.matrix(nothing, None, np.empty((0, 42)))
    index.matrix(np.arange(3), nothing, np.empty((3, 0)))
    index.rows(nothing, np.empty((0, 42)))
    assert len(index.pairs(nothing, nothing)) == 0


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("parent", 1, 5), ("parent", 0, 0), ("last", 0, 1), ("last", 1, 10**9), ("home", 0, -1), ("home", 3, 10**6),
        ("row", 0, 77), ("hubs", 0, 10**6), ("bound", 0, -2), ("slot", 0, -1), ("slot", -1, 10**6),
        ("hub_start", 1, -1), ("bound_start", 2, 10**6), ("has_inner", 0, True),
    ],
)  # fmt: skip
def test_a_layout_that_would_lead_astray_is_refused(name, at, value):
    index, _, _ = made(grid())
    arrays = {key: np.array(array) for key, array in index.layout.arrays().items()}
    arrays[name][at] = value
    with pytest.raises(FileFormatError):
        Layout(**arrays).check()


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_preorder_is_recognised(seed):
    """Against the slow twin: of hierarchies changed at random, only those in preorder pass."""
    rng = np.random.default_rng(seed)
    parent = [-1]
    waiting = [0]
    while waiting and len(parent) < 15:
        up = waiting.pop(int(rng.integers(0, len(waiting))))
        waiting += [len(parent), len(parent) + 1]
        parent += [up, up]
    at, end = preorder_reference(np.array(parent))
    order = np.argsort(at)
    parent = np.where(np.array(parent) >= 0, np.array(at)[parent], -1)[order]
    last = np.array(end)[order]
    for _ in range(int(rng.integers(0, 3))):
        which = (parent, last)[int(rng.integers(0, 2))]
        which[int(rng.integers(0, len(which)))] = int(rng.integers(-1, len(which) + 2))
    parents_first = parent[0] == -1 and ((parent[1:] >= 0) & (parent[1:] < np.arange(1, len(parent)))).all()
    if not parents_first:  # ``check`` looks at that before
        return
    nothing, none = np.empty(0, np.int64), np.zeros(len(parent) + 1, np.int64)
    layout = Layout(
        np.arange(len(parent)), parent, last, nothing, nothing, none, nothing, none, nothing, nothing, nothing, nothing,
        nothing, nothing,
    )  # fmt: skip
    twins = set(np.bincount(parent[1:], minlength=len(parent)).tolist()) <= {0, 2}
    again, ends = preorder_reference(parent)
    expected = twins and list(again) == list(range(len(parent))) and list(ends) == last.tolist()
    assert layout._is_preorder() == expected
