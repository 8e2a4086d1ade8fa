"""The demonstration: the privacy unit holds, the city is a city, the report is self-contained and marked."""

from __future__ import annotations

import json
import re
from html import escape

import networkx as nx
import numpy as np
import pytest

import hushpath
from hushpath.demo import trips as demo_trips
from hushpath.demo.city import PLANNED, SIZE, TRIPS, make_city
from hushpath.demo.commuters import make_commuters
from hushpath.demo.story import run_demo
from hushpath.demo.streets import ARTERIAL, KINDS, LANDMARKS, SIDE, lay_out
from hushpath.demo.trips import LARGEST_DELAY, LEAST_PLANNED, STRETCH, UNIT, Trips, travel_times
from hushpath.measure.door import Measurements
from hushpath.measure.trips import trip_totals
from hushpath.noise import simulation
from hushpath.publish.evaluate import compare
from hushpath.publish.statement import NOT_PRIVATE
from hushpath.publish.trip_terms import declared
from hushpath.strategy.trips import trip_strategy

PEOPLE = 900
TOLERANCE = 1e-9  # rounding of floats, see the module's docstring


@pytest.fixture(scope="module")
def city():
    return make_city(size=160, trips=4_000)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    said: list[str] = []
    out = tmp_path_factory.mktemp("demo")
    return run_demo(out, say=said.append, size=160, people=PEOPLE, trips=4_000), said, out


@pytest.fixture(scope="module")
def commuters():
    return make_commuters(160, PEOPLE)


def weights(city, streets, delays):
    return travel_times(city.streets.free_flow, city.planned, Trips(streets, delays))


def odd_trip(rng, city):
    """Any trip somebody might craft: any streets, repeated ones, delays from -inf to inf."""
    quiet = np.flatnonzero(city.planned == LEAST_PLANNED)
    streets = rng.choice(quiet if rng.random() < 0.5 else len(city.planned), STRETCH)
    if rng.random() < 0.2:
        streets[:] = streets[0]
    if rng.random() < 0.2:
        streets[rng.integers(STRETCH) :] = -1
    kind = rng.integers(4)
    delays = [rng.normal(0, 100, STRETCH), rng.choice([np.inf, -np.inf, np.nan, 1e9], STRETCH),
              np.full(STRETCH, 1e6), rng.gamma(2, 5, STRETCH)][kind]  # fmt: skip
    return streets, delays


def test_unit_is_what_the_docstring_derives():
    assert UNIT == 2 * STRETCH * LARGEST_DELAY / LEAST_PLANNED == 3.0
    assert "2 * 5 * 30 s / 100 = 3 s" in demo_trips.__doc__


def test_one_trip_moves_weights_by_at_most_the_unit(city):
    rng = simulation(5)
    streets, delays = city.trips.streets[:500], city.trips.delays[:500]
    before = weights(city, streets, delays)
    moved = {"add": [], "remove": [], "replace": []}
    for _ in range(400):
        row = rng.integers(len(streets))
        new_streets, new_delays = odd_trip(rng, city)
        changed = streets.copy(), delays.copy()
        changed[0][row], changed[1][row] = new_streets, new_delays
        after = {
            "add": weights(city, np.vstack([streets, new_streets]), np.vstack([delays, new_delays])),
            "remove": weights(city, np.delete(streets, row, 0), np.delete(delays, row, 0)),
            "replace": weights(city, *changed),
        }
        for how, result in after.items():
            moved[how].append(np.abs(result - before).sum())
    assert max(moved["add"]) <= UNIT / 2 + TOLERANCE
    assert max(moved["remove"]) <= UNIT / 2 + TOLERANCE
    assert max(moved["replace"]) <= UNIT + TOLERANCE
    assert max(moved["add"]) >= 0.9 * UNIT / 2  # the bound is attained, so the test can fail


def test_replacement_can_cost_the_whole_unit(city):
    quiet = np.flatnonzero(city.planned == LEAST_PLANNED)[: 2 * STRETCH]
    late = np.full((1, STRETCH), LARGEST_DELAY)
    one, other = quiet[None, :STRETCH], quiet[None, STRETCH:]
    assert np.abs(weights(city, one, late) - weights(city, other, late)).sum() == pytest.approx(UNIT)


def test_denominator_from_the_data_would_break_the_bound(city):
    """The negative control: means over the data's own counts move by far more than the unit."""
    street = int(np.argmin(city.planned))
    alone = np.full((1, STRETCH), street), np.full((1, STRETCH), 1e9)
    total = travel_times(city.streets.free_flow, city.planned, Trips(*alone)) - city.streets.free_flow
    mean_over_own_count = total[street] * city.planned[street] / STRETCH
    assert mean_over_own_count > 5 * UNIT


