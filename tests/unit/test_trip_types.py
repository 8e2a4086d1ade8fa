"""One row does not decide how other rows are read: not by the type it gives a column, not by a value that fails.

Each test is a way in which it once did.  ``moved`` is how far a unit moves the totals, in units of the certificate.
"""

import datetime
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from trip_formats import SHARE, totals, units_moved

import hushpath
from hushpath.errors import HushpathError, NetworkError, OptionError
from hushpath.network.topology import Topology
from hushpath.trips import tables as trip_files
from hushpath.trips.values import canonical_key, day_sql, key_sql, moment_sql

WAYS = [1001, 1002, 1003]
COLUMNS = dict(person="who", day="day", edge="way_id", seconds="seconds")


def network(ids=WAYS):
    """A ring of three streets with ids of their own."""
    topology = Topology.build([1, 2, 3], [0, 1, 2], [1, 2, 0], directed=True, proxy=[4.0, 8.0, 9.0], proxy_name="free")[
        0
    ]
    return topology, dict(edge_ids=ids)


def people(count=50, ways=WAYS, first=1):
    return pd.DataFrame(
        {
            "who": np.arange(first, first + count), "day": "2026-10-01", "way_id": [ways[i % 3] for i in range(count)],
            "seconds": 5.0 + np.arange(count) % 20,
        }
    )  # fmt: skip


def one(**values):
    """The row of one more person."""
    row = pd.DataFrame({"who": [999], "day": ["2026-10-01"], "way_id": [1001], "seconds": [7.0]}, dtype=object)
    return row.assign(**{name: [value] for name, value in values.items()})


def more(rows, **values):
    """The table with one more row, its types inferred anew from all rows, as pandas does when it reads or joins."""
    joined = pd.concat([rows.astype(object), one(**values)], ignore_index=True)
    return pd.DataFrame({name: joined[name].tolist() for name in joined})


def read(given, ids=WAYS, **named):
    topology, more = network(ids)
    return hushpath.read_trips(given, topology, **{**COLUMNS, **more, **named})


def moved(first, second, protects="person-day", days=None, **named):
    before, after = (totals(read(given, **named), protects, days) for given in (first, second))
    assert before.any()
    return units_moved(before, after)


def frame(table, folder):
    return table


def through_csv(table, folder):
    """A data frame that was read from a file: pandas infers the types."""
    table.to_csv(folder / f"{len(table)}.csv", index=False)
    return pd.read_csv(folder / f"{len(table)}.csv")


def csv(table, folder):
    table.to_csv(folder / f"{len(table)}.csv", index=False)
    return folder / f"{len(table)}.csv"


def jsonl(table, folder):
    table.to_json(folder / f"{len(table)}.jsonl", orient="records", lines=True)
    return folder / f"{len(table)}.jsonl"


def parquet(table, folder):
    table.to_parquet(folder / f"{len(table)}.parquet")
    return folder / f"{len(table)}.parquet"


@pytest.mark.parametrize("form", [frame, through_csv, csv, jsonl, parquet])
@pytest.mark.parametrize(
    "values", [dict(way_id=None), dict(seconds=None), dict(way_id=1001.0), dict(way_id=7.5)], ids=str
)
def test_a_missing_or_odd_id_leaves_other_ids_as_they_are(form, values, tmp_path):
    rows = people()
    assert moved(form(rows, tmp_path), form(more(rows, **values), tmp_path)) <= 1


@pytest.mark.parametrize("form", [frame, through_csv])
@pytest.mark.parametrize("odd", [None, "x", 7.5, 2**60 + 1])
def test_large_ids_in_frames_do_not_merge_when_a_column_becomes_floats(form, odd, tmp_path):
    """2**60 and 2**60 + 1 are one float: in a frame such ids never count, whatever the column became."""
    rows = pd.concat([people(), people(first=2**60)])
    assert moved(form(rows, tmp_path), form(more(rows, who=odd), tmp_path)) <= 1
    for who in (rows.who, rows.who.astype(str), rows.who.astype(object)):
        assert units_moved(totals(read(rows.assign(who=who))), totals(read(people()))) == 0
    exact = pa.table(rows.assign(who=rows.who.astype(str)))  # text that is declared to be text
    assert units_moved(totals(read(exact)), totals(read(people()))) > 1


