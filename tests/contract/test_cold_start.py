"""One question to a release in a fresh process needs numpy alone: neither numba nor other large libraries."""

import json
import os
import subprocess
import sys

import pytest
from named_graphs import named

import hushpath

HEAVY = ("numba", "scipy", "pandas", "pyarrow", "networkx", "matplotlib")
LOADED = f"print(json.dumps([one for one in {HEAVY!r} if one in sys.modules]))"


def alone(program, cache):
    """What a fresh Python prints."""
    found = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{program}\n{LOADED}"], capture_output=True, text=True, check=True,
        env={**os.environ, "HUSHPATH_CACHE": str(cache)},
    )  # fmt: skip
    *lines, loaded = found.stdout.splitlines()
    return lines, json.loads(loaded)


def test_importing_the_library_brings_no_heavy_one(tmp_path):
    assert alone("import hushpath\nfor name in hushpath.__all__:\n    getattr(hushpath, name)", tmp_path) == ([], [])


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("name", ["grid", "directed"])
def test_a_point_query_on_a_saved_index_brings_no_heavy_one(name, private, tmp_path, monkeypatch):
    monkeypatch.setenv("HUSHPATH_CACHE", str(tmp_path / "cache"))
    network = named(name)
    rel = hushpath.release(
        network, epsilon=1.0, unit=1.0, mechanism="input", max_weight=9.0, estimator="clip", seed=None if private else 1
    )
    rel.save(tmp_path / "roads.hush", index=True)
    ends = network.topology.labels[0], network.topology.labels[-1]
    asked = ["query", str(tmp_path / "roads.hush"), *map(str, ends), "--json"]
    lines, loaded = alone(f"from hushpath.cli import run\nassert run({asked!r}) == 0", tmp_path / "cache")
    (answer,) = json.loads("".join(lines))["answers"]
    assert answer["distance"] == rel.distance(*ends)
    assert loaded == []
