"""Tables of trips: every shape says the same, what does not belong is left out, and nothing public tells of it."""

import json
import math
from collections import defaultdict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import hushpath
from hushpath import Budget, TripUnit
from hushpath.days import parse_days
from hushpath.errors import CannotError, NetworkError, OptionError
from hushpath.io import container
from hushpath.measurement.trip_strategy import SHARE, TripTerms
from hushpath.measurement.trip_totals import PARTS, trip_totals
from hushpath.network.topology import Topology
from hushpath.published.file import FORMAT, VERSION
from hushpath.releasing.release import strategy_for
from hushpath.trips.periods import Periods

NODES = ["a", "b", "c", "d", "e"]
ENDS = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [1, 0], [2, 1]])
HERE = dict(person="who", day="date", trip="trip", edge=("from", "to"), seconds="seconds")
TOLD = dict(epsilon=1.0, protects="person-day", low=0.5, high=6)


def network(directed=True, **more):
    free_flow = np.arange(1, 1 + len(ENDS)) * 4.0
    return Topology.build(NODES, *ENDS.T, directed=directed, proxy=free_flow, proxy_name="free_flow", **more)[0]


def table(seed=0, count=300):
    """People who walk along edges of the network, a row per pass, with the nodes in order of time."""
    rng, rows = np.random.default_rng(seed), []
    after = defaultdict(list)
    for tail, head in ENDS.tolist():
        after[tail].append(head)
    trip = 0
    while len(rows) < count:
        who, day, at, clock = (
            f"p{rng.integers(8)}",
            int(rng.integers(1, 4)),
            int(rng.integers(5)),
            3600 * rng.integers(24),
        )
        trip += 1
        for _ in range(rng.integers(1, 7)):
            to, seconds = int(rng.choice(after[at])), float(np.round(rng.gamma(3, 12), 3))
            when = pd.Timestamp(f"2026-10-0{day}") + pd.Timedelta(seconds=float(clock))
            rows.append([who, f"2026-10-0{day}", trip, NODES[at], NODES[to], seconds, float(clock), when])
            at, clock = to, clock + seconds
    return pd.DataFrame(rows, columns=["who", "date", "trip", "from", "to", "seconds", "clock", "when"])


def strategy_of(trips, protects="person-day", delta=1e-6, **unit):
    return strategy_for(
        trips, Budget(1.0, delta), TripUnit(protects, **unit), low=0.5, high=6, noise="auto",
        edge_weighting="inverse-traffic",
    )  # fmt: skip


def totals(trips, **told):
    return trip_totals(strategy_of(trips, **told), trips, "coin")


def by_hand(rows, topology, terms, keys):
    """The private step in plain Python: the slow twin."""
    position = {
        (topology.labels[a], topology.labels[b]): i
        for i, (a, b) in enumerate(zip(topology.tails, topology.heads, strict=True))
    }
    passes = defaultdict(list)
    for row in rows.itertuples():
        edge = position.get((row._4, row.to))
        if edge is None or row.seconds != row.seconds:
            continue
        low, high = terms.low[edge], terms.high[edge]
        part = math.floor(min(max((row.seconds - low) / (high - low), 0.0), 1.0) * PARTS)
        passes[tuple(getattr(row, key) for key in keys), edge].append(part)
    units = defaultdict(dict)
    for (unit, edge), parts in passes.items():
        units[unit][edge] = sum(parts) // len(parts)
    out = np.zeros((2, topology.num_edges), np.int64)
    for cells in units.values():
        norm = math.ceil(math.sqrt(sum(int(terms.edge_weights[edge]) ** 2 for edge in cells))) + 1
        for edge, part in cells.items():
            share = SHARE * int(terms.edge_weights[edge]) // norm
            out[0, edge] += share * part // PARTS
            out[1, edge] += share - share * part // PARTS
    return out.ravel()


@pytest.mark.parametrize(
    ("protects", "keys"), [("person", ["who"]), ("person-day", ["who", "date"]), ("trip", ["who", "trip"])]
)
def test_the_private_step_is_its_slow_twin(protects, keys):
    rows, topology = table(), network()
    trips = hushpath.read_trips(rows, topology, **HERE)
    terms = strategy_of(trips, protects=protects).terms
    assert np.array_equal(totals(trips, protects=protects), by_hand(rows, topology, terms, keys))