NOON = pd.Timestamp("2026-10-01 12:00")
PERSONS = {
    "times": lambda i: NOON + pd.Timedelta(minutes=i),
    "times of a zone": lambda i: pd.Timestamp(i, unit="h", tz="Asia/Tokyo"),
    "times finer than a microsecond": lambda i: NOON + pd.Timedelta(nanoseconds=i),
    "far times": lambda i: np.datetime64(10**12 + i, "s"), "durations": lambda i: datetime.timedelta(minutes=i),
    "numbers with a fraction": lambda i: i + 0.5, "exponents": lambda i: f"{i}e3", "truth": lambda i: i % 2 == 0,
    "hexadecimal numbers": lambda i: f"{i:x}", "words": lambda i: f"P{i}", "spaces": lambda i: f" {i} ",
}  # fmt: skip


@pytest.mark.parametrize("form", [frame, through_csv])
@pytest.mark.parametrize("kind", PERSONS)
def test_one_word_among_ids_of_any_kind_leaves_the_others_as_they_are(form, kind, tmp_path):
    """Not even the choice among the edges of a unit changes, which is made by its key."""
    rows = people(150)
    rows = rows.assign(who=[PERSONS[kind](i // 3) for i in range(150)])
    tables = [form(table, tmp_path) for table in (rows, more(rows, who="a word"))]
    before, after = (totals(read(table), max_edges=1) for table in tables)
    assert after.any()
    assert np.abs(before - after).sum() <= SHARE
    assert units_moved(*(totals(read(table)) for table in tables)) <= 1


def test_json_numbers_that_the_engine_rounds_are_floats(tmp_path):
    """12345678901234567.0 and ...8.0 are one float: as ids they are missing; whole numbers and text are exact."""
    row = '{{"who": {}, "day": "2026-10-01", "way_id": 1001, "seconds": {}}}\n'
    found = {}
    for name, ids in {
        "floats": ["12345678901234567.0", "1e22", "7.5"], "whole": ["12345678901234567", "12345678901234568", "7"],
        "text": ['"12345678901234567"', '"12345678901234568"', '"7.0"'], "small": ["7.0", "8.0", "9e0"],
    }.items():  # fmt: skip
        (tmp_path / "t.jsonl").write_text("".join(row.format(one, "7.25") for one in ids))
        found[name] = totals(read(tmp_path / "t.jsonl"))
    assert not found["floats"].any()
    assert found["whole"].any()
    assert all(np.array_equal(found[name], found["whole"]) for name in ("text", "small"))


@pytest.mark.parametrize("kind", [pa.dictionary(pa.int32(), pa.string()), pa.large_string()], ids=str)
def test_values_too_long_for_one_array_stop_nothing(kind, monkeypatch):
    """A batch that fails is halved, down to the row that fails, which has no values."""
    rows = people(40)
    wanted = totals(read(rows))
    table = pa.table(more(rows, who="x" * 100).astype({"who": str}))
    table = table.set_column(0, "who", table.column("who").combine_chunks().cast(kind))
    sizes, convert_array = [], trip_files.convert_array

    def limited(array, kind):
        sizes.append(len(array))
        if kind == "text" and "x" * 100 in array.to_pylist() and len(array) >= limit:
            raise pa.ArrowInvalid("overflowed")
        return convert_array(array, kind)

    monkeypatch.setattr(trip_files, "convert_array", limited)
    limit = 1
    assert np.array_equal(totals(read(table)), wanted)
    limit = 8
    assert 0 < units_moved(totals(read(table)), wanted) <= 1
    assert min(sizes) == 1


def test_objects_that_are_no_values_are_missing():
    rows = {"who": [b"7", b"\xff\xfe-Bob"], "day": ["2026-10-01"] * 2, "way_id": [1001] * 2, "seconds": [7.0] * 2}
    table = pa.table({**rows, "who": pa.array(rows["who"], pa.binary()).view(pa.string())})
    found = totals(read(table.to_pandas(types_mapper=pd.ArrowDtype)))
    assert np.array_equal(found, totals(read(people(1).assign(seconds=7.0))))
    wanted = totals(read(people(9)))
    for odd in ("\udcff", Path("\udcff"), np.complex64(1 + 2j), pd.Interval(1, 2), object()):
        found = people(10).assign(who=pd.Series([*range(1, 10), odd], dtype=object))
        assert np.array_equal(totals(read(found)), wanted)


def test_seconds_may_be_durations():
    rows = people()
    told = rows.assign(seconds=pd.to_timedelta(rows.seconds, unit="s"))
    assert np.array_equal(totals(read(told)), totals(read(rows)))


@pytest.mark.parametrize("names", [["10.1", "10.2", "10.3"], ["1e3", "2", "3"], ["inf", "a", "b"], ["x", "1.50", "y"]])
def test_names_that_may_become_floats_are_refused(names):
    with pytest.raises(OptionError, match="edge_ids"):
        read(people(), ids=names)


@pytest.mark.parametrize("form", [frame, through_csv, csv, jsonl, parquet])
def test_true_and_false_are_names_in_every_type(form, tmp_path):
    rows = people().assign(peak=[True, False] * 25)
    named = dict(period="peak", periods=["true", "false"])
    wanted = totals(read(people().assign(peak=["TRUE", "False"] * 25), **named))
    assert np.array_equal(totals(read(form(rows, tmp_path), **named)), wanted)
    assert moved(form(rows, tmp_path), form(more(rows, peak=None), tmp_path), **named) <= 1


def test_large_ids_in_declared_types_are_exact_and_floats_are_refused(tmp_path):
    rows = people(first=2**60)
    rows.to_parquet(tmp_path / "whole.parquet")
    assert np.array_equal(totals(read(tmp_path / "whole.parquet")), totals(read(people())))
    rows.assign(who=rows.who.astype(float)).to_parquet(tmp_path / "floats.parquet")
    with pytest.raises(NetworkError, match="'who'"):
        read(tmp_path / "floats.parquet")
    with pytest.raises(NetworkError, match="'who'"):
        read(pa.Table.from_pandas(rows.assign(who=rows.who.astype(np.float32))))
    large = [2**60, 2**60 + 1, 2**60 + 2]
    people(ways=large).assign(way_id=lambda t: t.way_id.astype(float)).to_parquet(tmp_path / "ways.parquet")
    with pytest.raises(NetworkError, match="'way_id'"):
        read(tmp_path / "ways.parquet", large)


PARTS = {
    "way_id": [pa.int64(), pa.float64(), pa.decimal128(12, 2), pa.decimal128(38, 0), pa.string(), pa.uint64()],
    "who": [pa.int64(), pa.decimal128(20, 3), pa.string(), pa.uint64(), pa.large_string()],
    "seconds": [pa.float64(), pa.decimal128(10, 2), pa.decimal128(38, 0), pa.int32(), pa.string()],
    "day": [pa.string(), pa.date32(), pa.timestamp("ms"), pa.timestamp("ns"), pa.timestamp("us", tz="Asia/Tokyo")],
}  # fmt: skip
CASES = [(name, kind) for name, kinds in PARTS.items() for kind in kinds]


@pytest.mark.parametrize(("column", "kind"), CASES, ids=str)
def test_a_part_of_another_type_changes_no_other_part(column, kind, tmp_path):
    """A folder of parts, and one with a part more whose column has another type: only its own row counts."""
    rows, folder = people(), tmp_path / "parts"
    folder.mkdir()
    rows.to_parquet(folder / "a.parquet")
    before = totals(read(folder))
    value = {"way_id": "1001", "who": "999", "seconds": "7", "day": "2026-10-01"}[column]
    cell = pa.array([datetime.date(2026, 10, 1) if column == "day" and kind != pa.string() else value]).cast(kind)
    table = pa.Table.from_pandas(one()).set_column(list(one()).index(column), column, cell)
    pq.write_table(table, folder / "b.parquet")
    alone = totals(read(one()))
    assert alone.any()
    assert np.array_equal(totals(read(folder)) - before, alone)


def test_periods_are_names_whatever_the_type(tmp_path):
    rows = people().assign(part=[1, 2] * 25)
    named = dict(period="part", periods=["1", "2"])
    assert moved(rows, more(rows, part=None), **named) <= 1
    (tmp_path / "p").mkdir()
    rows.to_parquet(tmp_path / "p" / "a.parquet")
    before = totals(read(tmp_path / "p", **named))
    one().assign(part=[1.0]).to_parquet(tmp_path / "p" / "b.parquet")
    after = totals(read(tmp_path / "p", **named))
    assert before.any()
    assert 0 < units_moved(before, after) <= 1


def test_a_time_with_another_offset_leaves_other_times_as_they_are():
    """pandas keeps times of one offset as they are, and objects as soon as there are two."""
    zone = datetime.timezone(datetime.timedelta(hours=9))
    times = [datetime.datetime(2026, 10, 1, 3, 30, tzinfo=zone)] * 50
    rows = people().assign(day=times)
    other = more(rows, day=datetime.datetime(2026, 10, 1, 3, 30, tzinfo=datetime.UTC))
    assert rows.day.dtype != other.day.dtype
    assert moved(rows, other, days=("2026-09-30", "2026-09-30")) == 0  # 3:30 of 1 Oct in UTC+9 is 30 Sep in UTC
    named = dict(period="day", periods={"am": (7, 10), "pm": (18, 20)})
    assert moved(rows, other, **named) <= 1


@pytest.mark.parametrize(
    "written", ["2026-10-01T23:30:00-05:00", "2026-10-02 04:30:00Z", "2026-10-02T04:30:00.000+00", "2026-10-02 04:30"]
)
def test_text_and_typed_times_are_the_same_moment(written, tmp_path):
    typed = pd.Timestamp("2026-10-02 04:30:00")
    forms = [
        people().assign(day=written), people().assign(day=typed), people().assign(day=typed.tz_localize("UTC")),
        people().assign(day=typed.tz_localize("UTC").tz_convert("Asia/Tokyo").to_pydatetime()),
    ]  # fmt: skip
    forms[0].to_csv(tmp_path / "t.csv", index=False)
    forms[1].to_parquet(tmp_path / "t.parquet")
    forms[2].to_parquet(tmp_path / "u.parquet")
    named = dict(period="day", periods={"early": (4, 5), "late": (23, 24)})
    found = [
        totals(read(given, **named), days="2026-10-02")
        for given in (*forms, tmp_path / "t.csv", tmp_path / "t.parquet", tmp_path / "u.parquet")
    ]
    assert found[0][:3].any()
    assert all(np.array_equal(found[0], other) for other in found[1:])


def write_rows(path, arrays):
    if any(getattr(column, "type", None) == pa.timestamp("s") for column in arrays.values()):
        return pa.table(arrays)  # Parquet has no such type
    pq.write_table(pa.table(arrays), path)
    return path


FAR = {
    "milliseconds": pa.array([1_790_812_800_000, 10**17, -(2**63), 2**63 - 1], pa.int64()).view(pa.timestamp("ms")),
    "seconds": pa.array([1_790_812_800, 2**62, -(2**62), 2**63 - 1], pa.int64()).view(pa.timestamp("s")),
    "nanoseconds": pa.array([1_790_812_800 * 10**9, 2**63 - 1, -(2**63), 0], pa.int64()).view(pa.timestamp("ns")),
    "days": pa.array([20_727, 2**31 - 1, -(2**31), 10**7], pa.int32()).view(pa.date32()),
    "days in milliseconds": pa.array([1_790_812_800_000, 2**63 - 1, -(2**63), 10**17], pa.int64()).view(pa.date64()),
    "not UTF-8": pa.array([b"2026-10-01", b"\xff\xfe", b"\x80", b"\xc3("], pa.binary()).view(pa.string()),
}  # fmt: skip


@pytest.mark.parametrize("far", FAR)
def test_a_value_that_cannot_be_read_is_missing(far, tmp_path):
    """Times beyond any calendar, dates no engine can hold, bytes that are no text: one row less, and no error."""
    rest = {"who": [1, 2, 3, 4], "way_id": [1001] * 4, "seconds": [7.0] * 4}
    path = write_rows(tmp_path / "t.parquet", {**rest, "day": FAR[far]})
    first = write_rows(tmp_path / "u.parquet", {"day": FAR[far][:1], **{k: v[:1] for k, v in rest.items()}})
    assert np.array_equal(totals(read(path), days="2026-10-01"), totals(read(first), days="2026-10-01"))
    named = dict(period="day", periods={"night": (0, 6)})
    assert totals(read(path, **named)).any()
    if far == "not UTF-8":
        for column in ("who", "way_id", "seconds"):
            texts = pa.array([b"1001", b"\xff\xfe", b"\x80", b"\xc3("], pa.binary()).view(pa.string())
            path = write_rows(tmp_path / "v.parquet", {**rest, "day": ["2026-10-01"] * 4, column: texts})
            assert totals(read(path)).any()


def test_parts_of_other_resolutions_hold_the_last_day_of_the_calendar(tmp_path):
    (tmp_path / "p").mkdir()
    rest = {"who": [1], "way_id": [1001], "seconds": [7.0]}
    for name, unit in (("a", "us"), ("b", "ms"), ("c", "s"), ("d", "ns")):
        when = pa.array([datetime.datetime(9999, 12, 31) if unit != "ns" else datetime.datetime(2026, 10, 1)])
        write_rows(tmp_path / "p" / f"{name}.parquet", {**rest, "day": when.cast(pa.timestamp(unit))})
    assert totals(read(tmp_path / "p")).any()


def test_a_line_of_any_length_is_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr(trip_files, "LONGEST_LINE", 10_000)
    rows = people()
    lines = {
        csv: lambda n: f"{'x' * n},2026-10-01,1001,7",
        jsonl: lambda n: json.dumps({"who": "x" * n, "day": "2026-10-01", "way_id": 1001, "seconds": 7}),
    }
    for write, long in lines.items():
        path = write(rows, tmp_path)
        text = path.read_text().splitlines(keepends=True)
        wanted = totals(read(path))
        for length in (9_900, 10_000, 10_001, 25_000, 300_000):
            for at in (1, 20, len(text)):
                path.write_text("".join([*text[:at], long(length) + "\n", *text[at:]]))
                moved = units_moved(totals(read(path)), wanted)
                assert 0 < moved <= 1 if length < 9_950 else moved == 0, (write.__name__, length, at)


def test_json_lines_declare_no_names(tmp_path):
    """Whether a row has a field decides nothing, and no message shows a field of somebody's row."""
    path = jsonl(people(), tmp_path)
    text = path.read_text()
    wanted = totals(read(path))
    for odd in ('{"hiv_clinic_visit_of_Bob": 1}', "[]", "7", "null", '"x"', "{", "", "[" * 10_000):
        path.write_text(odd + "\n" + text)
        assert np.array_equal(totals(read(path)), wanted)
        path.write_text(odd + "\n")
        assert not totals(read(path)).any()
        assert not totals(read(path, person="somebody")).any()


@pytest.mark.parametrize(("per_day", "rows"), [(1440, 600), (24, 10), (86_400, 600), (86_400_000, 600)])
def test_what_is_finer_than_a_day_is_no_day(per_day, rows, tmp_path):
    """Minutes and hours since 1970 would make one day of one person many units."""
    start = 20_727 * per_day
    table = people(rows).assign(who=1, day=[start + i for i in range(rows)])
    for given in (table, csv(table, tmp_path), parquet(table, tmp_path)):
        assert units_moved(totals(read(given)), totals(read(people(0)))) <= 1
    with pytest.raises(OptionError, match="days"):
        totals(read(table), days=(start, start + rows))


def test_days_of_eight_digits_count_where_they_are_declared():
    table = people().assign(day=20261001)
    assert not totals(read(table)).any()
    found = totals(read(table), days=(20261001, 20261031))
    assert np.array_equal(found, totals(read(people())))
    assert not totals(read(table), days=(20261002, 20261031)).any()


def test_every_part_names_every_column(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    people().to_csv(folder / "a.csv", index=False)
    wanted = totals(read(folder))
    (folder / "empty.csv").write_text("")
    assert np.array_equal(totals(read(folder)), wanted)
    for second in (
        "who;day;way_id;seconds\n999;2026-10-01;1001;7\n",
        "x,seconds,way_id,day,who\n1,7,1001,2026-10-01,999\n",
    ):
        (folder / "b.csv").write_text(second)
        assert 0 < units_moved(totals(read(folder)), wanted) <= 1
    lines = {
        "another name": "person,day,way_id,seconds\n999,2026-10-01,1001,7\n",
        "without a header": "bob,2026-10-01,1001,7\ncarol,2026-10-01,1001,7\n",
        "without a header, a value twice": "bob,2026-10-01,7,7\n", "a name twice": "who,who,day,way_id,seconds\n",
        "not UTF-8": b"\xff\xfewho,day,way_id,seconds\n", "one long line": "x" * 3_000_000,
    }  # fmt: skip
    messages = set()
    for text in lines.values():
        (folder / "b.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(NetworkError, match=r"b\.csv") as caught:
            read(folder)
        assert "bob" not in str(caught.value)
        messages.add(str(caught.value))
    (folder / "b.csv").unlink()
    assert len(messages) > 1
    parts = tmp_path / "parquet"
    parts.mkdir()
    people().to_parquet(parts / "a.parquet")
    people().drop(columns="way_id").to_parquet(parts / "b.parquet")
    with pytest.raises(NetworkError, match=r"b\.parquet"):
        read(parts)


@pytest.mark.parametrize(
    "kind", [pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64()), pa.duration("s"), pa.list_(pa.int64())]
)
def test_types_that_no_value_of_a_trip_has_are_refused_by_name(kind, tmp_path):
    pq.write_table(pa.Table.from_pandas(people()).append_column("x", pa.nulls(50, kind)), tmp_path / "t.parquet")
    for name in ("person", "seconds"):
        with pytest.raises(NetworkError, match="'x'"):
            read(tmp_path / "t.parquet", **{name: "x"})


def test_labels_that_are_the_same_number_are_refused():
    topology = Topology.build(["7", "007", "8"], [0, 1], [1, 2], proxy=[1.0, 1.0], proxy_name="free")[0]
    with pytest.raises(OptionError, match="same number"):
        hushpath.read_trips(people(), topology, person="who", day="day", edge=("a", "b"), seconds="seconds")
    with pytest.raises(HushpathError):
        read(people(), periods=["7", "07"], period="who")


VALUES = [
    "7", "007", "+7", "-7", "-0", "0", "7.", "7.0", "7.10", ".7", "7 ", " 7", "7e+0", "-1.5e-07",
    "1e+16", "A7", "a 7", "", " ", "9" * 30, "9" * 5000, "1" + "0" * 20 + ".0", "0" * 9 + "1" * 15 + ".0",
    "1" * 16 + ".", "é", "-", "+", "0x7", "True", "fALSE", "2026-10-01", "10.0.0.1",
    "1.2e3", "1.E-3", ".", "-.5", "+.5e7", "1.5.", "e3",
    "-00.", "-0", "+007.00",
]  # fmt: skip
PERSONS_ONLY = [  # refused as public names
    "7e0", "1e16", "12e45678", "nan", "inf", "-Infinity", "1E5", "٣", "\t7", "7\n", "𝟟", "1_0",
]  # fmt: skip


def test_names_of_the_public_network_and_of_trips_have_one_rule():
    """Python canonicalises public names, the engine those of rows."""
    with trip_files.connection() as engine:
        for value in [*VALUES, *PERSONS_ONLY]:
            found = engine.execute(f"SELECT {key_sql('value', 'text')} FROM (SELECT ? AS value)", [value]).fetchone()[0]
            assert found == (value if value in PERSONS_ONLY else canonical_key(value)), value
        assert not any(map(canonical_key, PERSONS_ONLY))
        for value in (0, 7, -7, 10**15 - 1):
            for kind, given in (
                ("whole", value),
                ("number", float(value)),
                ("text", str(value)),
                ("text", f"{value}.0"),
            ):
                text = f"SELECT {key_sql('value', kind)} FROM (SELECT ? AS value)"
                assert engine.execute(text, [given]).fetchone()[0] == canonical_key(value)
        for value in (7.5, 1e15, 2.0**53, -(2.0**60), float("nan"), float("inf")):
            assert (
                engine.execute(
                    f"SELECT {key_sql('value', 'number')} FROM (SELECT ?::DOUBLE AS value)", [value]
                ).fetchone()[0]
                is None
            )


def test_moments_are_read_by_one_rule():
    """Against the standard library; forms that the engine reads itself and those that it does not."""
    rng, epoch = np.random.default_rng(1), datetime.datetime(1970, 1, 1)
    stamps = [epoch + datetime.timedelta(microseconds=int(us)) for us in rng.integers(-(10**16), 10**16, 200)]
    cases = {stamp.isoformat(" "): stamp for stamp in stamps} | {
        f"{stamp:%Y-%m-%dT%H:%M}Z": stamp.replace(second=0, microsecond=0) for stamp in stamps
    }
    for stamp in stamps[:50]:
        cases[stamp.isoformat() + "+05:45"] = stamp - datetime.timedelta(hours=5, minutes=45)
        cases[stamp.isoformat() + "-0330"] = stamp + datetime.timedelta(hours=3, minutes=30)
    wrong = [
        "2026-02-30",
        "2026-13-01",
        "2026-10-01T24:00",
        "2026-10-01T12:60",
        "2026-10-01 12:00:60",
        "0000-01-01",
        "x",
        "",
        "12:00",
        "20261001",
        "2026-10-01T12:00+24:00",
        "2026-10-01x",
    ]
    with trip_files.connection() as engine:
        read = f"{moment_sql('value', 'text')}, {day_sql('value', 'text', dates_as_numbers=False)}"
        query = f"SELECT value, {read} FROM (SELECT unnest(?::VARCHAR[]) AS value)"
        found = {text: rest for text, *rest in engine.execute(query, [[*cases, *wrong]]).fetchall()}
    for text, stamp in cases.items():
        since = stamp - epoch
        assert found[text] == [since // datetime.timedelta(microseconds=1), 10**12 + since.days], text
    assert [found[text] for text in wrong] == [[None, None]] * len(wrong)
