"""What the case study makes up, because nobody may have it: passengers, drivers, and how fast water runs.

Each function reads one network of $HUSHPATH_DATA, and writes the files its owner would have into a folder:

    edges.csv     the public network, with its public column; the private weight too, if the owner has weights
    nodes.csv     where nodes are
    trips-N.parquet   private: a row per pass over an edge, N person-days (metro and roads)
    truth.csv     what only a simulation knows: the true mean seconds of each arc (metro and roads)

Every seed is fixed, so a second run makes the same files.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from trip_cities import arcs

from hushpath.demo.people import DAYS, Roads, TripEnds, find_routes, simulate_people

SEED = 2026
STAY_AT_HOME = 0.107  # share of person-days without a trip
MINUTE = 60.0
CROWDED, USUAL, OWN = 0.6, 1.05, 0.08  # metro: slower where crowded, everywhere, and each section for itself
HASTE, LUCK = 0.1, 12.0  # spread of a passenger's factor; shape of a pass's
SECOND_TRIP = 0.3  # share of passengers who go on from where they work
SPEED, SMOOTH, REACH_OWN = 0.5, 0.25, 0.15  # river: m/s, and spreads of the logarithm of a reach's factor
WAVES = 64


def of_data(name):
    """The edges and nodes of a real network, nodes in order of their labels, edges as positions among them."""
    folder = Path(os.environ["HUSHPATH_DATA"])
    edges, nodes = pd.read_csv(folder / f"{name}.csv"), pd.read_csv(folder / f"{name}.nodes.csv")
    nodes = nodes.set_index("node").sort_index()
    spot = pd.Series(np.arange(len(nodes)), nodes.index)
    return nodes, np.c_[spot[edges.source], spot[edges.target]], edges.weight.to_numpy(float), edges


def kilometres(nodes):
    """Places from degrees, well enough for a map."""
    return nodes.to_numpy() * [np.cos(np.radians(nodes.y.mean())), 1.0] * 111.2


def metro(folder, sizes=(2_000, 20_000, 200_000)):
    """Passengers in the morning; sections are slow where the timetable's routes are crowded."""
    nodes, ends, minutes, _ = of_data("london_tube_time")
    roads = arcs(kilometres(nodes), ends, MINUTE * minutes)
    labels = nodes.index.to_numpy()
    rng = np.random.default_rng(SEED)
    away = np.hypot(*(roads.places - roads.centre).T) / roads.radius
    living = rng.lognormal(0, 0.5, len(away))
    working = np.exp(-4.0 * away) * rng.lognormal(0, 0.5, len(away))
    plain = roads.free_flow[None]
    _, load = find_routes(roads, plain, mornings(living, working, 50_000, rng)[1], rng)
    volume = np.bincount(load, minlength=len(roads.tails)).astype(float)
    crowd = np.minimum(volume / np.quantile(volume, 0.9), 1.5)
    own = np.exp(OWN * rng.normal(size=len(volume)) - OWN**2 / 2)
    truth = roads.free_flow * (USUAL + CROWDED * crowd**1.5) * own
    public(folder, labels, nodes, roads, truth, "timetable")
    for size in sizes:
        who, tour = mornings(living, working, size, rng)
        which, arc = find_routes(roads, truth[None], tour, rng)
        haste = rng.lognormal(-(HASTE**2) / 2, HASTE, len(who))
        seconds = truth[arc] * haste[which] * rng.gamma(LUCK, 1 / LUCK, len(arc))
        passes(folder, size, labels, roads, who[which], np.zeros(len(arc), int), arc, seconds)


def mornings(living, working, people, rng):
    """From home to work, and for some of them on to another station: who, and the trips."""
    nodes = len(living)
    home, work, other = (
        rng.choice(nodes, people, p=share / share.sum()) for share in (living, working, living + working)
    )
    goes_on = np.flatnonzero(rng.random(people) < SECOND_TRIP)
    who = np.concatenate([np.arange(people), goes_on])
    origin, target = np.concatenate([home, work[goes_on]]), np.concatenate([work, other[goes_on]])
    moves = origin != target
    return who[moves], TripEnds(origin[moves], target[moves], np.zeros(moves.sum(), np.int64))


def roads(folder, sizes=(150_000,)):
    """Drivers of a whole country, by ``hushpath.demo.people``: five days, one period."""
    nodes, ends, seconds, _ = of_data("luxembourg_time")
    country = arcs(kilometres(nodes), ends, seconds)
    labels = nodes.index.to_numpy()
    for size in sizes:
        town = simulate_people(country, round(size / DAYS / (1 - STAY_AT_HOME)), SEED, DAYS, ("day",))
        public(folder, labels, nodes, country, town.truth[0], "free_flow")
        drives = town.drives
        passes(folder, size, labels, country, drives.person, drives.day, drives.arc, drives.seconds)


def public(folder, labels, nodes, network: Roads, truth, proxy):
    """Arcs with the public column, and beside them the truth that only a simulation has."""
    if len(network.places) != len(labels):
        raise ValueError("the network is not strongly connected: labels would not fit")
    ends = {"source": labels[network.tails], "target": labels[network.heads]}
    nodes.to_csv(folder / "nodes.csv")
    pd.DataFrame(ends | {proxy: network.free_flow}).to_csv(folder / "edges.csv", index=False)
    pd.DataFrame(ends | {"seconds": truth}).to_csv(folder / "truth.csv", index=False)


def passes(folder, size, labels, network: Roads, person, day, arc, seconds):
    """The private table; Parquet, for it may be long."""
    labels = labels.astype(np.int32)
    frame = pd.DataFrame(
        {"person": person.astype(np.int32), "day": day.astype(np.int32), "source": labels[network.tails[arc]],
         "target": labels[network.heads[arc]], "seconds": seconds.astype(np.float32)}
    )  # fmt: skip
    frame.to_parquet(folder / f"trips-{size}.parquet", index=False)


def water(folder):
    """Nothing is made up: the flows are those of the hydraulic model that the network came with."""
    nodes, _, _, edges = of_data("water_ky4_flow")
    nodes.to_csv(folder / "nodes.csv")
    edges.rename(columns={"weight": "flow"}).to_csv(folder / "edges.csv", index=False)


def river(folder):
    """Hours of water on each reach: its length at 0.5 m/s, times a factor, half of it alike among neighbours."""
    nodes, ends, length, edges = of_data("river_lower_colorado_len")
    rng = np.random.default_rng(SEED)
    places = kilometres(nodes)
    middle, radius = places[ends].mean(1), np.hypot(*(places - places.mean(0)).T).max()
    turns = rng.normal(size=(2, WAVES)) * 4 / radius
    field = np.cos(middle @ turns + rng.uniform(0, 2 * np.pi, WAVES)).sum(1) * np.sqrt(2 / WAVES)
    factor = np.clip(np.exp(SMOOTH * field + REACH_OWN * rng.normal(size=len(length))), 0.5, 2.0)
    nodes.to_csv(folder / "nodes.csv")
    table = edges[["source", "target"]].assign(seconds=length / SPEED * factor, length_time=length / SPEED)
    table.to_csv(folder / "edges.csv", index=False)
