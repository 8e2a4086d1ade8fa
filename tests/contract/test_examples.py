"""The examples run: each in a process and a folder of its own, and each asserts what it claims."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_the_example_runs_and_claims_something(example, tmp_path):
    source = example.read_text(encoding="utf-8")
    assert source.count("\nassert ") >= 2
    environment = {**os.environ, "HUSHPATH_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "released" in done.stdout or "true" in done.stdout
