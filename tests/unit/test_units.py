"""Protected units: declared once, checked once, and the same after a round trip through a file."""

import datetime
import json
import math
from datetime import date

import numpy as np
import pytest

import hushpath
from hushpath import TripUnit, WeightUnit
from hushpath.errors import FileFormatError, HushpathError, OptionError
from hushpath.privacy.units import MOST_EDGES, SEVERAL_UNITS, Protects

OCTOBER = date(2026, 10, 1), date(2026, 10, 31)
UNITS = [
    WeightUnit(1.0), WeightUnit(12.0, 2.5), WeightUnit(edges=(4, 0.5)), WeightUnit(1e-300, population=2**63 - 1),
    TripUnit("person"), TripUnit("person-day", days=OCTOBER), TripUnit("trip", "replace", (3, 5), 7, 1000),
    TripUnit("person", days=(20261001, 20261031), max_edges=MOST_EDGES),
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_unit_survives_a_file(unit):
    written = json.loads(json.dumps(unit.as_dict()))
    again = type(unit).from_dict(written)
    assert again == unit
    assert again.as_dict() == written


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_unit_in_a_file_has_exactly_its_fields(unit):
    written = unit.as_dict()
    for wrong in (
        {}, {**written, "more": 1}, *({k: v for k, v in written.items() if k != one} for one in written)
    ):  # fmt: skip
        with pytest.raises(FileFormatError):
            type(unit).from_dict(wrong)


HOSTILE = [True, "1", "", [], {}, [1], float("nan"), float("inf"), -1, 0, 2**70, 10**400, "x" * 10_000, b"1"]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: str(value)[:20])
@pytest.mark.parametrize(
    ("unit", "field"), [(unit, name) for unit in UNITS[1:2] + UNITS[6:7] for name in unit.as_dict()]
)
def test_hostile_values_of_a_file_are_an_error_of_ours_and_short(unit, field, value):
    header = {**unit.as_dict(), field: value}
    if (field, value) in [("l1", 2**70), ("l2", 2**70)]:  # a large unit is a unit
        assert type(unit).from_dict(header).as_dict()[field] == 2.0**70
        return
    with pytest.raises(HushpathError) as caught:
        type(unit).from_dict(header)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "days",
    [["2026-10-01"], ["01", "02"], ["2026-10-01", "3"], ["3", "1"], ["20261001", "2026-10-02"], [1, 2],
     "2026-10-01..2026-10-31", ["2026-10-01T00:00", "2026-10-02"]],
    ids=str,
)  # fmt: skip
def test_days_of_a_file_are_written_in_one_way(days):
    with pytest.raises(HushpathError, match="days"):
        TripUnit.from_dict({**TripUnit("person").as_dict(), "days": days})


@pytest.mark.parametrize("field", ["l1", "l2"])
@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, True, "1", [1.0], 10**400])
def test_norms_are_positive_and_finite(field, value):
    with pytest.raises(OptionError, match="unit"):
        WeightUnit(**{"l1": 1.0, field: value})


def test_a_unit_of_weights_has_no_default():
    for make in (WeightUnit, lambda: WeightUnit(l2=1.0), lambda: WeightUnit.of(None)):
        with pytest.raises(OptionError, match="`unit` is missing"):
            make()
    with pytest.raises(OptionError, match="edges"):
        WeightUnit(1.0, edges=(2, 1.0))
    with pytest.raises(OptionError, match="edges"):
        WeightUnit(l2=1.0, edges=(2, 1.0))
    assert WeightUnit.of(3) == WeightUnit(3.0)
    assert WeightUnit.of(UNITS[1]) is UNITS[1]


@pytest.mark.parametrize("protects", [None, "", "Person", "people", "declared", 1, True, ["person"], "person\n"])
def test_what_a_unit_of_trips_protects_is_a_closed_list(protects):
    with pytest.raises(OptionError, match="protects"):
        TripUnit(protects)


@pytest.mark.parametrize(
    ("field", "value"),
    [("neighbours", None), ("neighbours", "any"), ("neighbours", 1), ("max_edges", 0), ("max_edges", MOST_EDGES + 1),
     ("max_edges", 1.0), ("max_edges", True), ("population", 0), ("population", 1.5), ("population", 2**63),
     ("days", (5, 3)), ("days", "soon"), ("days", True), ("days", (498_000, 498_744))],
)  # fmt: skip
def test_facts_of_a_unit_of_trips_are_checked(field, value):
    with pytest.raises(OptionError, match=field):
        TripUnit("person", **{field: value})


def test_values_of_numpy_become_plain():
    unit = TripUnit("trip", days=(np.int64(3), np.int32(5)), max_edges=np.int64(7), population=np.int32(9))
    assert unit == TripUnit("trip", days=(3, 5), max_edges=7, population=9)
    assert json.loads(json.dumps(unit.as_dict()))["days"] == ["3", "5"]
    assert type(WeightUnit(np.float32(2), population=np.int64(3)).l1) is float


def test_days_are_declared_once():
    unit = TripUnit("person-day", days=OCTOBER)
    assert TripUnit.of(unit) is unit
    assert TripUnit.of("person-day", "2026-10-01..2026-10-31") == unit
    assert TripUnit.of(TripUnit("person-day"), OCTOBER) == unit
    with pytest.raises(OptionError, match="days"):
        TripUnit.of(unit, OCTOBER)


def test_a_unit_cannot_be_changed():
    for unit in UNITS:
        with pytest.raises((AttributeError, TypeError)):
            unit.protects = Protects.PERSON


@pytest.mark.parametrize(
    ("unit", "several"),
    [(TripUnit("person"), 0), (TripUnit("person-day"), SEVERAL_UNITS), (TripUnit("person-day", days=(1, 1)), 0),
     (TripUnit("person-day", days=(1, 3)), 3), (TripUnit("person-day", days=OCTOBER), SEVERAL_UNITS),
     (TripUnit("trip", days=(1, 1)), SEVERAL_UNITS), (WeightUnit(1.0), SEVERAL_UNITS)],
    ids=str,
)  # fmt: skip
def test_the_promise_speaks_of_as_many_units_as_one_person_can_be(unit, several):
    assert unit.several == several
    assert (SEVERAL_UNITS in [one.units for one in unit.questions()]) == (several == SEVERAL_UNITS)


def test_questions_are_as_many_neighbours_apart_as_their_answers():
    """Two versions of a unit that may be left out are two neighbours apart; of one that is replaced, one."""
    apart = {kind: [one.units for one in TripUnit("person", kind).questions()] for kind in ("add-remove", "replace")}
    assert apart == {"add-remove": [1, 2], "replace": [1]}
    assert [one.versions for one in TripUnit("person").questions()] == [False, True]
    assert [one.units for one in TripUnit("trip", "replace").questions()] == [1, SEVERAL_UNITS]


@pytest.mark.parametrize(
    ("protects", "within"), [("person", False), ("declared", False), ("person-day", True), ("trip", True)]
)
def test_units_within_a_day(protects, within):
    assert Protects.of(protects).within_a_day == within


def test_a_time_of_day_in_declared_days_is_its_day():
    assert TripUnit("person", days=(datetime.datetime(2026, 10, 1, 5), OCTOBER[1])).days == OCTOBER


def test_units_are_exported():
    assert hushpath.TripUnit is TripUnit
    assert hushpath.WeightUnit is WeightUnit
