"""Every way a hostile file once got in, and its class: proved against the topology, or refused in one line."""

import json
import math
from itertools import pairwise

import axioms_reference
import numpy as np
import pytest
from forging import forged, made_once, put_together, taken_apart
from named_graphs import build, delaunay_ends, grid_ends, named
from safetensors.numpy import save_file

import hushpath
from hushpath.cli import run
from hushpath.errors import FileFormatError
from hushpath.separators.hierarchy import Hierarchy, Lists

GRID = {"epsilon": 10.0, "unit": 1.0, "max_weight": 50.0}


def grid():
    ends = grid_ends(9, 12)
    return build(108, ends, np.random.default_rng(3).uniform(1, 9, len(ends)))


@pytest.fixture(params=["separator", "separator-cover"])
def file(request, tmp_path):
    def write(path):
        hushpath.release(grid(), mechanism=request.param, **GRID).save(path)

    return made_once((__name__, request.param), tmp_path / "x.hush", write)


def refused(path, says="x.hush"):
    with pytest.raises(FileFormatError, match=says) as caught:
        hushpath.load(path)
    assert "\n" not in str(caught.value)


def lists(arrays, name):
    start, items = (arrays[f"block0.{name}.{part}"] for part in ("start", "items"))
    return [items[a:b] for a, b in pairwise(start)]


def set_lists(arrays, name, values):
    packed = Lists.of([np.asarray(value, np.int64) for value in values])
    arrays[f"block0.{name}.start"], arrays[f"block0.{name}.items"] = packed.start, packed.items


def test_phantom_vertices_in_a_leaf(file):
    """Finding 1: 90 vertices too many in the last leaf; the first query died with SIGSEGV."""

    def change(header, arrays):
        vertices = lists(arrays, "vertices")
        vertices[-1] = np.union1d(vertices[-1], np.arange(90))
        set_lists(arrays, "vertices", vertices)

    forged(file, change)
    refused(file, "not a valid release")


def test_a_file_cannot_say_who_owns_an_edge(file):
    """Findings 1 and 2: reversed ``home`` overran a table; ``home = 0`` made epsilon 10 look like 1.47."""
    forged(file, lambda header, arrays: arrays.update({"block0.home": np.zeros(195, np.int64)}))
    refused(file, "has the arrays")


def swap_children(vertices, separators, parent):
    first, second = np.flatnonzero(parent == 0)
    vertices[first], vertices[second] = vertices[second], vertices[first]


def lose_a_vertex(vertices, separators, parent):
    cell = int(np.flatnonzero(parent == 0)[0])
    own = np.setdiff1d(vertices[cell], separators[0])
    vertices[cell] = np.setdiff1d(vertices[cell], own[:1])


def share_a_vertex(vertices, separators, parent):
    first, second = np.flatnonzero(parent == 0)
    own = np.setdiff1d(vertices[first], separators[0])
    vertices[second] = np.union1d(vertices[second], own[:1])


def shrink_a_separator(vertices, separators, parent):
    separators[0] = separators[0][1:]


def empty_the_root_separator(vertices, separators, parent):
    separators[0] = separators[0][:0]


def foreign_separator(vertices, separators, parent):
    cell = next(i for i, s in enumerate(separators) if i and len(s))
    outside = np.setdiff1d(np.arange(108), vertices[cell])
    separators[cell] = np.union1d(separators[cell], outside[:1])


def leaf_with_separator(vertices, separators, parent):
    separators[-1] = vertices[-1][:1]


def unsorted(vertices, separators, parent):
    vertices[1] = vertices[1][::-1]


def twice(vertices, separators, parent):
    vertices[1] = np.concatenate([vertices[1][:1], vertices[1]])


def negative(vertices, separators, parent):
    separators[0] = np.concatenate([[-1], separators[0]])


def beyond(vertices, separators, parent):
    vertices[0] = np.concatenate([vertices[0], [108]])


def root_smaller(vertices, separators, parent):
    vertices[0] = vertices[0][:-1]


def child_as_large(vertices, separators, parent):
    vertices[1] = vertices[0]


