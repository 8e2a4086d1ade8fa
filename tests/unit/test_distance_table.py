"""One table, every sink: bounded blocks, the columns a format can hold, and the same bytes from files and encoders."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from named_graphs import build, grid_ends

import hushpath
from hushpath.errors import OptionError
from hushpath.output import encode as encoders
from hushpath.output.distance_table import DistanceTable
from hushpath.output.encode import encode


@pytest.fixture(scope="module")
def rel():
    ends = grid_ends(4, 5)
    return hushpath.release(
        build(20, ends, np.full(len(ends), 5.0)), epsilon=1.0, unit=1.0, mechanism="input", max_weight=9.0
    ).with_decoder(estimator="clip")


@pytest.mark.parametrize("cells", [1, 20, 70, 10**6])
@pytest.mark.parametrize("targets", [None, [3, 1]])
def test_blocks_are_bounded_and_make_the_matrix(rel, cells, targets):
    table = DistanceTable.from_labels(rel, targets=targets, interval=True)
    blocks = [block for _, block in table.blocks(cells)]
    assert all(block[0].size <= max(cells, table.shape[1]) for block in blocks)
    assert np.array_equal(np.concatenate(blocks, axis=1), rel.matrix(None, targets, interval=True))
    some = [block for _, block in table.blocks(cells, slice(3, 8))]
    assert np.array_equal(np.concatenate(some, axis=1), rel.matrix(range(3, 8), targets, interval=True))


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_is_what_is_encoded(rel, tmp_path, form, long):
    path = tmp_path / f"m.{form}"
    hushpath.write_matrix(rel, path, [7, 2], long=long, dtype="float32")
    table = DistanceTable.from_labels(rel, [7, 2], long=long, dtype="float32")
    assert b"".join(encode(table, form)) == path.read_bytes()


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_small_blocks_hold_the_same_numbers(rel, form):
    content = b"".join(map(bytes, encode(DistanceTable.from_labels(rel), form, cells=30)))
    if form == "csv":
        found = np.loadtxt(io.BytesIO(content), delimiter=",", skiprows=1)[:, 1:]
    elif form == "parquet":
        found = pq.read_table(io.BytesIO(content)).drop(["source"]).to_pandas().to_numpy()
    else:
        found = np.array(pa.ipc.open_stream(content).read_all()["distance"].to_pylist())
    assert np.array_equal(found, rel.matrix())


def test_columns_that_a_format_cannot_hold(rel, monkeypatch):
    twice = DistanceTable.from_labels(rel, targets=[3, 3])
    for form in ("csv", "parquet"):
        with pytest.raises(OptionError):
            encode(twice, form)
    monkeypatch.setattr(encoders, "MAX_PARQUET_COLUMNS", 19)
    with pytest.raises(OptionError):
        encode(DistanceTable.from_labels(rel), "parquet")
    encode(DistanceTable.from_labels(rel), "csv")
    encode(DistanceTable.from_labels(rel, long=True), "parquet")
    encode(twice, "arrow")
