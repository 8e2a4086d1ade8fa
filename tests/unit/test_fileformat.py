"""A release file is whole and true, or it is refused in one line."""

import os

import numpy as np
import pytest
from forging import forged, made_once, put_together, taken_apart
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from named_graphs import build, named
from safetensors.numpy import save_file

import hushpath
from hushpath import HushpathError, Network
from hushpath.errors import CannotError, FileFormatError


@pytest.fixture
def file(tmp_path):
    def write(path):
        hushpath.release(named("grid"), epsilon=1.0, unit=1.0).save(path)

    return made_once("a grid", tmp_path / "x.hush", write)


def test_labels_coordinates_and_bounds_survive(tmp_path):
    net = Network.build(
        ["a", "ünï", "日本", "x y", "🙂"], [0, 1, 2], [1, 2, 3], [1, 2, 3],
        upper=[5, np.inf, 7], lower=[0, 1, 0], coordinates=np.arange(10).reshape(5, 2),
    )  # fmt: skip
    rel = hushpath.release(net, epsilon=1.0, unit=1.0)
    rel.save(tmp_path / "x.hush")
    topology = hushpath.load(tmp_path / "x.hush").topology
    assert topology.labels == net.topology.labels
    for name in ("tails", "heads", "lower", "upper", "coordinates"):
        assert np.array_equal(getattr(topology, name), getattr(net.topology, name))


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 100, 0.5, -1])
def test_cut_short(file, keep):
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * keep) if isinstance(keep, float) else keep])
    with pytest.raises(FileFormatError, match="damaged"):
        hushpath.load(file)


def test_any_flipped_bit_is_noticed(file):
    data = bytearray(file.read_bytes())
    for at in np.linspace(0, len(data) - 1, 200).astype(int):
        broken = bytearray(data)
        broken[at] ^= 4
        file.write_bytes(bytes(broken))
        with pytest.raises(HushpathError) as caught:
            hushpath.load(file)
        assert "\n" not in str(caught.value)


@settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.binary(max_size=300))
def test_random_bytes(tmp_path, data):
    path = tmp_path / "random.hush"
    path.write_bytes(data)
    with pytest.raises(FileFormatError):
        hushpath.load(path)


@pytest.mark.parametrize(
    ("version", "says"),
    [(2, "format 2"), (0, "format 0"), ("1", "damaged"), (True, "damaged")],
)
def test_other_versions(file, version, says):
    put_together(file, *taken_apart(file), version=version)
    with pytest.raises(FileFormatError, match=says):
        hushpath.load(file)


def test_a_statement_that_promises_more_than_the_strategy_proves(file):
    forged(file, lambda header, arrays: header["statement"].update(epsilon=0.01))
    with pytest.raises(FileFormatError, match="promises something else"):
        hushpath.load(file)


def test_scales_that_no_longer_meet_the_budget(file):
    forged(file, lambda header, arrays: arrays["strategy.scales"].fill(1))
    with pytest.raises(FileFormatError, match="above the budget"):
        hushpath.load(file)


@pytest.mark.parametrize("tensor", ["values", "strategy.scales", "topology.tails", "topology.labels"])
def test_parts_that_do_not_fit_together(file, tensor):
    forged(file, lambda header, arrays: arrays.update({tensor: arrays[tensor][:-1]}))
    with pytest.raises(FileFormatError, match="not a valid release"):
        hushpath.load(file)


def test_unknown_block_and_foreign_file(file, tmp_path):
    forged(file, lambda header, arrays: header.update(blocks=["telepathy"]))
    with pytest.raises(FileFormatError, match="telepathy"):
        hushpath.load(file)
    save_file({"a": np.ones(3)}, tmp_path / "foreign.safetensors")
    with pytest.raises(FileFormatError, match="not a hushpath release"):
        hushpath.load(tmp_path / "foreign.safetensors")
    with pytest.raises(FileFormatError, match="not found"):
        hushpath.load(tmp_path / "absent.hush")


def test_an_interrupted_write_leaves_the_old_file(file, monkeypatch):
    before = file.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        hushpath.release(named("grid"), epsilon=1.0, unit=1.0).save(file)
    assert file.read_bytes() == before
    assert [p.name for p in file.parent.iterdir()] == [file.name]


def test_a_folder_that_does_not_exist(tmp_path):
    rel = hushpath.release(named("path"), epsilon=1.0, unit=1.0)
    with pytest.raises(CannotError, match="cannot write"):
        rel.save(tmp_path / "no" / "x.hush")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_device_is_never_replaced(tmp_path):
    """Renaming over /dev/null as root would put an ordinary file in its place."""
    os.mkfifo(tmp_path / "x.hush")
    with pytest.raises(CannotError, match="not an ordinary file"):
        hushpath.release(named("path"), epsilon=1.0, unit=1.0).save(tmp_path / "x.hush")
    assert (tmp_path / "x.hush").is_fifo()


def test_file_size_does_not_depend_on_weights(tmp_path):
    sizes = set()
    for i, weights in enumerate([np.zeros(49), np.full(49, 1e9), np.random.default_rng(0).random(49)]):
        net = build(50, [(j, j + 1) for j in range(49)], weights)
        hushpath.release(net, epsilon=1.0, unit=1.0).save(tmp_path / f"{i}.hush")
        sizes.add((tmp_path / f"{i}.hush").stat().st_size)
    assert len(sizes) == 1
