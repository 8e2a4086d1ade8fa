"""``hushpath series``: planned, run, stopped in the middle without loss, and run again."""

import importlib
import json
import os
import signal
from datetime import date

import pytest
from named_graphs import grid_ends

import hushpath
from hushpath.cli import run
from hushpath.privacy.ledger import Ledger
from hushpath.releasing import steps

SERIES = [
    "series", "roads.csv", "--trips", "trips", "--from", "2024-01-31", "--every", "month", "--count", "3",
    "--epsilon", "3", "-o", "out", "--ledger", "city.ledger", "--low", "0.5", "--high", "6", "--proxy", "free_flow",
    "--person", "user", "--day", "date", "--edge", "from,to", "--seconds", "seconds", "--period", "when",
    "--periods", "am,pm",
]  # fmt: skip
PERSON = [*SERIES, "--protects", "person"]
FILES = [f"trips-2024-{day}.hush" for day in ("01-31", "02-29", "03-31")]
pytestmark = pytest.mark.filterwarnings("ignore:this is mostly noise")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ends = [(f"n{a}", f"n{b}") for a, b in grid_ends(3, 3).tolist()]
    (tmp_path / "roads.csv").write_text(
        "source,target,free_flow\n" + "".join(f"{one},{other},10\n" for one, other in ends)
    )
    (tmp_path / "trips").mkdir()
    rows = [
        f"p{person},2024-{month:02}-15,{one},{other},{11 + person},{'am' if person % 2 else 'pm'}\n"
        for person in range(5) for month in range(1, 6) for one, other in ends[person : person + 4]
    ]  # fmt: skip
    (tmp_path / "trips" / "part.csv").write_text("user,date,from,to,seconds,when\n" + "".join(rows))
    return tmp_path


def call(capsys, *arguments):
    code = run([str(one) for one in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def made():
    return sorted(os.listdir("out"))


def test_planned_run_and_run_again(folder, capsys):
    code, out, _ = call(capsys, *PERSON, "--plan")
    assert code == 0
    assert "3 releases of trips: epsilon 3, delta 1e-06 in total for each person." in out
    assert "2   2024-02-29 to 2024-03-30  1.4" in out
    assert out.count("to make") == 3
    assert sorted(os.listdir()) == ["roads.csv", "trips"]
    code, out, _ = call(capsys, *PERSON)
    assert code == 0
    assert out.count("charged and written") == 3
    assert made() == FILES
    assert hushpath.load("out/trips-2024-02-29.hush").periods == ("am", "pm")
    code, out, err = call(capsys, *PERSON, "--json")
    document = json.loads(out)
    assert (code, document["dataset"], document["trouble"], document["warnings"]) == (0, "trips", None, [])
    assert 2.8 < document["together"] <= 3
    assert [(one["state"], one["charges"]) for one in document["releases"]] == [("made", [n]) for n in (1, 2, 3)]
    assert call(capsys, "ledger", "check", "city.ledger", *(f"out/{name}" for name in FILES))[0] == 0


def test_stopped_between_releases_nothing_is_lost(folder, capsys, monkeypatch):
    module = importlib.import_module("hushpath.releasing.release")
    measure = module.measure

    def asked_to_stop(*args):
        os.kill(os.getpid(), signal.SIGINT)  # somebody presses Ctrl-C when the release is paid for
        return measure(*args)

    with monkeypatch.context() as patch:
        patch.setattr(module, "measure", asked_to_stop)
        before = signal.getsignal(signal.SIGINT)
        code, out, err = call(capsys, *PERSON)
        assert signal.getsignal(signal.SIGINT) is before
    assert code == 130
    assert "stopping when the release under way is written" in err
    assert made() == FILES[:1]
    assert [one.state for one in Ledger.open("city.ledger").charges()] == ["released"]
    code, out, _ = call(capsys, *PERSON)
    assert (code, made()) == (0, FILES)
    assert len(Ledger.open("city.ledger").charges()) == 3


def test_lost_is_said_and_can_be_left_out(folder, capsys):
    assert call(capsys, *PERSON)[0] == 0
    os.unlink(f"out/{FILES[1]}")
    code, out, err = call(capsys, *PERSON)
    assert (code, out) == (1, "")
    assert f"{FILES[1]} (charge 2" in err
    assert "--skip-lost" in err
    code, out, _ = call(capsys, *PERSON, "--plan")
    assert "NOT POSSIBLE as planned" in out
    code, out, _ = call(capsys, *PERSON, "--skip-lost", "--json")
    assert code == 0
    assert [one["state"] for one in json.loads(out)["releases"]] == ["made", "missing", "made"]


def test_person_days_spend_all_each_time_and_what_is_not_over_waits(folder, capsys, monkeypatch):
    monkeypatch.setattr(steps, "_today", lambda: date(2024, 4, 1))
    days = [*SERIES, "--protects", "person-day", "--split", "front", "--dataset", "city"]
    code, out, _ = call(capsys, *days)
    assert code == 0
    assert "Each day is in one release, so each release may spend all of it." in out
    assert "To come: the days are not over." in out
    assert made() == ["city-2024-01-31.hush", "city-2024-02-29.hush"]
    assert min(one.asked.epsilon for one in Ledger.open("city.ledger").charges("city")) > 2.5
    assert call(capsys, *days, "--early", "--no-retry")[0] == 0
    assert max(one.asked.epsilon for one in Ledger.open("city.ledger").charges("city")) > 2.99
    assert len(made()) == 3


@pytest.mark.parametrize(
    ("wrong", "words"),
    [(["--every", "year"], "every must be"), (["--count", "0"], "count"), (["--split", "back"], "split must be"),
     (["--epsilon", "0"], "greater than 0"), (["--from", "soon"], "a date such as"), (["--day", "nosuch"], "no column"),
     (["--ledger", "trips"], "is a folder"), (["-o", "roads.csv"], "is no folder"), (["--sign", "absent"], "No such")],
)  # fmt: skip
def test_mistakes(folder, capsys, wrong, words):
    code, _, err = call(capsys, *PERSON, *wrong)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert sorted(os.listdir()) == ["roads.csv", "trips"]
