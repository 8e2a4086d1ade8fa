"""The ledger: what fits is charged before anything else happens, what does not is refused, and no file lies to it."""

import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from trip_formats import totals, units_moved

import hushpath
from hushpath import __version__
from hushpath.errors import BudgetError, CannotError, FileFormatError, OptionError
from hushpath.network.topology import Topology
from hushpath.privacy import ledger as ledger_module
from hushpath.privacy.composition import Spending
from hushpath.privacy.gaussian import gaussian_mu
from hushpath.privacy.ledger import Ledger

CRASH = Path(__file__).parents[1] / "ledger_crash.py"
MARK, OTHER = "ab" * 32, "cd" * 32


def pure(epsilon, protects="person-day"):
    return Spending(protects, "laplace", epsilon, epsilon)


def gaussian(epsilon, delta=1e-6, protects="person-day"):
    return Spending(protects, "gaussian", gaussian_mu(epsilon, delta) ** 2 / 2, epsilon, delta)


def days(first, last=None):
    return date(2024, 3, first), date(2024, 3, last or first)


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "a.ledger", dataset="taxi", protects="person-day", epsilon=2.0, delta=1e-6)


def raw(ledger, *statements):
    """Edit the file behind the ledger's back."""
    with sqlite3.connect(ledger.path) as connection:
        for statement in statements:
            connection.execute(*([statement] if isinstance(statement, str) else statement))
    connection.close()


# --- charging


def test_what_is_charged_is_kept(ledger):
    assert ledger.charge(gaussian(0.5), days=days(1, 7), file="week.hush") == 1
    assert ledger.charge(pure(0.25)) == 2
    first, second = Ledger.open(ledger.path).charges("taxi")
    assert (first.asked, first.days, first.file, first.version) == (gaussian(0.5), days(1, 7), "week.hush", __version__)
    assert (first.number, first.dataset, first.state, first.fingerprint) == (1, "taxi", "charged", None)
    assert (second.asked, second.days, second.file) == (pure(0.25), None, "")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(first.at)) < timedelta(minutes=1)


def test_a_refusal_says_spent_asked_and_remaining_and_changes_nothing(ledger):
    ledger.charge(pure(1.5), days=days(1, 7))
    before = ledger.path.read_bytes()
    with pytest.raises(BudgetError) as refused:
        ledger.charge(pure(0.75), days=days(7, 9))
    assert ledger.path.read_bytes() == before
    says = [
        "'taxi'", "epsilon 2, delta 1e-06", "2024-03-07: epsilon 1.5", "epsilon 0.75 (laplace noise, person-day)",
        "makes 2.25", "Remaining: epsilon 0.5 (laplace) or 0.", "Nothing was charged",
    ]  # fmt: skip
    for words in says:
        assert words in str(refused.value)
    with pytest.raises(BudgetError, match="more than delta allows"):
        Ledger.create(ledger.path.with_name("b"), dataset="d", protects="person-day", epsilon=1).charge(gaussian(0.1))


def test_days_apart_do_not_add_up_and_days_in_common_do(ledger):
    ledger.charge(pure(2.0), days=days(1))
    ledger.charge(pure(2.0), days=days(2, 5))
    for taken in (days(1), days(5, 6), days(1, 9), None):
        with pytest.raises(BudgetError):
            ledger.charge(pure(0.001), days=taken)
    ledger.charge(pure(1.0), days=days(6))
    assert ledger.spent("taxi").epsilon == 2.0
    assert [ledger.spent("taxi", days(day)).epsilon for day in (1, 5, 6, 7)] == [2, 2, 1, 0]
    assert [ledger.remaining("taxi", days(day)).epsilon for day in (1, 5, 6, 7)] == [0, 0, 1, 2]
    assert ledger.remaining("taxi", days(6, 7)).epsilon == 1


def test_a_release_of_all_days_takes_from_every_day(ledger):
    ledger.charge(pure(1.0))
    ledger.charge(pure(1.0), days=days(3))
    with pytest.raises(BudgetError):
        ledger.charge(pure(0.5), days=days(3))
    ledger.charge(pure(0.5), days=days(4))
    assert ledger.spent("taxi", days(30)).epsilon == 1.0


