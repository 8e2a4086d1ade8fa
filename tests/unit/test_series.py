"""A series of releases: spans, splits that the ledger accepts to the last one, and runs that stop and go on."""

from contextlib import contextmanager
from datetime import date, datetime, timedelta
from functools import cache
from itertools import pairwise

import pandas as pd
import pytest
from named_graphs import grid_ends

import hushpath
from hushpath.errors import BudgetError, CannotError, HushpathWarning, OptionError
from hushpath.network.topology import Topology
from hushpath.noise import Law
from hushpath.privacy.accounting import Budget
from hushpath.privacy.composition import Spending, compose
from hushpath.privacy.gaussian import gaussian_mu
from hushpath.privacy.ledger import Ledger
from hushpath.releasing import release as releasing
from hushpath.releasing import schedule
from hushpath.releasing import series as module
from hushpath.releasing.schedule import (
    MOST_RELEASES,
    Schedule,
    divide_budget,
    rescale_planned,
)
from hushpath.releasing.series import SeriesRun, series

FIRST = date(2026, 1, 1)
TERMS = dict(low=0.5, high=6)


# --- on paper


@pytest.mark.parametrize("every", ["day", "week", "month"])
@pytest.mark.parametrize("first", ["2023-12-31", "2024-01-30", "2024-02-29", "2026-01-01", "2100-01-31"])
def test_spans_follow_each_other_without_gap_or_overlap(first, every):
    found = Schedule(first, every, 30).spans
    assert len(found) == 30
    assert str(found[0][0]) == first
    for (begin, last), (after, _) in pairwise(found):
        assert begin <= last
        assert after - last == timedelta(days=1)
    lengths = {(last - begin).days + 1 for begin, last in found}
    assert lengths <= {"day": {1}, "week": {7}, "month": {28, 29, 30, 31}}[every]


@pytest.mark.parametrize(("year", "last"), [(2023, 28), (2024, 29), (2100, 28), (2000, 29)])
def test_months_end_where_calendars_say(year, last):
    found = Schedule(date(year, 1, 1), "month", 12).spans
    assert found[1] == (date(year, 2, 1), date(year, 2, last))
    assert found[11] == (date(year, 12, 1), date(year, 12, 31))


def test_a_short_month_does_not_move_the_months_after_it():
    begins = [str(begin) for begin, _ in Schedule("2024-01-31", "month", 5).spans]
    assert begins == ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30", "2024-05-31"]


@pytest.mark.parametrize(
    ("first", "every", "count"),
    [("2026-13-01", "month", 1), ("soon", "day", 1), (datetime(2026, 1, 1, 5), "day", 1), (7, "day", 1),
     (FIRST, "year", 1), (FIRST, "", 1), (FIRST, "day", 0), (FIRST, "day", True), (FIRST, "day", 1.5),
     (FIRST, "day", MOST_RELEASES + 1), ("9999-12-01", "month", 1), ("9999-12-31", "day", 1)],
)  # fmt: skip
def test_spans_that_are_none_are_refused(first, every, count):
    with pytest.raises(OptionError):
        Schedule(first, every, count)


def test_shares():
    assert daily(4, "even").shares == [0.25] * 4
    front = daily(12, "front").shares
    assert sum(front) == pytest.approx(1)
    assert [one / front[0] for one in front] == pytest.approx([1 / n for n in range(1, 13)])
    assert daily(1, "front").shares == [1.0]
    with pytest.raises(OptionError, match="even, front"):
        daily(3, "back")


def daily(count, split="even", **more):
    return Schedule(FIRST, "day", count, split, **more)


def make_spending(epsilon, delta, law):
    """What a release asked for at this epsilon spends at most."""
    if law is Law.LAPLACE:
        return Spending("person", law, epsilon, epsilon)
    return Spending("person", law, gaussian_mu(epsilon, delta) ** 2 / 2, epsilon, delta)


BUDGETS = [(3.0, 1e-6), (0.1, 1e-9), (10.0, 1e-3), (1.0, 0.0), (0.3, 0.0), (3.0, 0.01)]


