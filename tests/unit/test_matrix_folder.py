"""A matrix as a folder of parts: read by other programs, interrupted and continued; damaged parts are written again."""

import os
import shutil

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from exported import of_trips, released
from named_graphs import build, grid_ends

import hushpath
from hushpath import write_matrix
from hushpath.errors import CannotError, OptionError
from hushpath.output import distance_table, matrix
from hushpath.output.distance_table import DistanceTable
from hushpath.output.matrix import Part, divide

MARK = "NOT PRIVATE"


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(matrix, "PART_CELLS", 5 * 20)  # four sources of twenty targets each
    monkeypatch.setattr(distance_table, "BATCH_ROWS", 50)


@pytest.fixture(scope="module")
def rel():
    ends = grid_ends(4, 5)
    return hushpath.release(
        build(20, ends, np.full(len(ends), 5.0)), epsilon=1.0, unit=1.0, mechanism="input", max_weight=9.0
    ).with_decoder(estimator="clip")


@pytest.fixture(scope="module")
def other(rel):
    return rel.with_decoder(estimator="shrink")


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_rows_of_lists_in_other_programs(rel, tmp_path):
    out = tmp_path / "m"
    assert write_matrix(rel, out) == ((20, 20), 5, 5, 0)
    assert sorted(contents(out)) == [*(f"rows/part-0000{i}.parquet" for i in range(5)), "targets.parquet"]
    table = pq.read_table(out / "rows")
    assert table.column_names == ["source", "distance"]
    assert np.array_equal(np.stack(table["distance"].to_numpy()), rel.matrix())
    frame = pd.read_parquet(out / "rows")
    assert frame.source.tolist() == pd.read_parquet(out / "targets.parquet").target.tolist() == list(range(20))
    query = f"""select distance[position + 1] from '{out}/rows/*.parquet', '{out}/targets.parquet'
                where source = 3 and target = 17"""
    assert duckdb.sql(query).fetchall() == [(rel.distance(3, 17),)]


def test_long_rows_of_some_nodes_with_intervals(tmp_path):
    rel, out = released([("a", "b"), ("b", "c")], places=None), tmp_path / "m"
    write_matrix(rel, out, ["c", "a"], ["b", "c"], long=True, interval=True, dtype="float32")
    table = pq.read_table(out / "rows").to_pandas()
    assert list(table) == ["source", "target", "distance", "low", "high"]
    assert table.astype({"source": str, "target": str}).to_numpy()[:, :2].tolist() == [
        ["c", "b"], ["c", "c"], ["a", "b"], ["a", "c"]
    ]  # fmt: skip
    found = rel.matrix(["c", "a"], ["b", "c"], interval=True, dtype="float32")
    for name, numbers in found._asdict().items():
        assert np.array_equal(table[name], numbers.ravel())
    query = f"select source from '{out}/rows/*.parquet' where target = 'b' order by source"
    assert duckdb.sql(query).fetchall() == [("a",), ("c",)]


def test_an_interrupted_run_is_continued(rel, tmp_path, monkeypatch):
    out, real, made = tmp_path / "m", Part.write, []

    def stopped(part, folder):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(part.number)
        real(part, folder)

    monkeypatch.setattr(Part, "write", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_matrix(rel, out)
    assert sorted(contents(out)) == [f"rows/part-0000{i}.parquet" for i in range(3)]
    monkeypatch.setattr(Part, "write", real)
    kept = os.stat(out / "rows/part-00000.parquet").st_ino
    assert write_matrix(rel, out) == ((20, 20), 5, 2, 3)
    assert os.stat(out / "rows/part-00000.parquet").st_ino == kept
    write_matrix(rel, tmp_path / "at once")
    assert contents(out) == contents(tmp_path / "at once")
    assert write_matrix(rel, out) == ((20, 20), 5, 0, 5)


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-20])


def of_another_place(path):
    shutil.copy(path.with_name("part-00002.parquet"), path)


def plain_text(path):
    path.write_text("source,distance\n")


def a_link_to_nowhere(path):
    path.unlink()
    path.symlink_to("gone")


def without_facts(path):
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)


def of_no_question(path):
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, b"hushpath.question": b"[" * 9**6}), path)