@pytest.mark.parametrize("protects", ["person", "declared"])
def test_without_a_day_in_the_unit_everything_adds_up(tmp_path, protects):
    ledger = Ledger.create(tmp_path / "a", dataset="d", protects=protects, epsilon=1.0)
    ledger.charge(pure(0.5, protects), days=days(1))
    ledger.charge(pure(0.5, protects), days=days(2))
    with pytest.raises(BudgetError, match="Spent, all days: epsilon 1"):
        ledger.charge(pure(0.001, protects), days=days(3))
    assert ledger.spent("d", days(9)).epsilon == 1.0


def test_a_ledger_takes_releases_of_its_own_unit_alone(ledger, tmp_path):
    for other in ("person", "trip", "declared"):
        with pytest.raises(OptionError, match=f"each person-day, this release each {other}"):
            ledger.charge(pure(0.1, other))
    people = Ledger.create(tmp_path / "b", dataset="d", protects="person", epsilon=1.0)
    with pytest.raises(OptionError, match="each person-day"):
        people.charge(pure(0.1))
    assert ledger.charges() == people.charges() == []


def test_leaving_out_a_day_moves_more_than_a_certificate_of_persons_says():
    """Why a release of persons is not charged to person-days: the rows that stay are scaled up to the same norm."""
    size = 40
    ends = np.array([(i, i + 1) for i in range(size)])
    topology = Topology.build(range(size + 1), *ends.T, directed=True, proxy=[9.0] * size, proxy_name="free")[0]
    one = pd.DataFrame({"who": 1, "day": "2026-10-01", "a": [0], "b": [1], "seconds": 1e6})
    many = pd.DataFrame({"who": 1, "day": "2026-10-02", "a": ends[1:, 0], "b": ends[1:, 1], "seconds": 0.0})
    named = dict(person="who", day="day", edge=("a", "b"), seconds="seconds")
    both, less = (
        totals(hushpath.read_trips(table, topology, **named), "person") for table in (pd.concat([one, many]), one)
    )
    assert 1.25 < units_moved(both, less) <= math.sqrt(2)


def test_a_trip_over_midnight_is_charged_to_both_days(tmp_path):
    """A file per month shows a trip that is under way as one of the first day: it is in two releases."""
    ledger = Ledger.create(tmp_path / "a", dataset="d", protects="trip", epsilon=2.0)
    ledger.charge(pure(1.5, "trip"), days=days(1, 10))
    with pytest.raises(BudgetError):
        ledger.charge(pure(1.0, "trip"), days=days(11, 20))
    assert ledger.remaining("d", days(11, 20)).epsilon == 0.5
    ledger.charge(pure(0.5, "trip"), days=days(11, 20))
    ledger.charge(pure(1.5, "trip"), days=days(21, 22))
    assert ledger.spent("d").epsilon == 2.0
    assert ledger.spent("d", days(15)).epsilon == 0.5
    ledger.charge(pure(0.5, "trip"), days=(date.min, date.min))


def test_data_sets_have_budgets_of_their_own(ledger):
    ledger.add_dataset("bikes", protects="trip", epsilon=1.0)
    ledger.charge(pure(1.0, "trip"), dataset="bikes")
    assert ledger.charge(pure(2.0), dataset="taxi") == 2
    assert [one.name for one in ledger.datasets()] == ["bikes", "taxi"]
    assert [len(ledger.charges(name)) for name in ("bikes", "taxi", None)] == [1, 1, 2]
    for name, says in ((None, "missing"), ("cars", "no data set 'cars'")):
        with pytest.raises(OptionError, match=f"{says}.*'bikes', 'taxi'"):
            ledger.charge(pure(0.1), dataset=name)
    with pytest.raises(OptionError, match="cannot be changed"):
        ledger.add_dataset("taxi", protects="trip", epsilon=9.0)


def test_the_whole_budget_can_be_spent_to_the_last_bit(ledger):
    for _ in range(3):
        left = ledger.remaining()
        ledger.charge(gaussian(left.gaussian_epsilon / 2))
    ledger.charge(pure(ledger.remaining().epsilon))
    assert ledger.spent().epsilon <= 2.0
    assert ledger.spent().delta == 1e-6
    with pytest.raises(BudgetError):
        ledger.charge(pure(0.01))


