"""The built-in city: public streets, five days of private trips, and the files a data owner would have.

Public: the streets with their lengths, classes and free-flow times.  Private: every trip, the number of trips, and the
mean times.  Streets (``streets``) and people (``people``) are simulated; the same arguments give the same city.
"""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..arrays import Float, Int
from ..extras import library
from ..network.network import Network
from ..network.private_weights import PrivateWeights
from ..network.topology import Topology
from ..trips.periods import quote_text
from ..trips.tables import connection, register_arrays
from ..trips.trips import Trips, read_trips
from .people import DAYS, PERIODS, Roads, Town, simulate_people
from .streets import KINDS, Streets, generate_streets

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

SIZE, PEOPLE, SEED = 2_500, 8_123, 2016  # the number of people is private, as it would be for real data
MAX_WEIGHT = 62.0  # a public bound on the mean seconds of a street; larger means are clipped
FIRST_DAY = datetime.date(2026, 10, 5)
COLUMNS: dict[str, Any] = dict(
    person="person", day="date", trip="trip", edge=("from", "to"), seconds="seconds", period="period"
)


@dataclass(frozen=True, eq=False)
class City:
    """Public streets and private trips."""

    streets: Streets
    town: Town

    def __repr__(self) -> str:
        return f"City({len(self.streets.labels)} intersections, {len(self.streets.tails)} streets, trips hidden)"

    @cached_property
    def _directed(self) -> tuple[Topology, Int]:
        """The public map, and the arc of ``town.roads`` that each of its edges is."""
        roads = self.town.roads
        return Topology.build(
            self.streets.labels, roads.tails, roads.heads, directed=True, coordinates=self.streets.places,
            proxy=roads.free_flow, proxy_name="free_flow",
        )  # fmt: skip

    @property
    def topology(self) -> Topology:
        """The public map: two directed edges per street."""
        return self._directed[0]

    @property
    def truth(self) -> Float:
        """The true mean seconds per period and edge, known to the simulation only.  NOT PRIVATE."""
        return self.town.truth[:, self._directed[1]]

    @property
    def _street(self) -> Int:
        """The street of each arc."""
        return self.streets.both_ways[2]

    @cached_property
    def _mean_seconds(self) -> Float:
        """The true mean seconds of each street over both directions and all periods, at most ``MAX_WEIGHT``."""
        mean = np.bincount(self._street, self.town.truth.mean(axis=0)) / np.bincount(self._street)
        return np.asarray(np.minimum(mean, MAX_WEIGHT), np.float64)

    @cached_property
    def network(self) -> Network:
        """The same streets, undirected, with their mean seconds as private weights."""
        streets = self.streets
        topology, street = Topology.build(
            streets.labels, streets.tails, streets.heads, upper=MAX_WEIGHT, coordinates=streets.places,
            proxy=streets.free_flow, proxy_name="free_flow",
        )  # fmt: skip
        return Network(topology, PrivateWeights(self._mean_seconds, num_rows=len(streets.tails), keep=street))

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        """The private table of trips: one row per pass over an edge."""
        drives, roads = self.town.drives, self.town.roads
        labels, names = np.array(self.streets.labels, object), np.array(self.town.periods, object)
        days = np.array([FIRST_DAY + datetime.timedelta(days=day) for day in range(DAYS)], "datetime64[s]")
        return {
            "person": drives.person, "date": days[drives.day], "trip": drives.trip,
            "from": labels[roads.tails[drives.arc]], "to": labels[roads.heads[drives.arc]],
            "seconds": drives.seconds.round(1), "period": names[drives.period],
        }  # fmt: skip

    @property
    def table(self) -> pd.DataFrame:
        """The private table of trips as a data frame."""
        return cast("pd.DataFrame", library("pandas", "pandas", "a data frame").DataFrame(self._columns))

    def trips(self, table: Path | pd.DataFrame | None = None) -> Trips:
        """Read the trips, from memory or from a written file."""
        given = self.table if table is None else table
        return read_trips(given, self.topology, periods=list(self.town.periods), **COLUMNS)

    def write(self, folder: Path) -> dict[str, Path]:
        """Write the public streets and nodes, the PRIVATE trips, and a network with PRIVATE weights."""
        names = dict(network="streets.csv", nodes="city.nodes.csv", trips="trips.parquet", weights="weights.csv")
        paths = {key: folder / name for key, name in names.items()}
        streets, roads, street = self.streets, self.town.roads, self._street
        labels = np.array(streets.labels, object)
        kinds = np.array(KINDS, object)[streets.kinds]
        _write_csv(
            paths["network"],
            {
                "source": labels[roads.tails], "target": labels[roads.heads], "free_flow": roads.free_flow,
                "length_km": streets.lengths[street], "class": kinds[street],
            },
        )  # fmt: skip
        _write_csv(
            paths["weights"],
            {
                "source": labels[streets.tails], "target": labels[streets.heads], "seconds": self._mean_seconds,
                "free_flow": streets.free_flow, "length_km": streets.lengths, "class": kinds,
            },
        )  # fmt: skip
        _write_csv(paths["nodes"], {"node": labels, "x": streets.places[:, 0], "y": streets.places[:, 1]})
        with connection() as engine:  # writes Parquet without further libraries
            register_arrays(engine, "passes", self._columns)
            engine.execute(f"COPY passes TO {quote_text(str(paths['trips']))} (FORMAT parquet)")
        return paths


def _write_csv(path: Path, columns: dict[str, Iterable[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def make_city(size: int = SIZE, people: int = PEOPLE, seed: int = SEED) -> City:
    """Generate a city and five private days of its people."""
    streets = generate_streets(size, seed)
    return City(streets, simulate_people(Roads.of(streets), people, seed + 3, DAYS, PERIODS))
