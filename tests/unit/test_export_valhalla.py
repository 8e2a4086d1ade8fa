"""Speeds for Valhalla: files where it looks for them, ids of its own, day and night."""

import pytest
from exported import SQUARE, of_trips, released

from hushpath.errors import CannotError, InputError, OptionError
from hushpath.output.formats import export
from hushpath.output.formats.speeds import graph_id, tile_file

IDS = [
    (a, b, f"{level}/{47701 + i}/{130 + i}") for i, ((a, b), level) in enumerate(zip(SQUARE, (0, 1, 2, 1), strict=True))
]


def rows(folder):
    """As Valhalla reads it: id, speed of the night, speed of the day, each file in the place of its tile."""
    found = {}
    for file in folder.rglob("*.csv"):
        for line in file.read_text().splitlines():
            name, night, day = line.split(",")
            level, tile, _ = graph_id(name)
            assert str(file.relative_to(folder)) == tile_file(level, tile)
            assert name not in found
            found[name] = int(night), int(day)
    return found


def test_a_release_of_one_time_is_for_day_and_night(tmp_path):
    rel = released()
    written = export(rel, tmp_path / "traffic", "valhalla", ids=[*IDS, (11, 10, "1/47701/9"), (11, 10, 112642252344)])
    found = rows(tmp_path / "traffic")
    assert set(found) == {*(name for *_, name in IDS), "1/47701/9", "0/3015/3357"}
    assert all(night == day and 1 <= day <= 250 for night, day in found.values())
    assert found["1/47701/9"] == found[IDS[0][2]]  # two names of one edge, in both directions
    assert written.facts["without_id"] == 3
    assert (tmp_path / "traffic" / "0" / "003" / "015.csv").is_file()


def test_day_and_night_of_two_periods(tmp_path):
    rel = of_trips(epsilon=9.0)
    ids = [(0, 1, "1/2/3"), (1, 0, "1/2/4")]
    with pytest.raises(OptionError, match="add --period"):
        export(rel, tmp_path / "x", "valhalla", ids=ids)
    export(rel.for_period("pm"), tmp_path / "day", "valhalla", ids=ids)
    export(rel.for_period("pm"), tmp_path / "both", "valhalla", ids=ids, night="am")
    day, both = rows(tmp_path / "day")["1/2/3"], rows(tmp_path / "both")["1/2/3"]
    assert day[0] == 0  # as it was
    assert 0 < both[1] == day[1] < both[0]
    with pytest.raises(OptionError):
        export(rel.for_period("pm"), tmp_path / "x", "valhalla", ids=ids, night="noon")
    with pytest.raises(OptionError, match="no periods"):
        export(released(), tmp_path / "x", "valhalla", ids=IDS, night="am")


@pytest.mark.parametrize(
    "wrong", ["", "x", "1/2", "3/1/1", "1/2/3/4", "-1", "1/9999999/1", "1/1/9999999", 2**60, "7", None]
)
def test_ids_that_are_none(tmp_path, wrong):
    with pytest.raises(InputError, match="row 1 of ids"):
        export(released(), tmp_path / "x", "valhalla", ids=[(10, 11, wrong)])
    assert not list(tmp_path.iterdir())


def test_what_is_refused(tmp_path):
    rel, out = released(directed=True), tmp_path / "x"
    for ids, place in [
        ([(11, 10, "1/2/3")], "row 1 of ids"), ([(10, 99, "1/2/3")], "99"),
        ([(10, 11, "1/2/3"), (11, 12, "1/2/3")], "row 2 of ids"), (["10,11"], "row 1 of ids"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=place):
            export(rel, out, "valhalla", ids=ids)
    with pytest.raises(OptionError, match="--ids"):
        export(rel, out, "valhalla")
    with pytest.raises(CannotError, match="NOT PRIVATE"):
        export(released(epsilon=float("inf")), out, "valhalla", ids=IDS)
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(OptionError, match="exists"):
        export(rel, out, "valhalla", ids=IDS)
    assert [path.name for path in tmp_path.rglob("*")] == ["x", "mine.txt"]
