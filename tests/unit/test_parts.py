"""A matrix in parts: read by other programs, made in shares, gone on with, joined; and files that are no parts."""

import os
import shutil

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exported import of_trips, released
from named_graphs import build, grid_ends

import hushpath
from hushpath.errors import CannotError, FileFormatError, InputError, OptionError
from hushpath.publish import parts as layout
from hushpath.publish.export import write_matrix
from hushpath.publish.joined import join_parts
from hushpath.publish.parts import Part
from hushpath.publish.shares import parted, write_parts

MARK = "NOT PRIVATE"


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(layout, "PART_NUMBERS", 5 * 20)  # four sources of twenty targets each
    monkeypatch.setattr(layout, "GROUP_ROWS", 50)


@pytest.fixture(scope="module")
def rel():
    ends = grid_ends(4, 5)
    return hushpath.release(build(20, ends, np.full(len(ends), 5.0)), epsilon=1.0, unit=1.0, mechanism="input",
                            max_weight=9.0, estimator="clip")  # fmt: skip


@pytest.fixture(scope="module")
def other(rel):
    return rel.read(estimator="shrink")


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_rows_of_lists_in_other_programs(rel, tmp_path):
    out = tmp_path / "m"
    assert write_parts(rel, out) == ((20, 20), 5, 5, 0)
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
    write_parts(rel, out, ["c", "a"], ["b", "c"], long=True, interval=True, dtype="float32")
    table = pq.read_table(out / "rows").to_pandas()
    assert list(table) == ["source", "target", "distance", "low", "high"]
    assert table.astype({"source": str, "target": str}).to_numpy()[:, :2].tolist() == [
        ["c", "b"], ["c", "c"], ["a", "b"], ["a", "c"]
    ]  # fmt: skip
    found = rel.matrix(["c", "a"], ["b", "c"], interval=True, dtype="float32")
    for name, matrix in found._asdict().items():
        assert np.array_equal(table[name], matrix.ravel())
    query = f"select source from '{out}/rows/*.parquet' where target = 'b' order by source"
    assert duckdb.sql(query).fetchall() == [("a",), ("c",)]


QUESTIONS = [{}, {"long": True}, {"dtype": "float32", "interval": True}, {"sources": [7, 3, 11, 2, 19], "targets": [5]}]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_shares_joined_are_the_bytes_of_one_run(rel, tmp_path, question, monkeypatch):
    monkeypatch.setattr(layout, "PART_NUMBERS", 2 * len(question.get("targets", range(40))))
    write_parts(rel, tmp_path / "whole", **question)
    for number in (3, 1, 2):  # in any order, on two disks
        write_parts(rel, tmp_path / ("a" if number < 3 else "b"), share=(number, 3), **question)
    with pytest.raises(InputError, match=r"parts are not there: .*a/rows/part-0000\d.parquet is missing"):
        join_parts(rel, tmp_path / "a", [tmp_path / "a"], **question)
    assert not (tmp_path / "a" / "targets.parquet").exists()
    both = [tmp_path / "a", tmp_path / "b"]
    join_parts(rel, tmp_path / "joined", both, **question)
    join_parts(rel, tmp_path / "a", both, **question)
    assert contents(tmp_path / "joined") == contents(tmp_path / "a") == contents(tmp_path / "whole")
    for suffix in (".csv", ".parquet", *([] if "long" in question else [".npy"])):
        join_parts(rel, tmp_path / f"joined{suffix}", both, **question)
        write_matrix(rel, tmp_path / f"whole{suffix}", **question)
        assert (tmp_path / f"joined{suffix}").read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()


@pytest.mark.parametrize("share", [(0, 3), (4, 3), (1, 0), (-1, -1), (1, 10**7)])
def test_no_such_share(rel, tmp_path, share):
    with pytest.raises(OptionError, match="i from 1 to N"):
        write_parts(rel, tmp_path / "m", share=share)


