"""Every `>>>` in the package is run, and none is missed: a nested or compiled function hides its own from finders."""

import doctest
import importlib
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
SHOWN = {
    ".".join(file.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__"): text.count(">>> ")
    for file in sorted(SRC.rglob("*.py"))
    if ">>> " in (text := file.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("module", SHOWN)
def test_what_a_docstring_shows_is_so(module):
    assert doctest.testmod(importlib.import_module(module)) == (0, SHOWN[module])
