"""SUMO: the public network ``NAME.net.xml``, and private weights from the edgeData a simulation or a detector wrote.

| in the network | treatment |
|---|---|
| ``<junction>`` | a node, with ``x`` and ``y``; those inside junctions are skipped |
| ``<edge>`` | a directed edge; internal ones, crossings and walking areas are skipped; each of parallel ones is kept |
| its attributes and ``<param>`` | columns: ``id``, ``type``, ``priority``, ... |
| its ``<lane>`` | columns ``lanes`` (how many), ``length`` (of the first), ``speed`` (of the fastest), in metres |
| | and seconds, and ``free_flow`` = length / speed |
| turns (``<connection>``) | not read: every turn at a junction is allowed |

| in the edgeData | treatment |
|---|---|
| ``<interval>`` | one is read: the only one, or the one that begins at ``interval`` |
| ``<edge id=...>`` | its attribute of the name of the weight, such as ``traveltime``; internal edges are skipped |

Nothing of the edgeData becomes a public column.
"""

from __future__ import annotations

from typing import IO

from ...errors import NetworkError
from ...network.columns import parse_number
from ...network.network import Columns, Table
from ...network.public_rows import WantedColumns, choose_public_columns
from .base import Reader, parse_xml

INSIDE = ("internal", "crossing", "walkingarea")  # functions of edges that are part of a junction
MOST_NAMES = 1000  # of columns, which take much more room than a name in the file
RATES = ("speed", "speedRelative", "density", "laneDensity", "occupancy", "priority", "lanes")


def _read(raw: IO[bytes], wanted: WantedColumns) -> Table:
    source, target, *public = wanted.needed
    net = _Net(source, target, public)
    parse_xml(raw, "the SUMO network", net.start, net.end)
    if net.edges[source]:
        choose_public_columns(sorted(net.names), WantedColumns("the SUMO network", public))
    return Table(net.edges, net.nodes, True, names_edges=True)


class _Net:
    """The junctions and edges of a network, as its elements start and end."""

    def __init__(self, source: str, target: str, public: list[str]) -> None:
        self.ends = {source: "from", target: "to"}
        self.wanted = list(dict.fromkeys(public))
        self.nodes: Columns = {"node": [], "x": [], "y": []}
        self.edges: Columns = {name: [] for name in (*self.ends, *self.wanted)}
        self.names: set[str] = set()
        self.open: list[str] = []
        self.edge: dict[str, str] | None = None  # the attributes of the edge we are in
        self.params: dict[str, str] = {}
        self.lanes: list[tuple[float, float]] = []  # length and speed

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.open.append(name)
        if len(self.open) == 1 and name != "net":
            raise NetworkError("the file is XML but not a SUMO network")
        if self.open == ["net", "junction"]:
            if attributes.get("type") != "internal":
                self.nodes["node"].append(self._given(attributes, "id", f"junction {len(self.nodes['node']) + 1}"))
                for axis in "xy":
                    self.nodes[axis].append(attributes.get(axis))
        elif self.open == ["net", "edge"]:
            inside = attributes.get("function") in INSIDE or attributes.get("id", "").startswith(":")
            self.edge, self.params, self.lanes = None if inside else attributes, {}, []
        elif self.open == ["net", "edge", "lane"]:
            self.lanes.append((parse_number(attributes.get("length")), parse_number(attributes.get("speed"))))
        elif self.open == ["net", "edge", "param"] and "key" in attributes:
            self.params[attributes["key"]] = attributes.get("value", "")

    def end(self, _: str) -> None:
        if self.open == ["net", "edge"] and self.edge is not None:
            row = len(next(iter(self.edges.values())))
            for column, attribute in self.ends.items():
                self.edges[column].append(self._given(self.edge, attribute, f"edge {row + 1}"))
            own = {name: value for name, value in self.edge.items() if name not in ("from", "to")}
            values = {**self.params, **own, **self._lane_columns()}
            self.names |= values.keys()
            if len(self.names) > MOST_NAMES:
                raise NetworkError(f"edges of the SUMO network have more than {MOST_NAMES} different attributes")
            for name in self.wanted:
                self.edges[name].append(values.get(name))
        self.open.pop()

    def _lane_columns(self) -> dict[str, str]:
        """Return the columns that follow from the lanes of an edge."""
        speed = max((speed for _, speed in self.lanes if speed > 0), default=0.0)
        length = self.lanes[0][0] if self.lanes and self.lanes[0][0] >= 0 else None
        out = {"lanes": str(len(self.lanes))}
        if length is not None:
            out["length"] = repr(length)
        if speed:
            out["speed"] = repr(speed)
        if length is not None and speed:
            out["free_flow"] = repr(length / speed)
        return out

    @staticmethod
    def _given(attributes: dict[str, str], name: str, what: str) -> str:
        if name not in attributes:
            raise NetworkError(f"{what} of the SUMO network has no {name!r}")
        return attributes[name]


def _read_weights(raw: IO[bytes], weight: str, interval: float | None) -> dict[str, str | None]:
    data = _EdgeData(weight, interval)
    parse_xml(raw, "the edge data", data.start, data.end)
    if data.intervals != 1:
        begins = "" if interval is None else f" that begins at second {interval:g}"
        hint = "; pass edge_data=(file, second at which one begins)" if interval is None and data.intervals else ""
        raise NetworkError(f"the edge data must have one interval{begins}, got {data.intervals}{hint}")
    return data.found


class _EdgeData:
    """One attribute of every edge in one interval."""

    def __init__(self, weight: str, begin: float | None) -> None:
        self.weight, self.begin = weight, begin
        self.depth = 0
        self.intervals = 0
        self.within = 0  # the depth of the interval we are in, if it is the one
        self.found: dict[str, str | None] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if name == "interval" and not self.within and self.begin in (None, parse_number(attributes.get("begin"))):
            self.intervals, self.within = self.intervals + 1, self.depth
        elif name == "edge" and self.within == self.depth - 1 and self.intervals == 1:
            one = attributes.get("id", "")
            if one in self.found:
                raise NetworkError(f"edge {len(self.found) + 1} of the edge data comes twice in its interval")
            if not one.startswith(":"):
                self.found[one] = attributes.get(self.weight)

    def end(self, _: str) -> None:
        self.within = 0 if self.within == self.depth else self.within
        self.depth -= 1


SUMO = Reader("sumo", "SUMO network", (".net.xml",), _read, whole=True, rates=RATES, join=_read_weights)
