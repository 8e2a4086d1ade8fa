"""Tables of the laboratory: fits, winners, the store, and Table 1 against the library's own functions."""

import json
import math

import numpy as np
import pytest

from hushpath.data.network import Network
from hushpath.lab import table1
from hushpath.lab.pictures import apart
from hushpath.lab.store import Store
from hushpath.lab.tables import at_zero, csv_text, exponent, exponents, winners
from hushpath.lab.theorems import power, theorem_exponent
from hushpath.noise import Law
from hushpath.privacy.accounting import Budget
from hushpath.privacy.certificate import Exposure, calibrate
from hushpath.privacy.sensitivity import hub_cut
from hushpath.publish.plan import plan


def row(**values):
    base = dict(network="path", nodes=100, weights="uniform", noise=0.5, mechanism="input", skipped="",
                mean_distance=10.0, bias=0.0, mean_error=1.0, mean_error_sd=0.01, max_error=3.0,
                relative_error=0.1)  # fmt: skip
    return {**base, **values}


def test_exponents_are_those_of_a_power_law():
    sizes = [100, 400, 1600]
    assert exponent(sizes, [3 * n**0.4 for n in sizes]) == pytest.approx(0.4)
    assert exponent(sizes[:2], [1, 2]) is None
    rows = [row(nodes=n, mean_error=n**0.5, max_error=n) for n in sizes]
    (fit,) = exponents(rows)
    assert fit["exponent_mean_error"] == pytest.approx(0.5)
    assert fit["exponent_max_error"] == pytest.approx(1.0)
    assert fit["theorem"] == theorem_exponent("input", "path") == 1.0


def test_answers_that_are_all_zero_are_not_fitted():
    rows = [row(nodes=n, mean_error=n**0.5, mean_distance=n**0.5, bias=-(n**0.5)) for n in (100, 400, 1600)]
    assert all(at_zero(one) for one in rows)  # the error grows as distances do, whatever the mechanism
    (fit,) = exponents(rows)
    assert (fit["exponent_mean_error"], fit["sizes_at_zero"]) == (None, 3)
    rows[0] = row(nodes=100, mean_error=10.0, bias=-7.9)
    assert not at_zero(rows[0])


def test_winners_name_the_smallest_error_and_whether_it_is_clear():
    rows = [row(), row(mechanism="hubs", mean_error=1.3), row(mechanism="cover", mean_error=0.1, skipped="too large")]
    (best,) = winners(rows)
    assert (best["winner"], best["second"], best["clear"]) == ("input", "hubs", True)
    assert best["second_times"] == pytest.approx(1.3)
    (best,) = winners([row(mean_error_sd=0.5), row(mechanism="hubs", mean_error=1.3)])
    assert not best["clear"]


def test_csv_has_one_line_a_row():
    assert csv_text([{"a": 1, "b": "x,y"}, {"a": 2, "b": None}]) == (
        'NOT PRIVATE,a,b\nNOT PRIVATE,1,"x,y"\nNOT PRIVATE,2,\n'
    )


def test_theorems_in_words():
    assert [power(x) for x in (None, 0.0, 0.5, 1.0)] == ["–", "log n", "n^(1/2)", "n"]
    assert power(1 / 3, drawn=True) == "$n^{1/3}$"
    assert theorem_exponent("separator-cover", "grid") == 0.25
    assert theorem_exponent("a mechanism of tomorrow", "grid") is None


def test_labels_are_moved_apart():
    placed = apart([0.5, 0.1, 0.51], 0.1)
    assert placed[1] == 0.1
    assert np.diff(sorted(placed)).min() >= 0.1 - 1e-12


def test_the_store_survives_a_cut_line_and_strangers(tmp_path):
    path = tmp_path / "deep" / "results.jsonl"
    with Store(path) as store:
        store.add({"id": "a", "x": 1})
        store.add({"id": "b", "x": 2})
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with Store(path) as store:
        assert list(store.results) == ["a"]
        store.add({"id": "b", "x": 2})
    assert path.read_bytes() == whole
    path.write_bytes(b"not json\n[1]\n" + whole)
    with Store(path) as store:
        assert list(store.results) == ["a", "b"]
    assert json.loads(path.read_bytes().splitlines()[-1]) == {"id": "b", "x": 2}


def test_level_scales_are_those_calibrate_finds():
    hubs, boundary, cells = np.array([9, 6, 4]), np.array([0, 20, 16]), np.array([1, 2, 4])
    setting = table1.Setting(100.0, 2.0, 1.0, 1e-6)
    cut = hub_cut(hubs, boundary, directed=False)
    exposure = Exposure(1, cut, np.zeros(3, np.int64), np.arange(3))
    unit = 2**20
    scales = calibrate(exposure, (cut / 2) ** 0.25, Law.GAUSSIAN, unit, Budget(1.0, 1e-6)) / unit
    numbers = (cells * (hubs * (hubs - 1) / 2 + hubs * boundary)).sum()
    limits = scales * math.sqrt(2 * math.log(2 * numbers / table1.GAMMA))
    expected = 2 * limits[1:].sum() + limits[0] + 2 * 7.0
    assert table1.level_bound(hubs, boundary, cells, setting, 7.0) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("side", [16, 32])
def test_the_grid_shape_is_that_of_a_real_strategy(side):
    from hushpath.decode.predict import error_bound

    at = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    heads = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    net = Network.build(range(side * side), tails, heads, np.ones(len(tails)))
    real = plan(net.topology, epsilon=1.0, unit=1.0, max_weight=2.0, mechanism="separator", law="gaussian").strategy
    ratio = error_bound(real, table1.GAMMA).total / table1.separator_bound(
        table1.Setting(side * side, 2.0, 1.0, 1e-6), grid=True
    )
    assert 0.4 < ratio < 2.0


def test_table1_has_the_exponents_of_the_theorems():
    for found in table1.slopes(1.0, 2.0, 1e-6):
        where = (found["family"], found["mechanism"])
        assert -0.02 <= found["n_fitted"] - found["n_theorem"] <= 0.16, where  # what is above are logarithms
        assert found["W_fitted"] == pytest.approx(found["W_theorem"], abs=0.06), where
        assert found["epsilon_fitted"] == pytest.approx(found["epsilon_theorem"], abs=0.08), where
