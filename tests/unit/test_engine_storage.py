"""The index file: whole and of this release, or refused in one line; export and the command line beside it."""

import csv
import json

import numpy as np
import pytest
from forging import forged, put_together, taken_apart
from named_graphs import build, grid_ends

import hushpath
from hushpath import HushpathWarning, write_matrix
from hushpath.cli import run
from hushpath.index import registry as index_registry
from hushpath.index.storage import FORMAT, VERSION, index_path
from hushpath.io.container import Container, read
from hushpath.published.quantity import format_value


@pytest.fixture
def rel():
    ends = grid_ends(8, 9)
    net = build(72, ends, np.random.default_rng(0).uniform(1, 9, len(ends)))
    return hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=1)


def test_saved_and_mapped(rel, tmp_path):
    rel.save(tmp_path / "x.hush", index=True)
    assert index_path(tmp_path / "x.hush") == tmp_path / "x.hushx"
    again = hushpath.load(tmp_path / "x.hush")
    assert np.array_equal(again.matrix(), rel.matrix())
    base = again.index.labels.out
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert "mmap" in type(base).__name__
    first = (tmp_path / "x.hushx").read_bytes()
    again.save_index(tmp_path / "y.hushx")
    assert (tmp_path / "y.hushx").read_bytes() == first
    assert b"NOT PRIVATE" in first  # the release is seeded
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.hush", "x.hushx", "y.hushx"]


def test_an_index_of_another_release_is_refused_or_left_alone(rel, tmp_path):
    rel.save(tmp_path / "x.hush", index=True)
    ends = grid_ends(8, 9)
    net = build(72, ends, np.random.default_rng(0).uniform(1, 9, len(ends)))
    other = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=2)
    with pytest.raises(hushpath.HushpathError, match="belongs to another release"):
        other.load_index(tmp_path / "x.hushx")
    other.save(tmp_path / "x.hush")
    with pytest.warns(HushpathWarning, match="belongs to another release"):
        assert hushpath.load(tmp_path / "x.hush").index is None


def test_no_damaged_byte_gets_through(rel, tmp_path):
    rel.save(tmp_path / "x.hush", index=True)
    path = tmp_path / "x.hushx"
    whole = bytearray(path.read_bytes())
    head = 8 + int.from_bytes(whole[:8], "little")
    rng = np.random.default_rng(0)
    for at in [*rng.integers(0, head, 60).tolist(), *rng.integers(head, len(whole), 200).tolist()]:
        hurt = bytearray(whole)
        hurt[at] ^= 1 << int(rng.integers(0, 8))
        path.write_bytes(hurt)
        with pytest.raises(hushpath.HushpathError) as caught:
            rel.load_index(path)
        assert "\n" not in str(caught.value)
    for size in (0, 7, 8, head - 3, head, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(hushpath.HushpathError, match=r"damaged|not a"):
            rel.load_index(path)
    path.write_bytes(b"\xff" * 4000)
    with pytest.warns(HushpathWarning, match="damaged"):
        assert hushpath.load(tmp_path / "x.hush").index is None
    with pytest.raises(hushpath.HushpathError, match="not found"):
        rel.load_index(tmp_path / "none.hushx")
    with pytest.raises(hushpath.HushpathError, match="not a hushpath index"):
        rel.load_index(tmp_path / "x.hush")


def halve(header, arrays):
    for name in ("side_out", "square_out", "inner", "label_out"):
        arrays[name] //= 2


def test_numbers_of_a_forger_are_never_served(rel, tmp_path):
    """Finding 3: halved tables, with the digest repaired, once changed every answer under an unchanged statement."""
    rel.save(tmp_path / "x.hush", index=True)
    forged(tmp_path / "x.hushx", halve, kind=FORMAT)
    with pytest.warns(HushpathWarning, match="was not made here"):
        again = hushpath.load(tmp_path / "x.hush")
    assert np.array_equal(again.matrix(), rel.matrix())
    with pytest.raises(hushpath.HushpathError, match="was not made here"):
        rel.load_index(tmp_path / "x.hushx")


def test_an_index_is_hashed_when_its_file_has_changed_and_only_then(rel, tmp_path, monkeypatch):
    rel.save(tmp_path / "x.hush", index=True)
    hashed = []
    check = Container.check_digest
    monkeypatch.setattr(Container, "check_digest", lambda self: (hashed.append(self.path.suffix), check(self)))
    for _ in range(2):
        hushpath.load(tmp_path / "x.hush")
    assert hashed == [".hush", ".hushx", ".hush"]
    (tmp_path / "x.hushx").write_bytes((tmp_path / "x.hushx").read_bytes())  # the same bytes at another time
    for _ in range(2):
        assert hushpath.load(tmp_path / "x.hush").index is not None
    assert hashed == [".hush", ".hushx", ".hush", ".hush", ".hushx", ".hush"]


def test_a_name_that_leads_elsewhere_the_next_moment(rel, tmp_path, monkeypatch):
    """A link that is flipped between opening and looking must not lend a forged file the record of a genuine one."""
    rel.save(tmp_path / "x.hush", index=True)
    genuine, forgery = tmp_path / "genuine.hushx", tmp_path / "forgery.hushx"
    (tmp_path / "x.hushx").rename(genuine)
    digest = read(genuine, FORMAT, VERSION).claimed_digest
    header, arrays = taken_apart(genuine, FORMAT)
    halve(header, arrays)
    put_together(forgery, header, arrays, FORMAT, digest=digest)
    (tmp_path / "x.hushx").symlink_to(genuine)
    assert hushpath.load(tmp_path / "x.hush").index is not None  # hashed and remembered
    recall = index_registry.recall

    def flipped(digest):
        (tmp_path / "x.hushx").unlink()
        (tmp_path / "x.hushx").symlink_to(genuine)
        return recall(digest)

    (tmp_path / "x.hushx").unlink()
    (tmp_path / "x.hushx").symlink_to(forgery)
    monkeypatch.setattr(index_registry, "recall", flipped)
    with pytest.raises(hushpath.HushpathError, match="digest does not match"):
        rel.load_index(tmp_path / "x.hushx")


def test_without_a_folder_to_remember_in_an_index_serves_its_own_process(rel, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HUSHPATH_CACHE", str(tmp_path / "file"))
    with pytest.warns(HushpathWarning):
        rel.save(tmp_path / "x.hush", index=True)
    assert rel.index is not None
    with pytest.warns(HushpathWarning, match="was not made here"):
        assert hushpath.load(tmp_path / "x.hush").index is None


def test_releases_that_are_looked_up_have_no_index(rel):
    net = build(3, [(0, 1), (1, 2)], [1.0, 2.0])
    table = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="all-pairs", seed=1)
    assert table.index is None
    for ask in (table.build_index, lambda: table.load_index("x.hushx")):
        with pytest.raises(hushpath.HushpathError, match="index"):
            ask()
    literal = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="separator", levels="adjacent", seed=1)
    assert literal.index is None
    with pytest.raises(hushpath.HushpathError, match="levels='all'"):
        literal.build_index()