@pytest.mark.parametrize("numbers", [(5.0, 0.0, 1e-8), (0.0, 1.0, 1e-6), (1e-6, 1.0, 1e-6)])
def test_no_part_of_a_gaussian_charge_can_be_understated(tmp_path, numbers):
    """Neither epsilon nor rho: each book believes another of the numbers."""
    ledger = Ledger.create(tmp_path / "g", dataset="d", protects="person", epsilon=1.0, delta=1e-6)
    for _ in range(3):
        with pytest.raises(OptionError):
            ledger.charge(Spending("person", "gaussian", *numbers))
    assert ledger.charges() == []


@pytest.mark.parametrize("asked", [None, 1.0, "laplace"])
def test_only_a_spending_is_charged(ledger, asked):
    with pytest.raises(OptionError, match="needs a Spending"):
        ledger.charge(asked)


# --- releasing


def test_a_release_is_noted_once(ledger):
    number, second = ledger.charge(pure(0.5)), ledger.charge(pure(0.5))
    ledger.released(number, MARK)
    ledger.released(number, MARK)  # again: the same thing is said
    assert [(one.state, one.fingerprint) for one in ledger.charges()] == [("released", MARK), ("charged", None)]
    for wrong in ((number, OTHER), (second, MARK), (3, OTHER), (0, OTHER), (second, "short"), (True, MARK)):
        with pytest.raises(OptionError):
            ledger.released(*wrong)
    assert [one.fingerprint for one in ledger.charges()] == [MARK, None]
    assert ledger.spent().epsilon == 1.0  # a charge that never became a file counts


# --- making and opening


def test_a_ledger_is_never_replaced(ledger, tmp_path):
    (tmp_path / "text").write_text("hello")
    for path in (ledger.path, tmp_path / "text", tmp_path):
        with pytest.raises(OptionError, match="never replaced"):
            Ledger.create(path, dataset="d", protects="trip", epsilon=1.0)
    (tmp_path / "empty").touch()  # left by a process that was killed while it made one
    assert Ledger.create(tmp_path / "empty", dataset="d", protects="trip", epsilon=1.0).charges() == []
    with pytest.raises(CannotError, match="does not exist"):
        Ledger.create(tmp_path / "no" / "a", dataset="d", protects="trip", epsilon=1.0)


@pytest.mark.parametrize("wrong", [
    {"epsilon": math.inf}, {"epsilon": -1}, {"epsilon": math.nan}, {"delta": 0.9}, {"delta": -1e-6}, {"protects": "x"},
    {"dataset": ""}, {"dataset": "a\nb"}, {"dataset": " a"}, {"dataset": 3}, {"dataset": "x" * 300}, {"epsilon": True},
])  # fmt: skip
def test_a_data_set_that_cannot_be_is_refused_before_a_file_is_made(tmp_path, wrong):
    with pytest.raises(OptionError):
        Ledger.create(tmp_path / "a", **{"dataset": "d", "protects": "trip", "epsilon": 1.0, "delta": 0.0} | wrong)
    assert list(tmp_path.iterdir()) == []


def test_names_with_signs_of_addresses_are_names(tmp_path):
    path = tmp_path / "a?mode=memory&b#c%20d.ledger"
    Ledger.create(path, dataset="d'; DROP TABLE charge; --", protects="trip", epsilon=1.0)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    ledger = Ledger.open(path)
    ledger.charge(pure(0.5, "trip"), file="weird\udcff.hush")
    assert ledger.charges()[0].file == "weird\\udcff.hush"
    for make in (Ledger.open, lambda name: Ledger.create(name, dataset="d", protects="trip", epsilon=1.0)):
        with pytest.raises((OptionError, FileFormatError, CannotError)):
            make(str(tmp_path / "x\0y"))


# --- files that lie


