"""A series that is killed between charge and file goes on by itself, within its total, and says what it lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "series_crash.py"
# What was charged (the month, and whether a file was made of it), and what the next run makes of it.
MADE = [(1, True), (2, True), (3, True)]
STORIES = {
    "gaussian:charged:3": ([*MADE[:2], (3, False), (3, True)], ["made"] * 3),  # the last month of the plan
    "pure:measured:1": ([(1, False), *MADE], ["made"] * 3),
    "pure by day:saved:3": ([*MADE[:2], (3, False), (3, True)], ["made"] * 3),
    "by day:noted:1": (MADE, ["made"] * 3),  # written, and only to be named: this costs nothing
    "gaussian:charged:3,1,1": ([*MADE[:2], *[(3, False)] * 3], ["made", "made", "lost"]),
    "no room:charged:1": ([(1, False), *MADE[1:]], ["lost", "made", "made"]),
}


def told(folder, stories):
    run = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), *stories], capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    return {one["story"]: one for one in json.loads(run.stdout)}


def check(one):
    """Whatever happened: nothing is overspent, every file has its charge, and a run more changes nothing."""
    assert "error" not in one, one
    assert one["spent"] <= 3
    assert one["unknown"] == []
    assert all(name.endswith(".hush") and not name.startswith(".") for name in one["files"])
    assert len(one["files"]) == one["states"].count("made") == sum(noted for _, _, noted in one["charges"])
    assert one["again"]["states"] == one["states"]
    assert any("killed" in text for text in one["said"]) or ":named:" in one["story"]


def test_killed_between_charge_and_file(tmp_path):
    found = told(tmp_path, STORIES)
    for name, (charges, states) in STORIES.items():
        one = found[name]
        check(one)
        assert [(month, noted) for month, _, noted in one["charges"]] == charges, name
        assert one["states"] == states, name


@pytest.mark.slow
def test_killed_at_every_point(tmp_path):
    found = told(tmp_path, [])
    assert len(found) == 55
    for one in found.values():
        check(one)
