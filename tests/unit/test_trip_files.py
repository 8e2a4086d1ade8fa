"""No row of trips decides how another is read: whatever one unit's rows are, nothing else moves and nothing is said."""

import datetime
import decimal
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from trip_formats import totals as totals_of

import hushpath
from hushpath.errors import NetworkError
from hushpath.measurement.trip_strategy import SHARE
from hushpath.measurement.trip_totals import trip_totals
from hushpath.network.topology import Topology
from hushpath.trips.tables import connection, register_arrays

NODES = ["a", "b", "c"]
HERE = dict(person="who", day="day", trip="trip", edge=("from", "to"), seconds="seconds")
LINE = "p{0},2026-10-0{1},{2},{3},{4},{5}"
HEADER = "who,day,trip,from,to,seconds"


def network(labels=NODES):
    return Topology.build(labels, [0, 1, 2], [1, 2, 0], directed=True, proxy=[4.0, 8.0, 9.0], proxy_name="free")[0]


def totals(given, labels=NODES, protects="person-day", **named):
    trips = hushpath.read_trips(given, network(labels), **(named or HERE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return totals_of(trips, protects)


def plain_lines():
    return [LINE.format(i % 7, i % 3 + 1, i, NODES[i % 3], NODES[(i + 1) % 3], 5 + i % 30) for i in range(60)]


def by_itself(moved):
    """Whether one unit at most moved: nothing but additions, in all no more than its norm."""
    return (moved >= 0).all() and np.sqrt((moved.astype(float) ** 2).sum()) <= SHARE


HOSTILE_LINES = {
    "another separator": [b"x;2026-10-01;1;a;b;7"] * 50,
    "a quote that never closes": [b'"x,2026-10-01,1,a,b,7'],
    "text behind a quote": [b'"x"y,2026-10-01,1,a,b,7'],
    "single quotes": [b"'x','2026-10-01',1,'a','b',7"] * 40,
    "too many values": [b"x,2026-10-01,1,a,b,7,8,9"] * 40,
    "too few values": [b"x,2026-10-01"] * 40,
    "no text": [b"\xff\xfe,2026-10-01,1,a,b,7"],
    "another end of line": [b"x,2026-10-01,1,a,b,7\r"],
    "half an end of line": [b"x\ry,2026-10-01,1,a,b,7"],
    "a zero byte": [b"x\0,2026-10-01,1,a,b,7"],
    "a line that is too long": [b"x" * 3_000_000 + b",2026-10-01,1,a,b,7"],
    "a comment": [b"# x", b""],
    "SQL": [b"'; DROP TABLE public_edges; --,2026-10-01,1,a,b,7"],
    "a separator of ours": [b"x\x01,2026-10-01,1,a,b,7"],
    "good": [b'"x, ""y""",2026-10-01,1,"a",b,7'],
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("kind", HOSTILE_LINES)
def test_a_line_of_a_csv_file_is_a_row_of_its_own(tmp_path, kind, first, monkeypatch):
    monkeypatch.setattr("hushpath.trips.tables.LONGEST_LINE", 2**20)
    lines = [line.encode() for line in plain_lines()]
    lines[5] = b'"p, with a separator",2026-10-01,5,a,b,9'
    strange = HOSTILE_LINES[kind]
    for name, rows in (("plain.csv", lines), ("more.csv", strange + lines if first else lines + strange)):
        (tmp_path / name).write_bytes(b"\n".join([HEADER.encode(), *rows, b""]))
    moved = totals(tmp_path / "more.csv") - totals(tmp_path / "plain.csv")
    assert by_itself(moved)
    assert moved.any() == (kind in ("good", "SQL", "a zero byte", "another end of line", "text behind a quote")) or (
        kind in ("half an end of line", "single quotes", "a separator of ours")
    )


def test_the_first_line_says_how_a_csv_file_is_cut(tmp_path):
    wanted = None
    for cut, suffix in ((",", "csv"), (";", "csv"), ("|", "csv"), ("\t", "csv"), ("\t", "tsv")):
        rows = [HEADER, *plain_lines(), f'"p{cut}""9""",2026-10-01,99,a,b,7']
        text = "\r\n".join(rows[:1] + [row.replace(",", cut) for row in rows[1:]]).replace(
            HEADER, HEADER.replace(",", cut)
        )
        (tmp_path / f"t.{suffix}").write_text("﻿" + text, encoding="utf-8")
        found = totals(tmp_path / f"t.{suffix}")
        wanted = found if wanted is None else wanted
        assert np.array_equal(found, wanted), (cut, suffix)


HOSTILE_RECORDS = {
    "another type of person": {"who": {"x": 1}, "day": "2026-10-01", "trip": 1.5, "from": "a", "to": "b", "seconds": 9},
    "no dates": {"who": "x", "day": "never", "trip": 1, "from": "a", "to": "b", "seconds": 9},
    "text for numbers": {"who": "x", "day": "2026-10-01", "trip": "t", "from": "a", "to": "b", "seconds": "long"},
    "lists": {"who": ["x"], "day": ["2026-10-01"], "trip": [1], "from": ["a"], "to": ["b"], "seconds": [9]},
    "nothing": {},
    "no object": 5,
}


@pytest.mark.parametrize("kind", HOSTILE_RECORDS)
def test_a_line_of_json_is_a_row_of_its_own(tmp_path, kind):
    big = 2**53  # two trips that are one if a fraction among them makes all of them floating-point numbers
    rows = [dict(zip(HEADER.split(","), line.split(","), strict=True)) for line in plain_lines()]
    rows = [row | {"trip": big + i % 2, "who": 7, "seconds": float(row["seconds"])} for i, row in enumerate(rows)]
    for name, records in (
        ("plain", rows),
        ("more", [HOSTILE_RECORDS[kind], *rows]),
        ("late", [*rows, HOSTILE_RECORDS[kind]]),
    ):
        (tmp_path / f"{name}.jsonl").write_text("\n".join([*map(json.dumps, records), "{not json", ""]))
    before = totals(tmp_path / "plain.jsonl", protects="trip")
    assert before.any()
    for name in ("more", "late"):
        assert by_itself(totals(tmp_path / f"{name}.jsonl", protects="trip") - before)


class Rude:
    def __str__(self):
        raise RuntimeError("p1 went home")

    def __eq__(self, other):
        raise RuntimeError("p1 went home")

    __hash__ = None


OBJECTS = [
    None, np.nan, pd.NaT, pd.NA, 5, 10**40, -0.0, 1e300, True, b"\xff", "\ud800", "a\0", {"a": {1, 2}}, [1, [2, None]],
    np.array([1.0, np.nan]), decimal.Decimal("NaN"), decimal.Decimal("1e999999"), datetime.date(1, 1, 1), Rude(),
    datetime.datetime(2026, 10, 1, tzinfo=datetime.UTC), datetime.time(7), pd.Timestamp("2026-10-01", tz="Asia/Tokyo"),
    np.datetime64("-9999-01-01"), pd.Interval(1, 2), "'; DROP TABLE public_edges; --", "infinity", "-infinity", 1j,
]  # fmt: skip


@pytest.mark.parametrize("turn", [0, *(pytest.param(turn, marks=pytest.mark.slow) for turn in (1, 2, 3))])
@pytest.mark.parametrize("column", HEADER.split(","))
def test_objects_of_any_kind_in_a_data_frame_are_rows_of_their_own(column, turn):
    """A turn tries half of the objects, one as the first row, one as the last; four turns try all of them as both."""
    rows = pd.DataFrame([line.split(",") for line in plain_lines() * 30], columns=HEADER.split(","))
    before = totals(rows)
    half = (HEADER.split(",").index(column) + turn) % 2  # each object is tried in every other column
    for at, strange in enumerate(OBJECTS):
        if at // 2 % 2 != half:
            continue
        row = dict(who="x", day="2026-10-01", trip="1", seconds="9", **{"from": "a", "to": "b"}) | {column: strange}
        one = pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in row.items()})
        more = pd.concat([rows, one] if (at + turn // 2) % 2 else [one, rows])
        assert by_itself(totals(more) - before), at


def test_typed_columns_of_every_kind_are_read():
    rows = pd.DataFrame([line.split(",") for line in plain_lines()], columns=HEADER.split(","))
    wanted = totals(rows)
    number = rows.who.str[1:].astype(int)
    for who in (
        rows.who.astype("category"), rows.who.astype("string"), number, number.astype(float), number.astype("Int64"),
        number.astype("float32"), number.map(decimal.Decimal), number.astype(str) + ".0", " " + rows.who + "  ",
        number.where(number % 2 == 0, number.astype(str) + ".0"), number.astype("category"),
    ):  # fmt: skip
        assert np.array_equal(totals(rows.assign(who=who)), wanted)
    when = pd.to_datetime(rows.day) + pd.to_timedelta(range(60), unit="min")
    for day in (
        pd.to_datetime(rows.day), when, when.dt.tz_localize("UTC"), when.astype(str), when.dt.date,
        rows.day.astype("category"),
        when.dt.strftime("%Y-%m-%dT%H:%M:%S+02:00"), rows.day.str[-1].astype(int),
        rows.day.str[-1].astype(float) + 0.25, rows.day.str[-1] + ".75", when.astype("datetime64[s]"),
    ):  # fmt: skip
        assert np.array_equal(totals(rows.assign(day=day)), wanted)
    seconds = rows.seconds.astype(float)
    for spelt in (
        seconds.map(decimal.Decimal),
        seconds.astype("float32"),
        seconds.astype("category"),
        seconds.astype(int),
    ):
        assert np.array_equal(totals(rows.assign(seconds=spelt)), wanted)


@pytest.mark.parametrize("day", ["01.10.2026 07:{:02d}", "1790000{:03d}", "20261001{:02d}", "7:{:02d} h"])
def test_what_is_finer_than_a_day_never_makes_one_day_many(day):
    """A person-day told by the minute would be many units: each would add its own norm."""
    rows = pd.DataFrame([["p", day.format(i), 1, "a", "b", 9.0] for i in range(60)], columns=HEADER.split(","))
    for table in (rows, rows.assign(day=pd.to_numeric(rows.day, errors="coerce"))):
        assert by_itself(totals(table))


def test_persons_are_the_same_however_they_are_told():
    topology_rows = [["a", "b"], ["b", "c"], ["c", "a"]]
    for people in ([7, "7", "7.0", " 7", 7.0], [0.0, -0.0], ["p ", " p", "p"], [np.float32(3), 3, "3"]):
        rows = [[who, "2026-10-01", 1, *ends, 9.0] for who in people for ends in topology_rows]
        assert by_itself(totals(pd.DataFrame(rows, columns=HEADER.split(","), dtype=object)))
    zeros = pd.DataFrame([[who, "2026-10-01", 1, "a", "b", 9.0] for who in (0.0, -0.0)], columns=HEADER.split(","))
    assert by_itself(totals(zeros))
    nobody = zeros.assign(who=np.nan)
    assert not totals(nobody).any()
    assert not totals(nobody.assign(who=["", "  "])).any()


def parquet(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = pd.DataFrame([line.split(",") for line in plain_lines()], columns=HEADER.split(","))
    rows = rows.assign(**columns).drop(columns=[name for name, value in columns.items() if value is None])
    rows.to_parquet(path)
    return rows


def test_folders_as_engines_leave_them(tmp_path):
    rows = parquet(tmp_path / "t" / "day=2026-10-01" / "part-0.parquet", day=None)
    parquet(tmp_path / "t" / "day=2026-10-02" / "part-0.parquet", day=None)
    for name in ("_SUCCESS", "_metadata", "day=2026-10-01/.part-0.parquet.crc", "day=2026-10-01/part-0.parquet.crc"):
        (tmp_path / "t" / name).write_bytes(b"no parquet")
    parquet(tmp_path / "t" / "_temporary" / "0" / "part-1.parquet")
    parquet(tmp_path / "t" / ".hidden" / "part-1.parquet")
    rows[:0].to_parquet(tmp_path / "t" / "day=2026-10-02" / "part-empty.parquet")
    wanted = totals(pd.concat([rows.assign(day="2026-10-01"), rows.assign(day="2026-10-02")]))
    assert wanted.any()
    assert np.array_equal(totals(tmp_path / "t"), wanted)
    for kind, write in (
        ("csv", lambda part, at: part.to_csv(at, index=False)),
        ("jsonl", lambda part, at: part.to_json(at, orient="records", lines=True)),
    ):
        for day in ("2026-10-01", "2026-10-02"):
            at = tmp_path / kind / f"day={day}" / f"p.{kind}"
            at.parent.mkdir(parents=True)
            write(rows, at)
        (tmp_path / kind / "day=2026-10-02" / f"empty.{kind}").write_bytes(b"")
        assert np.array_equal(totals(tmp_path / kind), wanted), kind
    spark = tmp_path / "outer" / "trips.parquet"
    parquet(spark / "part-0.parquet")
    assert np.array_equal(totals(tmp_path / "outer"), totals(spark))


def test_the_value_of_a_folder_decides_no_type(tmp_path):
    """A person with a folder called x does not make one of 7 and 007, or two of them."""
    for folder, people in (("few", ["7", "007"]), ("more", ["7", "007", "x"])):
        for who in people:
            parquet(tmp_path / folder / f"who={who}" / "a.parquet", who=None)
    moved = totals(tmp_path / "more", protects="person") - totals(tmp_path / "few", protects="person")
    assert moved.any()
    assert by_itself(moved)


def test_parts_of_other_types_than_the_first(tmp_path):
    rows = pd.DataFrame([line.split(",") for line in plain_lines()], columns=HEADER.split(","))
    wanted = totals(pd.concat([rows, rows.assign(who="7")]))
    parquet(tmp_path / "a.parquet")
    parquet(
        tmp_path / "b.parquet", who=7, day=pd.to_datetime(rows.day), seconds=rows.seconds.astype(float), trip=range(60)
    )
    assert np.array_equal(totals(tmp_path), wanted)


@pytest.mark.parametrize(
    "name", ["it's", 'a"b', "a\\b", "[a]*?", "a{b,c}", "'; DROP TABLE x; --", "ü\n", "a=b", "$x %s"]
)
def test_names_of_files_columns_periods_and_nodes_are_names(tmp_path, name):
    """Whatever they are: quotes, brackets, backslashes, line breaks."""
    labels = [f"{name} {i}" if "\n" not in name else f"n{i}" for i in range(3)]
    period = name.replace("\n", "")
    rows = pd.DataFrame([line.split(",") for line in plain_lines()], columns=HEADER.split(","))
    plain = rows.assign(when="day")
    spelt = rows.assign(when=period).replace({end: dict(zip(NODES, labels, strict=True)) for end in ("from", "to")})
    spelt = spelt.rename(columns={"who": name, "seconds": name + "2", "when": name + "3"})
    wanted = totals(plain, **HERE, period="when", periods=["day"])
    assert wanted.any()
    named = HERE | dict(person=name, seconds=name + "2", period=name + "3", periods=[period])
    spelt.to_parquet(tmp_path / f"{name}.parquet")
    for given in (spelt, tmp_path / f"{name}.parquet", tmp_path):
        assert np.array_equal(totals(given, labels, **named), wanted)
    if "\n" not in name:
        spelt.to_csv(tmp_path / f"{name}.csv", index=False)
        assert np.array_equal(totals(tmp_path / f"{name}.csv", labels, **named), wanted)
    spelt.to_json(tmp_path / f"{name}.jsonl", orient="records", lines=True)
    assert np.array_equal(totals(tmp_path / f"{name}.jsonl", labels, **named), wanted)


def test_no_error_quotes_a_value(tmp_path, caplog):
    secret = "p1-went-home"
    broken = {
        "t.csv": f"{secret},\xff\n".encode("latin-1"), "t.parquet": secret.encode(), "u.csv": b"", "v.csv": b"\xff\n",
        "w.csv": f"who\rday\r{secret}".encode(),
    }  # fmt: skip
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(NetworkError) as caught:
            totals(tmp_path / name)
        chain, error = "", caught.value
        while error is not None:
            chain, error = chain + repr(error), error.__cause__ or error.__context__
        assert secret not in chain, name
    whole = tmp_path / "whole.parquet"
    parquet(whole, who=secret)
    trips = hushpath.read_trips(whole, network(), **HERE)
    data = whole.read_bytes()
    whole.write_bytes(data[:40] + bytes(len(data) - 200) + data[-160:])
    with pytest.raises(hushpath.HushpathError) as caught:
        hushpath.release_trips(trips, epsilon=1.0, protects="person-day", low=0.5, high=6)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert str(caught.value) == "the trips could not be read to their end (damaged?)"
    assert not caplog.records


@pytest.mark.parametrize("when", ["infinity", "-infinity", "never", "", "294248-01-01 00:00:00", "24:00", None, 5])
def test_times_that_are_none_are_of_no_period(when):
    rows = pd.DataFrame([line.split(",") for line in plain_lines()], columns=HEADER.split(","))
    rows = rows.assign(when="2026-10-01 08:30:00")
    named = HERE | dict(period="when", periods={"am": (7, 10), "night": (22, 5)})
    before = totals(rows, **named)
    assert before.any()
    assert np.array_equal(totals(pd.concat([rows[:1].assign(who="x", when=when), rows]), **named), before)


def test_totals_are_of_the_periods_that_were_declared():
    rows = pd.DataFrame([line.split(",") for line in plain_lines()], columns=HEADER.split(",")).assign(when="am")
    one, other = (
        hushpath.read_trips(rows, network(), **HERE, period="when", periods=p) for p in (["am", "pm"], ["pm", "am"])
    )
    made = hushpath.release_trips(one, epsilon=1.0, protects="person", low=0.5, high=6, seed=1)
    with pytest.raises(hushpath.HushpathError, match="other periods"):
        trip_totals(made.measurements.strategy, other, "coin")


VISITS = dict(person="who", day="day", trip="trip", node="node", time="time")


def visits(rows):
    return pd.DataFrame(rows, columns=["who", "day", "trip", "node", "time"])


def test_a_pass_over_midnight_is_of_no_day():
    """Its end would be a row of another unit: taking that day away would move two units."""
    night = [["p", "2026-10-01", 1, "a", 0.0], ["p", "2026-10-01", 1, "b", 20.0], ["p", "2026-10-02", 1, "c", 45.0]]
    with_it, without = visits([*night, ["p", "2026-10-02", 1, "a", 70.0]]), visits(night[:2])
    one, other = (totals(table, **VISITS).reshape(2, 3).sum(axis=0) for table in (with_it, without))
    assert (one[[0, 2]] > 0).all()
    assert one[1] == other[1] == 0  # from b to c at midnight
    assert np.array_equal(one[0], other[0])
    assert totals(with_it, protects="person", **VISITS).reshape(2, 3).sum(axis=0)[1] == 0  # releases of other days
    assert (totals(with_it, protects="trip", **VISITS).reshape(2, 3).sum(axis=0) > 0).all()  # both ends are of one unit


@pytest.mark.parametrize("count", [12, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("protects", ["person", "person-day", "trip"])
def test_a_unit_of_visits_moves_by_its_norm_whatever_it_shares(protects, count):
    """Same trip numbers, same times, days that follow each other: the rows of a unit end no pass of another."""
    rng = np.random.default_rng(3)
    for _ in range(count):
        rows = [
            [
                f"p{rng.integers(3)}",
                int(rng.integers(1, 4)),
                int(rng.integers(2)),
                NODES[rng.integers(3)],
                float(rng.integers(9)),
            ]
            for _ in range(60)
        ]
        table = visits(rows)
        keys = {"person": ["who"], "person-day": ["who", "day"], "trip": ["who", "trip"]}[protects]
        unit = tuple(table[keys].iloc[0])
        without = table[(table[keys].apply(tuple, axis=1) != unit).to_numpy()]
        moved = totals(table, protects=protects, **VISITS) - totals(without, protects=protects, **VISITS)
        assert by_itself(moved)


def test_the_order_of_equal_times_depends_on_nothing_else():
    """Two nodes at one time: which comes first is told by the rows themselves, not by where they lie in the table."""
    rng = np.random.default_rng(4)
    rows = [[f"p{i % 50}", 1, 1, NODES[rng.integers(3)], 9.0 * rng.integers(4)] for i in range(6000)]
    table = visits(rows).assign(part=[["am", "pm"][i] for i in rng.integers(0, 2, len(rows))])
    named = VISITS | dict(period="part", periods=["am", "pm"])
    found = [totals(table.sample(frac=1, random_state=seed), **named) for seed in range(4)]
    assert found[0].any()
    assert all(np.array_equal(found[0], other) for other in found[1:])


LISTS = dict(person="who", day="day", nodes="nodes", seconds="took")
STRANGE_LISTS = [
    (None, [1.0]), ([], []), (["a"], []), (["a", "b"], None), (["a", "b", "c"], [9.0]), (["a", "b"], [9.0] * 50),
    (["a", None, "b"], [9.0, 9.0]), (["a", "b"], [np.nan]), (["a", "b", "c"], [np.inf, -np.inf]), ("[broken", "[1"),
    ('{"a": 1}', "7"), ([["a"], ["b"]], [[9.0]]), ("x", 5), (["a", "b"] * 3000, [9.0] * 5999),
    (["NaN", "a", "b"], [1.0, 9.0]),
]  # fmt: skip


@pytest.mark.parametrize("strange", STRANGE_LISTS, ids=lambda pair: str(pair)[:30])
def test_lists_of_any_kind_are_rows_of_their_own(strange, tmp_path):
    rows = [[f"p{i}", 1, ["a", "b", "c", "a"], [9.0, 8.0, 7.0]] for i in range(20)]
    before = totals(pd.DataFrame(rows, columns=["who", "day", "nodes", "took"]), **LISTS)
    table = pd.DataFrame([["x", 1, *strange], *rows], columns=["who", "day", "nodes", "took"])
    assert before.any()
    assert by_itself(totals(table, **LISTS) - before)
    table.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    assert by_itself(totals(tmp_path / "t.jsonl", **LISTS) - before)


def test_even_emphasis_costs_nothing_by_rounding():
    for cells in (1, 3):
        ends = [["a", "b"], ["b", "c"], ["c", "a"]][:cells]
        found = totals(pd.DataFrame([["p", 1, 1, *pair, 1e9] for pair in ends], columns=HEADER.split(",")))
        assert 0.999 * SHARE <= np.sqrt((found.astype(float) ** 2).sum()) <= SHARE


def test_arrays_become_a_table_without_pandas_also_with_gaps_in_memory():
    columns = {
        "every_other": np.arange(8)[::-2], "the_same": np.broadcast_to(2.5, 4),
        "text": np.array(["7", "", "a'b", "é"], object), "frozen": np.arange(4.0),
    }  # fmt: skip
    columns["frozen"].flags.writeable = False
    with connection() as engine:
        register_arrays(engine, "arrays", columns)
        assert [kind for _, kind, *_ in engine.execute("DESCRIBE arrays").fetchall()] == [
            "BIGINT", "DOUBLE", "VARCHAR", "DOUBLE",
        ]  # fmt: skip
        assert engine.execute("SELECT * FROM arrays ORDER BY frozen").fetchall() == [
            (7, 2.5, "7", 0.0), (5, 2.5, "", 1.0), (3, 2.5, "a'b", 2.0), (1, 2.5, "é", 3.0),
        ]  # fmt: skip
