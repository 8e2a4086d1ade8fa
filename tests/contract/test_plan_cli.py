"""``hushpath plan`` on the command line: targets, sweeps, pictures, refusals; nothing of it reads a weight."""

import json
import re

import numpy as np
import pytest
from command import call
from named_graphs import grid_ends

from hushpath.estimator import registry as estimators

TERMS = ["--unit", "1", "--max-weight", "30"]


@pytest.fixture
def roads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ends = grid_ends(8, 9).tolist()
    rows = [f"n{a},n{b},{w:.3f},{w + 1:.1f}" for (a, b), w in zip(ends, rng.uniform(2, 9, len(ends)), strict=True)]
    (tmp_path / "roads.csv").write_text("source,target,minutes,known\n" + "\n".join(rows) + "\n")
    return tmp_path


@pytest.fixture
def folder(roads, monkeypatch):
    """Everything is read by ``clip``: what other estimators gain is no matter of the command line."""
    monkeypatch.setattr(estimators, "ESTIMATORS", {"clip": estimators.ESTIMATORS["clip"]})
    return roads


def planned(capsys, *arguments):
    return call(capsys, "plan", "roads.csv", *TERMS, *arguments)


def test_a_typical_weight_brings_bias_percent_and_what_everybody_knows(roads, capsys):
    code, out, err = planned(capsys, "--epsilon", 2, "--typical-weight", 5)
    assert (code, err) == (0, "")
    assert re.search(r"^input +laplace +edges, \w+ .* [+-][0-9.]+ +[0-9.]+ %", out, re.M)
    assert "typical weight 5 on every edge" in out
    code, out, _ = planned(capsys, "--epsilon", 2, "--typical-weight", 5, "--json")
    made = json.loads(out)
    assert code == 0
    assert made["worth_it"] is True
    assert made["candidates"][0]["relative"] > 0
    assert made["candidates"][0]["decoder"].startswith("edges, ")


def test_half_of_the_weights_lie_between_two_numbers(folder, capsys):
    public = ["--epsilon", 2, "--mechanism", "input", "--noise", "laplace"]
    figures = {}
    for typical in ("4", "3,7", "1,20"):
        code, out, err = planned(capsys, *public, "--typical-weight", typical, "--json", "--ignore-baseline")
        assert (code, err) == (0, "")
        figures[typical] = json.loads(out)["candidates"][0]["mean_error"]
    assert len(set(figures.values())) == 3
    _, out, _ = planned(capsys, *public, "--typical-weight", "3,7")
    assert "the typical weight 4.583 on every edge" in out
    made = ["release", "roads.csv", "-o", "new.hush", *TERMS, *public, "--weight", "minutes", "--typical-weight", "3,7"]
    assert call(capsys, *made)[0] == 0
    assert b"typical" not in (folder / "new.hush").read_bytes()


def test_weights_will_be_like_those_of_an_earlier_release(folder, capsys):
    terms = ["--epsilon", "2", *TERMS, "--mechanism", "input"]
    assert call(capsys, "release", "roads.csv", "-o", "last.hush", *terms, "--weight", "minutes")[0] == 0
    code, out, err = planned(capsys, "--epsilon", "1,2", "--previous-release", "last.hush", "--json")
    assert (code, err) == (0, "")
    assert all(row["relative"] > 0 for row in json.loads(out)["sweep"])
    for arguments, code, words in (
        (["--previous-release", "none.hush"], 2, "none.hush"), (["--previous-release", "roads.csv"], 2, "roads.csv"),
        (["--previous-release", "last.hush", "--typical-weight", "5"], 2, "typical"),
        (["--previous-release", "last.hush", "--picture", "last.svg"], 2, "--picture"),
    ):  # fmt: skip
        got, out, err = planned(capsys, "--epsilon", "1", *arguments)
        assert (got, out, err.count("\n")) == (code, "", 1), err
        assert words in err


