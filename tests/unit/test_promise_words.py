"""The promise in words: one text in every place, and no number or word better than the certificate."""

import html
import itertools
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from trip_tables import copies, strategy_for

import hushpath
from hushpath.cli import run
from hushpath.output.page.explorer import page_data
from hushpath.output.report.release import release_card, write_report
from hushpath.privacy.accounting import zcdp_epsilon
from hushpath.privacy.units import TripUnit, WeightUnit
from hushpath.published.promise import (
    LEVELS,
    belief_after,
    explain_delta,
    find_level,
    find_weaknesses,
    format_up,
    group_epsilon,
    make_promise,
    odds_factor,
)
from hushpath.published.quantity import Quantity

EPSILONS, LAWS = (0.1, 1.0, 5.0, 20.0), ("laplace", "gaussian")
UNITS = ("person", "person-day", "trip", "declared")
pytestmark = pytest.mark.filterwarnings("ignore::hushpath.HushpathWarning")


@pytest.fixture(scope="module")
def made():
    """Make a release of every epsilon, law and unit; every second one declares population, publisher and days."""
    ends = [(f"n{i}", f"n{(i + 1) % 6}") for i in range(6)]
    streets = pd.DataFrame([(*pair, 10.0, 10.0) for pair in ends], columns=["source", "target", "weight", "free"])
    net = hushpath.Network.from_pandas(streets, directed=True)
    public = hushpath.Network.from_pandas(streets, directed=True, proxy="free").topology
    rows = [(p, f"2026-10-{1 + p % 9:02d}", p, *ends[(p + i) % 6], 12.0) for p in range(60) for i in range(3)]
    table = pd.DataFrame(rows, columns=["person", "day", "trip", "from", "to", "seconds"])
    trips = hushpath.read_trips(
        table, public, person="person", day="day", trip="trip", edge=("from", "to"),
        seconds="seconds",
    )  # fmt: skip
    found = {}
    for i, (epsilon, law, unit) in enumerate(itertools.product(EPSILONS, LAWS, UNITS)):
        asked = dict(epsilon=epsilon, noise=law, delta=1e-6 if law == "gaussian" else 0)
        population, quantity = None, Quantity()
        if i % 2:
            population, quantity = 50_000, Quantity(publisher='City of <Hush> & "Path"', date="2026-10")
        if unit == "declared":
            protected = hushpath.WeightUnit(2.0, population=population)
            made = hushpath.release(
                net, unit=protected, mechanism="input", max_weight=20.0, quantity=quantity, **asked
            ).with_decoder(estimator="clip")
        else:
            days = "2026-10-01..2026-10-05" if i % 4 == 1 else None
            protected = hushpath.TripUnit(unit, days=days, population=population)
            made = hushpath.release_trips(trips, protects=protected, low=0.5, high=6.0, quantity=quantity, **asked)
        found[epsilon, law, unit] = made
    return found


def inspected(capsys, file, *more):
    assert run(["inspect", str(file), *more]) == 0
    return capsys.readouterr().out


def test_every_place_shows_the_same_promise(made, tmp_path, capsys):
    for release in made.values():
        promise, statement = release.statement.promise, release.statement
        assert len(promise.sentences) >= 10
        file, page = tmp_path / "x.hush", tmp_path / "x.html"
        release.save(file)
        write_report(page, release)
        told = inspected(capsys, file)
        assert told.startswith(f"Protected: {promise.facts['Protected']}.\n")
        assert told.startswith(str(promise))
        assert json.loads(inspected(capsys, file, "--json"))["promise"] == json.loads(json.dumps(promise.as_dict()))
        header, _ = page_data(release, title="x", origin=None, confidence=0.9)
        texts = {
            "inspect": told, "statement": str(statement), "report": html.unescape(page.read_text(encoding="utf-8")),
            "notebook": html.unescape(release_card(release)), "page": "\n".join(_texts(header["promise"])),
        }  # fmt: skip
        for place, text in texts.items():
            assert [sentence for sentence in promise.sentences if sentence not in text] == [], place
        assert "<Hush>" not in page.read_text(encoding="utf-8")


