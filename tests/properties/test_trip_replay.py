"""Thousands of tables of trips with a neighbour each: no unit moves the totals by more than the certificate uses.

One query answers for many tables (``trip_tables``).  A unit is added, removed or replaced; it has all its rows on one
edge, thousands of rows, every row three times, times at the bounds and beyond, rows that name nothing.  The bound is
reached to within 1 %, and faults planted in the private step are noticed.
"""

import types
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import trip_tables as t

from hushpath.measurement import trip_totals as private
from hushpath.measurement.trip_strategy import SHARE

KINDS = ["any", "one edge", "thousands", "twice", "bounds", "odd"]
COPIES = 60


def moves(protects, law, seed, count=COPIES, totals=private.trip_totals, change=None, **more):
    """How far each of many neighbours is from its table, in steps: of the norm of the law."""
    rng, topology = np.random.default_rng(seed), t.copies(count)
    strategy = t.strategy_for(topology, protects, law, **more)
    before, after, seen = [], [], Counter()
    for copy in range(count):
        rows, kind = t.people(rng, copy), KINDS[copy % len(KINDS)]
        new, turn = t.unit(rng, copy, protects, kind), change or ("add", "remove", "replace")[copy // len(KINDS) % 3]
        other = t.unit(rng, copy, protects, KINDS[(copy + 3) % len(KINDS)]) if turn == "replace" else []
        with_it, without = rows + new, rows + other
        before, after = (before + without, after + with_it) if turn == "add" else (before + with_it, after + without)
        seen[kind, turn] += 1
    tables = t.frame(before), t.frame(after).sample(frac=1, random_state=seed)  # the order of rows must not matter
    first, second = (totals(strategy, t.read(table, topology), "coin") for table in tables)
    apart = (first - second).reshape(2 * len(t.PERIODS), -1)
    mine = owner(topology)
    size = np.abs(apart) if law == "laplace" else apart.astype(float) ** 2
    per_copy = np.array([size[:, mine == copy].sum() for copy in range(count)])
    return (per_copy if law == "laplace" else np.sqrt(per_copy)), strategy, seen


def bound(strategy):
    """What the certificate uses, in the norm of the law."""
    terms = strategy.terms
    return (terms.l2_steps if strategy.law == "gaussian" else terms.unit_steps)(strategy.lattice)


def owner(topology):
    """The copy that each edge belongs to."""
    return np.array([int(str(topology.labels[tail]).split(":")[0]) for tail in topology.tails])


CASES = [
    ("person", "gaussian", {}), ("person-day", "gaussian", {}), ("trip", "gaussian", {}),
    ("person", "laplace", {}), ("person-day", "laplace", {}), ("trip", "laplace", {}),
    ("person-day", "laplace", {"max_edges": 1}), ("person", "laplace", {"max_edges": 7}),
]  # fmt: skip


@pytest.mark.parametrize(("protects", "law", "more"), CASES, ids=str)
def test_no_neighbour_moves_the_totals_by_more_than_the_certificate_uses(protects, law, more):
    reached, pairs = 0.0, 0
    for neighbours in ("add-remove", "replace"):
        for seed in range(2):
            change = None if neighbours == "replace" else ("add", "remove")[seed]
            moved, strategy, _ = moves(protects, law, seed, change=change, neighbours=neighbours, **more)
            allowed = bound(strategy)
            assert (moved <= allowed).all(), f"a unit moves {moved.max() / SHARE:.4f}, certified for {allowed / SHARE}"
            pairs += len(moved)
            if neighbours == "add-remove":
                reached = max(reached, moved.max() / allowed)
    assert 0.99 <= reached <= 1
    assert pairs == 4 * COPIES


@pytest.mark.slow
@pytest.mark.parametrize(("protects", "law", "more"), CASES, ids=str)
def test_thousands_of_neighbours(protects, law, more):
    for seed in range(10, 30):
        moved, strategy, seen = moves(protects, law, seed, neighbours="replace", **more)
        assert (moved <= bound(strategy)).all()
        assert len(seen) == 3 * len(KINDS) if seed == 10 and COPIES >= 54 else True


# Faults in the private step: what stands there, and what would be wrong.
FAULTS = {
    "no bound at all": ("FROM cells JOIN norms USING ({keys})", "FROM cells, (SELECT 16384 AS norm)"),
    "bounded after adding up": (
        "CAST({SHARE} * {_weight(terms)} AS BIGINT) // norm AS share", "{SHARE} AS share",
        "CAST(sum(above) AS BIGINT) AS above", "CAST(least(sum(above), {40 * SHARE}) AS BIGINT) AS above",
    ),
    "per trip instead of per person-day": ("trips.keys(unit.protects)", 'trips.keys("trip")'),
    "each pass counts": (", cell {_chosen(unit.max_edges, keys, secret)}", ", cell, part"),
    "an edge counts twice": ("sum(above) AS BIGINT", "2 * sum(above) AS BIGINT"),
    "long times are not clipped": ("greatest(0, least(1, (seconds", "greatest(0, least(100, (seconds"),
    "rounded up": ("CAST(share * part // {PARTS} AS BIGINT) AS above", "share * part // {PARTS} + 2000 AS above"),
    "the root is too small": ("ceil(sqrt(CAST(", "floor(0.98 * sqrt(CAST("),
}  # fmt: skip


def broken(*edits):
    """The private step with a fault: pairs of what stands there and what is put in its place."""
    source = Path(private.__file__).read_text(encoding="utf-8")
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert source.count(old) == 1, f"{old!r} does not stand once in the private step"
        source = source.replace(old, new)
    module = types.ModuleType("hushpath.measurement.broken_trips")
    module.__package__ = "hushpath.measurement"
    exec(compile(source, private.__file__, "exec"), module.__dict__)
    return module.trip_totals


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_noticed(fault):
    totals, worst = broken(*FAULTS[fault]), 0.0
    for change in ("add", "remove"):
        moved, strategy, _ = moves("person-day", "gaussian", 3, count=36, totals=totals, change=change)
        worst = max(worst, moved.max() / bound(strategy))
    assert worst > 1


def test_weights_that_depend_on_chance_are_noticed():
    totals = broken(
        "CAST({SHARE} * {_weight(terms)} AS BIGINT)", "CAST({SHARE} * {_weight(terms)} * random() AS BIGINT)"
    )
    topology, rows = t.copies(2), t.people(np.random.default_rng(1), 0) + t.people(np.random.default_rng(2), 1)
    strategy = t.strategy_for(topology, "person-day")

    def twice(step):
        return [step(strategy, t.read(t.frame(rows), topology), "coin") for _ in range(2)]

    assert np.array_equal(*twice(private.trip_totals))
    assert not np.array_equal(*twice(totals))