STRUCTURES = [
    swap_children, lose_a_vertex, share_a_vertex, shrink_a_separator, empty_the_root_separator, foreign_separator,
    leaf_with_separator, unsorted, twice, negative, beyond, root_smaller, child_as_large,
]  # fmt: skip


@pytest.mark.parametrize("broken", STRUCTURES)
def test_every_axiom_of_a_tree_is_proved(file, broken):
    def change(header, arrays):
        vertices, separators = lists(arrays, "vertices"), lists(arrays, "separators")
        broken(vertices, separators, arrays["block0.parent"])
        set_lists(arrays, "vertices", vertices)
        set_lists(arrays, "separators", separators)

    forged(file, change)
    refused(file, "numbering|cover|separation|shrinking|ownership|covering")


@pytest.mark.parametrize("parent", [[0], [-1, -1], [-1, 0], [-1, 2, 1], [-1, 0, 5], [], [-1, 0, 0, 0]])
def test_parents_that_are_no_binary_tree(file, parent):
    forged(file, lambda header, arrays: arrays.update({"block0.parent": np.array(parent, np.int64)}))
    refused(file, "numbering")


@pytest.mark.parametrize(
    "switches", [[2**62, 1, 0], [-1, 1, 0], [0, 2, 0], [0, 1, -1], [0, 1], [2**31, 1, 0], [0, 1, 0, 0]]
)
def test_switches(file, switches):
    """Finding 4: a huge switch was a MemoryError."""
    forged(file, lambda header, arrays: arrays.update({"block0.switches": np.array(switches, np.int64)}))
    refused(file, "switches|covering")


def test_covers_must_cover(tmp_path):
    path = tmp_path / "x.hush"
    hushpath.release(grid(), mechanism="separator-cover", hops=2, **GRID).save(path)
    _, arrays = taken_apart(path)
    assert max(map(len, lists(arrays, "hubs"))) > 1

    def one_hub_too_few(header, arrays):
        hubs = lists(arrays, "hubs")
        cell = max(range(len(hubs)), key=lambda i: len(hubs[i]))
        hubs[cell] = hubs[cell][:1]
        set_lists(arrays, "hubs", hubs)

    forged(path, one_hub_too_few)
    refused(path, "covering: a separator vertex is too far")


def test_a_plain_tree_is_not_a_covered_one_nor_the_other_way_round(file):
    header, arrays = taken_apart(file)
    other = {"separator": "separator-cover", "separator-cover": "separator"}[header["mechanism"]]
    header["mechanism"] = header["statement"]["mechanism"] = other
    put_together(file, header, arrays)
    refused(file, "cannot have been made by")


@pytest.mark.parametrize("seed", range(6))
def test_the_proof_agrees_with_its_slow_twin(seed):
    """Random edits of a real tree: what the kernel accepts, the plain axioms accept too, with the same owners."""
    rng = np.random.default_rng(seed)
    ends = delaunay_ends(40, seed)
    net = build(40, ends, np.ones(len(ends)))
    options = {} if seed % 2 else {"hops": 2}
    name = "separator" if seed % 2 else "separator-cover"
    rel = hushpath.release(net, mechanism=name, epsilon=1.0, unit=1.0, max_weight=9.0, leaf_size=3, seed=1, **options)
    hierarchy = rel.measurements.strategy.blocks[0].hierarchy
    axioms_reference.check(hierarchy, net.topology)
    accepted = 0
    for _ in range(300):
        parts = {
            name: [np.array(one) for one in getattr(hierarchy, name)] for name in ("vertices", "separators", "hubs")
        }  # fmt: skip
        for _ in range(int(rng.integers(1, 3))):
            name = rng.choice(["vertices", "separators", "hubs"][: 3 if hierarchy.hops else 2])
            cell = int(rng.integers(0, hierarchy.num_cells))
            vertex = rng.integers(0, 40, 1)
            change = np.setdiff1d if rng.random() < 0.5 else np.union1d
            parts[name][cell] = change(parts[name][cell], vertex)
        packed = {name: Lists.of(value) for name, value in parts.items()}
        if not hierarchy.hops:
            del packed["hubs"]
        try:
            again = Hierarchy.proved(net.topology, parent=hierarchy.parent, hops=hierarchy.hops, **packed)
        except FileFormatError:
            continue
        accepted += 1
        axioms_reference.check(again, net.topology)
    assert accepted > 0


