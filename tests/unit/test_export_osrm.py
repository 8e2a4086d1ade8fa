"""Speeds for OSRM: lines that its parser takes, every edge in every direction, and times that come back."""

import re

import numpy as np
import pytest
from exported import BERLIN, SQUARE, of_trips, released

import hushpath
from hushpath.errors import CannotError, InputError, OptionError
from hushpath.geodesy import great_circle
from hushpath.output.formats import export
from hushpath.output.formats.speeds import speeds_of

LENGTHS = [(a, b, 500.0 + a) for a, b in SQUARE]


def lines(path):
    """As OSRM reads it: two ids and a whole number, nothing else; an empty line or a header would stop it."""
    text = path.read_text()
    assert re.fullmatch(r"(\d+,\d+,\d+\n)+", text)
    rows = [tuple(map(int, line.split(","))) for line in text.splitlines()]
    found = {(a, b): kmh for a, b, kmh in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("directed", [False, True])
def test_every_edge_and_its_time(tmp_path, directed):
    rel = released(directed=directed)
    written = export(rel, tmp_path / "s.csv", "osrm")
    found = lines(tmp_path / "s.csv")
    assert set(found) == {*SQUARE, *(() if directed else ((b, a) for a, b in SQUARE))}
    assert written.facts == {"speeds": len(found), "cut": 0, "parallel": 0}
    for (a, b), kmh in found.items():
        metres = great_circle(np.array([BERLIN[a]]), np.array([BERLIN[b]]))[0]
        time = rel.distance(a, b)  # over one edge in this network
        assert 3.6 * metres / (kmh + 0.5) <= time <= 3.6 * metres / (kmh - 0.5)


def test_units_of_time_are_turned_into_seconds(tmp_path):
    rel = released(quantity=hushpath.Quantity(unit_of_measure="minutes"))
    export(rel, tmp_path / "s.csv", "osrm", lengths=[(a, b, 60_000.0) for a, b in SQUARE])
    found = lines(tmp_path / "s.csv")
    assert found[10, 11] == round(60 / (rel.distance(10, 11) / 60))
    for nothing in (
        released(quantity=hushpath.Quantity("toll")),
        released(quantity=hushpath.Quantity(unit_of_measure="metres")),
    ):
        with pytest.raises(CannotError, match="speeds need times"):
            export(nothing, tmp_path / "no.csv", "osrm")
    assert not (tmp_path / "no.csv").exists()


def test_one_period_at_a_time(tmp_path):
    rel = of_trips(epsilon=9.0)  # with 3, one release in fifteen was wrong about it
    with pytest.raises(OptionError, match="osrm holds one period: add --period, one of am, pm"):
        export(rel, tmp_path / "s.csv", "osrm")
    for period in rel.periods:
        export(rel.for_period(period), tmp_path / f"{period}.csv", "osrm")
    am, pm = (lines(tmp_path / f"{period}.csv") for period in rel.periods)
    assert len(am) == len(pm) == rel.topology.num_edges
    assert sum(am.values()) > 1.3 * sum(pm.values())


def test_parallel_edges_have_the_speed_of_the_fastest(tmp_path):
    rel = released(SQUARE + SQUARE[:1], directed=True)
    written = export(rel, tmp_path / "s.csv", "osrm", lengths=LENGTHS)
    assert written.facts["parallel"] == 1
    assert lines(tmp_path / "s.csv")[10, 11] == round(3.6 * 510 / rel.distance(10, 11))


def test_no_road_is_closed_and_none_is_a_runway(tmp_path):
    far = [(10, 11, 1.0), (11, 12, 1e6), *LENGTHS[2:]]
    written = export(released(directed=True), tmp_path / "s.csv", "osrm", lengths=far)
    found = lines(tmp_path / "s.csv")
    assert (found[10, 11], found[11, 12], written.facts["cut"]) == (1, 250, 2)


def test_a_time_of_nothing_is_fast_and_not_closed():
    rel = released(directed=True)

    class Still:
        topology, statement, edge_weights = rel.topology, rel.statement, np.zeros(4)

    assert speeds_of(Still, LENGTHS).kmh.tolist() == [250] * 4


@pytest.mark.parametrize(
    ("lengths", "says"),
    [("source,target,length\n10,11,5\n", "3 of 4"), ("a,b\n1,2\n", "columns source, target"),
     ("source,target,length\n10,11,0\n", "row 1 of l.csv"), ("source,target,length\n10,11,far\n", "row 1 of l.csv"),
     ("source,target,length\n10,11,nan\n", "row 1 of l.csv"), ("source,target,length\n10,11\n", "2 fields"),
     ("source,target,length\n10,11,5\n11,10,6\n", "second length"), ("source,target,length\n10,99,5\n", "unknown node"),
     ("", "columns source")],
)  # fmt: skip
def test_lengths_are_all_there_or_it_says_which_are_not(tmp_path, lengths, says):
    (tmp_path / "l.csv").write_text(lengths)
    with pytest.raises(InputError, match=says):
        export(released(), tmp_path / "s.csv", "osrm", lengths=tmp_path / "l.csv")
    assert not (tmp_path / "s.csv").exists()


def test_lengths_of_a_file_hold_in_both_directions(tmp_path):
    (tmp_path / "l.csv").write_text("source,target,length\n" + "".join(f"{b},{a},{m}\n" for a, b, m in LENGTHS))
    export(released(places=None), tmp_path / "s.csv", "osrm", lengths=tmp_path / "l.csv")
    found = lines(tmp_path / "s.csv")
    assert all(found[a, b] == found[b, a] for a, b in SQUARE)


def test_what_is_refused(tmp_path):
    out = tmp_path / "s.csv"
    named = released([("a", "b"), ("b", "c")], places=None)
    for rel, says in [
        (named, "OSM ids"), (released(places=None), "--lengths"),
        (released(places={n: (x * 1000, y * 1000) for n, (x, y) in BERLIN.items()}), "--crs"),
        (released(epsilon=float("inf")), "NOT PRIVATE"),
    ]:  # fmt: skip
        with pytest.raises(CannotError, match=says):
            export(rel, out, "osrm")
    with pytest.raises(OptionError, match="--interval, --zones"):
        export(released(), out, "osrm", interval=True, zones=[10])
    assert not list(tmp_path.iterdir())