@pytest.mark.quick(every=3)
@pytest.mark.parametrize("split", ["even", "front"])
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_persons_never_spend_more_than_the_total_and_nearly_all_of_it(epsilon, delta, split):
    budget = Budget(epsilon, delta)
    for law in [Law.LAPLACE, Law.GAUSSIAN] if delta else [Law.LAPLACE]:
        for count in [1, 2, 3, 5, 12, 60]:
            found = divide_budget(budget, daily(count, split), "person", law)
            asked = [make_spending(one, delta, law) for one in found]
            assert len(found) == count
            for made in range(1, count + 1) if count < 8 else [count]:  # each charge is accepted, in order
                assert compose(asked[:made], budget).epsilon <= epsilon, (law, count)
            mean = sum(one.spent for one in asked) / count
            kept = schedule.make_spending(law, mean / 8.001, delta)  # room for one that is killed
            assert 0.97 * epsilon < compose([*asked, kept], budget).epsilon <= epsilon, (law, count)
            everything = divide_budget(budget, daily(count, split, retry=False), "person", law)
            together = compose([make_spending(one, delta, law) for one in everything], budget).epsilon
            assert 0.97 * epsilon < together <= epsilon, (law, count)
            assert all(more > less for more, less in zip(everything, found, strict=True))


@pytest.mark.parametrize(("law", "delta"), [(Law.GAUSSIAN, 1e-6), (Law.LAPLACE, 0.0)])
def test_the_split_is_kept_in_what_the_ledger_adds(law, delta):
    budget = Budget(2.0, delta)
    even, front = (divide_budget(budget, daily(10, split), "person", law) for split in ("even", "front"))
    assert len(set(even)) == 1
    spent = [make_spending(one, delta, law).spent for one in front]
    assert [one / spent[0] for one in spent] == pytest.approx([1 / n for n in range(1, 11)], rel=1e-4)


@pytest.mark.parametrize("law", list(Law))
def test_trips_over_midnight_share_the_total_of_two_releases(law):
    """Two that follow each other, and no more: ten releases get as much each as three."""
    budget = Budget(2.0, 1e-6)
    two, ten = (divide_budget(budget, daily(count, "even", retry=False), "trip", law) for count in (3, 10))
    assert ten == two[:1] * 10
    pair = [make_spending(ten[0], 1e-6, law)] * 2
    assert 1.99 < compose(pair, budget).epsilon <= 2.0
    assert divide_budget(budget, daily(1, "even", retry=False), "trip", law) == [2.0]


@pytest.mark.parametrize("protects", ["person-day"])
@pytest.mark.parametrize("law", list(Law))
def test_units_of_one_day_spend_all_each_time_but_for_the_reserve(protects, law):
    budget = Budget(2.0, 1e-6)
    assert divide_budget(budget, daily(5, "front", retry=False), protects, law) == [2.0] * 5
    first, *others = divide_budget(budget, daily(5, "front"), protects, law)
    assert others == [first] * 4
    one = make_spending(first, 1e-6, law)
    assert 1.94 < compose([one, schedule.make_spending(law, one.spent / 8.001, 1e-6)], budget).epsilon <= 2


@pytest.mark.parametrize(("law", "delta"), [(Law.GAUSSIAN, 1e-6), (Law.LAPLACE, 0.0), (Law.LAPLACE, 1e-6)])
def test_what_is_left_is_divided_in_proportion_and_an_eighth_is_kept(law, delta):
    planned = [schedule.make_spending(law, size, delta) for size in (0.04, 0.02, 0.01)]
    seen = []

    def fits(asked):
        seen.append([one.spent for one in asked])
        return sum(one.spent for one in asked) <= 0.03

    factor = rescale_planned(planned, fits, retry=True)
    mean = 0.07 / 3
    assert factor == pytest.approx(0.03 / (0.07 + mean / 8), rel=1e-9)
    assert max(sum(sizes) for sizes in seen if sum(sizes) <= 0.03) <= 0.03
    assert rescale_planned(planned, lambda asked: True, retry=True) == 1.0
    assert rescale_planned(planned, fits, retry=False) == pytest.approx(3 / 7, rel=1e-9)
    assert rescale_planned(planned, lambda asked: sum(one.spent for one in asked) < 1e-6, retry=True) == 0.0


def test_totals_that_leave_nothing_are_refused():
    with pytest.raises(OptionError, match="finite"):
        divide_budget(Budget(float("inf"), 1e-6), daily(2), "person", Law.GAUSSIAN)
    with pytest.raises(CannotError, match="leaves nothing"):
        divide_budget(Budget(1e-3, 0.3), daily(500), "person", Law.GAUSSIAN)


# --- with trips


@cache
def topology():
    ends = grid_ends(3, 3)
    labels = [f"n{node}" for node in range(9)]
    return Topology.build(labels, ends[:, 0], ends[:, 1], proxy=[10.0] * len(ends), proxy_name="free_flow")[0]