def test_more_shares_than_parts(rel, tmp_path):
    made = [write_parts(rel, tmp_path / "m", share=(number, 9)).made for number in range(1, 10)]
    assert sorted(made) == [0, 0, 0, 0, 1, 1, 1, 1, 1]


def test_what_was_begun_is_gone_on_with(rel, tmp_path, monkeypatch):
    out, real, made = tmp_path / "m", Part.write, []

    def stopped(part, folder):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(part.number)
        real(part, folder)

    monkeypatch.setattr(Part, "write", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_parts(rel, out)
    assert sorted(contents(out)) == [f"rows/part-0000{i}.parquet" for i in range(3)]
    monkeypatch.setattr(Part, "write", real)
    kept = os.stat(out / "rows/part-00000.parquet").st_ino
    assert write_parts(rel, out) == ((20, 20), 5, 2, 3)
    assert os.stat(out / "rows/part-00000.parquet").st_ino == kept
    write_parts(rel, tmp_path / "at once")
    assert contents(out) == contents(tmp_path / "at once")
    assert write_parts(rel, out) == ((20, 20), 5, 0, 5)


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


@pytest.mark.parametrize(
    "harm", [cut_short, of_another_place, plain_text, a_link_to_nowhere, without_facts, of_no_question]
)
def test_what_is_no_part_is_made_again_and_never_joined(rel, tmp_path, harm):
    out = tmp_path / "m"
    write_parts(rel, out)
    sound = contents(out)
    harm(out / "rows/part-00001.parquet")
    with pytest.raises(InputError, match=r"1 of 5 parts are not there: .*part-00001.parquet is "):
        join_parts(rel, out, [out])
    assert write_parts(rel, out).made == 1
    assert contents(out) == sound


def test_parts_of_another_release_or_question_are_told_apart(rel, other, tmp_path):
    out = tmp_path / "m"
    write_parts(released(ends=grid_ends(4, 5).tolist(), places=None), out)
    with pytest.raises(InputError, match=r"5 of 5 parts .* belongs to another release, .* and 2 more"):
        join_parts(rel, out, [out])
    write_parts(rel, out)
    with pytest.raises(InputError, match=r"answers another question \(other read as\)"):
        join_parts(other, out, [out])
    with pytest.raises(InputError, match=r"answers another question \(other numbers, confidence\)"):
        join_parts(rel, out, [out], dtype="float32", interval=True)
    with pytest.raises(InputError, match=r"\(other layout\)"):
        join_parts(rel, tmp_path / "m.csv", [out], long=True)
    assert write_parts(rel, out, dtype="float32").made == 5
    shutil.copy(out / "rows/part-00000.parquet", tmp_path)
    write_parts(rel, out)
    shutil.copy(tmp_path / "part-00000.parquet", out / "rows")
    with pytest.raises(InputError, match="1 of 5 parts"):
        join_parts(rel, out, [out])


def changed(path, column=None, **options):
    """The same file with another column in it, written with other options."""
    table = pq.read_table(path)
    if column is not None:
        number = table.column_names.index(column[0])
        table = table.set_column(number, table.schema.field(number), column[1](table[column[0]]))
    pq.write_table(table, path, **{**layout.WRITTEN, **options})


def flipped(path):
    raw = bytearray(path.read_bytes())
    raw[raw.index(np.array(pq.read_table(path)["distance"][0].as_py()).tobytes()) + 9] ^= 1
    path.write_bytes(raw)


HARM = {
    "a bit of a number": flipped,
    "another source": lambda p: changed(p, ("source", lambda old: pa.array(old.to_numpy()[::-1].copy()))),
    "no number": lambda p: changed(
        p, ("distance", lambda old: pa.array([None, *old.to_pylist()[1:]], old.type))
    ),
    "a gap in a list": lambda p: changed(
        p, ("distance", lambda old: pa.array([[None] * 20, *old.to_pylist()[1:]], old.type))
    ),
    "compressed": lambda p: changed(p, compression="zstd"),
    "other groups": lambda p: changed(p, row_group_size=1),
}  # fmt: skip


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_damage_that_the_facts_do_not_show_is_found_when_joining(rel, tmp_path, harm):
    write_parts(rel, tmp_path / "m")
    (tmp_path / "m/targets.parquet").unlink()
    harm(tmp_path / "m/rows/part-00001.parquet")
    for out in ("m", "n", "n.npy", "n.csv"):
        with pytest.raises(FileFormatError, match=r"part-00001\.parquet is damaged"):
            join_parts(rel, tmp_path / out, [tmp_path / "m"])
        assert not (tmp_path / out / "targets.parquet").exists()
    assert not (tmp_path / "n.npy").exists()


@pytest.mark.parametrize("stray", ["notes.txt", "rows/part-00005.parquet", "rows/more/x.parquet", "rows/period=am/x"])
def test_a_folder_with_other_things_is_left_alone(rel, tmp_path, stray):
    out = tmp_path / "m"
    (out / stray).parent.mkdir(parents=True)
    (out / stray).write_text("mine")
    for act in (lambda: write_parts(rel, out), lambda: join_parts(rel, out, [out])):
        with pytest.raises(OptionError, match="is no part of this matrix"):
            act()
    assert contents(out) == {stray: b"mine"}


def test_names_of_periods_stay_inside_the_folder(tmp_path, monkeypatch):
    rel, out = of_trips(periods=("../../up", "7/8 a=b")), tmp_path / "in" / "m"
    out.parent.mkdir()
    write_parts(rel, out)
    assert {path.name for path in tmp_path.iterdir()} == {"in"}
    table = pq.read_table(out / "rows", partitioning="hive")
    assert set(table["period"].to_pylist()) == set(rel.periods)
    one = tmp_path / "one"
    write_parts(rel.at("7/8 a=b"), one)  # one period of it: the same files
    assert contents(one).items() - contents(out).items() == {
        ("targets.parquet", (one / "targets.parquet").read_bytes())
    }
    with pytest.raises(OptionError, match="a file holds one period"):
        join_parts(rel, tmp_path / "m.csv", [out])


@pytest.mark.parametrize("long", [False, True])
def test_what_is_not_private_says_so_in_every_row_of_every_file(tmp_path, long):
    write_parts(released(epsilon=float("inf")), tmp_path / "m", long=long)
    for file in (tmp_path / "m").rglob("*.parquet"):
        table = pq.read_table(file, partitioning=None)
        assert table.column_names[0] == MARK
        assert set(table[MARK].to_pylist()) == {MARK}
        assert table.schema.metadata[b"hushpath.marking"].startswith(MARK.encode())


def test_full_disks_and_odd_places(rel, tmp_path, monkeypatch):
    with pytest.raises(OptionError, match="a source and a target"):
        write_parts(rel, tmp_path / "m", sources=[])
    with pytest.raises(CannotError, match="there is no folder"):
        write_parts(rel, tmp_path / "no" / "m")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OptionError, match="is no folder"):
        write_parts(rel, tmp_path / "file")
    with pytest.raises(OptionError, match="no folder of parts"):
        join_parts(rel, tmp_path / "m", [tmp_path / "file"])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 99, 1))
    with pytest.raises(CannotError, match="GB are free"):
        write_parts(rel, tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_how_large_parts_are_depends_on_the_number_of_targets_alone(rel, monkeypatch):
    monkeypatch.undo()
    assert (
        layout.PART_NUMBERS == 2**25
    )  # another size is another layout: folders begun before could not be gone on with
    (whole,) = parted(rel)
    assert [part.sources for part in whole.parts] == [slice(0, 20)]
    monkeypatch.setattr(layout, "PART_NUMBERS", 100)
    for question in ({}, {"long": True}, {"interval": True}, {"dtype": "float32"}):
        assert [part.sources.start for part in parted(rel, **question)[0].parts] == [0, 4, 8, 12, 16]
