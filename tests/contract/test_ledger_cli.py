"""``hushpath ledger``: a budget from its making to the check of every file that was paid from it."""

import json
import sqlite3
from datetime import date

import pytest
from command import call
from named_graphs import grid_ends

import hushpath
from hushpath.privacy.composition import Spending
from hushpath.privacy.ledger import Ledger

INIT = ["ledger", "init", "a.ledger", "--dataset", "taxi", "--protects", "person-day", "--epsilon", "3"]
WEEK = date(2024, 3, 1), date(2024, 3, 7)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"n{a},n{b},5" for a, b in grid_ends(3, 4).tolist()]
    (tmp_path / "roads.csv").write_text("source,target,weight\n" + "\n".join(rows) + "\n")
    return tmp_path


def released(name, *, epsilon=1.0, law="gaussian", **more):
    """A release as it will be paid for: first the charge, then the noise."""
    net = hushpath.read_network("roads.csv")
    ledger = Ledger.open("a.ledger")
    plan = hushpath.plan(net.topology, epsilon=epsilon, unit=1.0, mechanism="input", delta=1e-6, noise=law)
    number = ledger.charge(Spending.of(plan.strategy.certificate, "person-day"), days=WEEK, file=name)
    made = hushpath.release(net, plan=plan, **more)
    made.save(name)
    return ledger, number, made


def test_the_whole_story(folder, capsys):
    assert call(capsys, *INIT, "--delta", "1e-6") == (
        0, "a.ledger: Data set taxi: epsilon 3, delta 1e-06 in total for each person-day.\n", "",
    )  # fmt: skip
    ledger, number, made = released("one.hush")
    ledger.released(number, made.fingerprint)
    released("two.hush", law="laplace")  # and then the program died

    code, out, err = call(capsys, "ledger", "show", "a.ledger")
    assert (code, err) == (0, "")
    assert "Data set taxi: epsilon 3, delta 1e-06 in total for each person-day." in out
    assert "Spent, on the day that cost most: epsilon 2." in out
    assert "Remaining for one release of all days: epsilon 0." in out
    rows = [" ".join(line.split()) for line in out.splitlines() if line[:1].isdigit()]
    assert rows[0] == "1 2024-03-01 to 2024-03-07 gaussian person-day 1 1e-06 released one.hush"
    assert rows[1].startswith("2 2024-03-01 to 2024-03-07 laplace person-day 0.99")
    assert rows[1].endswith(" 0 charged; no file recorded two.hush")

    code, out, err = call(capsys, "ledger", "show", "a.ledger", "--days", "2024-03-08..2024-04-01")
    assert "Spent, 2024-03-08 to 2024-04-01: epsilon 0." in out
    assert "Remaining for one release of 2024-03-08 to 2024-04-01: epsilon 3, or 3 with Gaussian noise" in out

    code, out, err = call(capsys, "ledger", "check", "a.ledger", "one.hush")
    assert (code, err) == (0, "")
    assert "a sound ledger with 2 charges" in out
    assert "Charges without a file, which count: 2." in out
    assert "ok: one.hush: charged" in out

    code, out, err = call(capsys, "ledger", "check", "a.ledger", "one.hush", "two.hush")
    assert code == 1
    assert "WRONG: two.hush: " in out
    assert "; charge 2 " in out


def test_machines_are_told_the_same(folder, capsys):
    code, out, _ = call(capsys, *INIT, "--delta", "1e-6", "--json")
    assert code == 0
    assert json.loads(out)["budget"] == {"epsilon": 3.0, "delta": 1e-6}
    ledger, number, made = released("one.hush")
    ledger.released(number, made.fingerprint)
    (shown,) = json.loads(call(capsys, "ledger", "show", "a.ledger", "--json")[1])["datasets"]
    assert shown["dataset"] == "taxi"
    assert shown["spent"] == {"epsilon": ledger.spent().epsilon, "delta": 1e-6}
    assert shown["remaining"]["epsilon"] == ledger.remaining().epsilon
    (charge,) = shown["charges"]
    assert (charge["days"], charge["state"], charge["fingerprint"]) == (
        ["2024-03-01", "2024-03-07"], "released", made.fingerprint,
    )  # fmt: skip
    assert charge["spent"] == made.statement.spent
    code, out, _ = call(capsys, "ledger", "check", "a.ledger", "one.hush", "none.hush", "--json")
    found = json.loads(out)
    assert (code, found["ok"], len(found["wrong"]), len(found["fine"])) == (1, False, 1, 2)