def test_positions_are_checked(rel):
    for pairs in ([[0, 72]], [[-1, 0]], [[0.5, 1]], [0, 1]):
        with pytest.raises(hushpath.HushpathError, match=r"position|columns"):
            rel.distances(pairs, positions=True)
    with pytest.raises(hushpath.HushpathError, match="one-dimensional"):
        rel.matrix([[1, 2]], positions=True)
    with pytest.raises(hushpath.HushpathError, match="float64 or float32"):
        rel.matrix(dtype=np.int64)
    assert rel.distances(np.empty((0, 2), int), positions=True).shape == (0,)
    assert rel.matrix([], [3], positions=True).shape == (0, 1)


@pytest.mark.parametrize("indexed", [False, True])
def test_exports_in_single_precision(rel, tmp_path, indexed):
    if indexed:
        rel.build_index()
    import pyarrow.parquet as pq

    expected = rel.matrix().astype(np.float32)
    write_matrix(rel, tmp_path / "m.npy", dtype=np.float32)
    assert np.array_equal(np.load(tmp_path / "m.npy")["distance NOT PRIVATE"], expected)
    write_matrix(rel, tmp_path / "m.parquet", dtype=np.float32)
    table = pq.read_table(tmp_path / "m.parquet")
    assert np.array_equal(np.stack([c.to_numpy() for c in table.columns[2:]], 1), expected)
    write_matrix(rel, tmp_path / "m.csv", [0, 1], [2])
    assert (tmp_path / "m.csv").read_text().splitlines()[1] == f"NOT PRIVATE,0,{rel.distance(0, 2)}"


def test_the_command_line(rel, tmp_path, capsys):
    rel.save(tmp_path / "x.hush")
    assert run(["index", str(tmp_path / "x.hush")]) == 0
    assert "72 nodes" in capsys.readouterr().out
    assert hushpath.load(tmp_path / "x.hush").index.labels is not None
    assert run(["index", str(tmp_path / "x.hush"), "-o", str(tmp_path / "y.hushx"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == 72
    assert run(["query", str(tmp_path / "x.hush"), "0", "71"]) == 0
    assert capsys.readouterr().out.split()[0] == format_value(rel.distance(0, 71))
    (tmp_path / "x.hushx").unlink()
    assert run(["index", str(tmp_path / "x.hush"), "--max-gb", "0"]) == 1
    assert "max_bytes" in capsys.readouterr().err


def test_nobody_gets_a_home_made(rel, tmp_path, monkeypatch):
    """In a container HOME may name a folder that is not there; remembering an index must not make it."""
    for name in ("HUSHPATH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    with pytest.warns(HushpathWarning, match="set HUSHPATH_CACHE"):
        rel.save(tmp_path / "x.hush", index=True)
    assert not (tmp_path / "nobody").exists()
    (tmp_path / "nobody").mkdir()
    rel.save_index(tmp_path / "x.hushx")
    assert len(list((tmp_path / "nobody" / ".cache" / "hushpath" / "indexes").iterdir())) == 1
    assert hushpath.load(tmp_path / "x.hush").index is not None


def test_a_carriage_return_in_a_label_begins_no_row(tmp_path):
    net = hushpath.Network.build(["a\rb", "c", "d"], [0, 1], [1, 2], [1.0, 2.0])
    rel = hushpath.release(
        net, plan=hushpath.plan(net.topology, epsilon=1, unit=1, mechanism="input", ignore_baseline=True)
    ).with_decoder(estimator="clip")
    for long in (False, True):
        write_matrix(rel, tmp_path / "m.csv", long=long)
        with open(tmp_path / "m.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        assert len(rows) == (10 if long else 4)
        assert rows[1][0] == "a\rb"
    write_matrix(rel, tmp_path / "m.csv", ["c"], ["d"])
    assert (tmp_path / "m.csv").read_text().startswith("source,d\n")