def _texts(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else [str(value)]


def test_the_promise_is_harsh_where_the_numbers_are(made):
    kind = {0.1: "very strong", 1.0: "strong", 5.0: "weak", 20.0: "practically none"}
    for (epsilon, _, _), release in made.items():
        promise = release.statement.promise
        assert promise.risks[0].protection == kind[epsilon]
        assert f": {kind[epsilon]} (" in promise.verdict
        assert promise.is_void == (epsilon == 20.0)
        text = str(release.statement)
        assert not re.search(r"almost nothing|e to the|e\^|surely", text)
        assert ("practically no protection" in text) == (epsilon == 20.0)
        if epsilon == 20.0:
            assert "99.9999998 %" in text
            assert re.search(r"factor of at most 4\.[89]e8", text)


def test_a_level_ends_at_its_threshold():
    for place, (most, _) in enumerate(LEVELS[:-1]):
        assert (find_level(most), find_level(math.nextafter(most, math.inf))) == (place, place + 1)
    assert find_level(math.inf) == len(LEVELS) - 1


@pytest.mark.parametrize("population", [None, 1, 999, 1000, 10**6, 2**63 - 1])
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-9, 1e-6, 1e-4, 1.001e-4, 1e-3, 0.01, 0.5])
def test_a_bad_delta_lowers_the_words(delta, population):
    promise = make_promise(
        marking="", epsilon=0.05, delta=delta, law="gaussian" if delta else "laplace", spent=0.05,
        unit=WeightUnit(1.0, population=population), quantity=Quantity(),
    )  # fmt: skip
    too_large = delta * population >= 1 if population is not None else delta > 1e-4
    worst = "practically none" if delta >= 0.01 else "weak" if too_large else "very strong"
    assert promise.risks[0].protection == worst
    assert ("because of delta" in promise.verdict) == (worst != "very strong")
    assert len(find_weaknesses(0.05, delta, population)) == (worst != "very strong")
    assert explain_delta(delta, population) in promise.paragraphs
    if delta and population == 10**6:
        revealed = re.search(r"reveals ([\d.,e-]+) on average", explain_delta(delta, population))[1]
        revealed = float(revealed.replace(",", ""))
        assert delta * 1e6 * (1 - 1e-12) <= revealed <= 1.1 * delta * 1e6


def test_beliefs_are_rounded_against_the_publisher():
    """Against plain arithmetic with odds, where that is exact enough."""
    for epsilon in np.concatenate([np.linspace(0.01, 12, 300), [15.0, 20.0]]).tolist():
        for percent in (1, 50):
            odds = percent / (100 - percent)
            low, high = (float(text.removesuffix(" %")) for text in belief_after(percent, epsilon))
            least, most = (100 * x / (1 + x) for x in (odds * math.exp(-epsilon), odds * math.exp(epsilon)))
            lacking = 100 / (1 + odds * math.exp(epsilon))
            assert low <= least * (1 + 1e-12)
            assert low >= least - max(0.1, least / 2) if least > 0.1 else low >= 0.5 * least
            assert 100 - high <= lacking * (1 + 1e-6)
            assert high - most <= 0.1
        factor = float(odds_factor(epsilon).replace(",", ""))
        assert math.exp(epsilon) * (1 - 1e-12) <= factor <= 1.1 * math.exp(epsilon)


@pytest.mark.parametrize(("value", "digits", "text"), [(0.02, 3, "0.02"), (1e-6, 3, "1e-6"), (3.14159, 3, "3.15"),
                                                       (99999.0, 2, "100,000"), (999999.5, 4, "1e6")])  # fmt: skip
def test_numbers_are_rounded_up(value, digits, text):
    assert format_up(value, digits) == text


def test_no_observer_of_laplace_noise_learns_more_than_the_table(made):
    """Bayes' rule for two data sets k units apart, every outcome of one noisy number looked at."""
    scale, unit = 40, 7
    spent = unit / scale
    for k in (1, 2, 20):
        outcomes = np.arange(-2000, 2000 + k * unit)
        here, there = np.exp(-np.abs(outcomes) / scale), np.exp(-np.abs(outcomes - k * unit) / scale)
        belief = 100 * (here / (here + there)).max()
        high = float(belief_after(50, group_epsilon(k, "laplace", spent, 0.0))[1].removesuffix(" %"))
        assert belief <= high <= belief + 0.1 + 1e-9


def exact_gaussian_epsilon(mu, delta):
    """Bisect Balle and Wang's Theorem 8 in floating point."""
    low, high = 0.0, 1e4
    for _ in range(200):
        epsilon = (low + high) / 2
        loss = norm.cdf(mu / 2 - epsilon / mu) - math.exp(min(epsilon + norm.logcdf(-mu / 2 - epsilon / mu), 0.0))
        low, high = (epsilon, high) if loss > delta else (low, epsilon)
    return high