def sequences(rows):
    """A row per trip, with lists."""
    made = []
    for (who, date, trip), part in rows.groupby(["who", "date", "trip"], sort=False):
        nodes = [part["from"].iloc[0], *part["to"]]
        times = [*part["clock"], part["clock"].iloc[-1] + part["seconds"].iloc[-1]]
        made.append([who, date, trip, nodes, times, part["seconds"].tolist()])
    return pd.DataFrame(made, columns=["who", "date", "trip", "nodes", "times", "durations"])


def visits(rows):
    """A row per node, shuffled."""
    lists = sequences(rows)[["who", "date", "trip", "nodes", "times"]]
    return lists.explode(["nodes", "times"]).sample(frac=1, random_state=1).astype({"times": float})


def test_every_file_and_every_shape_says_the_same(tmp_path):
    rows, topology = table(), network()
    wanted = totals(hushpath.read_trips(rows, topology, **HERE))
    assert wanted.sum() > 0
    rows.to_csv(tmp_path / "t.csv", index=False)
    rows.to_csv(tmp_path / "t.csv.tsv", index=False, sep="\t")
    rows.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "parts" / "more").mkdir(parents=True)
    rows[:100].to_parquet(tmp_path / "parts" / "one.parquet")
    rows[100:].to_parquet(tmp_path / "parts" / "more" / "two.parquet")
    rows.assign(when=rows.when.astype(str)).to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    odd = tmp_path / "it's [odd]*.parquet"
    rows.to_parquet(odd)
    typed = rows.assign(date=pd.to_datetime(rows.date))
    for given in ("t.csv", "t.csv.tsv", "t.parquet", "parts", "t.jsonl", odd.name):
        assert np.array_equal(totals(hushpath.read_trips(tmp_path / given, topology, **HERE)), wanted), given
    assert np.array_equal(totals(hushpath.read_trips(typed, topology, **HERE)), wanted)
    stamps = {**HERE, "day": "when"}
    assert np.array_equal(totals(hushpath.read_trips(rows, topology, **stamps)), wanted)
    # other shapes: differences of times are rounded, so parts may differ by a hair
    key = dict(person="who", day="date", trip="trip")
    lists = sequences(rows)
    texts = lists.assign(nodes=lists.nodes.map(json.dumps), durations=lists.durations.map(json.dumps))
    texts.to_csv(tmp_path / "lists.csv", index=False)
    lists.to_parquet(tmp_path / "lists.parquet")
    assert np.array_equal(
        totals(hushpath.read_trips(lists, topology, **key, nodes="nodes", seconds="durations")), wanted
    )
    for given in ("lists.csv", "lists.parquet"):
        read = hushpath.read_trips(tmp_path / given, topology, **key, nodes="nodes", seconds="durations")
        assert np.array_equal(totals(read), wanted), given
    near = [
        hushpath.read_trips(lists, topology, **key, nodes="nodes", time="times"),
        hushpath.read_trips(visits(rows), topology, **key, node="nodes", time="times"),
        hushpath.read_trips(
            visits(rows).assign(times=lambda v: pd.to_datetime(v.times, unit="s")),
            topology,
            **key,
            node="nodes",
            time="times",
        ),
    ]
    for read in near:
        assert np.abs(totals(read) - wanted).max() <= 64


def test_edges_by_id(tmp_path):
    rows, names = table(), [f"street {i}" for i in range(len(ENDS))]
    edges = pd.DataFrame(ENDS, columns=["source", "target"]).map(NODES.__getitem__)
    edges.assign(free_flow=np.arange(1, 8) * 4.0, street=names).to_csv(tmp_path / "net.csv", index=False)
    topology = hushpath.read_topology(tmp_path / "net.csv", directed=True, proxy="free_flow", columns=["street"])
    ids = {(NODES[a], NODES[b]): name for (a, b), name in zip(ENDS.tolist(), names, strict=True)}
    rows["street"] = [ids[ends] for ends in zip(rows["from"], rows.to, strict=True)]
    wanted = totals(hushpath.read_trips(rows, topology, **HERE))
    by_id = {**HERE, "edge": "street"}
    assert np.array_equal(totals(hushpath.read_trips(rows, topology, **by_id)), wanted)
    listed = [ids[topology.labels[a], topology.labels[b]] for a, b in zip(topology.tails, topology.heads, strict=True)]
    assert np.array_equal(totals(hushpath.read_trips(rows, topology, **by_id, edge_ids=listed)), wanted)
    with pytest.raises(OptionError, match="edge_ids"):
        hushpath.read_trips(rows, topology, **by_id, edge_ids=["x"] * 7)
    with pytest.raises(OptionError, match="without the public column 'streets'"):
        hushpath.read_trips(rows, topology, **{**HERE, "edge": "streets"})


