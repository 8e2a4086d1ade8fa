"""A value of a data frame is the same value whatever type pandas gave its column: the claim of docs/proofs/trips.md.

pandas keeps a column typed until one row does not fit, so a difference would let one row decide how others are read.
"""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hushpath.trips import tables as trip_files
from hushpath.trips.values import clock_sql, day_sql, key_sql, list_sql, moment_sql, number_sql


def series(values, kind=None):
    return pd.Series(values, dtype=kind)


NUMBERS = [7, 0, -7, 2**31 - 1, 10**15 - 1, 10**15, 2**53 + 1, 2**62]
NODES = [2**60, 2**60 + 1]
TIMES = series([pd.Timestamp(2026, 10, 1, 8, 30), None, pd.Timestamp(2026, 10, 1), pd.Timestamp(1790844123123456000)])
ENDS = series(np.array(["0001-01-01", "9999-12-31T23:59:59"], "M8[s]")).dt.tz_localize("UTC")
MIXED = [" 7", "x", None, "1e3", "٣", "1_0", "true", "7.5", "12e45678", b"7", b"\xff"]
SERIES = {
    "int64": series(NUMBERS), "uint64": series([7, 2**64 - 1], "uint64"), "int8": series([7, -7], "int8"),
    "float64": series([7.0, 7.5, None, -0.0, np.inf, 1e15, 1e-300]), "float32": series([7.1, 7.0], "float32"),
    "Int64": series([*NUMBERS, None], "Int64"), "Float64": series([7.5, 7, None], "Float64"),
    "bool": series([True, False]), "boolean": series([True, None, False], "boolean"),
    "complex128": series([7 + 0j, 1 + 2j]), "complex64": series([7 + 0j, 1 + 2j], "complex64"),
    "category": series([7, None, 8], "category"), "sparse": series([7, 0], pd.SparseDtype("int64")),
    "times": TIMES, "seconds": TIMES.dt.as_unit("s"), "milliseconds": TIMES.dt.as_unit("ms"),
    "nanoseconds": TIMES.dt.as_unit("ns") + pd.Timedelta(nanoseconds=7),
    "zone": TIMES.dt.tz_localize("Asia/Tokyo"), "sparse times": TIMES.astype(pd.SparseDtype("M8[ns]")),
    "west": ENDS.dt.tz_convert("America/New_York"), "east": ENDS.dt.tz_convert("Asia/Tokyo"),
    "far": series(np.array([10**12, -(10**12)], "M8[s]")), "timedelta": series(pd.to_timedelta([7, None, 7.5], "s")),
    "arrow times": TIMES.astype("timestamp[us][pyarrow]"), "arrow numbers": series(NUMBERS, "int64[pyarrow]"),
    "arrow dates": series([datetime.date(2026, 10, 1), None], "date32[pyarrow]"), "text": series(MIXED, object),
    "intervals": series([pd.Interval(7, 10)]), "months": series(pd.period_range("2026-10", periods=2, freq="M")),
    "lists": series([NODES, [7, None], (7.0, "x"), np.array(["2026-10-01T08:30"], "M8[ns]"), []]),
}  # fmt: skip


def canonical(column):
    """What every rule that may read a column makes of its values."""
    kind, values = trip_files._convert_series(column)
    rules = [rule("x", kind) for rule in (key_sql, number_sql, moment_sql, clock_sql)]
    rules.append(day_sql("x", kind, dates_as_numbers=False))
    listed, item = list_sql("x", kind)
    rules += [f"[{rule('y', item)} for y in {listed}]" for rule in (key_sql, clock_sql)]
    with trip_files.connection() as engine:
        engine.register("given", pa.table({"x": values, "i": range(len(column))}))
        return engine.execute(f"SELECT {', '.join(rules)} FROM given ORDER BY i").fetchall()


@pytest.mark.parametrize("kind", SERIES)
def test_a_value_is_the_same_in_a_column_of_its_type_and_among_objects(kind):
    if kind in ("west", "east", "far") and pd.__version__ < "3":
        pytest.skip("this pandas cannot make objects of times beyond the calendar: it crashes")
    typed = SERIES[kind]
    wanted = canonical(typed)
    assert canonical(series([*typed.astype(object), "a word"], object))[:-1] == wanted
    if isinstance(typed.dtype, np.dtype):  # objects of numpy, not of pandas
        assert canonical(series([*typed.to_numpy(), "a word"], object))[:-1] == wanted


@pytest.mark.parametrize("kind", ["times", "seconds", "nanoseconds", "zone"])
def test_times_of_the_standard_library_are_the_same(kind):
    """Times of several offsets stay as they are given, times of one offset become a column of times."""
    objects = [None if pd.isna(value) else value.to_pydatetime(warn=False) for value in SERIES[kind]]
    assert canonical(series(objects, object)) == canonical(SERIES[kind])


@pytest.mark.parametrize("kind", ["int64", "float64", "uint64", "float32"])
def test_text_that_writes_a_number_is_that_number(kind):
    """What pandas reads as numbers in one file is text in another, because of one word."""
    typed = SERIES[kind]
    texts = series([None if pd.isna(value) else repr(value) for value in typed.tolist()], object)
    assert canonical(texts) == canonical(typed)


@pytest.mark.parametrize("kind", ["int8", "uint64", "float32", "complex64", "complex128", "Int64", "category", "O"])
def test_a_number_is_the_same_in_every_type(kind):
    """One complex number makes a column of integers complex, one missing number makes it floats."""
    assert canonical(series([7, 8]).astype(kind)) == canonical(series([7, 8]))


def test_truth_is_1_or_0():
    """pandas turns it into numbers when one is missing, and sparse columns turn numbers into it."""
    wanted = [row[0] for row in canonical(series([1, 0]))]
    for column in (series([True, False]), series([1.0, 0.0]), series(["true", "FALSE"]), series(["1", "0"])):
        assert [row[0] for row in canonical(column)] == wanted == ["1", "0"]


def test_ids_in_lists_do_not_merge_as_floats():
    """One null in one list makes Arrow hand over all lists as floats."""
    whole, floats = (
        pa.table({"x": pa.array(rows, pa.list_(pa.int64()))}).to_pandas().x for rows in ([NODES], [NODES, [7, None]])
    )
    assert whole[0].dtype != floats[0].dtype
    assert canonical(whole)[0] == canonical(floats)[0]


@pytest.mark.parametrize("kind", ["date32[pyarrow]", "timestamp[s][pyarrow]"])
def test_what_pandas_cannot_hand_over_is_missing(kind):
    raw = pa.array([20_727, 2**31 - 1], pa.int32()).view(pa.date32()) if "date" in kind else (
        pa.array([1_790_812_800, 2**61], pa.int64()).view(pa.timestamp("s"))
    )  # fmt: skip
    found = canonical(series(pd.arrays.ArrowExtensionArray(raw)))
    assert found[0][2] == 1_790_812_800 * 10**6
    assert found[1][2] is None
