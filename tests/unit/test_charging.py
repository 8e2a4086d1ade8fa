"""What a release is charged as: its own kind of unit and its own days, whatever the ledger protects."""

import sqlite3
from datetime import date

import pandas as pd
import pytest
from named_graphs import grid_ends

import hushpath
from hushpath.cli import run
from hushpath.errors import OptionError
from hushpath.network.topology import Topology
from hushpath.privacy.ledger import Ledger

pytestmark = pytest.mark.filterwarnings("ignore:this is mostly noise")
WEEK = date(2026, 1, 1), date(2026, 1, 7)
TERMS = dict(epsilon=1.0, low=0.5, high=6)
UNITS = ["person", "person-day", "trip"]


def released(tmp_path, protects, days=WEEK, **more):
    ends = grid_ends(3, 3)
    labels = [f"n{node}" for node in range(9)]
    topology, _ = Topology.build(labels, ends[:, 0], ends[:, 1], proxy=[10.0] * len(ends), proxy_name="free_flow")
    table = pd.DataFrame(
        [(f"p{n}", n, date(2026, 1, 1 + n % 20), "n0", "n1", 12.0) for n in range(20)],
        columns=["user", "trip", "date", "from", "to", "seconds"],
    )
    trips = hushpath.read_trips(
        table, topology, person="user", trip="trip", day="date", edge=("from", "to"), seconds="seconds"
    )
    return hushpath.release_trips(trips, protects=protects, days=days, ledger=tmp_path / "a.ledger", **TERMS, **more)


def ledger_of(tmp_path, protects, epsilon=3.0):
    return Ledger.create(tmp_path / "a.ledger", dataset="d", protects=protects, epsilon=epsilon, delta=1e-6)


@pytest.mark.parametrize("of", UNITS)
@pytest.mark.parametrize("protects", UNITS)
def test_trips_are_charged_as_the_unit_they_protect(tmp_path, of, protects):
    ledger = ledger_of(tmp_path, of)
    if protects == of:
        released(tmp_path, protects)
        assert [(str(one.asked.protects), one.days) for one in ledger.charges()] == [(protects, WEEK)]
    else:
        with pytest.raises(OptionError):
            released(tmp_path, protects)
        assert ledger.charges() == []


def test_weights_are_charged_as_a_declared_unit(tmp_path):
    ledger = ledger_of(tmp_path, "declared")
    net = hushpath.Network.build(["a", "b", "c"], [0, 1], [1, 2], weights=[4.0, 6.0])
    hushpath.release(net, epsilon=1.0, unit=1.0, ledger=ledger.path)
    assert [(str(one.asked.protects), one.days) for one in ledger.charges()] == [("declared", None)]


@pytest.mark.parametrize(
    ("change", "code"),
    [("file = file", 0), ("last = '2026-01-06'", 1), ("first = '2026-01-02'", 1),
     ("first = NULL, last = NULL", 0)],
)  # fmt: skip
def test_check_compares_unit_and_days_with_the_file(tmp_path, change, code, capsys):
    """A charge of a larger unit or of fewer days than its file is WRONG: other days and persons did not pay."""
    ledger = ledger_of(tmp_path, "person-day")
    released(tmp_path, "person-day").save(tmp_path / "a.hush")
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(f"UPDATE charge SET {change}")
    connection.close()
    assert run(["ledger", "check", str(ledger.path), str(tmp_path / "a.hush")]) == code
    assert ("WRONG" in capsys.readouterr().out) == bool(code)
