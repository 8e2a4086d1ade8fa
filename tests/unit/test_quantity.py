"""What the numbers are: declared once, carried by the file, said by everything; and routes over released weights."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from forging import forged

import hushpath
from hushpath.errors import CannotError, FileFormatError, OptionError
from hushpath.published.quantity import Quantity, format_value


def network(directed=False):
    rng = np.random.default_rng(5)
    ends = [(i, i + 1) for i in range(39)] + [
        tuple(pair) for pair in rng.integers(0, 40, (40, 2)) if pair[0] != pair[1]
    ]
    edges = pd.DataFrame(ends, columns=["source", "target"]).assign(weight=rng.integers(0, 4, len(ends)).astype(float))
    return hushpath.Network.from_pandas(edges, directed=directed, parallel_edges=True)


def released(directed=False, **declared):
    options = dict(epsilon=float("inf"), unit=1, mechanism="input")
    return hushpath.release(network(directed), quantity=Quantity(**declared), **options)


def test_a_file_carries_what_its_numbers_are(tmp_path):
    declared = dict(name="travel time", unit_of_measure="minutes", date="2026-03")
    made = released(**declared)
    made.save(tmp_path / "x.hush")
    again = hushpath.load(tmp_path / "x.hush")
    assert again.statement.quantity == Quantity("travel time", "minutes", "2026-03")
    assert "Numbers: travel time in minutes, 2026-03." in str(again.statement)
    assert again.statement.as_dict()["quantity"] == {
        "name": "travel time", "unit_of_measure": "minutes", "date": "2026-03", "publisher": "", "dataset": ""
    }  # fmt: skip
    assert again.fingerprint == made.fingerprint != released().fingerprint
    assert again.statement.quantity.seconds == 60.0
    assert "Numbers" not in str(released().statement)


def test_a_file_carries_who_publishes_it(tmp_path):
    made = released(publisher="City of Hush")
    made.save(tmp_path / "x.hush")
    again = hushpath.load(tmp_path / "x.hush")
    assert again.statement.quantity.publisher == "City of Hush"
    assert "City of Hush" in again.statement.promise.facts["Published by"]
    assert again.statement.as_dict()["quantity"]["publisher"] == "City of Hush"
    assert again.fingerprint == made.fingerprint != released().fingerprint


@pytest.mark.parametrize("wrong", ["x" * 61, "two\nlines", " blank", 7, "\x1b[31m"])
def test_texts_are_short_lines(wrong):
    for name in ("name", "unit_of_measure", "date", "publisher"):
        with pytest.raises(OptionError, match=f"`{name}` of a quantity"):
            Quantity(**{name: wrong})


EMPTY = Quantity().as_dict()


@pytest.mark.parametrize("found", [{}, {"name": "a", "unit_of_measure": "b"}, EMPTY | {"name": 1},
                                   EMPTY | {"name": "\x1b[2J"}, EMPTY | {"author": ""}, EMPTY | {"publisher": None},
                                   EMPTY | {"publisher": "a\u202eb"}, EMPTY | {"publisher": "x" * 61},
                                   EMPTY | {"dataset": "two\nlines"}, EMPTY | {"dataset": 7},
                                   {key: "" for key in EMPTY if key != "date"}])  # fmt: skip
def test_a_forged_quantity_is_refused(found, tmp_path):
    released().save(tmp_path / "x.hush")
    forged(tmp_path / "x.hush", lambda header, arrays: header.update(quantity=found))
    with pytest.raises(FileFormatError):
        hushpath.load(tmp_path / "x.hush")


def test_trips_are_told_in_seconds():
    assert Quantity().of_trips() == Quantity("travel time", "seconds")
    with pytest.raises(OptionError, match="in seconds"):
        Quantity(unit_of_measure="minutes").of_trips()


def test_digits_follow_the_noise():
    rng = np.random.default_rng(3)
    for value, off in zip(10.0 ** rng.uniform(-5, 8, 500), 10.0 ** rng.uniform(-4, 4, 500), strict=True):
        shown = float(format_value(value, value - off, value + off))
        assert abs(shown - value) <= off / 8 + 1e-9 * value  # rounding adds little to what noise did
    assert format_value(5.0, 5.0, 5.0) == "5.000000000"
    assert format_value(5.0, 0.0, float("inf")) == "5"


@pytest.mark.parametrize("directed", [False, True])
def test_a_route_is_as_long_as_its_distance(directed):
    made = released(directed)
    labels, topology = made.topology.labels, made.topology
    ways = set(zip(topology.tails.tolist(), topology.heads.tolist(), strict=True))
    ways |= set() if directed else {(head, tail) for tail, head in ways}
    for source in labels:
        for target in labels:
            far = made.distance(source, target)
            if np.isinf(far):
                with pytest.raises(CannotError, match="no path"):
                    made.route(source, target)
                continue
            route = made.route(source, target)
            assert (route.nodes[0], route.nodes[-1], route.distance) == (source, target, far)
            at = [topology.index(node) for node in route.nodes]
            assert len(set(at)) == len(at)  # zero weights make no circles
            assert set(pairwise(at)) <= ways
            assert made.edge_weights[route.edges].sum() == far


def test_releases_of_distances_alone_have_no_routes():
    made = hushpath.release(
        network(),
        plan=hushpath.plan(network().topology, epsilon=1, unit=1, mechanism="all-pairs", ignore_baseline=True),
    )
    with pytest.raises(CannotError, match="not paths"):
        made.route(0, 1)
    with pytest.raises(CannotError, match="not edge weights"):
        _ = made.edge_weights