DAMAGE = {
    "negative epsilon": "UPDATE charge SET epsilon = -1.0, spent = -1.0",
    "negative spent": "UPDATE charge SET spent = -1e-9, law = 'gaussian', delta = 1e-6",
    "infinite": "UPDATE charge SET epsilon = 9e999, spent = 9e999",
    "text": "UPDATE charge SET epsilon = 'abc'",
    "blob": "UPDATE charge SET spent = x'00'",
    "cheaper": "UPDATE charge SET epsilon = 0.1",
    "cheaper by certificate": "UPDATE charge SET law = 'gaussian', spent = 5.0, epsilon = 0.1, delta = 1e-7",
    "cheaper by rho": "UPDATE charge SET law = 'gaussian', spent = 1e-6, epsilon = 1.0, delta = 1e-6",
    "law": "UPDATE charge SET law = 'none'",
    "unit": "UPDATE charge SET protects = 'trip'",
    "another data set": "UPDATE charge SET dataset = 'nobody'",
    "half of the days": "UPDATE charge SET first = '2024-01-01'",
    "days in disorder": "UPDATE charge SET first = '2024-01-02', last = '2024-01-01'",
    "no day": "UPDATE charge SET first = '2024-02-30', last = '2024-03-01'",
    "another spelling": "UPDATE charge SET first = '20240101', last = '20240102'",
    "a number as day": "UPDATE charge SET first = 20240101, last = 20240102",
    "fingerprint": "UPDATE charge SET fingerprint = 'x'",
    "a gap": "DELETE FROM charge WHERE number = 1",
    "number": "UPDATE charge SET number = -number",
    "long text": "UPDATE charge SET file = printf('%.*c', 2000, 'x')",
    "no text": "UPDATE charge SET file = CAST(x'ff' AS TEXT)",
    "budget": "UPDATE dataset SET epsilon = 9e999",
    "budget of text": "UPDATE dataset SET epsilon = 'much'",
    "delta": "UPDATE dataset SET delta = -1.0",
    "unit of the data": "UPDATE dataset SET protects = 'house'",
    "name": "UPDATE dataset SET name = x'61'",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON charge BEGIN DELETE FROM charge WHERE number > 0; END",
    "a view": "CREATE VIEW v AS SELECT 1",
    "a table": "CREATE TABLE extra (a)",
    "an index": "CREATE INDEX i ON charge (dataset)",
    "a column": "ALTER TABLE charge ADD COLUMN more TEXT",
    "no table": "DROP TABLE charge",
    "another program's": "PRAGMA application_id = 7",
    "newer": "PRAGMA user_version = 99",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_lies_is_refused_whatever_is_asked(ledger, damage):
    ledger.charge(pure(0.5))
    ledger.charge(pure(0.5))
    raw(ledger, DAMAGE[damage])
    uses = [
        lambda: Ledger.open(ledger.path), lambda: ledger.charge(pure(0.1)), lambda: ledger.spent(), ledger.charges,
        ledger.remaining, lambda: ledger.released(1, MARK), lambda: ledger.add_dataset("e", protects="trip", epsilon=1),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(
            FileFormatError, match=r"a\.ledger (is damaged|is not a hushpath ledger|has ledger version 99)"
        ):
            use()


def test_the_same_file_for_two_charges_is_refused(ledger):
    ledger.charge(pure(0.5))
    ledger.charge(pure(0.5))
    raw(ledger, ("UPDATE charge SET fingerprint = ?", (MARK,)))
    with pytest.raises(FileFormatError, match="same file"):
        ledger.charges()


def test_no_bytes_crash_the_reader(ledger, tmp_path):
    """Every page cut off, flipped or filled: refused in our words, or read as what it says, never anything else."""
    for _ in range(4):
        ledger.charge(pure(0.25))
    content = ledger.path.read_bytes()
    bad, refused = tmp_path / "bad.ledger", 0
    damaged = [content[:cut] for cut in range(0, len(content), 512)]
    damaged += [content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :] for at in range(0, len(content), 31)]
    damaged += [b"hello", b"SQLite format 3\0" + b"\0" * 84, os.urandom(4096)]
    for text in damaged:
        bad.write_bytes(text)
        try:
            assert Ledger.open(bad).spent().epsilon <= 2.0
        except (FileFormatError, CannotError):
            refused += 1
    assert refused > 50


def test_files_of_other_programs_are_left_as_they_are(tmp_path):
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("CREATE TABLE a (b)")
    other.close()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(FileFormatError, match="is not a hushpath ledger"):
        Ledger.open(tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == before


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(FileFormatError, match="does not exist"):
        Ledger.open(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileFormatError, match="not an ordinary file"):
        Ledger.open(tmp_path)


def test_a_file_that_may_only_be_read_can_be_read(ledger):
    ledger.charge(pure(0.5))
    raw_connect = sqlite3.connect

    def read_only(address, **more):
        return raw_connect(address.replace("mode=rw", "mode=ro"), **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger_module.sqlite3, "connect", read_only)
        assert ledger.spent().epsilon == 0.5
        with pytest.raises(CannotError, match="readonly"):
            ledger.charge(pure(0.5))


# --- processes and crashes


def test_a_charge_waits_for_another_and_sees_it(ledger):
    """What is read is true when it is used: the file is held before the sums are made."""
    ledger.charge(pure(1.0))
    other = sqlite3.connect(ledger.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    other.execute(
        "INSERT INTO charge SELECT 2, dataset, protects, first, last, law, spent, epsilon, delta, at, version, file, "
        "fingerprint FROM charge"
    )
    outcome = []

    def charge():
        try:
            outcome.append(ledger.charge(pure(1.0)))
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=charge)
    thread.start()
    time.sleep(0.4)
    assert outcome == []  # it waits
    other.execute("COMMIT")
    other.close()
    thread.join(20)
    assert [type(one) for one in outcome] == [BudgetError]
    assert ledger.spent().epsilon == 2.0


def test_who_waits_too_long_is_told(ledger, monkeypatch):
    monkeypatch.setattr(ledger_module, "PATIENCE", 0.1)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(CannotError, match="in use by another process"):
        ledger.charge(pure(1.0))
    other.close()


def test_a_charge_is_on_the_disk_when_it_is_made(ledger):
    """The journal is deleted to commit, and the folder flushed: the last commit is not lost with the power."""
    with ledger_module.transaction(ledger.path, write=True) as content:
        assert content.connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert content.connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    raw(ledger, "PRAGMA journal_mode = WAL")
    number = ledger.charge(pure(0.5))
    assert sorted(one.name for one in ledger.path.parent.iterdir()) == ["a.ledger"]
    copy = ledger.path.with_name("copy.ledger")
    shutil.copy(ledger.path, copy)
    assert [one.number for one in Ledger.open(copy).charges()] == [number]


def test_no_charge_goes_into_a_log_that_another_program_keeps(ledger, monkeypatch):
    """A copy of the ledger without that log would forget it."""
    monkeypatch.setattr(ledger_module, "PATIENCE", 0.1)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("SELECT * FROM charge").fetchall()
    with pytest.raises(CannotError, match="another p"):
        ledger.charge(pure(0.5))
    other.close()
    assert ledger.charge(pure(0.5)) == 1


def test_nothing_is_kept_of_a_charge_that_did_not_return(ledger, monkeypatch):
    """And whoever did not get a number draws no noise."""
    monkeypatch.setattr("hushpath.privacy.ledger._now", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ledger.charge(pure(0.5))
    assert ledger.charges() == []


def crash(folder, kills, processes, fit, releases):
    """Run the helper: processes killed at random moments, a crowd on one ledger, and real releases killed."""
    asked = {"kills": kills, "processes": processes, "fit": fit, "releases": releases}
    words = [word for name, value in asked.items() for word in (f"--{name}", str(value))]
    command = [sys.executable, str(CRASH), str(folder), *words]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=900).stdout)
    killed, crowd = found["kills"], found["crowd"]
    for part in (killed, crowd):
        assert part["overspent"] == part["files_without_charge"] == part["noted_without_file"] == 0
    assert killed["charges"] >= killed["files"] > 0
    assert killed["never_released"] > 0  # some were killed between the charge and the note
    assert crowd["charges"] == crowd["files"] == crowd["fit"]  # all that fits, and not one more
    assert crowd["failed"] == 0
    made = found["releases"]
    assert made["overspent"] == made["files_without_charge"] == 0
    assert made["charges"] >= made["files"]
    return found


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")


@needs_fork
def test_crashes_and_crowds(tmp_path):
    crash(tmp_path, 20, 6, 60, 3)


@needs_fork
@pytest.mark.slow
def test_many_crashes_and_large_crowds(tmp_path, record_property):
    found = crash(tmp_path, 200, 16, 400, 200)
    assert found["releases"]["files"] > 20
    assert found["releases"]["never_released"] > 0
    record_property("found", json.dumps(found))
    print(json.dumps(found))