@pytest.fixture
def trips():
    rows = [
        (f"p{person}", person, FIRST + timedelta(days=3 * person + month * 30), "n0", "n1", 12.0)
        for person in range(8) for month in range(4)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["user", "trip", "date", "from", "to", "seconds"])
    return hushpath.read_trips(
        table, topology(), person="user", trip="trip", day="date", edge=("from", "to"), seconds="seconds"
    )


@pytest.fixture
def go(trips, tmp_path, monkeypatch):
    """Run a series of four months in a folder of its own, on a day when all of them are over."""
    monkeypatch.setattr(module, "_today", lambda: date(2026, 6, 1))

    def run(**more):
        asked = dict(
            epsilon=3.0, delta=1e-6, ledger=tmp_path / "a.ledger", folder=tmp_path / "out", protects="person", **TERMS
        )  # fmt: skip
        when = dict(first=FIRST, every="month", count=4)
        when |= {name: more.pop(name) for name in ("every", "count", "split", "retry") if name in more}
        once = dict(quantity=hushpath.Quantity(dataset=more.pop("dataset", "city") or ""))
        once |= {name: more.pop(name) for name in SeriesRun.__dataclass_fields__ if name in more}
        return series(trips, Schedule(**when), run=SeriesRun(**once), **{**asked, **more})

    run.folder, run.ledger = tmp_path / "out", tmp_path / "a.ledger"
    run.files = lambda: sorted(path.name for path in run.folder.glob("*"))
    run.charges = lambda: Ledger.open(run.ledger).charges("city")
    return run


def states(found):
    return [step.state for step in found.releases]


class Stopped(Exception):
    pass


def stopping(after):
    """Somebody stops the series between two releases."""
    left = [after]

    @contextmanager
    def around(step):
        yield
        left[0] -= 1
        if not left[0]:
            raise Stopped

    return around


def crash_in(monkeypatch, number):
    """The program dies while it measures the so-manieth release: paid for, and no file."""
    calls, measure = [0], releasing.measure_trips

    def dies(*args):
        calls[0] += 1
        if calls[0] == number:
            raise Stopped
        return measure(*args)

    monkeypatch.setattr(releasing, "measure_trips", dies)


@pytest.mark.filterwarnings("ignore:this is mostly noise")
@pytest.mark.parametrize(
    ("split", "delta", "protects"),
    [("even", 1e-6, "person"), ("front", 0.0, "person"), ("front", 1e-6, "person-day"), ("even", 0.0, "trip")],
)
def test_a_series_is_charged_and_written(go, split, delta, protects):
    found = go(split=split, delta=delta, protects=protects)
    assert states(found) == ["made"] * 4
    assert go.files() == [f"city-2026-0{month}-01.hush" for month in (1, 2, 3, 4)]
    ledger = Ledger.open(go.ledger)
    (dataset,) = ledger.datasets()
    assert (dataset.name, dataset.budget, str(dataset.protects)) == ("city", Budget(3.0, delta), protects)
    assert 2 < ledger.spent().epsilon <= 3
    charges = go.charges()
    assert [one.days for one in charges] == Schedule(FIRST, "month", 4).spans
    for charge, step in zip(charges, found.releases, strict=True):
        made = hushpath.load(step.file)
        assert (made.fingerprint, charge.file) == (charge.fingerprint, step.file.name)
        assert made.statement.private
        assert charge.asked.epsilon == made.statement.epsilon <= 3
    if protects == "trip":
        assert 1.3 < min(one.asked.epsilon for one in charges) <= 1.5
        assert "midnight" in found.explanation
    elif protects == "person-day":
        assert min(one.asked.epsilon for one in charges) > 2.5
        assert "may spend all of it" in found.explanation
    elif split == "front":
        assert charges[0].asked.spent > 3 * charges[3].asked.spent
        assert "add up" in found.explanation


def test_a_plan_writes_nothing_and_says_what_would_be_charged(go):
    planned = go(only_plan=True)
    assert states(planned) == ["to make"] * 4
    assert not go.folder.exists()
    assert not go.ledger.exists()
    assert "2026-02-01 to 2026-02-28" in str(planned)
    made = go()
    assert [step.charges[0].asked for step in made.releases] == [step.asked for step in planned.releases]
    assert planned.epsilon("to make") == made.epsilon() == Ledger.open(go.ledger).spent().epsilon


