"""Days of a release: two dates or two day numbers, read from whatever a caller or a file gives."""

import datetime
from datetime import date

import numpy as np
import pytest

from hushpath import days as d
from hushpath.errors import OptionError

FIRST, LAST = date(2026, 10, 1), date(2026, 10, 31)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (None, None), ("2026-10-01..2026-10-31", (FIRST, LAST)), (("2026-10-01", "2026-10-31"), (FIRST, LAST)),
        ([FIRST, LAST], (FIRST, LAST)), (FIRST, (FIRST, FIRST)), ("2026-10-01", (FIRST, FIRST)),
        (datetime.datetime(2026, 10, 1, 23, 59), (FIRST, FIRST)),
        (3, (3, 3)), ((-5, 5), (-5, 5)), ("3..5", (3, 5)), (np.int64(3), (3, 3)), ((100_000, 100_000), (100_000,) * 2),
        ((20261001, 20261031), (20261001, 20261031)), (" 2026-10-01 .. 2026-10-31 ", (FIRST, LAST)),
    ],
    ids=str,
)  # fmt: skip
def test_days_in_every_form(given, wanted):
    found = d.parse_days(given)
    assert found == wanted
    assert found is None or [type(day) for day in found] == [type(day) for day in wanted]


@pytest.mark.parametrize(
    "given",
    [
        "", "..", "soon", "2026-13-01", "2026-10-01..", "2026-10-01..2026-10-31..2026-11-01", "2026-10-31..2026-10-01",
        (5, 3), (FIRST, 3), (3, FIRST), (), (1, 2, 3), [None, None], True, (True, 5), 1.5, (1.5, 2.5), {}, b"x",
        b"2026-10-01", "٣", "²", "--1..5", "9" * 30, (100_001, 100_002), (-100_001, 0), (20261301, 20261302),
        (18000101, 20261001), (3, 20261001), (498_000, 498_744), 1_790_000_000, "1e3", "0x10", float("nan"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_range_of_days_is_refused(given):
    """Hours, minutes and seconds since 1970 among them: they would split one day of a person into many units."""
    with pytest.raises(OptionError, match="`when`") as caught:
        d.parse_days(given, "when")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["2026-10-01", "3", "-3", "0001-01-01", "9999-12-31", "20261001"])
def test_a_day_reads_back_what_it_writes(text):
    assert str(d.parse_day(text)) == text
    assert d.parse_day(d.parse_day(text)) == d.parse_day(text)


@pytest.mark.parametrize("given", [7, "7", None, "", "2026-02-30", datetime.datetime(2026, 1, 1), True, 1.0, b"x"])
def test_a_date_is_no_number_and_no_time(given):
    assert d.parse_date("2026-10-01", "first") == d.parse_date(FIRST, "first") == FIRST
    with pytest.raises(OptionError, match="`first`"):
        d.parse_date(given, "first")


def test_days_are_counted_with_both_ends():
    assert d.count_days((FIRST, LAST)) == 31
    assert d.count_days((FIRST, FIRST)) == d.count_days((3, 3)) == 1
    assert d.count_days((-5, 5)) == 11


def test_only_dates_are_dates():
    assert d.as_dates((FIRST, LAST)) == (FIRST, LAST)
    assert d.as_dates((3, 5)) is None
    assert d.as_dates(None) is None


@pytest.mark.parametrize("given", ["2026-10-01", FIRST, [FIRST, LAST], (3, 5), (LAST, FIRST), ("2026-10-01", LAST), 3])
def test_a_ledger_takes_two_dates_and_nothing_else(given):
    assert d.check_dates((FIRST, LAST)) == (FIRST, LAST)
    assert d.check_dates(None) is None
    with pytest.raises(OptionError, match="`days`"):
        d.check_dates(given)


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (None, "all days"), ((date.min, date.max), "all days"), ((FIRST, FIRST), "2026-10-01"),
        ((FIRST, LAST), "2026-10-01 to 2026-10-31"), ((date.min, LAST), "until 2026-10-31"),
        ((FIRST, date.max), "from 2026-10-01"),
    ],
)  # fmt: skip
def test_days_for_people(days, text):
    assert d.format_days(days) == text
