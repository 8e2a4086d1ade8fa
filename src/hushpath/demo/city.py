"""The built-in city as its owner has it: public streets, private travel times, a stated privacy unit.

Public: streets, their lengths, classes and free-flow times, the planned reports, and the bounds that follow
from them (no street takes longer than ``max_weight``).  Private: the trips, how many there are, and the travel times
computed from them.  The unit is derived, with proof, in ``trips``.  The city is simulated and the same every time.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..arrays import Float, Int
from ..data.network import Network
from ..data.topology import Topology
from ..data.weights import PrivateWeights
from .streets import KINDS, Streets, lay_out
from .trips import LARGEST_DELAY, UNIT, Trips, planned_reports, simulate_trips, travel_times

SIZE = 2_500
PLANNED = 120  # trips per intersection, in the public model
TRIPS = 297_431  # of the simulated day: private, as a real count would be
SEED = 2016


@dataclass(frozen=True, eq=False)
class City:
    """Public streets and planned reports; private trips."""

    streets: Streets
    planned: Int
    trips: Trips

    def __repr__(self) -> str:
        return f"City({len(self.streets.labels)} intersections, {len(self.streets.tails)} streets, trips hidden)"

    @property
    def unit(self) -> float:
        """How far one trip, added, removed or changed, moves all travel times together, in seconds."""
        return UNIT

    @property
    def max_weight(self) -> float:
        """A public bound on every travel time, in seconds."""
        return float(math.ceil(self.streets.free_flow.max() + LARGEST_DELAY))

    @cached_property
    def _seconds(self) -> Float:
        return travel_times(self.streets.free_flow, self.planned, self.trips)

    @cached_property
    def _topology(self) -> tuple[Topology, Int]:
        """The public map in canonical order, and the street that each of its edges is."""
        streets = self.streets
        return Topology.build(
            streets.labels, streets.tails, streets.heads, upper=self.max_weight, coordinates=streets.places,
            proxy=streets.free_flow, proxy_name="free_flow",
        )  # fmt: skip

    @cached_property
    def network(self) -> Network:
        """What hushpath works on."""
        topology, street = self._topology
        return Network(topology, PrivateWeights(self._seconds, num_rows=len(self._seconds), keep=street))

    @property
    def kinds(self) -> Int:
        """The class of the street that each edge of the network is."""
        return self.streets.kinds[self._topology[1]]

    def write_csv(self, folder: Path) -> tuple[Path, Path]:
        """Write the edge list with the PRIVATE column ``seconds``, and the node table."""
        streets, edges, nodes = self.streets, folder / "city.csv", folder / "city.nodes.csv"
        with edges.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["source", "target", "seconds", "free_flow", "length_km", "class"])
            columns = streets.tails, streets.heads, self._seconds, streets.free_flow, streets.lengths, streets.kinds
            for a, b, seconds, free, length, kind in zip(*columns, strict=True):
                writer.writerow([streets.labels[a], streets.labels[b], repr(float(seconds)), free, length, KINDS[kind]])
        with nodes.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["node", "x", "y"])
            for label, (x, y) in zip(streets.labels, streets.places, strict=True):
                writer.writerow([label, x, y])
        return edges, nodes


def make_city(size: int = SIZE, trips: int = TRIPS, seed: int = SEED) -> City:
    """Generate a city of about ``size`` corners and a private day of ``trips``; the public model sees only ``size``."""
    streets = lay_out(size, seed)
    planned = planned_reports(streets, PLANNED * size, seed + 1)
    return City(streets, planned, simulate_trips(streets, trips, seed + 2))