def a_flipped_bit(path):
    raw = bytearray(path.read_bytes())
    raw[raw.index(np.array(pq.read_table(path)["distance"][0].as_py()).tobytes()) + 9] ^= 1
    path.write_bytes(raw)


def without_some_rows(path):
    pq.write_table(pq.read_table(path)[1:], path)


HARM = [cut_short, of_another_place, plain_text, a_link_to_nowhere, without_facts, of_no_question, a_flipped_bit,
        without_some_rows]  # fmt: skip


@pytest.mark.parametrize("harm", HARM)
def test_a_damaged_part_is_written_again(rel, tmp_path, harm):
    out = tmp_path / "m"
    write_matrix(rel, out)
    sound = contents(out)
    harm(out / "rows/part-00001.parquet")
    assert write_matrix(rel, out).made == 1
    assert contents(out) == sound


def test_parts_of_another_release_or_question_are_written_again(rel, other, tmp_path):
    out = tmp_path / "m"
    write_matrix(released(ends=grid_ends(4, 5).tolist(), places=None), out)
    questions = [
        (rel, {}), (other, {}), (rel, {}), (rel, {"dtype": "float32"}), (rel, {"interval": True}),
        (rel, {"interval": True, "confidence": 0.8}), (rel, {"long": True}), (rel, {"sources": range(19, -1, -1)}),
        (rel, {"targets": range(19, -1, -1)}),
    ]  # fmt: skip
    for release, question in questions:
        assert write_matrix(release, out, **question).made == 5
        assert write_matrix(release, out, **question).kept == 5


@pytest.mark.parametrize("stray", ["notes.txt", "rows/part-00005.parquet", "rows/more/x.parquet", "rows/period=am/x"])
def test_a_folder_with_other_things_is_left_alone(rel, tmp_path, stray):
    out = tmp_path / "m"
    (out / stray).parent.mkdir(parents=True)
    (out / stray).write_text("mine")
    with pytest.raises(OptionError, match="is no part of this matrix"):
        write_matrix(rel, out)
    assert contents(out) == {stray: b"mine"}


def test_names_of_periods_stay_inside_the_folder(tmp_path, monkeypatch):
    rel, out = of_trips(periods=("../../up", "7/8 a=b")), tmp_path / "in" / "m"
    out.parent.mkdir()
    write_matrix(rel, out)
    assert {path.name for path in tmp_path.iterdir()} == {"in"}
    table = pq.read_table(out / "rows", partitioning="hive")
    assert set(table["period"].to_pylist()) == set(rel.periods)
    one = tmp_path / "one"
    write_matrix(rel.for_period("7/8 a=b"), one)  # one period of it: the same files
    assert contents(one).items() - contents(out).items() == {
        ("targets.parquet", (one / "targets.parquet").read_bytes())
    }


@pytest.mark.parametrize("long", [False, True])
def test_what_is_not_private_says_so_in_every_row_of_every_file(tmp_path, long):
    write_matrix(released(epsilon=float("inf")), tmp_path / "m", long=long)
    for file in (tmp_path / "m").rglob("*.parquet"):
        table = pq.read_table(file, partitioning=None)
        assert table.column_names[0] == MARK
        assert set(table[MARK].to_pylist()) == {MARK}
        assert table.schema.metadata[b"hushpath.marking"].startswith(MARK.encode())


def test_full_disks_and_odd_places(rel, tmp_path, monkeypatch):
    with pytest.raises(OptionError, match="one source and one target"):
        write_matrix(rel, tmp_path / "m", sources=[])
    with pytest.raises(CannotError, match="there is no folder"):
        write_matrix(rel, tmp_path / "no" / "m")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OptionError, match="not a folder"):
        write_matrix(rel, tmp_path / "file")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 99, 1))
    with pytest.raises(CannotError, match="GB are free"):
        write_matrix(rel, tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_how_large_parts_are_depends_on_the_number_of_targets_alone(rel, monkeypatch):
    def starts(**question):
        return [part.rows.start for part in divide([DistanceTable.from_labels(rel, **question)])]

    for question in ({}, {"long": True}, {"interval": True}, {"dtype": "float32"}):
        assert starts(**question) == [0, 4, 8, 12, 16]
    monkeypatch.undo()
    assert matrix.PART_CELLS == 2**25  # with another size, folders that were begun before could not be continued
    assert starts() == [0]
