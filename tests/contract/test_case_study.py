"""The case study: its page says what was measured, and its script runs on any folder of the same file names."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import case_study
from case import made_up
from case.owners import CASES
from case.told import MARKED, crossing, filled, tables

PAGE, RESULTS = ROOT / "docs" / "explanation" / "case-study.md", ROOT / "bench" / "results" / "case_study.json"


def test_tables_of_the_page_are_those_of_the_results():
    text, found = PAGE.read_text(), json.loads(RESULTS.read_text())
    assert filled(text, found) == text
    assert {name for _, name, _ in MARKED.findall(text)} == set(tables(found))


def test_a_table_that_was_touched_is_noticed():
    text, found = PAGE.read_text(), json.loads(RESULTS.read_text())
    found[0]["cells"][0]["relative"] *= 1.5
    assert filled(text, found) != text


@pytest.mark.parametrize(
    ("points", "needed"),
    [([(1, 0.2), (100, 0.002)], 10.0), ([(1, 0.01)], "< 1"), ([(1, 0.2), (3, 0.1)], "> 3"), ([], None)],
)
def test_epsilon_is_read_off_between_two_that_were_run(points, needed):
    assert crossing(points, 0.02) == needed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A grid of 5 x 5 nodes under the file names of the metro and the water utility."""
    spot = np.arange(25).reshape(5, 5)
    along = np.c_[spot[:, :-1].ravel(), spot[:, 1:].ravel()]
    up = np.c_[spot[:-1].ravel(), spot[1:].ravel()]
    ends = np.concatenate([along, up])
    where = pd.DataFrame({"x": np.arange(25) % 5 / 50, "y": 51 + np.arange(25) // 5 / 50})
    for name, first, weight in (("london_tube_time", 49, 2.0), ("water_ky4_flow", 0, 1.5)):
        label = first + np.arange(25) if first else np.array(["R-1", *(f"J-{i}" for i in range(1, 25))])
        edges = pd.DataFrame({"source": label[ends[:, 0]], "target": label[ends[:, 1]], "weight": weight})
        edges.to_csv(tmp_path / f"{name}.csv", index=False)
        where.assign(node=label)[["node", "x", "y"]].to_csv(tmp_path / f"{name}.nodes.csv", index=False)
    monkeypatch.setenv("HUSHPATH_DATA", str(tmp_path))
    return tmp_path


def test_the_script_runs_and_goes_on(folder, monkeypatch, capsys):
    made = made_up.metro
    monkeypatch.setattr(made_up, "metro", lambda folder: made(folder, sizes=(2_000,)))
    metro, water = next(one for one in CASES if one.size == 2_000), next(one for one in CASES if one.owner == "water")
    quick = dict(water.terms, mechanism="input")  # nothing to choose from
    water = replace(water, terms=quick, repeats=1, ranges=())
    monkeypatch.setattr(case_study, "CASES", [metro, water])
    asked = ["case_study.py", "--no-plans", "--epsilon", "10", "--work", str(folder / "work"), "--out", str(folder)]
    monkeypatch.setattr(sys, "argv", asked)
    case_study.main()
    lines = (folder / "work" / "results.jsonl").read_text()
    assert len(lines.splitlines()) == 6  # four releases, and twice what is known already
    case_study.main()
    assert (folder / "work" / "results.jsonl").read_text() == lines
    found = {one["case"]: one["cells"] for one in json.loads((folder / "bench/results/case_study.json").read_text())}
    assert found["water"][0]["releases"] == 1
    assert found["water"][0]["relative"] < 0.1
    assert found["river, lengths public"] == []
    assert "2 of 2" in capsys.readouterr().err