def test_interrupted_and_resumed(go):
    with pytest.raises(Stopped):
        go(around=stopping(after=2))
    assert len(go.charges()) == 2
    before = {name: (go.folder / name).read_bytes() for name in go.files()}
    assert len(before) == 2
    found = go()
    assert states(found) == ["made"] * 4
    assert len(go.charges()) == 4
    assert all((go.folder / name).read_bytes() == content for name, content in before.items())
    again = go()
    assert again == found
    assert len(go.charges()) == 4


@pytest.mark.parametrize("protects", ["person", "person-day"])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("number", [1, 4])
@pytest.mark.filterwarnings("ignore:this is mostly noise")
def test_what_a_crash_lost_stays_spent_and_is_made_again(go, monkeypatch, protects, delta, number):
    terms = dict(protects=protects, delta=delta)
    with monkeypatch.context() as patch:
        crash_in(patch, number)
        with pytest.raises(Stopped):
            go(**terms)
    assert [one.state for one in go.charges()] == [*["released"] * (number - 1), "charged"]
    with pytest.warns(HushpathWarning, match=rf"city-2026-0{number}-01.hush \(charge {number}, epsilon"):
        found = go(**terms)
    assert states(found) == ["made"] * 4
    assert len(go.files()) == 4
    assert len(go.charges()) == 5
    assert [one.number for one in found.releases[number - 1].lost_charges] == [number]
    assert Ledger.open(go.ledger).spent().epsilon <= 3
    assert go(**terms) == found  # and nothing more happens


def test_what_a_crash_lost_can_be_left_out(go, monkeypatch):
    with monkeypatch.context() as patch:
        crash_in(patch, 2)
        with pytest.raises(Stopped):
            go()
    found = go(skip_missing=True)
    assert states(found) == ["made", "lost", "made", "made"]
    assert len(go.charges()) == 4
    assert found.releases[2].charges[0].asked == found.releases[0].charges[0].asked  # nothing was taken from the others


def test_what_a_crash_lost_never_stops_a_series_that_has_no_room(go, monkeypatch):
    with monkeypatch.context() as patch:
        crash_in(patch, 4)
        with pytest.raises(Stopped):
            go(retry=False)
    with pytest.warns(HushpathWarning, match="goes on without it"):
        assert states(go(retry=False)) == ["made", "made", "made", "lost"]
    assert len(go.charges()) == 4


def test_a_file_that_went_away_is_never_charged_again_by_itself(go):
    Ledger.create(go.ledger, dataset="city", protects="person", epsilon=9.0, delta=1e-6)
    go(epsilon=1.0)
    content = (go.folder / "city-2026-03-01.hush").read_bytes()
    (go.folder / "city-2026-03-01.hush").unlink()
    assert states(go(epsilon=5.0, only_plan=True)) == ["made", "made", "missing", "made"]
    for total in (1.0, 5.0):  # however much room there is
        with pytest.raises(CannotError, match="charge 3") as caught:
            go(epsilon=total)
        assert not isinstance(caught.value, BudgetError)
    assert states(go(epsilon=1.0, skip_missing=True)) == ["made", "made", "missing", "made"]
    assert len(go.charges()) == 4
    (go.folder / "city-2026-03-01.hush").write_bytes(content)
    assert states(go(epsilon=1.0)) == ["made"] * 4


def test_one_process_at_a_time(go):
    """Another run that is under way has charged and not yet written: that is not lost."""

    @contextmanager
    def around(step):
        with pytest.raises(CannotError, match="another process"):
            go()
        yield

    assert states(go(around=around)) == ["made"] * 4
    assert len(go.charges()) == 4
    assert len(go.files()) == 4


def test_a_ledger_without_room_refuses_at_the_start(go):
    ledger = Ledger.create(go.ledger, dataset="city", protects="person", epsilon=3.0, delta=1e-6)
    ledger.charge(Spending("person", "laplace", 0.5, 0.5))
    assert "does not fit as a whole" in go(only_plan=True).problem
    with pytest.raises(BudgetError, match=r"does not fit as a whole.*Nothing was charged"):
        go()
    assert len(go.charges()) == 1  # though the first releases would have fitted
    assert not go.folder.exists()
    assert states(go(epsilon=1.5)) == ["made"] * 4


def test_a_ledger_of_larger_units_or_other_names_refuses(go):
    Ledger.create(go.ledger, dataset="city", protects="person", epsilon=9.0, delta=1e-6)
    with pytest.raises(OptionError, match="protects each person"):
        go(protects="person-day")
    assert not go.folder.exists()  # said before the first charge is tried
    with pytest.raises(OptionError, match="no data set 'town'"):
        go(dataset="town")
    assert states(go(dataset=None, only_plan=True)) == ["to make"] * 4  # it has one


