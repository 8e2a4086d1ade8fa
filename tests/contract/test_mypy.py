"""The package passes mypy as ``pyproject.toml`` asks; a test, so that it runs beside the others."""

import subprocess
import sys
from pathlib import Path


def test_mypy_finds_nothing():
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