def test_more_columns_than_the_stretch_are_ignored(city):
    wide = np.zeros((1, 4 * STRETCH), np.int64) + np.arange(4 * STRETCH)
    moved = weights(city, wide, np.full(wide.shape, 1e9)) - city.streets.free_flow
    assert moved.sum() <= UNIT / 2 + TOLERANCE


def test_too_few_planned_reports_are_refused(city):
    with pytest.raises(ValueError, match="at least 100 planned reports"):
        travel_times(city.streets.free_flow, city.planned - 1, city.trips)


def test_planned_reports_do_not_depend_on_the_trips(city):
    again = demo_trips.planned_reports(city.streets, PLANNED * 160, 2017)
    np.testing.assert_array_equal(again, city.planned)
    np.testing.assert_array_equal(make_city(size=160, trips=900).planned, city.planned)


def test_trips_report_a_connected_stretch(city):
    streets, reports = city.streets, city.trips.streets
    assert reports.shape == (4_000, STRETCH)
    assert reports.max() < len(streets.tails)
    both = (reports[:, 0] >= 0) & (reports[:, 1] >= 0)
    ends = np.stack([streets.tails, streets.heads], axis=1)
    first, second = ends[reports[both, 0]], ends[reports[both, 1]]
    assert (first[:, :, None] == second[:, None, :]).any(axis=(1, 2)).all()
    assert both.mean() > 0.8


def test_the_full_city_is_one_planar_connected_city():
    streets = lay_out(SIZE, 2016)
    n, m = len(streets.labels), len(streets.tails)
    graph = nx.Graph(zip(streets.tails.tolist(), streets.heads.tolist(), strict=True))
    assert 2_000 <= n <= 3_000
    assert graph.number_of_edges() == m  # no street twice
    assert nx.is_connected(graph)
    assert nx.check_planarity(graph)[0]
    assert set(streets.kinds) == set(range(len(KINDS)))
    assert sum(1 for _, degree in graph.degree if degree == 1) >= 5  # dead ends
    assert set(LANDMARKS) <= set(streets.labels)
    assert (streets.free_flow > 0).all()
    assert (np.ptp(streets.places, axis=0) > 5).all()  # km


def test_only_main_roads_cross_the_river():
    streets = lay_out(SIZE, 2016)
    south = streets.places[:, 1] < np.interp(streets.places[:, 0], *streets.river.T)
    crossing = south[streets.tails] != south[streets.heads]
    assert 3 <= crossing.sum() <= 12
    assert (streets.kinds[crossing] >= ARTERIAL).all()
    assert (streets.kinds == SIDE).sum() > 1_000


def test_the_city_is_the_same_every_time(city):
    again = make_city(size=160, trips=4_000)
    np.testing.assert_array_equal(again.streets.places, city.streets.places)
    np.testing.assert_array_equal(again.network.weights.reveal(), city.network.weights.reveal())
    assert not np.array_equal(make_city(size=160, trips=4_000, seed=1).streets.places[:50], city.streets.places[:50])


def test_weights_respect_the_public_bounds_and_print_nothing(city):
    seconds = city.network.weights.reveal()
    street = city._topology[1]
    assert (seconds >= city.streets.free_flow[street]).all()
    assert (seconds <= city.max_weight).all()
    assert city.network.topology.coordinates is not None
    assert "hidden" in repr(city)
    assert "hidden" in repr(city.trips)


def test_edges_of_the_network_know_their_street(city):
    streets, topology = city.streets, city.network.topology
    ends = zip(streets.tails.tolist(), streets.heads.tolist(), strict=True)
    by_name = {
        frozenset((streets.labels[a], streets.labels[b])): (kind, seconds)
        for (a, b), kind, seconds in zip(ends, streets.kinds.tolist(), city._seconds.tolist(), strict=True)
    }
    assert list(streets.labels) != list(topology.labels)
    ends = zip(topology.tails.tolist(), topology.heads.tolist(), strict=True)
    found = [by_name[frozenset((topology.labels[a], topology.labels[b]))] for a, b in ends]
    assert [kind for kind, _ in found] == city.kinds.tolist()
    assert [seconds for _, seconds in found] == city.network.weights.reveal().tolist()