def test_other_options_in_the_middle_cannot_exceed_the_new_total(go):
    Ledger.create(go.ledger, dataset="city", protects="person", epsilon=9.0, delta=1e-6)
    with pytest.raises(Stopped):
        go(around=stopping(after=2))
    with pytest.raises(BudgetError, match="charged for it before"):
        go(epsilon=1.0)
    assert len(go.charges()) == 2


def test_days_that_are_not_over_are_kept_for_later(go, monkeypatch):
    monkeypatch.setattr(module, "_today", lambda: date(2026, 3, 31))
    assert states(go()) == ["made", "made", "to come", "to come"]
    assert len(go.charges()) == 2
    monkeypatch.setattr(module, "_today", lambda: date(2026, 4, 1))
    assert states(go()) == ["made", "made", "made", "to come"]
    assert states(go(early=True)) == ["made"] * 4


def test_a_file_that_no_charge_is_of_is_left_alone(go, trips):
    go.folder.mkdir()
    stranger = go.folder / "city-2026-02-01.hush"
    february = Schedule(FIRST, "month", 2).spans[1]
    hushpath.release_trips(trips, epsilon=1.0, protects="person", days=february, **TERMS).save(stranger)
    content = stranger.read_bytes()
    with pytest.raises(OptionError, match="no charge of 2026-02-01 to 2026-02-28"):
        go()
    assert stranger.read_bytes() == content
    assert not go.ledger.exists()


def test_another_series_that_begins_on_the_same_day_is_another(go, tmp_path):
    Ledger.create(go.ledger, dataset="city", protects="person", epsilon=9.0, delta=1e-6)
    go(epsilon=1.0, count=2)
    weeks = dict(epsilon=1.0, count=2, every="week", folder=tmp_path / "weeks", only_plan=True)
    assert states(go(**weeks)) == ["to make"] * 2
    months = dict(epsilon=1.0, count=2, folder=tmp_path / "elsewhere", only_plan=True)
    assert states(go(**months)) == ["missing"] * 2  # the same one, without its files


def test_a_file_that_appears_meanwhile_is_not_replaced(go):
    @contextmanager
    def around(step):
        yield
        (go.folder / "city-2026-02-01.hush").write_text("of another run")

    with pytest.raises(CannotError, match="meanwhile"):
        go(around=around)
    assert len(go.charges()) == 1
    assert (go.folder / "city-2026-02-01.hush").read_text() == "of another run"


def test_a_file_of_other_days_does_not_count(go):
    go()
    (go.folder / "city-2026-02-01.hush").write_bytes((go.folder / "city-2026-03-01.hush").read_bytes())
    with pytest.raises(OptionError, match="no charge of 2026-02-01"):
        go()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [(dict(epsilon=None), "epsilon"), (dict(epsilon=float("inf")), "finite"), (dict(every="year"), "every"),
     (dict(split="back"), "split"), (dict(protects=None), "protects"), (dict(low=None), "low"),
     (dict(edge_weighting="magic"), "edge_weighting"), (dict(noise="cauchy"), "noise"), (dict(dataset=None), "dataset"),
     (dict(dataset=" "), "dataset")],
)  # fmt: skip
def test_mistakes_are_said_before_anything_is_charged(go, wrong, words):
    with pytest.raises(OptionError, match=words):
        go(**wrong)
    assert not go.ledger.exists()


def test_a_folder_that_cannot_be_is_refused(go, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(OptionError, match="not a folder"):
        go()
    with pytest.raises(CannotError, match="such"):
        go(folder=tmp_path / "no" / "such")
    with pytest.raises(OptionError, match="takes Trips"):
        series(topology(), daily(1), epsilon=1, ledger="a", folder="b")
    assert not go.ledger.exists()


def test_names_of_data_sets_make_file_names(go):
    found = go(dataset="../Köln taxis", count=1)
    assert go.files() == ["Köln-taxis-2026-01-01.hush"]
    assert 2.5 < found.releases[0].epsilon < 3
    assert hushpath.load(found.releases[0].file).statement.quantity.dataset == "../Köln taxis"


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_charge(go, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.setattr("hushpath.releasing.series.os.access", lambda path, mode: False)  # tests may run as root
    with pytest.raises(CannotError, match="permission"):
        go()
    assert not go.ledger.exists()
