"""A release file of trips from a stranger: proved in every part, or refused in one line."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from forging import forged, made_once, put_together, taken_apart
from named_graphs import build, grid_ends

import hushpath
from hushpath.errors import FileFormatError
from hushpath.network.topology import Topology

ENDS = grid_ends(4, 5)
NAMES, SECONDS = ["am", "pm"], 5.0
PERIODS = {"named": NAMES, "hours": {"am": (7, 10), "pm": (16.5, 2)}, "none": None}


def trips(periods=None):
    topology = Topology.build(
        range(20), *ENDS.T, directed=True, proxy=np.arange(1.0, 1 + len(ENDS)), proxy_name="free"
    )[0]
    rows = pd.DataFrame({"who": np.arange(90) % 9, "day": np.arange(90) % 4, "seconds": np.arange(90.0)})
    rows[["from", "to"]] = ENDS[np.arange(90) % len(ENDS)]
    rows["when"] = np.where(np.arange(90) % 2, "am", "pm") if not isinstance(periods, dict) else "2026-10-01 08:00:00"
    told = {} if periods is None else dict(period="when", periods=periods)
    return hushpath.read_trips(rows, topology, person="who", day="day", edge=("from", "to"), seconds="seconds", **told)


def written(path, periods=None, estimator="ratio"):
    def write(path):
        terms = dict(epsilon=1.0, protects="person-day", low=0.5, high=6, days=(0, 3))
        hushpath.release_trips(trips(periods), **terms).with_decoder(estimator=estimator).save(path)

    return made_once((__name__, str(periods), estimator), path, write)


@pytest.fixture(params=PERIODS)
def file(request, tmp_path):
    return written(tmp_path / "x.hush", PERIODS[request.param])


@pytest.fixture
def plain(tmp_path):
    return written(tmp_path / "x.hush", NAMES)


def refused(path, says="x.hush"):
    begun = time.monotonic()
    with pytest.raises(FileFormatError, match=says) as caught:
        hushpath.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    assert "parts do not fit together" not in message, "a check was forgotten: the net under all of them caught this"
    assert time.monotonic() - begun < 5


def test_what_is_not_forged_is_read(file):
    before = hushpath.load(file)
    header, arrays = taken_apart(file)
    assert hushpath.load(put_together(file, header, arrays)).statement == before.statement
    assert before.statement.unit.protects == "person-day"


@pytest.mark.parametrize("value", [5, [], "trips", True, {}, {"protects": "person"}, [["protects", "person"]], None])
@pytest.mark.parametrize("field", ["terms", "unit"])
def test_what_is_said_of_trips_is_said_in_full(file, field, value):
    header, arrays = taken_apart(file)
    (header if field == "terms" else header["terms"])[field] = value
    refused(put_together(file, header, arrays))


UNIT = ("protects", "neighbours", "days", "max_edges", "population")


def facts(header):
    return {**header["terms"], **header["terms"]["unit"]}


def claim(header, field, value):
    """Change a fact in the terms and in the statement."""
    (header["terms"]["unit"] if field in UNIT else header["terms"])[field] = value
    (header["statement"]["unit"] if field in UNIT else header["statement"])[field] = value


FACTS = {
    "protects": [None, 5, "", "nobody", "Person", ["person"], {"a": 1}, True, "person\n"],
    "neighbours": [None, 5, "", "edge", ["replace"], {}, True],
    "periods": [None, 5, "am", {}, ["am"], ["am", "am"], ["am", "pm", "x"], ["am", 5], ["am", ""],
                ["am", "p\nm"], ["am", " pm"], ["am", "x" * 41], [["am"], ["pm"]], [f"p{i}" for i in range(200)], []],
    "hours": [None, 5, "7-10", {}, [[7.0, 10.0]], [[7, 10], [16, 19]], [[7.0, 10.0], [9.0, 11.0]], [[7.0, 10.0], [5.0]],
              [[7.0, 10.0], ["a", "b"]], [[7.0, 10.0], [-1.0, 5.0]], [[7.0, 10.0], [24.0, 25.0]],
              [[7.0, 10.0], [5.0, 5.0]],
              [[7.0, 10.0], None], [[7.0, 10.0], [True, False]], [[7.0, 10.0], [1e300, 1e308]],
              [[7.0, 10.0], [[1.0], [2.0]]]],
    "days": [5, "2026-10-01", {}, [], ["1"], [1, 2], ["3", "1"], ["1", "2026-10-01"], ["2026-10-31", "2026-10-01"],
             ["a", "b"],
             ["2026-13-01", "2026-13-02"], ["1", "2", "3"], [None, None], ["01", "02"], ["²", "³"], ["--1", "5"],
             ["1\n", "2"],
             ["2026-10-01T00:00", "2026-10-02"], ["9" * 30, "9" * 31], ["20261001", "2026-10-02"]],
    "max_edges": [1, 0, -1, 1.0, "1", True, 2**70, [1]],
    "population": [0, -1, 1.0, "1", True, 2**70, [1]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in FACTS.items() for value in values], ids=str
)
def test_every_fact_of_trips_is_proved(plain, field, value):
    """Also if the statement says the same: a promise to nobody in particular is no promise."""

    header, arrays = taken_apart(plain)
    if facts(header)[field] != value:
        refused(forged(plain, lambda header, arrays: claim(header, field, value)))


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_hours_are_numbers(tmp_path, text):
    path = written(tmp_path / "x.hush", PERIODS["hours"])
    header, arrays = taken_apart(path)
    whole = json.dumps(header, sort_keys=True)
    assert whole.count("16.5") == 2
    refused(put_together(path, whole.replace("16.5", text), arrays))


def test_facts_of_trips_are_all_there_and_no_others(plain):
    header, arrays = taken_apart(plain)
    for part in (header["terms"], header["terms"]["unit"]):
        for field in list(part):
            before = part.pop(field)
            refused(put_together(plain, header, arrays))
            part[field] = before
        part["extra"] = 1
        refused(put_together(plain, header, arrays))
        del part["extra"]
    assert hushpath.load(put_together(plain, header, arrays))


OTHER = dict(
    protects="trip", neighbours="replace", periods=["x", "y"], hours=[[1.0, 2.0], [3.0, 4.0]], days=None, max_edges=3,
    population=7,
)  # fmt: skip


@pytest.mark.parametrize("field", OTHER)
def test_the_statement_says_what_the_header_says(tmp_path, field):
    path = written(tmp_path / "x.hush", NAMES)
    header, arrays = taken_apart(path)
    (header["statement"]["unit"] if field in UNIT else header["statement"])[field] = OTHER[field]
    refused(put_together(path, header, arrays), "promises something else")


def test_a_harsher_neighbourhood_needs_its_noise(plain):
    """Calibrated for a unit more or less, and claimed for one replaced: the certificate is worked out anew."""

    refused(forged(plain, lambda header, arrays: claim(header, "neighbours", "replace")), "above the budget")


@pytest.mark.parametrize("claim", [0.1, 0.0, -1.0, 1, "inf", None, True, 0.999])
@pytest.mark.parametrize("field", ["epsilon", "spent", "budget_epsilon", "delta"])
def test_a_certificate_is_not_what_is_claimed(plain, field, claim):
    header, _ = taken_apart(plain)
    if header["statement"][field] == claim and type(claim) is not bool:
        return
    refused(forged(plain, lambda header, arrays: header["statement"].update({field: claim})))


ARRAYS = {
    "scales 0": lambda a: a.update({"strategy.scales": 0 * a["strategy.scales"]}),
    "scales 1": lambda a: a.update({"strategy.scales": 0 * a["strategy.scales"] + 1}),
    "scales negative": lambda a: a.update({"strategy.scales": -a["strategy.scales"]}),
    "scales beyond": lambda a: a.update({"strategy.scales": 0 * a["strategy.scales"] + 2**62}),
    "scales of other groups": lambda a: a.update({"strategy.scales": np.tile(a["strategy.scales"], 2)}),
    "no scales": lambda a: a.update({"strategy.scales": a["strategy.scales"][:0]}),
    "a step less noise": lambda a: a.update({"strategy.scales": a["strategy.scales"] * 99 // 100}),
    "no numbers": lambda a: a.update(values=a["values"][:0]),
    "numbers of one period": lambda a: a.update(values=a["values"][: len(a["values"]) // 2]),
    "more numbers": lambda a: a.update(values=np.tile(a["values"], 2)),
    "other periods": lambda a: a.update({"block0.periods": np.array([1])}),
    "many periods": lambda a: a.update({"block0.periods": np.array([2**62])}),
    "no periods": lambda a: a.update({"block0.periods": np.array([0])}),
    "periods twice": lambda a: a.update({"block0.periods": np.array([2, 2])}),
    "no number of periods": lambda a: a.pop("block0.periods"),
    "an array more": lambda a: a.update({"trips.more": np.zeros(3)}),
    "an array of a block more": lambda a: a.update({"block0.more": np.zeros(3)}),
    "no free flow": lambda a: a.pop("topology.proxy"),
    "free flow of nothing": lambda a: a["topology.proxy"].__setitem__(0, 0.0),
    "free flow negative": lambda a: a["topology.proxy"].__setitem__(0, -1.0),
    "free flow NaN": lambda a: a["topology.proxy"].__setitem__(0, np.nan),
    "free flow infinite": lambda a: a["topology.proxy"].__setitem__(0, np.inf),
}  # fmt: skip
for bound in ("low", "high", "edge_weights"):
    name = f"trips.{bound}"
    for what, wrong in {
        "missing": lambda a, n=name: a.pop(n),
        "short": lambda a, n=name: a.update({n: a[n][:-1]}),
        "long": lambda a, n=name: a.update({n: np.append(a[n], a[n][:1])}),
        "square": lambda a, n=name: a.update({n: a[n].reshape(-1, 1)}),
        "empty": lambda a, n=name: a.update({n: a[n][:0]}),
        "of another type": lambda a, n=name: a.update({n: a[n].astype(np.int32)}),
        "negative": lambda a, n=name: a[n].__setitem__(0, -1),
        "beyond": lambda a, n=name: a[n].__setitem__(0, 2**60),
    }.items():
        ARRAYS[f"{name} {what}"] = wrong
    if bound != "edge_weights":
        for number in (np.nan, np.inf, -np.inf):
            ARRAYS[f"{name} {number}"] = lambda a, n=name, x=number: a[n].__setitem__(0, x)
ARRAYS["low above high"] = lambda a: a["trips.low"].__setitem__(0, a["trips.high"][0] * 1.5)
ARRAYS["low is high"] = lambda a: a["trips.low"].__setitem__(0, a["trips.high"][0])
ARRAYS["high 0"] = lambda a: (a["trips.low"].__setitem__(0, 0.0), a["trips.high"].__setitem__(0, 0.0))
ARRAYS["high next to nothing"] = lambda a: (a["trips.low"].__setitem__(0, 0.0), a["trips.high"].__setitem__(0, 5e-324))
ARRAYS["edge weight 0"] = lambda a: a["trips.edge_weights"].__setitem__(0, 0)


@pytest.mark.parametrize("change", ARRAYS)
def test_every_array_is_proved(plain, change):
    refused(forged(plain, lambda header, arrays: ARRAYS[change](arrays)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda w: w[: len(w) // 2], lambda w: np.tile(w, 2), lambda w: w[:0], lambda w: w.astype(float),
        lambda w: w * 0 - 1,
        lambda w: w * 0 + 2**62, lambda w: w.reshape(2, -1),
    ],
)  # fmt: skip
def test_estimates_are_those_of_all_periods_within_bounds(tmp_path, wrong):
    path = written(tmp_path / "x.hush", NAMES, estimator="times")
    weights = taken_apart(path)[1]["estimate.weights"]
    assert weights.shape == (2 * len(ENDS),)
    refused(forged(path, lambda header, arrays: arrays.update({"estimate.weights": wrong(weights)})))


def test_estimators_read_what_they_can(plain, tmp_path):
    def claimed(source, name):
        return forged(source, lambda header, arrays: header.update(estimator=name), out=tmp_path / "y.hush")

    for name in ("clip", "sums-prior", "shrink", "nobody", "x\ny", "times\0"):
        refused(claimed(plain, name), "y.hush")
    net = build(20, ENDS, np.ones(len(ENDS)))
    hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input").save(tmp_path / "w.hush")
    for name in ("times", "ratio"):
        refused(claimed(tmp_path / "w.hush", name), "y.hush")


@pytest.mark.parametrize("value", [0.5, 2.0, 0.0, -1.0, 1e300, True, "1", None, [1.0]])
def test_the_lattice_is_that_of_the_bounds(plain, value):
    def change(header, arrays):
        header["terms"]["lattice_step"] = header["statement"]["granularity"] = value

    refused(forged(plain, change))
    refused(forged(written(plain, NAMES), lambda header, arrays: header["statement"].update(largest_weight=value)))


def test_mechanisms_and_blocks_belong_together(plain, tmp_path):
    net = build(20, ENDS, np.ones(len(ENDS)))
    hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input").save(tmp_path / "w.hush")
    weights, of_trips = taken_apart(tmp_path / "w.hush"), taken_apart(plain)
    for field in ("mechanism", "blocks", "kind", "terms", "law", "options", "details", "proxy"):
        for mine, theirs in ((weights, of_trips), (of_trips, weights)):
            if mine[0][field] != theirs[0][field]:
                header = {**mine[0], field: theirs[0][field]}
                refused(put_together(tmp_path / "x.hush", header, mine[1]))
                both = {**theirs[1], **mine[1]}
                refused(put_together(tmp_path / "x.hush", header, both))
                unit = {"kind": header["kind"], **header["terms"]["unit"]}
                claimed = {"mechanism": header["mechanism"], "law": header["law"], "unit": unit}
                header["statement"] = {**header["statement"], **claimed}
                refused(put_together(tmp_path / "x.hush", header, mine[1]))
    refused(put_together(tmp_path / "x.hush", of_trips[0], of_trips[1], version=3))


@pytest.mark.parametrize("value", [0.0, -1.0, 1e-3, 0.5, 1e300, 1e308, True, "1", [1.0], 10**400])
def test_a_unit_in_l2_changes_the_certificate_and_the_statement_says_so(tmp_path, value):
    """The owner declares it, so it may be any; but what is proved from it is worked out here."""
    net = build(20, ENDS, np.ones(len(ENDS)))
    terms = dict(epsilon=1.0, max_weight=20, mechanism="input", noise="gaussian")
    hushpath.release(net, unit=hushpath.WeightUnit(10.0, 2.0), **terms).save(tmp_path / "x.hush")

    def one(header, arrays):
        header["terms"]["unit"]["l2"] = value

    def both(header, arrays):
        header["terms"]["unit"]["l2"] = header["statement"]["unit"]["l2"] = value

    source = (tmp_path / "x.hush").read_bytes()
    for change in (one, both):
        (tmp_path / "x.hush").write_bytes(source)
        refused(forged(tmp_path / "x.hush", change))
    if type(value) is float and 0 < value < 1e300:  # smaller: less is promised to fewer, and it says so
        made = hushpath.release(net, unit=hushpath.WeightUnit(10.0, value), **terms)
        made.save(tmp_path / "y.hush")
        assert hushpath.load(tmp_path / "y.hush").statement.unit.l2 == value


def test_a_unit_in_l2_above_that_in_l1_costs_no_more():
    net = build(20, ENDS, np.ones(len(ENDS)))
    terms = dict(epsilon=1.0, max_weight=20, mechanism="input", noise="gaussian", seed=1)
    plain = hushpath.release(net, unit=10.0, **terms)
    for more in (10.0, 11.0, 1e300):
        made = hushpath.release(net, unit=hushpath.WeightUnit(10.0, more), **terms)
        assert (made.measurements.strategy.scales <= plain.measurements.strategy.scales).all()


@pytest.mark.parametrize("extreme", [-(2**63), -(2**62), 0, 2**62, 2**63 - 1])
def test_any_numbers_are_read(plain, extreme):
    """Noise may be anything; numbers prove nothing and break nothing."""
    loaded = hushpath.load(forged(plain, lambda header, arrays: arrays["values"].fill(extreme)))
    for period in NAMES:
        answers = loaded.for_period(period).matrix()
        assert np.isfinite(answers[np.triu_indices(20)]).any()
        assert not np.isnan(answers).any()
        low, high = loaded.for_period(period).interval(0, 19)
        assert 0 <= low <= high