# --- other blocks -----------------------------------------------------------------------------------------------------


@pytest.fixture
def anchored(tmp_path):
    hushpath.release(named("path"), mechanism="tree", epsilon=1.0, unit=1.0).save(tmp_path / "x.hush")
    return tmp_path / "x.hush"


@pytest.mark.parametrize("change", [
    lambda anchor: np.where(np.arange(len(anchor)) == 7, 7, anchor),  # itself: intervals looped for ever
    lambda anchor: np.where(np.arange(len(anchor)) == 7, 9, anchor),  # below
    lambda anchor: np.where(np.arange(len(anchor)) == 0, 3, anchor),  # the root
    lambda anchor: np.where(np.arange(len(anchor)) == 7, -1, anchor),
    lambda anchor: np.where(np.arange(len(anchor)) == 7, 10**15, anchor),
    lambda anchor: np.where(np.arange(len(anchor)) == 7, -5, anchor),
    lambda anchor: np.where(anchor >= 0, 0, anchor),  # everybody at the root: paths too long in all
    lambda anchor: anchor[:-1],
    lambda anchor: anchor.astype(float),
])  # fmt: skip
def test_anchors_are_ancestors(anchored, change):
    forged(anchored, lambda header, arrays: arrays.update({"block0.anchor": change(arrays["block0.anchor"])}))
    refused(anchored, "anchor|64-bit|every node")


@pytest.fixture
def lined(tmp_path):
    def write(path):
        net = build(40, [(i, i + 1) for i in range(30)] + [(9, i) for i in range(31, 40)], np.ones(39))
        hushpath.release(net, mechanism="lines", branch=2, epsilon=1.0, unit=1.0).save(path)
        assert len(hushpath.load(path).measurements.strategy.blocks[0].level_lines) == 5

    return made_once((__name__, "lines"), tmp_path / "x.hush", write)


LINES = {
    "an edge twice": dict(order=lambda order: np.where(order == 3, 4, order)),
    "an edge too many": dict(order=lambda order: np.append(order, 39), start=lambda start: np.append(start, 40)),
    "an edge of nobody": dict(order=lambda order: np.where(order == 3, 10**15, order)),
    "not a walk": dict(order=lambda order: np.roll(order, 1)),
    "a line backwards in its middle": dict(order=lambda order: np.concatenate([order[:3], order[5:2:-1], order[6:]])),
    "an empty line": dict(start=lambda start: np.insert(start, 1, 0), ladder=lambda ladder: np.insert(ladder, 0, 0)),
    "lines that go back": dict(start=lambda start: np.concatenate([start[:1], [39], start[2:]])),
    "a line that begins before all": dict(start=lambda start: np.where(start == 0, -1, start)),
    "a ladder of nobody": dict(ladder=lambda ladder: np.where(ladder > 0, 10**9, ladder)),
    "a negative ladder": dict(ladder=lambda ladder: ladder - 1),
    "a ladder too few": dict(ladder=lambda ladder: ladder[:-1]),
    "sums of one edge": {"ladders.items": lambda sizes: np.where(sizes == 2, 1, sizes)},
    "no size": {"ladders.items": lambda sizes: np.where(sizes == 2, 0, sizes)},
    "sizes that do not divide": {"ladders.items": lambda sizes: np.where(sizes == 4, 5, sizes)},
    "a size twice": {"ladders.items": lambda sizes: np.where(sizes == 4, 2, sizes)},
    "a size beyond all": {"ladders.items": lambda sizes: np.where(sizes == sizes.max(), 2**62, sizes)},
    "a ladder longer than its line": dict(ladder=lambda ladder: np.full_like(ladder, ladder.max())),
    "ladders that overlap": {"ladders.start": lambda start: np.where(start == start[2], start[1] - 1, start)},
    "not whole": dict(order=lambda order: order.astype(float)),
}


@pytest.mark.parametrize("change", LINES.values(), ids=LINES)
def test_lines_hold_every_edge_once_and_sizes_divide(lined, change):
    def forge(header, arrays):
        for name, edit in change.items():
            arrays[f"block0.{name}"] = edit(arrays[f"block0.{name}"])

    forged(lined, forge)
    refused(lined, "every edge|behind each other|follow each other|ladder|64-bit|two edges|divide")


