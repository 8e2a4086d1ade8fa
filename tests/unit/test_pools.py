"""The two pools of bench/pools.py share no family, and their generated networks are the same every time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import pools
from real_networks import KNOWN


def test_no_family_is_in_both_pools(monkeypatch):
    monkeypatch.delenv("HUSHPATH_DATA", raising=False)
    families = {pool: {case.family for case in pools.cases(pool)} for pool in pools.POOLS}
    families["development"] |= {it.family for it in KNOWN.values() if it.pool == "development"}
    families["test"] |= {it.family for it in KNOWN.values() if it.pool == "test"}
    assert not families["development"] & families["test"]
    relatives = {case.relative for case in pools.cases("test")} | {it.relative for it in KNOWN.values()}
    assert relatives - {""} <= families["development"]


NAMES = ["scale-free-dense", "one-way-streets-town", "communities-caves", "parallel-links-pairs"]


@pytest.mark.parametrize("name", NAMES)
def test_a_generated_network_is_the_same_every_time(monkeypatch, name):
    monkeypatch.delenv("HUSHPATH_DATA", raising=False)
    case = next(case for pool in pools.POOLS for case in pools.cases(pool) if case.name.endswith(f"/{name}"))
    net = case.network(case.has_proxy)
    pools.made.cache_clear()
    twin = case.network(case.has_proxy)
    for column in ("tails", "heads", "proxy", "coordinates"):
        assert np.array_equal(getattr(net.topology, column), getattr(twin.topology, column))
    assert np.array_equal(net.weights.reveal(), twin.weights.reveal())


def test_real_networks_are_found_by_name_and_folder(monkeypatch, tmp_path):
    (tmp_path / "development").mkdir()
    (tmp_path / "other").mkdir()
    table = "source,target,weight,proxy\na,b,1,2\nb,a,3,4\nb,c,0,0\n"
    for name in ("development/mine", "development/tntp_town_directed", "other/yours"):
        (tmp_path / f"{name}.csv").write_text(table)
    (tmp_path / "other" / "yours.nodes.csv").write_text("node,x,y\na,0,0\nb,1,0\nc,2,0\n")
    folders = [str(tmp_path / "development"), str(tmp_path / "other")]
    monkeypatch.setenv("HUSHPATH_DATA", pools.os.pathsep.join(folders))
    found = {case.name: case for pool in pools.POOLS for case in pools.real_cases(pool)}
    assert {name: (case.family, case.pool) for name, case in found.items()} == {
        "mine": ("mine", "development"), "tntp_town_directed": ("tntp", "test"), "yours": ("yours", "test"),
    }  # fmt: skip
    assert found["tntp_town_directed"].network(proxy=True).topology.directed
    net = found["yours"].network(proxy=False)
    assert (net.topology.num_edges, net.topology.proxy, net.topology.coordinates.shape) == (3, None, (3, 2))