def test_undirected_edges_are_passed_both_ways_and_of_parallel_ones_the_quickest_counts():
    rows = table()
    one_way = Topology.build(NODES, *ENDS[:5].T, proxy=np.full(5, 9.0))[0]
    there, back = (
        hushpath.read_trips(rows.rename(columns=names), one_way, **HERE) for names in ({}, {"from": "to", "to": "from"})
    )
    assert np.array_equal(totals(there), totals(back))
    double = Topology.build(
        ["a", "b"], [0, 0, 0], [1, 1, 1], proxy=[30.0, 8.0, 20.0], upper=[1.0, 2.0, 3.0], parallel_edges=True
    )[0]
    found = totals(hushpath.read_trips(rows, double, **HERE)).reshape(2, 3).sum(axis=0)
    assert found.tolist() == [0, found[1], 0]
    assert found[1] > 0


def test_integers_in_any_spelling_name_nodes():
    rows = table()
    topology = Topology.build(range(5), *ENDS.T, directed=True, proxy=np.full(7, 9.0))[0]
    number = {name: i for i, name in enumerate(NODES)}
    whole = rows.assign(**{end: rows[end].map(number) for end in ("from", "to")})
    wanted = totals(hushpath.read_trips(whole, topology, **HERE))
    assert wanted.sum() > 0
    for kind in (str, float):
        spelt = whole.astype({"from": kind, "to": kind})
        assert np.array_equal(totals(hushpath.read_trips(spelt, topology, **HERE)), wanted)


def test_what_does_not_belong_is_left_out_silently(recwarn):
    rows, topology = table(), network()
    wanted = totals(hushpath.read_trips(rows, topology, **HERE))
    strange = rows.sample(60, random_state=3).copy()
    strange.loc[strange.index[:20], "from"] = "nowhere"
    strange.loc[strange.index[20:40], "who"] = None
    strange.loc[strange.index[40:50], "seconds"] = np.nan
    strange.loc[strange.index[50:], "date"] = None
    more = pd.concat([rows, strange]).sample(frac=1, random_state=2)
    assert np.array_equal(totals(hushpath.read_trips(more, topology, **HERE)), wanted)
    assert not recwarn.list


def test_times_beyond_the_bounds_are_clipped_silently():
    topology = network()
    for seconds, side in ((-1e300, 1), (1e9, 0), (0.0, 1)):
        rows = table(count=1)[:1].assign(seconds=seconds)
        above, below = totals(hushpath.read_trips(rows, topology, **HERE)).reshape(2, -1).sum(axis=1)
        assert (above == 0, below == 0) == (side == 1, side == 0)


def test_days_and_periods_that_do_not_count_are_left_out():
    rows, topology = table(), network()
    part = rows[rows.date == "2026-10-02"]
    wanted = totals(hushpath.read_trips(part, topology, **HERE))
    trips = hushpath.read_trips(rows, topology, **HERE)
    assert np.array_equal(totals(trips, days="2026-10-02"), wanted)
    assert np.array_equal(totals(trips, days=("2026-10-02", "2026-10-02")), wanted)
    numbered = rows.assign(date=rows.date.str[-1].astype(int))
    assert np.array_equal(totals(hushpath.read_trips(numbered, topology, **HERE), days=(2, 2)), wanted)
    hours = {"day": (6, 18), "late": (22, 2)}
    timed = hushpath.read_trips(rows, topology, **HERE, period="when", periods=hours)
    named = rows.assign(
        period=[" day " if 6 <= h < 18 else "late" if h >= 22 or h < 2 else "other" for h in rows.when.dt.hour]
    )
    told = hushpath.read_trips(named, topology, **HERE, period="period", periods=["day", "late"])
    strategies = [strategy_of(one) for one in (timed, told)]
    found = [trip_totals(made, one, "") for made, one in zip(strategies, (timed, told), strict=True)]
    assert np.array_equal(*found)
    assert (found[0].reshape(2, 2, -1).sum(axis=(0, 2)) > 0).all()
    assert len(hushpath.read_trips(rows, topology, **HERE, period="when", periods="hours").periods) == 24


