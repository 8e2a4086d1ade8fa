"""Skims, opened with the real openmatrix."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import openmatrix
import pytest
from exported import BERLIN, SQUARE, of_trips, released

from hushpath.errors import CannotError, InputError, OptionError
from hushpath.output.formats import export, omx
from hushpath.published.quantity import Quantity


def test_every_node_is_a_zone_unless_told(tmp_path):
    rel = released()
    written = export(rel, tmp_path / "s.omx", "omx")
    assert written.facts == {"zones": 4, "matrices": ["travel_time"]}
    with openmatrix.open_file(str(tmp_path / "s.omx")) as file:
        assert file.list_matrices() == ["travel_time"]
        assert file.shape() == (4, 4)
        assert np.array_equal(file["travel_time"][:], rel.matrix())
        assert file.mapping("zone") == {10: 0, 11: 1, 12: 2, 13: 3}
        attributes = file.root._v_attrs
        assert (attributes["hushpath_quantity"], attributes["hushpath_unit_of_measure"]) == ("travel time", "seconds")
        assert json.loads(attributes["hushpath_statement"])["private"] is True
        assert file["travel_time"].attrs["date"] == "2026-03"
    assert b"NOT PRIVATE" not in (tmp_path / "s.omx").read_bytes()


def test_zones_with_numbers_of_their_own(tmp_path):
    rel = released([("a", "b"), ("b", "c"), ("c", "d")], places=None)
    for name, text, zones, nodes in [
        ("lines.txt", "c\na\n", [1, 2], ["c", "a"]), ("both.csv", "zone,node\n7,b\n3,d\n", [7, 3], ["b", "d"]),
        ("more.csv", "node,name,zone\nb,x,70\nb,y,8\n", [70, 8], ["b", "b"]),
    ]:  # fmt: skip
        (tmp_path / name).write_text(text)
        export(rel, tmp_path / "s.omx", "omx", zones=tmp_path / name)
        with openmatrix.open_file(str(tmp_path / "s.omx")) as file:
            assert file.map_entries("zone") == zones
            assert [node.decode() for node in file.map_entries("node")] == nodes
            assert np.array_equal(file["travel_time"][:], rel.matrix(nodes, nodes))


def test_ids_too_large_for_a_lookup_are_nodes(tmp_path):
    big = 12_345_678_901
    rel = released([(a + big, b + big) for a, b in SQUARE], places={n + big: xy for n, xy in BERLIN.items()})
    export(rel, tmp_path / "s.omx", "omx")
    with openmatrix.open_file(str(tmp_path / "s.omx")) as file:
        assert file.map_entries("zone") == [1, 2, 3, 4]
        assert file.map_entries("node") == list(rel.topology.labels)


def test_periods_and_intervals_are_layers(tmp_path, monkeypatch):
    rel = of_trips()
    monkeypatch.setattr("hushpath.published.release.CHUNK_NUMBERS", 3 * 16)  # several blocks of rows
    export(rel, tmp_path / "s.omx", "omx", zones=[3, 0, 12, 5, 9], interval=True, confidence=0.8)
    with openmatrix.open_file(str(tmp_path / "s.omx")) as file:
        ends = ("", "_low", "_high")
        assert sorted(file.list_matrices()) == sorted(f"travel_time_{p}{e}" for p in ("am", "pm") for e in ends)
        for period in rel.periods:
            wanted = rel.for_period(period).matrix([3, 0, 12, 5, 9], [3, 0, 12, 5, 9], interval=True, confidence=0.8)
            for end, matrix in zip(ends, wanted, strict=True):
                assert np.array_equal(file[f"travel_time_{period}{end}"][:], matrix)
            assert file[f"travel_time_{period}_low"].attrs["confidence"] == 0.8
            assert file[f"travel_time_{period}"].attrs["period"] == period
    export(rel.for_period("pm"), tmp_path / "pm.omx", "omx")
    with openmatrix.open_file(str(tmp_path / "pm.omx")) as file:
        assert file.list_matrices() == ["travel_time_pm"]


def test_a_long_statement_lies_beside_the_attributes(tmp_path, monkeypatch):
    monkeypatch.setattr(omx, "LONGEST", 100)
    export(released(), tmp_path / "s.omx", "omx")
    with openmatrix.open_file(str(tmp_path / "s.omx")) as file:
        assert file.root._v_attrs["hushpath_unit_of_measure"] == "seconds"
        assert json.loads(file.root.hushpath_statement.read())["private"] is True
        assert file.list_matrices() == ["travel_time"]


def test_unreachable_is_infinite(tmp_path):
    export(released([(1, 2), (3, 4)], places=None), tmp_path / "s.omx", "omx")
    with openmatrix.open_file(str(tmp_path / "s.omx")) as file:
        assert file["travel_time"][0, 2] == np.inf


def test_what_is_not_private_is_called_so(tmp_path):
    export(released(epsilon=float("inf")), tmp_path / "s.omx", "omx", interval=True)
    with openmatrix.open_file(str(tmp_path / "s.omx")) as file:
        assert all(name.startswith("NOT_PRIVATE_travel_time") for name in file.list_matrices())
        assert file.root._v_attrs["hushpath_marking"].startswith("NOT PRIVATE")
        assert all(file[name].attrs["marking"].startswith("NOT PRIVATE") for name in file.list_matrices())


@pytest.mark.parametrize(
    "text",
    ["zone,node\nx,10\n", "zone,node\n1,10\n1,11\n", "10\n10\n", "", "zone,nod\n1,10\n", "99\n",
     f"zone,node\n{2**32},10\n", "zone,node\n-1,10\n"],
)  # fmt: skip
def test_zones_that_are_none(tmp_path, text):
    (tmp_path / "z.csv").write_text(text)
    with pytest.raises(InputError):
        export(released(), tmp_path / "s.omx", "omx", zones=tmp_path / "z.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["z.csv"]


def test_without_openmatrix(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openmatrix", None)
    with pytest.raises(CannotError, match=r"pip install 'hushpath\[omx\]'"):
        export(released(), tmp_path / "s.omx", "omx")


def test_bounded_and_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(omx, "MOST_NODES", 3)
    with pytest.raises(OptionError, match="--zones"):
        export(released(), tmp_path / "s.omx", "omx")
    real = omx._read_back
    monkeypatch.setattr(omx, "_read_back", lambda *a: [value + 1 for value in real(*a)])
    with pytest.raises(CannotError, match="incomplete"):
        export(released(), tmp_path / "s.omx", "omx", zones=[10, 11])
    assert not list(tmp_path.iterdir())


def test_names_of_periods_that_look_like_layers_get_matrices_of_their_own():
    for periods in (["am", "am_low"], ["a_b_3", "a b", "a_b"], ["am_low", "am"], ["x", "x_2", "x!"]):
        statement = SimpleNamespace(marking="", quantity=Quantity("travel time"))
        several = [SimpleNamespace(period=period, statement=statement) for period in periods]
        for interval in (False, True):
            names = [name for layers in omx._names(several, interval) for name in layers]
            assert len(set(names)) == len(names) == len(periods) * (3 if interval else 1)
