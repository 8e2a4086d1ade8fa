"""A short run of the fuzzer in every `make test`, and proof that it can find something (long: `make fuzz`)."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import seeds
from exercise import Finding, answers, attempt
from forging import forged

import hushpath
from hushpath.index import registry as index_registry
from hushpath.index import storage

HERE = Path(__file__).parent


def test_the_corpus_is_current(tmp_path):
    """Every seed loads with this version's format; after a change of the format run seeds.py again."""
    assert {path.stem for path in seeds.CORPUS.glob("*.hush")} == {*seeds.RELEASES, *seeds.TRIPS}
    assert {path.stem for path in seeds.CORPUS.glob("*.hushx")} == set(seeds.INDEXED)
    made = {hushpath.load(path).statement.mechanism for path in copies(seeds.CORPUS.glob("*.hush"), tmp_path)}
    assert made | set(seeds.NEW) == {"trips", *hushpath.mechanisms()} - {"auto"}


def copies(paths, folder):
    """Load them away from their indexes, which were not made here."""
    for path in paths:
        there = folder / path.name
        shutil.copy(path, there)
        yield there


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_short_run_finds_nothing(times):
    counts = "--structured", str(40 * times), "--raw", str(40 * times), "--index", str(14 * times)
    script = [sys.executable, HERE / "run.py", *counts]
    done = subprocess.run(script, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 findings\n" in done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    net, mechanism, options = seeds.RELEASES["input"]
    rel = hushpath.release(net, mechanism=mechanism, seed=seeds.SEED, **seeds.TERMS, **options)
    folder = tmp_path_factory.mktemp("indexed")
    rel.save(folder / "x.hush", index=True)
    return folder, (rel.fingerprint, answers(rel))


@pytest.fixture
def indexed(made, tmp_path):
    folder, truth = made
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return tmp_path / "x.hush", truth


def halve(header, arrays):
    for name in ("side_out", "square_out", "inner", "label_out"):
        arrays[name] //= 2


def test_answers_that_differ_are_found(indexed, monkeypatch):
    path, truth = indexed
    forged(path.with_suffix(".hushx"), halve, kind=storage.FORMAT)
    assert attempt(path, truth) == "loaded"  # the forged index is left alone
    monkeypatch.setattr(index_registry, "recall", lambda digest: [])  # a door left open
    with pytest.raises(Finding, match="answers differ"):
        attempt(path, truth)


def test_untyped_errors_and_nonsense_are_found(indexed, monkeypatch):
    path, truth = indexed
    for broken, says in (
        (lambda self, rows: np.full((len(rows), self.topology.num_nodes), np.nan), "not a number"),
        (lambda self, rows: np.full((len(rows), self.topology.num_nodes), -1.0), "negative"),
    ):
        monkeypatch.setattr(hushpath.Release, "rows", broken)
        with pytest.raises(Finding, match=says):
            attempt(path, truth)
    monkeypatch.setattr(hushpath.Release, "rows", lambda self, rows: [][0])
    with pytest.raises(IndexError):
        attempt(path, truth)
