"""The built-in city with its people: public streets in both directions, and who drove where, when and how long.

Public: streets, their lengths, classes and free-flow times.  Private: every trip, and how many there are.  The city and
its people are simulated (``people``) and the same every time.
"""

from __future__ import annotations

import csv
import datetime
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..arrays import Float, Int
from ..data.periods import quoted
from ..data.topology import Topology
from ..data.trip_files import connection, register_arrays
from ..data.trips import Trips, read_trips
from ..extras import library
from .people import TWO_PERIODS, Town, simulate_people
from .routing import Roads
from .streets import KINDS, Streets, lay_out

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

PEOPLE, DAYS, SEED = 8_123, 5, 2016  # the number of people is private, as a real one would be
MONDAY = datetime.date(2026, 10, 5)
COLUMNS: dict[str, Any] = dict(
    person="person", day="date", trip="trip", edge=("from", "to"), seconds="seconds", period="period"
)


@dataclass(frozen=True, eq=False)
class Commuters:
    """Public streets; private trips."""

    streets: Streets
    town: Town

    def __repr__(self) -> str:
        return (
            f"Commuters({len(self.streets.labels)} intersections, {len(self.town.roads.tails)} streets, trips hidden)"
        )

    @cached_property
    def _built(self) -> tuple[Topology, Int]:
        """The public map in canonical order, and the arc that each of its edges is."""
        roads = self.town.roads
        return Topology.build(
            self.streets.labels, roads.tails, roads.heads, directed=True, coordinates=self.streets.places,
            proxy=roads.free_flow, proxy_name="free_flow",
        )  # fmt: skip

    @property
    def topology(self) -> Topology:
        """The public map."""
        return self._built[0]

    @property
    def truth(self) -> Float:
        """The true mean seconds of each period and edge, which nobody but the simulation knows.  NOT PRIVATE."""
        return self.town.truth[:, self._built[1]]

    @cached_property
    def _street(self) -> Int:
        """The street that each arc is one direction of."""
        ends = {}
        for i, (a, b) in enumerate(zip(self.streets.tails.tolist(), self.streets.heads.tolist(), strict=True)):
            ends[a, b] = ends[b, a] = i
        roads = self.town.roads
        return np.array([ends[pair] for pair in zip(roads.tails.tolist(), roads.heads.tolist(), strict=True)])

    @property
    def kinds(self) -> Int:
        """The class of the street that each edge of the map is."""
        return self.streets.kinds[self._street][self._built[1]]

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        """The private table: a row per pass over an edge."""
        drives, roads = self.town.drives, self.town.roads
        labels, names = np.array(self.streets.labels, object), np.array(self.town.periods, object)
        days = np.array([MONDAY + datetime.timedelta(days=day) for day in range(DAYS)], "datetime64[s]")
        return {
            "person": drives.person, "date": days[drives.day], "trip": drives.trip,
            "from": labels[roads.tails[drives.arc]], "to": labels[roads.heads[drives.arc]],
            "seconds": drives.seconds.round(1), "period": names[drives.period],
        }  # fmt: skip

    @property
    def table(self) -> pd.DataFrame:
        """The private table as a data frame."""
        return cast("pd.DataFrame", library("pandas", "pandas", "a data frame").DataFrame(self._columns))

    def trips(self, table: Path | pd.DataFrame | None = None) -> Trips:
        """The trips as an owner would read them."""
        given = self.table if table is None else table
        return read_trips(given, self.topology, periods=list(self.town.periods), **COLUMNS)

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write the public streets and the PRIVATE trips."""
        edges, trips = folder / "streets.csv", folder / "trips.parquet"
        streets, roads, which = self.streets, self.town.roads, self._street
        with edges.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["source", "target", "free_flow", "length_km", "class"])
            columns = roads.tails, roads.heads, roads.free_flow, streets.lengths[which], streets.kinds[which]
            for tail, head, free, length, kind in zip(*columns, strict=True):
                writer.writerow([streets.labels[tail], streets.labels[head], free, length, KINDS[kind]])
        with connection() as engine:  # writes Parquet without further libraries
            register_arrays(engine, "passes", self._columns)
            engine.execute(f"COPY passes TO {quoted(str(trips))} (FORMAT parquet)")
        return edges, trips


def make_commuters(size: int, people: int = PEOPLE, seed: int = SEED) -> Commuters:
    """Generate a city of about ``size`` corners, and five private days of its people."""
    streets = lay_out(size, seed)
    return Commuters(streets, simulate_people(Roads.of(streets), people, seed + 3, DAYS, TWO_PERIODS))