def test_a_trip_over_midnight_is_of_the_day_it_began_on():
    """Else it would be in the releases of two days, each of which may spend the whole budget of a day."""
    rows, topology = table(), network()
    late = rows[rows.trip == rows.trip.value_counts().idxmax()].copy()
    late["date"] = ["2026-10-01"] + ["2026-10-02"] * (len(late) - 1)
    trips = hushpath.read_trips(late, topology, **HERE)
    whole = totals(trips, protects="trip")
    assert np.array_equal(totals(trips, protects="trip", days="2026-10-01"), whole)
    assert not totals(trips, protects="trip", days="2026-10-02").any()
    assert totals(trips, protects="person-day", days="2026-10-02").any()


def everything_public(path):
    found = container.read(path, FORMAT, VERSION)
    arrays = {name: array for name, array in found.arrays.items() if name not in ("values", "estimate.weights")}
    return found.header, {name: (array.dtype, array.tobytes()) for name, array in arrays.items()}, path.stat().st_size


def test_nothing_public_depends_on_the_trips(tmp_path, recwarn):
    topology, said = network(), set()
    tables = [table(), table(1, 40), table()[:0], pd.concat([table()] * 5), table().assign(seconds=np.nan)]
    files = []
    for i, rows in enumerate(tables):
        trips = hushpath.read_trips(rows.astype({"who": str}), topology, **HERE)
        said.add((repr(trips), str(trips)))
        made = hushpath.release_trips(trips, seed=3, **TOLD)
        made.save(tmp_path / f"{i}.hush")
        files.append(everything_public(tmp_path / f"{i}.hush"))
        said.add(str(made.statement))
    assert all(one == files[0] for one in files[1:])
    assert len(said) == 2
    assert not recwarn.list


def test_trips_show_nothing():
    trips = hushpath.read_trips(table(), network(), **HERE)
    assert repr(trips) == "Trips(hidden, Topology(5 nodes, 7 edges, directed))"
    with pytest.raises(TypeError, match="not pickled"):
        __import__("pickle").dumps(trips)
    with pytest.raises(TypeError):
        iter(trips)
    with pytest.raises(TypeError):
        len(trips)
    assert not hasattr(trips, "__dict__")


def test_a_table_changed_after_reading_does_not_matter():
    rows, topology = table(), network()
    trips = hushpath.read_trips(rows, topology, **HERE)
    before = totals(trips)
    rows["seconds"] = 0.0
    assert np.array_equal(totals(trips), before)


def test_max_edges_keeps_an_even_choice_that_the_coin_decides():
    topology = network()
    rows = pd.DataFrame(
        [[f"p{who}", "2026-10-01", 1, NODES[a], NODES[b], 30.0] for who in range(2000) for a, b in ENDS.tolist()],
        columns=["who", "date", "trip", "from", "to", "seconds"],
    )
    trips = hushpath.read_trips(rows, topology, **HERE)
    made = strategy_of(trips, delta=0.0, max_edges=2)
    counts = [trip_totals(made, trips, coin).reshape(2, -1).sum(axis=0) / (SHARE // 2) for coin in ("one", "other")]
    assert [count.sum() for count in counts] == [4000, 4000]
    assert not np.array_equal(*counts)
    # 2000 draws of 2 of 7: 571 each, standard deviation 20; 6 of these are missed once in 10^8
    assert np.abs(np.array(counts) - 4000 / 7).max() < 6 * math.sqrt(2000 * 2 / 7 * 5 / 7)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({}, "shape"),
        ({"edge": ("from", "to")}, "shape"),
        ({"edge": ("a", "b", "c"), "seconds": "seconds"}, "shape"),
        ({"node": "from", "time": "clock"}, "`trip`"),
        ({"nodes": "from", "time": "clock", "seconds": "seconds"}, "shape"),
        ({"edge": ("from", "to"), "seconds": "second"}, "'second'"),
        ({"edge": ("from", "to"), "seconds": "seconds", "period": "when"}, "`periods`"),
        ({"edge": ("from", "to"), "seconds": "seconds", "person": 3}, "columns"),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_said(named, words):
    with pytest.raises((OptionError, NetworkError), match=words):
        hushpath.read_trips(table(), network(), **named)


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ({"protects": None}, "protects"),
        ({"protects": "people"}, "protects"),
        ({"epsilon": None}, "epsilon"),
        ({"low": None}, "low"),
        ({"high": None}, "high"),
        ({"low": 3, "high": 2}, "low < high"),
        ({"low": "nothing"}, "'nothing'"),
        ({"edge_weighting": "loud"}, "edge_weighting"),
        ({"protects": TripUnit("person-day", max_edges=5), "noise": "gaussian"}, "max_edges"),
        ({"noise": "gauss"}, "noise"),
        ({"days": "2026-10-03..2026-10-01"}, "days"),
        ({"days": "yesterday"}, "days"),
        ({"protects": TripUnit("trip", days="2026-10-01"), "days": "2026-10-02"}, "days"),
    ],
    ids=str,
)
def test_what_is_promised_is_said_in_full(told, named):
    trips = hushpath.read_trips(table(), network(), **HERE)
    with pytest.raises(OptionError, match=named):
        hushpath.release_trips(trips, **{**TOLD, **told})


