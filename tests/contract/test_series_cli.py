"""``hushpath series``: planned, run, stopped in the middle without loss, and run again."""

import json
import os
import signal
from datetime import date
from pathlib import Path

import pytest
from command import call

import hushpath
from hushpath.privacy.ledger import Ledger
from hushpath.releasing import release as releasing
from hushpath.releasing import series as module

SPEC = """
[network]
file = "net.csv"
directed = true
proxy = "free_flow"
[trips]
file = "trips.parquet"
person = "who"
day = "date"
edge = ["from", "to"]
seconds = "seconds"
period = "period"
periods = ["am", "pm"]
low = 0.5
high = 6
[unit]
protects = "person"
[budget]
epsilon = 3
[ledger]
file = "city.ledger"
[schedule]
first = 2024-01-31
every = "month"
count = 3
"""
SERIES = ["series", "release.toml", "-o", "out"]
HERE = ["net.csv", "release.toml", "trips.parquet"]
FILES = [f"trips-2024-{day}.hush" for day in ("01-31", "02-29", "03-31")]
pytestmark = pytest.mark.filterwarnings("ignore:this is mostly noise")


@pytest.fixture(autouse=True)
def folder(city):
    Path("release.toml").write_text(SPEC)


def spec_with(*changes):
    """Change lines of the specification."""
    text = SPEC
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    Path("release.toml").write_text(text)


def made():
    return sorted(os.listdir("out"))


def test_planned_run_and_run_again(capsys):
    code, out, _ = call(capsys, *SERIES, "--plan")
    assert code == 0
    assert "3 releases of trips: epsilon 3, delta 1e-06 in total for each person." in out
    assert "2   2024-02-29 to 2024-03-30  1.4" in out
    assert out.count("to make") == 3
    assert sorted(os.listdir()) == HERE
    code, out, _ = call(capsys, *SERIES)
    assert code == 0
    assert out.count("charged and written") == 3
    assert made() == FILES
    assert hushpath.load("out/trips-2024-02-29.hush").periods == ("am", "pm")
    code, out, err = call(capsys, *SERIES, "--json")
    document = json.loads(out)
    assert (code, document["dataset"], document["problem"], document["warnings"]) == (0, "trips", None, [])
    assert 2.8 < document["together"] <= 3
    assert [(one["state"], one["charges"]) for one in document["releases"]] == [("made", [n]) for n in (1, 2, 3)]
    assert call(capsys, "ledger", "check", "city.ledger", *(f"out/{name}" for name in FILES))[0] == 0


def test_stopped_between_releases_nothing_is_lost(capsys, monkeypatch):
    measure = releasing.measure_trips

    def asked_to_stop(*args):
        os.kill(os.getpid(), signal.SIGINT)  # somebody presses Ctrl-C when the release is paid for
        return measure(*args)

    with monkeypatch.context() as patch:
        patch.setattr(releasing, "measure_trips", asked_to_stop)
        before = signal.getsignal(signal.SIGINT)
        code, out, err = call(capsys, *SERIES)
        assert signal.getsignal(signal.SIGINT) is before
    assert code == 130
    assert "stopping" in err
    assert made() == FILES[:1]
    assert [one.state for one in Ledger.open("city.ledger").charges()] == ["released"]
    code, out, _ = call(capsys, *SERIES)
    assert (code, made()) == (0, FILES)
    assert len(Ledger.open("city.ledger").charges()) == 3


def test_lost_is_said_and_can_be_left_out(capsys):
    assert call(capsys, *SERIES)[0] == 0
    os.unlink(f"out/{FILES[1]}")
    code, out, err = call(capsys, *SERIES)
    assert (code, out) == (1, "")
    assert f"{FILES[1]} (charge 2" in err
    assert "--skip-missing" in err
    code, out, _ = call(capsys, *SERIES, "--plan")
    assert "NOT POSSIBLE as planned" in out
    code, out, _ = call(capsys, *SERIES, "--skip-missing", "--json")
    assert code == 0
    assert [one["state"] for one in json.loads(out)["releases"]] == ["made", "missing", "made"]


def test_person_days_spend_all_each_time_and_what_is_not_over_waits(capsys, monkeypatch):
    monkeypatch.setattr(module, "_today", lambda: date(2024, 4, 1))
    days = [*SERIES, "--dataset", "city"]
    changes = ('= "person"', '= "person-day"'), ("count = 3", 'count = 3\nsplit = "front"')
    spec_with(*changes)
    code, out, _ = call(capsys, *days)
    assert code == 0
    assert "Each day is in one release, so each release may spend all of it." in out
    assert "To come: the days are not over." in out
    assert made() == ["city-2024-01-31.hush", "city-2024-02-29.hush"]
    assert min(one.asked.epsilon for one in Ledger.open("city.ledger").charges("city")) > 2.5
    spec_with(changes[0], ("count = 3", 'count = 3\nsplit = "front"\nretry = false'))
    assert call(capsys, *days, "--early")[0] == 0
    assert max(one.asked.epsilon for one in Ledger.open("city.ledger").charges("city")) > 2.99
    assert len(made()) == 3


@pytest.mark.parametrize(
    ("wrong", "named"),
    [(["--epsilon", "0"], "epsilon"), (["--ledger", "trips.parquet"], "trips.parquet"), (["-o", "net.csv"], "net.csv"),
     (["--sign", "absent"], "absent"), (("\"month\"", "\"year\""), "every"), (("count = 3", "count = 0"), "count"),
     (("count = 3", "count = 3\nsplit = \"back\""), "split"), (("2024-01-31", "\"soon\""), "first"),
     (("\"date\"", "\"nosuch\""), "'nosuch'"), ((SPEC[SPEC.index("[schedule]") :], ""), "schedule")],
    ids=str,
)  # fmt: skip
def test_mistakes(capsys, wrong, named):
    if isinstance(wrong, tuple):
        spec_with(wrong)
    code, _, err = call(capsys, *SERIES, *(wrong if isinstance(wrong, list) else ()))
    assert code == 2
    assert named in err
    assert err.count("\n") == 1
    assert sorted(os.listdir()) == HERE
