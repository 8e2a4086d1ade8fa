"""One table of trips in every form an owner may have it, and rows that try to disturb the others.

A table is a list of rows (person, day, trip, tail, head, seconds, period) of plain Python values.  ``FORMATS`` maps the
name of a form to a function that writes the rows below a folder and returns what ``read_trips`` takes.  Parts of mixed
types are told by the person, so that a row never moves another one to another part.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from hushpath import Budget, TripUnit
from hushpath.measurement.trip_strategy import SHARE
from hushpath.measurement.trip_totals import trip_totals
from hushpath.releasing.release import strategy_for

COLUMNS = ["person", "day", "trip", "tail", "head", "seconds", "period"]
NAMED = dict(person="person", day="day", trip="trip", edge=("tail", "head"), seconds="seconds", period="period")
EPOCH = datetime.date(1970, 1, 1)


def text(value):
    return None if value is None else value.isoformat() if isinstance(value, datetime.date) else str(value)


def whole(value):
    """A value as an integer column can hold it."""
    try:
        return int(value) if float(value).is_integer() and abs(int(value)) < 2**63 else None
    except (TypeError, ValueError, OverflowError):
        return None


def real(value):
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def exact(value):
    found = whole(value)
    return None if found is None or abs(found) >= 10**16 else decimal.Decimal(found)


def price(value):
    """Seconds as decimals of two digits, where they are such."""
    found = real(value)
    if found is None or not abs(found) < 1e6:
        return None
    return decimal.Decimal(repr(found)).quantize(decimal.Decimal("0.01"), decimal.ROUND_DOWN)


def date(value):
    return value if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime) else None


def moment(unit):
    per_day = 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]

    def put(value):
        if date(value) is None:
            return None
        raw = (date(value) - EPOCH).days * per_day + per_day // 3
        return raw if abs(raw) < 2**63 else 2**63 - 1  # as far as the column can hold it

    return put


# Declared types of a column, and how a value is put into it.
TEXT, INT, UINT = (pa.string(), text), (pa.int64(), whole), (pa.uint64(), lambda v: abs(whole(v) or 0) or None)
WIDE, NARROW = (pa.decimal128(38, 0), exact), (pa.decimal128(20, 4), exact)
FLOAT, CENTS = (pa.float64(), real), (pa.decimal128(12, 2), price)
DATE, FAR = (pa.date32(), date), (pa.timestamp("ms"), moment("ms"))
ZONED, FINE = (pa.timestamp("us", tz="Europe/Berlin"), moment("us")), (pa.timestamp("ns"), moment("ns"))
CODED = (pa.dictionary(pa.int32(), pa.string()), text)
DECLARED = dict(zip(COLUMNS, (INT, DATE, INT, INT, INT, FLOAT, TEXT), strict=True))
MIXED = [
    DECLARED,
    dict(zip(COLUMNS, (TEXT, FAR, TEXT, WIDE, FLOAT, CENTS, CODED), strict=True)),
    dict(zip(COLUMNS, (WIDE, ZONED, NARROW, UINT, INT, FLOAT, TEXT), strict=True)),
    dict(zip(COLUMNS, (CODED, FINE, INT, FLOAT, TEXT, TEXT, TEXT), strict=True)),
    dict(zip(COLUMNS, (NARROW, TEXT, UINT, CODED, WIDE, FLOAT, CODED), strict=True)),
]


def arrow(rows, types=DECLARED):
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    arrays = {}
    for (name, (kind, put)), values in zip(types.items(), columns, strict=True):
        plain = [put(value) for value in values]
        if pa.types.is_timestamp(kind):
            arrays[name] = pa.array(plain, pa.int64()).view(kind)
        else:
            arrays[name] = pa.array(plain, kind)
    return pa.table(arrays)


def as_frame(rows, folder):
    return pd.DataFrame(rows, columns=COLUMNS)  # pandas infers the types from the rows, as it does for owners


def as_csv(rows, folder):
    with (folder / "t.csv").open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *([_cell(v) for v in row] for row in rows)])
    return folder / "t.csv"


def _cell(value):
    return "" if value is None else text(value).replace("\n", " ")


def as_json(rows, folder):
    with (folder / "t.jsonl").open("w", encoding="utf-8") as file:
        for row in rows:
            values = [v.isoformat() if isinstance(v, datetime.date) else v for v in row]
            file.write(json.dumps(dict(zip(COLUMNS, values, strict=True)), default=str) + "\n")
    return folder / "t.jsonl"


def as_parquet(rows, folder):
    pq.write_table(arrow(rows), folder / "t.parquet")
    return folder / "t.parquet"


def as_parts(rows, folder):
    (folder / "parts").mkdir()
    for i, types in enumerate(MIXED):
        mine = [row for row in rows if zlib.crc32(str(row[0]).encode("utf-8", "replace")) % len(MIXED) == i]
        pq.write_table(arrow(mine, types), folder / "parts" / f"{i}.parquet")
    return folder / "parts"


def as_arrow(rows, folder):
    return arrow(rows)


FORMATS = {
    "frame": as_frame, "csv": as_csv, "json": as_json, "parquet": as_parquet, "parts": as_parts, "arrow": as_arrow,
}  # fmt: skip

# Values that change the type that pandas gives to a column, or that readers trip over.
ODD = [
    None, "", " ", "x", "NaN", "nan", "inf", "1e400", "-1", "0x10", "1_000", "1001.0", "007", "+7", "1e3", "٣", "\0",
    "'", '"', "2026-13-01", "2026-10-01T25:00", "9999-12-31", "2026-10-01T23:30:00+02:00", "2026-10-01 23:30:00-11:30",
    True, 7.5, 1e300, -1e300, float("inf"), float("nan"), 2**53 + 1, 2**60, -(2**63), 2**64 - 1, 2**70, 10**300, 1 + 2j,
    b"\xff\xfe", b"7", decimal.Decimal("7.0"), decimal.Decimal("NaN"), datetime.date(1, 1, 1),
    datetime.date(9999, 12, 31),
    datetime.datetime(2026, 10, 1, 23, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=-11))),
    datetime.datetime(2026, 10, 1, 23, 30), datetime.timedelta(days=1), [1, 2], {"a": 1}, (), object(), "x" * 100_000,
]  # fmt: skip


def totals(trips, protects="person-day", days=None, max_edges=None):
    """The exact totals of a table, which only the private step ever sees; with ``max_edges`` those of Laplace noise."""
    budget = Budget(1.0, 1e-6 if max_edges is None else 0.0)
    unit = TripUnit(protects, days=days, max_edges=max_edges)
    strategy = strategy_for(trips, budget, unit, low=0.5, high=6, noise="auto", edge_weighting="even")
    return trip_totals(strategy, trips, "coin")


def units_moved(first, second):
    """How far apart two totals are, in units of the certificate."""
    return float(np.sqrt(((first - second).astype(float) ** 2).sum()) / SHARE)