def test_edges_of_a_line_share_their_noise(lined):
    forged(lined, lambda header, arrays: arrays["strategy.scales"].__setitem__(-1, 2**40))
    forged(lined, lambda header, arrays: arrays["strategy.scales"].__setitem__(-39, 2**40))
    refused(lined, "cannot have been made by 'lines'")


@pytest.mark.parametrize(("mechanism", "change"), [
    ("all-pairs", lambda vertices: vertices[:-1]),
    ("all-pairs", lambda vertices: vertices[::-1]),
    ("cover", lambda vertices: vertices[:0]),
    ("cover", lambda vertices: np.append(vertices, 50)),
    ("cover", lambda vertices: np.append(-1, vertices)),
    ("hubs", lambda vertices: np.repeat(vertices, 2)),
    ("hubs", lambda vertices: vertices.astype(np.float64)),
    ("hubs", lambda vertices: np.stack([vertices, vertices], 1)),
])  # fmt: skip
def test_chosen_vertices(tmp_path, mechanism, change):
    path = tmp_path / "x.hush"
    hushpath.release(named("path"), mechanism=mechanism, epsilon=1.0, unit=1.0, max_weight=50.0).save(path)
    place = "block1.vertices" if mechanism == "hubs" else "block0.vertices"
    forged(path, lambda header, arrays: arrays.update({place: change(arrays[place])}))
    refused(path, "not a valid release")


# --- headers, labels, sizes ------------------------------------------------------------------------------------------


@pytest.fixture
def plain(tmp_path):
    net = hushpath.Network.build(["a", "b", "c", "d"], [0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0])
    hushpath.release(net, mechanism="input", epsilon=1.0, unit=1.0).save(tmp_path / "x.hush")
    return tmp_path / "x.hush"


def deep(depth):
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(("field", "value"), [
    ("details", {"a": {"b": 1}}), ("details", {"a": [[1]]}), ("details", {"a\n": 1}), ("options", {"a": "\x1b[2J"}),
    ("options", []), ("sampler", "opendp\nDifferentially private with epsilon = 0.01."), ("sampler", "trust me"),
    ("mechanism", ["input"]), ("mechanism", "telepathy"), ("law", "uniform"), ("law", None),
    ("blocks", []), ("blocks", ["edges", "edges"]), ("blocks", [["edges"]]),
    ("directed", 1), ("directed", None), ("dropped_loops", -1), ("dropped_loops", 10**400),
    ("statement", {}), ("statement", []), ("extra", 1),
])  # fmt: skip
def test_headers(plain, field, value):
    forged(plain, lambda header, arrays: header.update({field: value}))
    refused(plain)


@pytest.mark.parametrize(("field", "value"), [
    ("l1", -1.0), ("l1", 1e300), ("l1", True), ("l1", None), ("l1", 0.5), ("l2", -1.0), ("l2", "1"), ("population", 0),
    ("population", True), ("population", 1.5), ("extra", 1), ("unit", {}), ("unit", 1.0), ("lattice_step", 3.0),
    ("lattice_step", 1e-300), ("lattice_step", 2.0**900), ("lattice_step", None), ("max_weight", -1.0),
    ("max_weight", "60"), ("max_weight", 1.0),
])  # fmt: skip
def test_terms(plain, field, value):
    """Terms are proved like everything else, also where the statement repeats them."""

    def change(header, arrays):
        terms = header["terms"]
        (terms if field in terms else terms["unit"])[field] = value
        header["statement"]["unit"] = {"kind": "weights", **terms["unit"]} if isinstance(terms["unit"], dict) else {}

    forged(plain, change)
    refused(plain)


@pytest.mark.parametrize(("field", "value"), [("l1", 0.5), ("l2", 0.5), ("population", 9), ("kind", "trips")])
def test_the_stated_unit_is_that_of_the_terms(plain, field, value):
    forged(plain, lambda header, arrays: header["statement"]["unit"].update({field: value}))
    refused(plain)