def test_groups_of_gaussian_units_cost_what_zcdp_says(made):
    """Not below the exact cost, and the conversion of k^2 rho, minimised here over a grid of orders.

    Two versions of one unit cost 2 rho: ``neighbours="replace"`` would need noise of twice the variance.
    """
    for (epsilon, law, _), release in made.items():
        statement = release.statement
        for risk in statement.promise.risks:
            if risk.units == 1:
                assert risk.epsilon == statement.epsilon
                continue
            if law == "laplace":
                assert risk.epsilon == pytest.approx(risk.units * statement.epsilon, rel=1e-12)
                assert risk.epsilon >= risk.units * statement.epsilon * (1 - 1e-15)
                assert risk.delta == 0
                continue
            square = 2 if risk.question.startswith("If so") else risk.units**2
            rho, orders = square * statement.spent, 1 + np.logspace(-4, 4, 100_001)
            zcdp = orders * rho - np.log(orders * 1e-6) / (orders - 1) + np.log1p(-1 / orders)
            assert risk.epsilon == pytest.approx(zcdp.min(), rel=1e-5)
            assert risk.epsilon >= exact_gaussian_epsilon(math.sqrt(2 * rho), 1e-6) - 1e-6
            assert risk.delta == statement.delta == 1e-6
            assert risk.epsilon > epsilon


def trip_promise(protects, neighbours="add-remove", days=None):
    return make_promise(
        marking="",
        epsilon=1.0,
        delta=0.0,
        law="laplace",
        spent=1.0,
        unit=TripUnit(protects, neighbours, days),
        quantity=Quantity(),
    )


@pytest.mark.parametrize(
    ("asked", "units"),
    [
        (("person",), [1, 2]),  # in the data or not; and, one taken out and another put in, what it was
        (("person", "replace"), [1]),
        (("person-day",), [1, 2, 20]),
        (("person-day", "replace"), [1, 20]),
        (("person-day", "add-remove", ["2026-10-01", "2026-10-05"]), [1, 2, 5]),
        (("person-day", "add-remove", ["2026-10-01", "2026-10-02"]), [1, 2, 2]),
        (("person-day", "add-remove", ["2026-10-01", "2026-10-01"]), [1, 2]),
        (("person-day", "add-remove", [7, 9]), [1, 2, 3]),
        (("person-day", "add-remove", ["2026-01-01", "2026-12-31"]), [1, 2, 20]),
        (("trip", "add-remove", ["2026-10-01", "2026-10-01"]), [1, 2, 20]),
    ],
    ids=str,
)
def test_a_person_with_several_units_is_told_what_that_costs(asked, units):
    promise = trip_promise(*asked)
    assert [risk.units for risk in promise.risks] == units
    assert [risk.epsilon for risk in promise.risks] == [float(k) for k in units]
    several = asked[0] != "person" and len(units) > (asked[1:2] != ("replace",)) + 1
    assert any("not a person" in text for text in promise.paragraphs) == several
    days = asked[2] if len(asked) > 2 else None
    assert promise.facts["Days covered"].startswith("every day" if days is None else f"{days[0]} to {days[1]}")


def test_facts_are_declared_or_said_to_be_missing(made):
    for i, release in enumerate(made.values()):
        facts = release.statement.promise.facts
        assert list(facts) == ["Protected", "Days covered", "Published by", "Number of protected units"]
        declared = "City of <Hush>" in facts["Published by"], "50,000" in facts["Number of protected units"]
        assert declared == (bool(i % 2),) * 2


@pytest.mark.parametrize("flag", [dict(seed=1), dict(epsilon=math.inf)], ids=str)
def test_what_is_not_private_promises_nothing(flag):
    net = hushpath.Network.build(range(3), [0, 1], [1, 2], [1.0, 2.0])
    promise = hushpath.release(net, **{"epsilon": 1.0, "unit": 1.0, **flag}).statement.promise
    assert str(promise).startswith("NOT PRIVATE")
    assert promise.as_dict()["marking"].startswith("NOT PRIVATE")
    assert next(iter(promise.as_dict())) == "marking"
    assert promise.facts["Protected"] == "nobody"
    assert (promise.risks, promise.paragraphs) == ((), ())


@pytest.mark.parametrize("law", LAWS)
def test_two_versions_of_a_unit_cost_what_a_replacement_is_certified_to_cost(law):
    """The same noise, certified for neighbours that replace a unit by another."""
    topology = copies(1)
    found = {}
    for neighbours in ("add-remove", "replace"):
        strategy = strategy_for(topology, "person", law, neighbours=neighbours)
        found[neighbours] = strategy.certificate, strategy.scales
    (certificate, scales), (replaced, wider) = found.values()
    spent = replaced.spent * float(wider[0] / scales[0]) ** (1 if law == "laplace" else 2)
    promised = group_epsilon(2, law, certificate.spent, certificate.delta, versions=True)
    expected = spent if law == "laplace" else zcdp_epsilon(spent, certificate.delta)
    assert promised == pytest.approx(expected, rel=1e-5)