def test_a_limit_of_edges_means_laplace_noise():
    trips = hushpath.read_trips(table(), network(), **HERE)
    made = hushpath.release_trips(trips, **{**TOLD, "protects": TripUnit("person-day", max_edges=5)})
    assert made.statement.law == "laplace"


def test_weights_and_trips_are_not_confused():
    trips = hushpath.read_trips(table(), network(), **HERE)
    with pytest.raises(OptionError, match="release_trips"):
        hushpath.release(trips, epsilon=1.0, unit=1.0)
    weights = hushpath.Network.build(range(3), [0, 1], [1, 2], [5.0, 7.0])
    with pytest.raises(OptionError, match="release_trips"):
        hushpath.release_trips(weights, **TOLD)


def test_units_that_the_table_cannot_tell_are_refused():
    trips = hushpath.read_trips(table(), network(), edge=("from", "to"), seconds="seconds", trip="trip")
    assert trips.keys("trip") == ("trip",)
    for protects in ("person", "person-day"):
        with pytest.raises(OptionError, match="person"):
            hushpath.release_trips(trips, **{**TOLD, "protects": protects})
    with pytest.raises(OptionError, match="day="):
        hushpath.release_trips(trips, **{**TOLD, "protects": "trip", "days": "2026-10-01"})


def test_a_free_flow_time_is_needed_for_every_edge():
    bare = Topology.build(NODES, *ENDS.T, directed=True)[0]
    with pytest.raises(OptionError, match="proxy"):
        hushpath.release_trips(hushpath.read_trips(table(), bare, **HERE), **TOLD)
    holes = bare.with_proxy([1.0, 2.0, np.nan, 1.0, 1.0, 1.0, 1.0])
    with pytest.raises(OptionError, match="no positive free-flow time for the edge from 'b' to 'c'"):
        hushpath.release_trips(hushpath.read_trips(table(), holes, **HERE), **TOLD)


