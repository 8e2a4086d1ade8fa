"""What an owner must say before anything is planned or measured."""

import inspect

import pytest
from named_graphs import named

import hushpath
from hushpath.errors import OptionError


@pytest.mark.parametrize("given", [{}, {"unit": None}], ids=str)
def test_unit_has_no_default_and_the_error_says_how_to_think(given):
    net = named("grid")
    for function, first in ((hushpath.plan, net.topology), (hushpath.release, net)):
        with pytest.raises(OptionError) as caught:
            function(first, epsilon=1.0, **given)
        text = str(caught.value)
        assert "\n" not in text
        for word in ("unit is missing", "ALL weights together", "one person", "taken out", "docs/GUARANTEE.md"):
            assert word in text
    for function in (hushpath.plan, hushpath.release):
        unit = inspect.signature(function).parameters["unit"]
        assert unit.default is inspect.Parameter.empty
        assert unit.kind is inspect.Parameter.KEYWORD_ONLY