def test_check_finds_what_does_not_fit(folder, capsys):
    call(capsys, *INIT, "--delta", "1e-6")
    ledger, number, made = released("one.hush")
    ledger.released(number, made.fingerprint)
    with sqlite3.connect("a.ledger") as connection:  # somebody made the charge smaller
        connection.execute("UPDATE charge SET epsilon = 0.18, spent = 0.001")
    connection.close()
    code, out, _ = call(capsys, "ledger", "check", "a.ledger", "one.hush")
    assert code == 1
    assert "WRONG: one.hush: it spends epsilon 1, delta 1e-06" in out
    with sqlite3.connect("a.ledger") as connection:  # or the budget
        connection.execute("UPDATE dataset SET epsilon = 0.1")
    connection.close()
    code, out, _ = call(capsys, "ledger", "check", "a.ledger")
    assert code == 1
    assert "WRONG: taxi: epsilon " in out


def test_a_release_that_is_not_private_is_marked(folder, capsys):
    call(capsys, *INIT, "--delta", "1e-6")
    ledger, number, made = released("one.hush", seed=1)
    ledger.released(number, made.fingerprint)
    code, out, _ = call(capsys, "ledger", "check", "a.ledger", "one.hush")
    assert code == 1
    assert "WRONG: one.hush: NOT PRIVATE" in out


def test_several_data_sets(folder, capsys):
    call(capsys, *INIT)
    again = ["ledger", "init", "a.ledger", "--dataset", "bikes", "--protects", "trip", "--epsilon", "1"]
    assert call(capsys, *again)[0] == 2
    assert call(capsys, *again, "--add")[0] == 0
    out = call(capsys, "ledger", "show", "a.ledger")[1]
    assert out.count("No charges.") == 2
    assert "Data set taxi" not in call(capsys, "ledger", "show", "a.ledger", "--dataset", "bikes")[1]


@pytest.mark.parametrize(("arguments", "says"), [
    (INIT, "a.ledger exists; a ledger is never replaced"),
    ([*INIT[:2], "b.ledger", *INIT[3:-1], "inf"], "must be finite"),
    ([*INIT[:2], "b.ledger", *INIT[3:-1], "-1"], "epsilon"),
    ([*INIT[:2], "b.ledger", "--dataset", "d", "--protects", "house", "--epsilon", "1"], "person, person-day, trip"),
    ([*INIT[:2], "no/b.ledger", *INIT[3:]], "folder no does not exist"),
    ([*INIT[:2], "b.ledger", "--protects", "trip", "--epsilon", "1"], "Missing option '--dataset'"),
    ([*INIT, "--add"], "cannot be changed"),
    (["ledger", "show", "none.ledger"], "none.ledger does not exist"),
    (["ledger", "show", "roads.csv"], "roads.csv is damaged or is not a hushpath ledger"),
    (["ledger", "show", "."], ". is a folder"),
    (["ledger", "show", "a.ledger", "--dataset", "cars"], "no data set 'cars'"),
    (["ledger", "show", "a.ledger", "--days", "monday"], "--days"),
    (["ledger", "show", "a.ledger", "--days", "2024-03-02..2024-03-01"], "--days"),
    (["ledger", "check", "none.ledger"], "none.ledger does not exist"),
    (["ledger", "check", "a.ledger", "."], ". is a folder"),
    (["ledger", "burn"], "No such command 'burn'"),
])  # fmt: skip
def test_a_mistake_gets_one_clear_line(folder, capsys, arguments, says):
    call(capsys, *INIT)
    before = sorted(path.name for path in folder.iterdir()), (folder / "a.ledger").read_bytes()
    code, out, err = call(capsys, *arguments)
    assert code in (1, 2)
    assert out == ""
    assert err.startswith("hushpath: ")
    assert err.count("\n") == 1
    assert says in err
    assert (sorted(path.name for path in folder.iterdir()), (folder / "a.ledger").read_bytes()) == before
    document = json.loads(call(capsys, *arguments, "--json")[1])
    assert says in document["error"]["message"]
