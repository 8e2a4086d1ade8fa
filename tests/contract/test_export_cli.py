"""``hushpath export`` as people meet it: from a release of OSM streets to every format, in words and as JSON."""

import json

import pytest
from exported import SQUARE, of_trips, released

from hushpath.cli import run
from hushpath.cli.reading import EXPORT_FORMATS
from hushpath.output.formats import FORMATS

FILES = {
    "lengths.csv": "source,target,length\n" + "".join(f"{a},{b},900\n" for a, b in SQUARE),
    "ids.csv": "source,target,edge_id\n" + "".join(f"{a},{b},1/47701/{i}\n" for i, (a, b) in enumerate(SQUARE)),
    "zones.csv": "zone,node\n1,10\n2,12\n",
    "some.txt": "10\n12\n",
}
COMMANDS = {
    "osrm": (["--lengths", "lengths.csv"], "8 speeds in whole km/h (travel time in seconds, 2026-03), written to out."),
    "valhalla": (["--ids", "ids.csv"], "4 speeds in whole km/h in 1 tiles"),
    "omx": (["--zones", "zones.csv", "--interval"], "3 matrices of 2 x 2 zones: travel_time, travel_time_low"),
    "geojson": ([], "4 edges (travel time in seconds, 2026-03), written to out."),
    "geoparquet": (["--crs", "EPSG:4326"], "4 edges"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("export")
    for name, text in FILES.items():
        (place / name).write_text(text)
    released().save(place / "r.hush")
    of_trips().save(place / "t.hush")
    return place


def test_every_format_has_a_command():
    assert set(COMMANDS) == set(FORMATS)
    assert set(EXPORT_FORMATS.replace(" or ", ", ").rstrip(".").split(", ")) == set(FORMATS)


@pytest.mark.parametrize("to", COMMANDS)
def test_a_command_for_each(folder, tmp_path, monkeypatch, capsys, to):
    monkeypatch.chdir(tmp_path)
    for name in [*FILES, "r.hush"]:
        (tmp_path / name).symlink_to(folder / name)
    more, says = COMMANDS[to]
    assert run(["export", "r.hush", "--to", to, "-o", "out", *more]) == 0
    out, err = capsys.readouterr()
    assert says in out
    assert err == ""
    assert FORMATS[to].folder is (tmp_path / "out").is_dir()
    assert run(["export", "r.hush", "--to", to, "-o", "json", *more, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["private"], document["format"], document["file"]) == (True, to, "json")
    assert document["quantity"] == {
        "name": "travel time", "unit_of_measure": "seconds", "date": "2026-03", "publisher": "", "dataset": "",
    }  # fmt: skip
    again = run(["export", "r.hush", "--to", to, "-o", "out", *more])  # files are replaced, folders are not
    assert again == (2 if FORMATS[to].folder else 0)


def test_periods_on_the_command_line(folder, tmp_path, capsys):
    assert run(["export", str(folder / "t.hush"), "--to", "osrm", "-o", str(tmp_path / "s.csv")]) == 2
    assert "add --period, one of am, pm" in capsys.readouterr().err
    for period in ("am", "pm"):
        more = ["--period", period, "-o", str(tmp_path / f"{period}.csv")]
        assert run(["export", str(folder / "t.hush"), "--to", "osrm", *more]) == 0
    assert (tmp_path / "am.csv").read_text() != (tmp_path / "pm.csv").read_text()
    assert run(["export", str(folder / "t.hush"), "--to", "omx", "-o", str(tmp_path / "s.omx")]) == 0
    assert "travel_time_am, travel_time_pm" in capsys.readouterr().out
