"""A partitioned folder, read with the real pyarrow and the real duckdb."""

import json

import duckdb
import numpy as np
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from exported import of_trips, released

from hushpath.errors import CannotError, OptionError
from hushpath.export import export, parquet


def test_periods_and_parts_are_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "CHUNK_NUMBERS", 5 * 16)
    rel, out = of_trips(), tmp_path / "out"
    written = export(rel, out, "parquet", interval=True)
    assert written.facts == {"rows": 512, "files": 8, "periods": ["am", "pm"]}
    assert (
        sorted(str(p.relative_to(out)) for p in out.rglob("*.parquet"))[0] == "period=am/origin_part=000/part.parquet"
    )
    table = ds.dataset(out, partitioning="hive").to_table().to_pandas()
    assert {"origin_id", "destination_id", "duration", "low", "high", "period", "origin_part"} == set(table)
    for period in rel.periods:
        mine = table[table.period == period].sort_values(["origin_id", "destination_id"])
        distance, low, high = rel.at(period).matrix(interval=True)
        for name, matrix in (("duration", distance), ("low", low), ("high", high)):
            assert np.array_equal(mine[name].to_numpy().reshape(16, 16), matrix)
    where = "period = 'pm' and origin_id = 3 and destination_id = 9"
    query = f"select duration from read_parquet('{out}/**/*.parquet') where {where}"
    assert duckdb.sql(query).fetchall() == [(rel.at("pm").distance(3, 9),)]


def test_one_time_some_nodes(tmp_path):
    rel = released([("a", "b"), ("b", "c")], places=None)
    export(rel, tmp_path / "out", "parquet", sources=["c", "a"], targets=["b"])
    table = pq.read_table(tmp_path / "out/origin_part=000/part.parquet", partitioning=None)
    assert table.column_names == ["origin_id", "destination_id", "duration"]
    assert table["origin_id"].to_pylist() == ["c", "a"]
    assert table["duration"].to_pylist() == [rel.distance("c", "b"), rel.distance("a", "b")]
    facts = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert (facts["hushpath.quantity"], facts["hushpath.units"]) == ("travel time", "seconds")
    assert json.loads(facts["hushpath.statement"])["private"] is True
    assert "hushpath.marking" not in facts
    export(released(quantity="toll"), tmp_path / "toll", "parquet")
    table = pq.read_table(tmp_path / "toll/origin_part=000/part.parquet", partitioning=None)
    assert table.column_names[2] == "distance"  # which is not known to be a time


def test_what_is_not_private_says_so_in_every_row(tmp_path):
    export(released(epsilon=float("inf")), tmp_path / "out", "parquet")
    table = ds.dataset(tmp_path / "out", partitioning="hive").to_table()
    assert table.column_names[0] == "NOT PRIVATE"
    assert set(table["NOT PRIVATE"].to_pylist()) == {"NOT PRIVATE"}
    assert table.schema.metadata[b"hushpath.marking"].startswith(b"NOT PRIVATE")


def test_complete_or_not_at_all(tmp_path, monkeypatch):
    rel, out, real, count = of_trips(), tmp_path / "out", parquet._write_part, []

    def full(*arguments):
        count.append(1)
        if len(count) == 2:
            raise OSError(28, "No space left on device")
        real(*arguments)

    monkeypatch.setattr(parquet, "_write_part", full)
    with pytest.raises(CannotError, match=r"cannot write .*out: No space left on device"):
        export(rel, out, "parquet")
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(parquet, "_write_part", real)
    out.mkdir()  # an empty folder is as good as none
    export(rel, out, "parquet")
    assert out.stat().st_mode & 0o077
    with pytest.raises(OptionError, match="is there already"):
        export(rel, out, "parquet")


def test_periods_with_any_name(tmp_path):
    rel = of_trips(periods=("7/8 a=b", "pm"))
    export(rel, tmp_path / "out", "parquet")
    table = ds.dataset(tmp_path / "out", partitioning="hive").to_table()
    assert set(table["period"].to_pylist()) == set(rel.periods)
