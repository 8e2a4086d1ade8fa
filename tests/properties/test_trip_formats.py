"""No row decides how other rows are read, in any format and whatever it does to the types of columns.

Many small tables lie side by side in one, each with a neighbour.  Ids are integers, and one of the two tables has
one kind of odd value in it: a missing id makes pandas turn all ids of a column into floats, a word makes it turn them
into objects.  HUSHPATH_REPLAY sets the number of tables of each format.
"""

import datetime
import os

import numpy as np
import pytest
import trip_formats as f
from named_graphs import grid_ends

from hushpath import Budget, TripUnit
from hushpath.measurement.trip_strategy import TripTerms, trip_strategy
from hushpath.measurement.trip_totals import trip_totals
from hushpath.network.topology import Topology
from hushpath.trips.periods import Periods
from hushpath.trips.trips import read_trips

ENDS = np.concatenate([grid_ends(3, 3), grid_ends(3, 3)[:, ::-1]])
NODES, PERIODS = 9, ["1", "2"]
TABLES = int(os.environ.get("HUSHPATH_REPLAY", "60"))
AT_ONCE = 20 if TABLES <= 1000 else 400
DAY = datetime.date(2026, 10, 1)


def network(count):
    at = np.repeat(np.arange(count) * NODES, len(ENDS))
    tails, heads = (np.tile(end, count) + at for end in ENDS.T)
    free = 10 + np.arange(len(tails)) % 7 / 1.0
    return Topology.build(range(count * NODES), tails, heads, directed=True, proxy=free, proxy_name="free")[0]


def strategy_of(topology, protects):
    weights = np.random.default_rng(5).integers(1000, 30_000, topology.num_edges)
    terms = TripTerms(
        Budget(1.0, 1e-6), TripUnit(protects), 0.5 * topology.proxy, 6 * topology.proxy, weights,
        Periods.declared(PERIODS),
    )  # fmt: skip
    return trip_strategy(topology, terms, "gaussian")


def passes(rng, copy, person, day, trip, count):
    edges = ENDS[rng.integers(0, len(ENDS), count)] + copy * NODES
    seconds = rng.integers(0, 9000, count) / 100
    return [
        [person, day, trip, int(tail), int(head), float(took), int(period)]
        for (tail, head), took, period in zip(edges, seconds, rng.integers(1, 3, count), strict=True)
    ]


def people(rng, copy):
    return [
        row
        for one in range(rng.integers(0, 3)) for day in range(rng.integers(1, 3))
        for row in passes(rng, copy, 10 * copy + one, DAY + datetime.timedelta(day), day, int(rng.integers(1, 6)))
    ]  # fmt: skip


def unit(rng, copy, protects, odd=()):
    """All rows of one unit; some of its values are odd."""
    days = [DAY + datetime.timedelta(i) for i in range(2 if protects == "person" else 1)]
    rows = [row for day in days for row in passes(rng, copy, 10 * copy + 9, day, 7, int(rng.integers(1, 20)))]
    keys = {"person": (0,), "person-day": (0, 1), "trip": (0, 2)}[protects]
    for row in rows:
        if len(odd) and rng.random() < 0.3:  # a key that is odd may name another unit; a missing one names none
            place = int(rng.integers(0, len(row)))
            row[place] = None if place in keys else odd[0]
    return rows


def totals(form, rows, folder, topology, strategy):
    folder.mkdir(parents=True)
    trips = read_trips(f.FORMATS[form](rows, folder), topology, periods=PERIODS, **f.NAMED)
    return trip_totals(strategy, trips, "coin").reshape(2 * len(PERIODS), -1)


@pytest.mark.parametrize("protects", ["person-day", pytest.param("person", marks=pytest.mark.slow), "trip"])
@pytest.mark.parametrize("form", f.FORMATS)
def test_no_unit_moves_the_totals_of_others_in_any_format(form, protects, tmp_path):
    rng, most, odd = np.random.default_rng(11), 0.0, [None, None, None, *f.ODD]
    for batch in range(-(-TABLES // AT_ONCE)):
        topology, turn = network(AT_ONCE), ("add", "remove", "replace")[batch % 3]
        strategy = strategy_of(topology, protects)
        plain, other = [], []
        for copy in range(AT_ONCE):
            rows = people(rng, copy)
            plain += rows + (unit(rng, copy, protects) if turn == "replace" else [])
            other += rows + unit(rng, copy, protects, [odd[batch % len(odd)]])
        other = [other[i] for i in rng.permutation(len(other))]  # the order of rows must not matter either
        before, after = (other, plain) if turn == "remove" else (plain, other)
        first = totals(form, before, tmp_path / f"{batch}-before", topology, strategy)
        second = totals(form, after, tmp_path / f"{batch}-after", topology, strategy)
        owner = topology.tails // NODES
        moved = np.sqrt(sum(np.bincount(owner, row, AT_ONCE) for row in (first - second).astype(float) ** 2))
        bound = strategy.terms.l2_steps(strategy.lattice) * (np.sqrt(2) if turn == "replace" else 1)
        assert (moved <= bound).all(), f"{form}: a unit moves {moved.max() / bound:.4f} of what is certified"
        assert first.any()
        most = max(most, (moved / bound).max())
    assert most > 0.9


@pytest.mark.parametrize("form", f.FORMATS)
def test_formats_agree(form, tmp_path):
    """The same people in each format: the same totals."""
    topology = network(20)
    strategy, rng = strategy_of(topology, "person-day"), np.random.default_rng(3)
    rows = [row for copy in range(20) for row in people(rng, copy)]
    wanted = totals("csv", rows, tmp_path / "csv", topology, strategy)
    found = totals(form, rows, tmp_path / "form", topology, strategy)
    assert wanted.any()
    assert np.array_equal(found, wanted)
