"""One question to a release in a fresh process needs numpy alone: neither numba nor other large libraries."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from named_graphs import build, grid_ends, named

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
        network, epsilon=1.0, unit=1.0, mechanism="input", max_weight=9.0, seed=None if private else 1
    ).with_decoder(estimator="clip")
    rel.save(tmp_path / "roads.hush", index=True)
    ends = network.topology.labels[0], network.topology.labels[-1]
    asked = ["query", str(tmp_path / "roads.hush"), *map(str, ends), "--json"]
    lines, loaded = alone(f"from hushpath.cli import run\nassert run({asked!r}) == 0", tmp_path / "cache")
    (answer,) = json.loads("".join(lines))["answers"]
    assert answer["distance"] == rel.distance(*ends)
    assert loaded == []


@pytest.mark.parametrize("granularity", [2.0**-30, 2.0**-4], ids=["64 bits", "32 bits"])
def test_answers_in_plain_python_are_those_of_compiled_code(granularity, tmp_path, monkeypatch):
    """One-way dead ends and chains: where nothing leads out, sums of "not connected" must not run over."""
    monkeypatch.setenv("HUSHPATH_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(3)
    ends = np.concatenate([grid_ends(4, 4), grid_ends(4, 4)[:, ::-1], [(16, 0), (17, 16), (5, 18), (18, 19), (19, 10)]])
    network = build(20, ends, rng.uniform(1, 9, len(ends)), directed=True)
    rel = hushpath.release(
        network,
        epsilon=1.0,
        unit=hushpath.WeightUnit(l1=60.0, lattice_step=granularity),
        mechanism="input",
        max_weight=9e6,
        seed=1,
    ).with_decoder(estimator="clip")
    rel.save(tmp_path / "roads.hush", index=True)
    assert rel.index.tables.side_out.dtype == ("float64" if granularity < 2.0**-9 else "int32")
    program = f"""
import warnings
import numpy as np
import hushpath
warnings.simplefilter("error")
rel = hushpath.load({str(tmp_path / "roads.hush")!r})
everyone = np.arange(20)
asked = [(np.full(4, s), everyone[g : g + 4]) for s in range(20) for g in range(0, 20, 4)]
print(json.dumps([rel.index.pairs(*ends).tolist() for ends in asked]))
"""
    (line,), loaded = alone(program, tmp_path / "cache")
    assert np.array_equal(np.array(json.loads(line)).reshape(20, 20), rel.matrix())
    assert np.isinf(rel.matrix()).any()
    assert loaded == []
