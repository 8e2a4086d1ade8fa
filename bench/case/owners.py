"""The four owners: what each declares before any private number is read, and nothing else.

Every number here is public: it is chosen from the network, from the rules of the owner, or from what anybody could
know.  Typical weights and cells of a day are rounded from the data at hand, because there is no engineer to ask; a real
owner takes them from last year's report or a handbook, never from the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hushpath import WeightUnit

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
MAPPED = 1.0  # the epsilon of the maps


@dataclass(frozen=True)
class Case:
    """One owner with one set of declarations.

    Attributes:
        owner: the folder of its files, and the function of ``made_up`` that makes them.
        name: what tables call it.
        terms: what a release is told, but epsilon.
        told: what a plan is told beside: about how large weights are, or how many people there will be.
        proxy: the public column, if there is one.
        weight: the private column, if the owner has weights.
        size: person-days, if the owner has trips.
        shown: what distances are measured in, and how many of the file's units that is.
        origin: the node whose map is drawn, or a spot near it.
        repeats: releases per epsilon.
        ranges, plans: the epsilons at which intervals and plans are asked for.
    """

    owner: str
    name: str
    terms: dict[str, Any]
    told: dict[str, Any]
    origin: Any
    proxy: str | None = None
    weight: str | None = None
    size: int = 0
    shown: tuple[str, float] = ("min", 60.0)
    repeats: int = 3
    epsilons: tuple[float, ...] = EPSILONS
    ranges: tuple[float, ...] = EPSILONS
    plans: tuple[float, ...] = EPSILONS


PASSENGERS = dict(protects="person-day", low=0.5, high=4)
DRIVERS = dict(protects="person-day", low=0.5, high=6)
HOUSEHOLD = dict(unit=WeightUnit(edges=(61, 0.0046)), max_weight=60)
LANDOWNER = dict(unit=WeightUnit(edges=(20, 600)), max_weight=250_000)
CAPITAL, MOUTH = (6.13, 49.61), (-95.97, 28.60)


def _metro(size):
    told = dict(expected_units=size, edges_per_unit=20)
    name = f"metro, {size // 1000} 000 person-days"
    return Case("metro", name, PASSENGERS, told, 49, "timetable", size=size)


CASES = (
    *map(_metro, (2_000, 20_000, 200_000)),
    Case("roads", "roads, 150 000 person-days", DRIVERS, dict(expected_units=150_000, edges_per_unit=400), CAPITAL,
         "free_flow", size=150_000, repeats=1, ranges=(MAPPED,), plans=(0.3, 1.0, 3.0)),
    Case("water", "water", HOUSEHOLD, dict(typical_weight=(0.1, 3)), "R-1", weight="flow", shown=("L/s", 1.0)),
    Case("river", "river, nothing public but the map", LANDOWNER, dict(typical_weight=(1_600, 10_000)), MOUTH,
         weight="seconds", shown=("h", 3600.0)),
    Case("river", "river, lengths public", LANDOWNER, {}, MOUTH, "length_time", "seconds", shown=("h", 3600.0)),
)  # fmt: skip
