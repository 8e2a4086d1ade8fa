"""Simulated people: who drives where, and what that does to the streets."""

import numpy as np
import pytest

from hushpath.demo.people import Roads, simulate_people
from hushpath.demo.streets import generate_streets

DAYS = 3


@pytest.fixture(scope="module")
def town():
    return simulate_people(Roads.of(generate_streets(300, 5)), 1_500, seed=1, days=DAYS)


def test_every_trip_is_a_path_that_is_driven_in_time(town):
    drives, roads = town.drives, town.roads
    same = drives.trip[1:] == drives.trip[:-1]
    assert np.array_equal(roads.heads[drives.arc[:-1]][same], roads.tails[drives.arc[1:]][same])
    assert (np.diff(drives.trip) >= 0).all()
    left = drives.enter + drives.seconds
    assert np.allclose(left[:-1][same], drives.enter[1:][same], atol=0.1)
    for column in (drives.person, drives.day, drives.period):
        assert (column[1:][same] == column[:-1][same]).all()


def test_sizes_are_as_asked(town):
    drives = town.drives
    assert town.periods == ("am", "pm")
    assert town.truth.shape == (2, len(town.roads.tails))
    assert set(np.unique(drives.period)) == {0, 1}
    assert drives.person.max() < 1_500
    assert set(np.unique(drives.day)) == set(range(DAYS))
    assert (drives.seconds > 0).all()


def test_times_of_passes_have_the_true_mean(town):
    drives = town.drives
    mean = town.truth[drives.period, drives.arc]
    assert drives.seconds.sum() / mean.sum() == pytest.approx(1.0, abs=0.02)
    assert np.std(drives.seconds / mean) > 0.2


def test_some_people_drive_far_more_than_others(town):
    passes = np.bincount(town.drives.person, minlength=1_500)
    assert passes.max() > 5 * np.median(passes)


def test_mornings_are_slow_towards_the_centre_and_evenings_away_from_it(town):
    ratio, inward = town.truth / town.roads.free_flow, town.roads.inward
    morning, evening = ratio
    assert morning[inward > 0.7].mean() > 1.05 * evening[inward > 0.7].mean()
    assert evening[inward < -0.7].mean() > 1.05 * morning[inward < -0.7].mean()


def test_neighbours_are_alike_and_busy_streets_slow(town):
    ratio = np.log(town.truth[0] / town.roads.free_flow)
    twin = {(a, b): i for i, (a, b) in enumerate(zip(town.roads.tails, town.roads.heads, strict=True))}
    back = np.array([twin[b, a] for a, b in twin])
    assert np.corrcoef(ratio, ratio[back])[0, 1] > 0.2
    passes = np.bincount(town.drives.arc[town.drives.period == 0], minlength=len(ratio))
    busy = passes > np.quantile(passes, 0.9)
    assert ratio[busy].mean() > ratio[~busy].mean() + 0.05


def test_the_same_seed_gives_the_same_and_another_does_not():
    roads = Roads.of(generate_streets(120, 5))
    one, again, other = (simulate_people(roads, 60, seed) for seed in (3, 3, 4))
    assert np.array_equal(one.drives.seconds, again.drives.seconds)
    assert np.array_equal(one.truth, again.truth)
    assert not np.array_equal(one.truth, other.truth)


def test_one_period_has_no_tide():
    roads = Roads.of(generate_streets(120, 5))
    town = simulate_people(roads, 100, 3, periods=("day",))
    assert town.truth.shape == (1, len(roads.tails))
    assert (town.drives.period == 0).all()


@pytest.mark.parametrize(("nodes", "ends"), [(1, []), (2, [(0, 1)]), (3, [(0, 1), (1, 0), (0, 1)])])
def test_tiny_maps_do_not_break_it(nodes, ends):
    tails, heads = np.array(ends, np.int64).reshape(-1, 2).T
    roads = Roads(np.arange(2.0 * nodes).reshape(nodes, 2), tails, heads, np.full(len(tails), 10.0))
    town = simulate_people(roads, 5, seed=1, days=1)
    assert town.truth.shape == (2, len(tails))
    assert np.isfinite(town.truth).all()
    assert len(simulate_people(roads, 0, seed=1).drives) == 0


def test_nobody_is_shown(town):
    assert repr(town.drives) == "Drives(hidden)"
