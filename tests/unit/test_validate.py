"""Checks of arguments: what passes is returned as a plain value, all else is an ``OptionError`` that names it."""

import math
from decimal import Decimal

import numpy as np
import pytest

from hushpath import _validate as v
from hushpath.errors import OptionError


class Odd:
    """An object of an untrusted caller."""

    def __str__(self):
        return "x" * 10_000


NO_NUMBERS = [None, "1", b"1", True, False, np.True_, [1], (1,), {}, {1}, 1j, Decimal(1), np.array([1.0]), Odd()]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=str)
def test_what_is_no_number_is_refused_by_every_check(value):
    assert not v.is_integer(value)
    assert not v.is_real(value)
    for check in (
        lambda: v.as_float(value, "size"), lambda: v.positive(value, "size"), lambda: v.between(value, "size", 0, 9),
        lambda: v.integer(value, "size", 0),
    ):  # fmt: skip
        with pytest.raises(OptionError, match="`size`") as caught:
            check()
        assert len(str(caught.value)) < 200
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [7, 7.0, np.int8(7), np.uint64(7), np.float32(7), np.float64(7)], ids=repr)
def test_numbers_become_plain_floats(value):
    for found in (v.as_float(value, "x"), v.positive(value, "x"), v.between(value, "x", 7, 7)):
        assert type(found) is float
        assert found == 7.0


@pytest.mark.parametrize("value", [0, -1, 0.0, -0.0, math.nan, math.inf, -math.inf, -5e-324, 10**400])
def test_positive_is_positive_and_finite(value):
    with pytest.raises(OptionError, match="`x`"):
        v.positive(value, "x")


@pytest.mark.parametrize("value", [5e-324, 1e308, 10**300])
def test_positive_takes_every_positive_float(value):
    assert v.positive(value, "x") == float(value)


def test_infinity_is_a_number_and_a_number_beyond_floats_is_not():
    assert math.isnan(v.as_float(math.nan, "x"))
    assert v.as_float(-math.inf, "x") == -math.inf
    with pytest.raises(OptionError, match="`x`"):
        v.as_float(10**400, "x")


@pytest.mark.parametrize("value", [math.nextafter(1, 0), math.nextafter(2, 3), math.nan, math.inf])
def test_between_includes_its_ends_and_nothing_beyond(value):
    assert (v.between(1, "x", 1, 2), v.between(2.0, "x", 1, 2)) == (1.0, 2.0)
    with pytest.raises(OptionError, match="between 1 and 2"):
        v.between(value, "x", 1, 2)


@pytest.mark.parametrize("value", [0, 4, 1.0, np.float64(1), math.nan, -(2**70), 2**70])
def test_integers_lie_in_their_range(value):
    assert [v.integer(one, "x", 1, 3) for one in (1, np.int64(3))] == [1, 3]
    assert type(v.integer(np.int64(3), "x", 1, 3)) is int
    with pytest.raises(OptionError, match="`x`"):
        v.integer(value, "x", 1, 3)


def test_integers_without_an_upper_end_may_be_any():
    assert v.integer(2**70, "x", 0) == 2**70


@pytest.mark.parametrize("value", [None, "", "A", "a ", "a\n", b"a", ["a"], 0, True, Odd()], ids=str)
def test_a_choice_is_one_of_the_texts(value):
    assert v.one_of("a", "x", ["a", "b"]) == "a"
    with pytest.raises(OptionError, match="`x` must be one of a, b"):
        v.one_of(value, "x", ["a", "b"])


def test_values_in_messages_are_short_and_printable():
    assert v.shorten("x" * 1000) == repr("x" * 40)
    assert "\n" not in v.shorten("a\nb")
    assert "\x1b" not in v.shorten("\x1b[31m")