def test_damaged_files_are_refused_without_a_word_of_what_is_in_them(tmp_path):
    table().to_parquet(tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(NetworkError, match="whole"):
        hushpath.read_trips(tmp_path / "half.parquet", network(), **HERE)
    (tmp_path / "bad.parquet").write_bytes(whole[:200] + b"\xff" * 400 + whole[600:])
    with pytest.raises((NetworkError, CannotError)) as caught:
        totals(hushpath.read_trips(tmp_path / "bad.parquet", network(), **HERE))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    for missing in ("none.parquet", "none", "t.xlsx"):
        with pytest.raises(NetworkError, match=r"no such file|supported suffixes"):
            hushpath.read_trips(tmp_path / missing, network(), **HERE)
    with pytest.raises(NetworkError, match="not list"):
        hushpath.read_trips([1, 2], network(), **HERE)


def test_rows_of_text_that_are_no_rows_are_skipped(tmp_path):
    rows = table()
    rows.to_csv(tmp_path / "t.csv", index=False)
    text = (tmp_path / "t.csv").read_text()
    (tmp_path / "t.csv").write_text(text + "p1,2026-10-01,9\np1,2026-10-01,9,a,b,x,1,2\n,,,,,,,\n")
    wanted = totals(hushpath.read_trips(rows, network(), **HERE))
    assert np.array_equal(totals(hushpath.read_trips(tmp_path / "t.csv", network(), **HERE)), wanted)


@pytest.mark.parametrize(
    ("periods", "words"),
    [
        ("am", "list of names"), (3, "list of names"), ([], "1 to 168"), (["am", "am"], "same name"), ([""], "1 to 40"),
        ([" am"], "spaces"), (["a\n"], "printable"), ({"am": (7, 7)}, "two hours"), ({"am": 7}, "two hours"),
        ({"am": (7, 10), "b": (9, 11)}, "overlap"), ({"night": (22, 5), "early": (4, 6)}, "overlap"),
        ({"am": (7, 25)}, "two hours"),
    ],
    ids=str,
)  # fmt: skip
def test_periods_are_declared_in_full(periods, words):
    with pytest.raises(OptionError, match=words):
        Periods.declared(periods)


def test_days_are_dates_or_numbers():
    """Days must have the type of the day column, if it declares one; text declares none."""
    whole = pa.table(table().assign(date=20261001))
    dated = pa.table(table().assign(date=pd.to_datetime(table().date)))
    for rows, wrong, right in ((whole, "2026-10-01", (20261001, 20261003)), (dated, (3, 5), "2026-10-01..2026-10-03")):
        trips = hushpath.read_trips(rows, network(), **HERE)
        with pytest.raises(OptionError, match="days"):
            hushpath.release_trips(trips, **TOLD, days=wrong)
        assert hushpath.release_trips(trips, **TOLD, days=right).statement.unit.days == parse_days(right)
    text = hushpath.read_trips(table(), network(), **HERE)
    for days in ((3, 5), "2026-10-01"):
        assert hushpath.release_trips(text, **TOLD, days=days).statement.unit.days == parse_days(days)


def test_terms_of_another_network_or_other_periods_are_refused():
    rows = table()
    trips = hushpath.read_trips(rows, network(), **HERE)
    made = strategy_of(trips)
    other = Topology.build(NODES, *ENDS[:5].T, directed=True, proxy=np.full(5, 9.0))[0]
    with pytest.raises(OptionError, match="another network"):
        trip_totals(made, hushpath.read_trips(rows, other, **HERE), "")
    with pytest.raises(OptionError, match="other periods"):
        trip_totals(made, hushpath.read_trips(rows, network(), **HERE, period="when", periods="hours"), "")
    weights = hushpath.plan(network(), epsilon=1.0, unit=1.0, ignore_baseline=True).strategy
    with pytest.raises(OptionError, match="protects"):
        trip_totals(weights, trips, "")


def test_noise_is_in_proportion_to_the_norm_of_a_unit():
    trips = hushpath.read_trips(table(), network(), **HERE)
    noise = {
        kind: hushpath.release_trips(
            trips, **{**TOLD, "protects": TripUnit("person-day", neighbours=kind)}
        ).statement.noise[0]
        for kind in ("add-remove", "replace")
    }  # fmt: skip
    assert noise["add-remove"] == pytest.approx(4.2247, rel=1e-3)
    assert noise["replace"] == pytest.approx(math.sqrt(2) * noise["add-remove"], rel=1e-3)
    assert isinstance(strategy_of(trips).terms, TripTerms)


def test_an_owner_is_told_when_trips_do_not_fit():
    """What no error of a release may say, `evaluate` does: it is for the owner alone."""
    rows, topology = table(), network()
    some = rows[rows["from"] == "a"]
    rel = hushpath.release_trips(hushpath.read_trips(some, topology, **HERE), **TOLD, seed=1)
    found = hushpath.evaluate(hushpath.read_trips(some, topology, **HERE), rel)
    assert found.passed == pytest.approx((topology.tails == topology.index("a")).mean())
    assert "edges passed" in str(found)
    strangers = rows.assign(**{"from": "x" + rows["from"], "to": "x" + rows["to"]})
    with pytest.raises(hushpath.HushpathError, match="no row of these trips fits"):
        hushpath.evaluate(hushpath.read_trips(strangers, topology, **HERE), rel)