def test_the_story_runs_end_to_end(demo):
    numbers, said, out = demo
    json.dumps(numbers, allow_nan=False)
    assert numbers["statement"]["private"] is True
    assert numbers["statement"]["epsilon"] <= 1.0
    assert numbers["statement"]["cautions"] == []  # no false alarm
    assert numbers["statement"]["trips"]["protects"] == "person-day"
    assert numbers["plan"]["worth_it"]
    assert numbers["evaluation"]["marking"].startswith(NOT_PRIVATE)
    assert [line[:2] for line in said if line[0] != " "] == [f"{i}." for i in range(1, 10)]
    assert {path.name for path in out.iterdir()} == {
        "city.hush", "streets.csv", "trips.parquet", "city.csv", "city.nodes.csv", "report.html", "report-public.html",
        "city.html",
    }  # fmt: skip
    published = hushpath.load(out / "city.hush")
    for period in ("am", "pm"):
        assert published.at(period).distance("market", "airport") == numbers["answers"][period][0]["distance"]
    assert numbers["evaluation"]["mean_error"] < numbers["evaluation"]["proxy_scaled_error"]


def test_the_release_is_compared_with_free_flow_times(demo, commuters):
    """The public column is free flow, and the story says what it would give alone; to the owner only."""
    numbers, said, out = demo
    assert numbers["statement"]["proxy"] == "free_flow"
    read = hushpath.read_topology(out / "streets.csv", directed=True, proxy="free_flow")
    np.testing.assert_array_equal(read.proxy, commuters.topology.proxy)
    result = numbers["evaluation"]
    assert result["proxy_error"] > result["proxy_scaled_error"] > 0
    told = [line for line in said if "everybody knows already" in line]
    assert len(told) == 1
    assert NOT_PRIVATE in told[0]
    words = f"off by {result['proxy_error']:.4g} as it is"
    assert words in told[0]
    assert words in (out / "report.html").read_text(encoding="utf-8")
    assert "everybody knows" not in (out / "report-public.html").read_text(encoding="utf-8")


