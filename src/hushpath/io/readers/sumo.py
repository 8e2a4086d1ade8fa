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
from xml.etree.ElementTree import Element

from ...errors import NetworkError
from ...network.columns import parse_number
from ...network.network import Columns, Table
from ...network.public_rows import WantedColumns, choose_public_columns
from .base import Reader, read_elements

INSIDE = ("internal", "crossing", "walkingarea")  # functions of edges that are part of a junction
MOST_NAMES = 1000  # of columns, which take much more room than a name in the file
RATES = ("speed", "speedRelative", "density", "laneDensity", "occupancy", "priority", "lanes")


def _read(raw: IO[bytes], wanted: WantedColumns) -> Table:
    source, target, *public = wanted.needed
    nodes: Columns = {"node": [], "x": [], "y": []}
    edges: Columns = {name: [] for name in wanted.needed}
    names: set[str] = set()

    def take(element: Element, _: list[Element]) -> None:
        own = element.attrib
        if element.tag == "junction":
            if own.get("type") != "internal":
                nodes["node"].append(_given(own, "id", f"junction {len(nodes['node']) + 1}"))
                for axis in "xy":
                    nodes[axis].append(own.get(axis))
        elif own.get("function") not in INSIDE and not own.get("id", "").startswith(":"):
            row = len(edges[source]) + 1
            edges[source].append(_given(own, "from", f"edge {row}"))
            edges[target].append(_given(own, "to", f"edge {row}"))
            params = (child for child in element if child.tag == "param" and "key" in child.attrib)
            values = {param.attrib["key"]: param.get("value", "") for param in params}
            values |= {name: value for name, value in own.items() if name not in ("from", "to")}
            values |= _lane_columns(element)
            names.update(values)
            if len(names) > MOST_NAMES:
                raise NetworkError(f"edges of the SUMO network have more than {MOST_NAMES} different attributes")
            for name in dict.fromkeys(public):
                edges[name].append(values.get(name))

    read_elements(raw, "the SUMO network", "net", {(2, "junction"), (2, "edge")}, take)
    if edges[source]:
        choose_public_columns(sorted(names), WantedColumns("the SUMO network", public))
    return Table(edges, nodes, True, names_edges=True)


def _lane_columns(edge: Element) -> dict[str, str]:
    """Return the columns that follow from the lanes of an edge."""
    lanes = [(parse_number(lane.get("length")), parse_number(lane.get("speed"))) for lane in edge if lane.tag == "lane"]
    speed = max((speed for _, speed in lanes if speed > 0), default=0.0)
    length = lanes[0][0] if lanes and lanes[0][0] >= 0 else None
    out = {"lanes": str(len(lanes))}
    if length is not None:
        out["length"] = repr(length)
    if speed:
        out["speed"] = repr(speed)
    if length is not None and speed:
        out["free_flow"] = repr(length / speed)
    return out


def _given(attributes: dict[str, str], name: str, what: str) -> str:
    if name not in attributes:
        raise NetworkError(f"{what} of the SUMO network has no {name!r}")
    return attributes[name]


def _read_weights(raw: IO[bytes], weight: str, interval: float | None) -> dict[str, str | None]:
    """Return one attribute of every edge in one interval."""
    found: dict[str, str | None] = {}
    intervals = 0

    def take(element: Element, around: list[Element]) -> None:
        nonlocal intervals
        span = element if element.tag == "interval" else around[-1]
        if span.tag != "interval" or interval not in (None, parse_number(span.get("begin"))):
            return
        if element is span:
            intervals += 1
        elif not intervals:
            one = element.get("id", "")
            if one in found:
                raise NetworkError(f"edge {len(found) + 1} of the edge data comes twice in its interval")
            if not one.startswith(":"):
                found[one] = element.get(weight)

    read_elements(raw, "the edge data", "", {(2, "interval"), (3, "edge")}, take)
    if intervals != 1:
        begins = "" if interval is None else " that begin as asked"
        hint = "; pass edge_data=(file, second at which one begins)" if interval is None and intervals else ""
        raise NetworkError(f"the edge data have {intervals} intervals{begins}, not one{hint}")
    return found


SUMO = Reader("sumo", "SUMO network", (".net.xml",), _read, whole=True, rates=RATES, join=_read_weights)
