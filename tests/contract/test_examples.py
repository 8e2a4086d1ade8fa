"""The examples run: each in a process and a folder of its own, and each asserts what it claims.

Some claim that a true error is small, which noise may prevent: theirs is drawn from the name of the example.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER, KEYED = Path(__file__).parents[2] / "examples", Path(__file__).parents[1] / "keyed_noise.py"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_the_example_runs_and_claims_something(example, tmp_path):
    source = example.read_text(encoding="utf-8")
    assert source.count("\nassert ") >= 2
    environment = {**os.environ, "HUSHPATH_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, str(KEYED), example.stem, str(example)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert "released" in done.stdout or "true" in done.stdout