@pytest.mark.parametrize("asked", ["3", "10%"])
def test_a_target_error_is_solved(folder, capsys, asked):
    code, out, err = planned(capsys, "--target-error", asked, "--typical-weight", 5, "--json")
    made = json.loads(out)
    assert (code, err) == (0, "")
    assert 0.85 * made["target_error"] < made["candidates"][0]["mean_error"] <= made["target_error"]
    code, out, _ = planned(capsys, "--epsilon", made["epsilon"], "--typical-weight", 5, "--json")
    assert json.loads(out)["candidates"] == made["candidates"]


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_sweep_is_a_table_and_a_picture(folder, capsys, suffix):
    code, out, err = planned(capsys, "--epsilon", "0.5,2", "--typical-weight", 5, "--picture", f"sweep.{suffix}")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines() if line[:1].isdigit()] == ["0.5", "2"]
    assert f"Picture written to sweep.{suffix}." in out
    assert (folder / f"sweep.{suffix}").stat().st_size > 10_000
    code, out, _ = planned(capsys, "--epsilon", "2,1", "--json")
    assert [row["epsilon"] for row in json.loads(out)["sweep"]] == [1.0, 2.0]


def test_a_release_no_better_than_public_facts_is_refused_before_anything_is_written(folder, capsys):
    wanted = ["--epsilon", "0.001", "--unit", "1", "--weight", "minutes"]
    for public in (["--typical-weight", "5", "--mechanism", "input", "--noise", "laplace"], ["--proxy", "known"]):
        for verb in (["plan", "roads.csv"], ["release", "roads.csv", "-o", "new.hush"]):
            code, out, err = call(capsys, *verb, *wanted, *public)
            assert (code, out, err.count("\n")) == (1, "", 1)
            assert "--ignore-baseline" in err
            assert not (folder / "new.hush").exists()
    assert call(capsys, "plan", "roads.csv", *wanted, "--typical-weight", "5", "--ignore-baseline")[0] == 0
    made = ["release", "roads.csv", "-o", "new.hush", *wanted, "--typical-weight", "5", "--ignore-baseline"]
    assert call(capsys, *made)[0] == 0
    assert b"typical" not in (folder / "new.hush").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["--target-error", "x"], 2, "target_error"),
        (["--target-error", "0"], 2, "target_error"),
        (["--target-error", "-5%"], 2, "target_error"),
        (["--target-error", "5%"], 2, "typical"),
        (["--target-error", "2", "--epsilon", "1"], 2, "--target-error"),
        (["--target-error", "1e-9", "--typical-weight", "5"], 1, "no epsilon up to 1000"),
        (["--target-error", "1e9", "--typical-weight", "5"], 1, "--ignore-baseline"),
        ([], 2, "Missing option '--epsilon'"),
        (["--epsilon", "1,,2"], 2, "--epsilon"),
        (["--epsilon", ","], 2, "--epsilon"),
        (["--epsilon", "1;2"], 2, "--epsilon"),
        (["--epsilon", "1,-2"], 2, "epsilon"),
        (["--epsilon", "1,nan"], 2, "epsilon"),
        (["--epsilon", "1", "--typical-weight", "0"], 2, "typical"),
        (["--epsilon", "1", "--typical-weight", "nan"], 2, "typical"),
        (["--epsilon", "1", "--typical-weight", "much"], 2, "--typical-weight"),
        (["--epsilon", "1", "--typical-weight", "3,"], 2, "--typical-weight"),
        (["--epsilon", "1", "--typical-weight", "7,3"], 2, "typical"),
        (["--epsilon", "1", "--typical-weight", "1,2,3"], 2, "typical"),
        (["--epsilon", "1", "--picture", "a.svg"], 2, "--picture"),
        (["--target-error", "2", "--picture", "a.svg"], 2, "--picture"),
        (["--epsilon", "1,2", "--picture", "a.gif"], 2, "--picture"),
        (["--epsilon", "1,2", "--picture", "nowhere/a.svg"], 1, "nowhere"),
        (["--epsilon", "1,2", "--option", "typical_weight=3"], 2, "typical"),
    ],
)
def test_mistakes_are_one_line(folder, capsys, arguments, code, word):
    got, out, err = planned(capsys, *arguments)
    assert (got, out, err.count("\n")) == (code, "", 1), err
    assert word in err
    assert {path.name for path in folder.iterdir()} == {"roads.csv"}