def test_what_is_public_depends_on_the_trips_by_the_released_numbers_alone(tmp_path, monkeypatch):
    """Other trips, another number of them, the same noisy numbers: every public artefact is the same, byte by byte."""

    def release_of_fixed_numbers(owned, **told):
        public = dict(neighbours="add-remove", max_edges=None, emphasis="quiet")
        told.pop("publisher")
        strategy = trip_strategy(*declared(owned, **told, **public))
        numbers = simulation(7).integers(2**24, 2**28, strategy.num_values)
        return hushpath.Release(Measurements(strategy, numbers, "vector", private=True))

    monkeypatch.setattr("hushpath.demo.story.release", release_of_fixed_numbers)
    seen = {}
    for trips in (4_000, 1_357):
        said, out = [], tmp_path / str(trips)
        monkeypatch.chdir(tmp_path)
        numbers = run_demo(out, say=said.append, size=160, people=trips // 10, trips=trips)
        own = {numbers.pop(key) is None for key in ("evaluation", "seconds", "files")}
        assert own == {False}
        seen[trips] = (
            (out / "report-public.html").read_bytes(),
            (out / "city.hush").read_bytes(),
            (out / "city.html").read_bytes(),
            (out / "city.nodes.csv").read_bytes(),
            (out / "streets.csv").read_bytes(),
            json.dumps(numbers, sort_keys=True),
            "\n".join(line for line in said if NOT_PRIVATE not in line).replace(str(out), "OUT"),
        )
        assert (out / "report.html").read_bytes()
    assert seen[4_000] == seen[1_357]
    one, two = ((tmp_path / str(trips) / "report.html").read_bytes() for trips in seen)
    assert one != two  # the owner's page does show the truth, so the comparison can fail


def test_the_number_of_trips_is_told_to_nobody(demo, city, commuters):
    numbers, said, out = demo
    public = (out / "report-public.html").read_text(encoding="utf-8")
    text = re.sub(r'src="data:[^"]*"', "", public) + json.dumps(numbers) + "".join(said)
    text += repr(city) + repr(city.trips) + repr(commuters) + repr(commuters.town.drives) + repr(commuters.trips())
    table = commuters.table
    for count in (4_000, len(table), table.groupby(["person", "date"]).ngroups, table.trip.nunique()):
        grouped = r"[\s,.\u202f\u00a0]?".join([str(count)[:-3], str(count)[-3:]])
        assert not re.search(rf"(?<![\d.]){grouped}(?!\d)", text), count
    assert SIZE * PLANNED != TRIPS  # the public plan does not give it away either


def test_the_written_files_are_those_released(demo, commuters):
    _, _, out = demo
    read = hushpath.read_topology(out / "streets.csv", directed=True, proxy="free_flow", nodes=out / "city.nodes.csv")
    assert read.is_same(commuters.topology)
    np.testing.assert_array_equal(read.coordinates, commuters.topology.coordinates)
    trips = commuters.trips(out / "trips.parquet")
    strategy = hushpath.load(out / "city.hush").measurements.strategy
    found = [trip_totals(strategy, one, "") for one in (trips, commuters.trips())]
    assert np.array_equal(*found)
    compare(trips, hushpath.load(out / "city.hush").at("am"))  # raises if the topologies differ


def test_the_edge_list_of_weights_is_there_for_those_who_own_weights(demo, city):
    _, _, out = demo
    read = hushpath.read_network(out / "city.csv", weight="seconds", nodes=out / "city.nodes.csv")
    assert read.topology.labels == city.network.topology.labels
    np.testing.assert_array_equal(read.weights.reveal(), city.network.weights.reveal())


def test_commuters_are_told_apart_by_direction_and_street(commuters):
    topology, streets = commuters.topology, commuters.streets
    kinds = {}
    for a, b, kind in zip(streets.tails.tolist(), streets.heads.tolist(), streets.kinds.tolist(), strict=True):
        kinds[frozenset((streets.labels[a], streets.labels[b]))] = kind
    ends = zip(topology.tails.tolist(), topology.heads.tolist(), strict=True)
    wanted = [kinds[frozenset((topology.labels[a], topology.labels[b]))] for a, b in ends]
    assert commuters.kinds.tolist() == wanted
    assert commuters.truth.shape == (2, topology.num_edges)


def test_the_noise_is_fresh_each_time(city):
    budget = dict(epsilon=1.0, unit=city.unit, max_weight=city.max_weight)
    one, two = (hushpath.release(city.network, **budget).distance("market", "airport") for _ in range(2))
    assert one != two


@pytest.mark.parametrize("name", ["report.html", "report-public.html"])
def test_the_report_is_self_contained(demo, name):
    page = (demo[2] / name).read_text(encoding="utf-8")
    assert all(source.startswith("data:image/png;base64,") for source in re.findall(r'src="([^"]*)"', page))
    without_pictures = re.sub(r'src="data:[^"]*"', "", page)
    for forbidden in ("http:", "https:", "<script", "<link", "url(", "@import", "$"):
        assert forbidden not in without_pictures, forbidden
    assert re.findall(r'href="([^"]*)"', page) == ["city.html"]  # the map, beside it
    assert 'name="viewport"' in page


def test_the_report_marks_what_is_not_private(demo):
    numbers, _, out = demo
    page = (out / "report.html").read_text(encoding="utf-8")
    public = (out / "report-public.html").read_text(encoding="utf-8")
    sections = re.findall(r'<section class="(\w+)"><span class="tag">([^<]*)</span><h2>([^<]*)</h2>', page)
    assert [title for kind, _, title in sections if kind == "owner"] == ["How far from the truth"]
    assert all((kind == "owner") == tag.startswith(NOT_PRIVATE) for kind, tag, _ in sections)
    assert page.index("This page as a whole is for the data owner") < page.index("<section")
    assert page.count("<img") == 2  # pictures of the truth
    assert public.count("<img") == 0
    assert 'class="owner"' not in public
    mean = f"{numbers['evaluation']['mean_error']:.4g}"
    assert f"off by {mean}" in page
    text = re.sub(r'src="data:[^"]*"', "", public)
    # With a word beside it: a mean of 13.00 is written "13", which stands in many an honest place.
    assert not re.search(rf"(off by|error of|error:?) {re.escape(mean)}\b", text)
    assert "How far from the truth" not in text


def test_the_report_states_the_promise(demo):
    page = (demo[2] / "report-public.html").read_text(encoding="utf-8")
    statement = hushpath.load(demo[2] / "city.hush").statement
    assert all(escape(text) in page for text in [*statement.promise.sentences, *statement.technical])
    for words in ("everything one person did on one day", "2.72", "What is public besides"):
        assert words in page
    commands = re.sub(r"</?span>", "", page)
    assert "hushpath release streets.csv --directed" in commands
    assert "--protects person-day" in commands


def test_no_true_time_is_in_a_report(demo, commuters):
    """From four decimals on: among thousands of times, two decimals coincide with some honest number by chance."""
    for name in ("report.html", "report-public.html"):
        text = re.sub(r'src="data:[^"]*"', "", (demo[2] / name).read_text(encoding="utf-8"))
        shown = set(re.findall(r"\d+\.\d{4,}", text))
        for seconds in commuters.truth.ravel():
            assert not shown & {repr(float(seconds)), f"{seconds:.4f}", f"{seconds:.5f}"}


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(hushpath.HushpathError, match="cannot make the folder"):
        run_demo(tmp_path / "taken", say=lambda line: None, size=160, trips=100)