@pytest.mark.parametrize(
    "field",
    [
        "private", "reasons", "epsilon", "delta", "budget_epsilon", "budget_delta", "spent", "worst_edge", "noise",
        "numbers", "version", "unit",
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", [None, "0", -1, True, [0.0, 0.0], {"a": 1}, 1e308, "inf", 10**400])
def test_statements_say_what_is_proved(plain, field, value):
    header, arrays = taken_apart(plain)
    if header["statement"][field] is value or header["statement"][field] == value:
        pytest.skip("the same")
    before = hushpath.load(plain).statement
    header["statement"][field] = value
    put_together(plain, header, arrays)
    # What cannot be proved and promises nothing: who wrote it, and that more would have been allowed.
    if (field == "version" and isinstance(value, str)) or (field, value) == ("budget_epsilon", 1e308):
        now = hushpath.load(plain).statement
        assert (now.private, now.epsilon, now.delta) == (before.private, before.epsilon, before.delta)
    else:
        refused(plain)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("claim", [0.5, 1 - 1e-6, 1 + 1e-6, 1.5, 0.0, -1.0, math.inf, math.nan])
def test_a_claimed_epsilon_is_the_proved_one(tmp_path, law, claim):
    """Neither more privacy than is proved nor less: one release has one statement."""

    def write(path):
        hushpath.release(grid(), mechanism="input", epsilon=1.0, unit=1.0, noise=law).save(path)

    path = made_once((__name__, law), tmp_path / "x.hush", write)
    proved = hushpath.load(path).statement.epsilon
    assert 0.9 < proved <= 1.0
    value = proved * claim if math.isfinite(claim) else str(claim)
    forged(path, lambda header, arrays: header["statement"].update(epsilon=value))
    refused(path, "something else than")


@pytest.mark.parametrize("text", [
    deep(100_000), '{"statement": ' + deep(900) + "}", "[]", "null", "1", '{"unit": NaN}', '{"unit": 1e999}', "",
    '{"unit": 1, "unit": 2}', "{" + "9" * 6000 + "}", "\ud800",
])  # fmt: skip
def test_texts_that_are_no_header(plain, text):
    """Finding 4: nested JSON was a RecursionError."""
    _, arrays = taken_apart(plain)
    put_together(plain, text.encode("utf-8", "replace").decode(), arrays)
    refused(plain)


def raw(path, head, data=b""):
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


LABEL = json.dumps({"format": "hushpath-release", "version": 1, "digest": "", "header": "{}"})


@pytest.mark.parametrize("fact", [
    {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}, {"dtype": "F16", "shape": [4], "data_offsets": [0, 8]},
    {"dtype": "I64", "shape": [2**60], "data_offsets": [0, 8]}, {"dtype": "I64", "shape": [-1], "data_offsets": [0, 8]},
    {"dtype": "I64", "shape": [1], "data_offsets": [0, 2**63]}, {"dtype": "I64", "shape": [1], "data_offsets": [8, 0]},
    {"dtype": "I64", "shape": [1, 1, 1], "data_offsets": [0, 8]}, {"dtype": [], "shape": [1], "data_offsets": [0, 8]},
    {"dtype": "I64", "shape": [True], "data_offsets": [0, 8]}, {"dtype": "I64", "shape": 1, "data_offsets": [0, 8]},
    {"dtype": "BOOL", "shape": [8], "data_offsets": [0, 8]}, {"dtype": "U8", "shape": [4], "data_offsets": [4, 8]},
    {"dtype": "I64", "shape": [1], "data_offsets": [0.0, 8.0]}, {}, [], "x", None,
])  # fmt: skip
def test_containers(tmp_path, fact):
    """Finding 4: an F8 array was an AttributeError."""
    raw(tmp_path / "x.hush", {"__metadata__": {"hushpath": LABEL}, "values": fact}, b"\x02" * 8)
    refused(tmp_path / "x.hush", "damaged")


@pytest.mark.parametrize("head", [
    b"{}", b"[]", b'{"__metadata__": 1}', b'{"__metadata__": {"hushpath": 1}}', b'{"__metadata__": {"hushpath": "1"}}',
    b'{"__metadata__": {"hushpath": "{}"}}', deep(3000).encode(), b"\xff\xfe", b'{"a": 1, "a": 1}',
])  # fmt: skip
def test_heads(tmp_path, head):
    raw(tmp_path / "x.hush", head)
    refused(tmp_path / "x.hush", "damaged|is not a hushpath release")


def test_overlapping_arrays_and_gaps(tmp_path):
    one = {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}
    for facts in ({"a": one, "b": one}, {"a": {**one, "data_offsets": [8, 16]}}):
        raw(tmp_path / "x.hush", {"__metadata__": {"hushpath": LABEL}, **facts}, bytes(16))
        refused(tmp_path / "x.hush", "damaged")


def test_bytes_that_no_digest_covers(plain):
    plain.write_bytes(plain.read_bytes() + bytes(8))
    refused(plain, "damaged, cut short")


@pytest.mark.parametrize("ends", [
    [4, 1, 4, 4], [1, 2, 3, 5], [-1, 2, 3, 4], [1, 1, 3, 4], [4, 4, 4, 4], [0, 2, 3, 4], [2**62, 2, 3, 4], [],
])  # fmt: skip
def test_labels_share_no_byte(plain, ends):
    forged(plain, lambda header, arrays: arrays.update({"topology.labels.ends": np.array(ends, np.int64)}))
    refused(plain, "labels")


@pytest.mark.parametrize(("name", "value"), [
    ("topology.lower", np.nan), ("topology.lower", -1.0), ("topology.lower", np.inf), ("topology.upper", np.nan),
    ("topology.upper", -1.0), ("topology.tails", -1), ("topology.heads", 10**9), ("strategy.scales", -1),
    ("strategy.scales", 0), ("strategy.scales", 2**60), ("strategy.scales", np.iinfo(np.int64).min),
])  # fmt: skip
def test_numbers_out_of_range(plain, name, value):
    forged(plain, lambda header, arrays: arrays[name].__setitem__(0, value))
    refused(plain)


def test_rows_that_are_not_in_canonical_order(plain):
    def swap_rows(header, arrays):
        for name in ("topology.tails", "topology.heads"):
            arrays[name] = arrays[name][[1, 0, 2]]

    forged(plain, swap_rows)
    refused(plain, "canonical order")


def test_arrays_that_do_not_belong(plain):
    forged(plain, lambda header, arrays: arrays.update(ballast=np.zeros(9)))
    refused(plain, "ballast")


def test_safetensors_of_others(tmp_path):
    save_file({"a": np.ones(3)}, tmp_path / "x.hush")
    refused(tmp_path / "x.hush", "not a hushpath release")


def test_inspect_says_what_a_file_cannot_prove(plain, capsys):
    """Finding 2: values without any noise load as sound; no program can see that, so it is said in words."""
    forged(plain, lambda header, arrays: arrays["values"].fill(0))
    assert run(["inspect", str(plain)]) == 0
    out = capsys.readouterr().out
    assert "Not provable from any file: that this noise was really drawn" in out
    assert run(["inspect", str(plain), "--json"]) == 0
    assert "trust" in json.loads(capsys.readouterr().out)["not_proved"]


def test_two_files_with_one_fingerprint_are_one_release(plain, tmp_path):
    before = hushpath.load(plain)
    changed = forged(plain, lambda header, arrays: arrays["values"].__iadd__(1), tmp_path / "y.hush")
    assert hushpath.load(changed).fingerprint != before.fingerprint
    before.save(tmp_path / "z.hush")
    assert hushpath.load(tmp_path / "z.hush").fingerprint == before.fingerprint


def test_only_one_kind_of_labels(plain):
    forged(plain, lambda header, arrays: arrays.update({"topology.labels": np.arange(4)}))
    refused(plain, "does not belong")


def test_one_content_has_one_text(plain):
    header, arrays = taken_apart(plain)
    put_together(plain, json.dumps(header, indent=1), arrays)
    refused(plain, "canonical")


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 2**53 + 1, 0])
def test_intervals_of_extreme_values(plain, value):
    """A cast beyond 64 bits was a RuntimeWarning (an error here) and a wrong interval."""
    forged(plain, lambda header, arrays: arrays["values"].fill(value))
    low, high = hushpath.load(plain).interval("a", "d")
    assert 0 <= low <= high
