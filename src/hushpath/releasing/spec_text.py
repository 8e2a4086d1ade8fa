"""The text of specifications: every key with its meaning, an example and what a change of it means; and TOML.

For ``hushpath init`` and ``diff``, the command line and the docs.  Nothing heavy is imported: the command line reads
this before anything else.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import OptionError

LARGEST_SPEC = 2**16  # characters
PUBLIC = "published as given; it must not be computed from private data"
CLIPS = "public bound that clips times; changes no protection"
ACCURACY = "changes the accuracy and no protection"


class Key(NamedTuple):
    """One key of a specification."""

    help: str
    example: Any = None
    change: str = ""  # what a change means for those who are protected, where that does not depend on the values


KEYS = {
    "network.file": Key("The network file: .csv, .tsv, .parquet, .graphml, .gpkg, .net.xml, .tntp"),
    "network.source": Key("Column of the first node", "source"),
    "network.target": Key("Column of the second node", "target"),
    "network.directed": Key("Each row is a one-way edge", False),
    "network.nodes": Key("Node table with columns node, x, y", "nodes.csv", PUBLIC),
    "network.proxy": Key("PUBLIC column close to the weights, such as free-flow times; published", "free_flow", PUBLIC),
    "network.columns": Key("Other PUBLIC columns: edge ids, bounds of a pass", change=PUBLIC),
    "network.lower": Key("Public lower bound of weights: a number or a column"),
    "network.upper": Key("Public upper bound: a number or a column"),
    "network.parallel_edges": Key("Keep rows with the same ends as parallel edges"),
    "network.format": Key("Format of the file, if its suffix is ambiguous"),
    "weights.column": Key("PRIVATE column of the weights", "weight"),
    "weights.edge_data": Key("PRIVATE edgeData file of a SUMO network"),
    "weights.interval": Key("Second at which the interval of edge_data begins"),
    "weights.max_weight": Key("Public bound; larger weights are clipped", 60.0),
    "weights.mechanism": Key("A mechanism, or auto for the smallest predicted error", "auto"),
    "weights.options": Key("Options of the mechanism"),
    "trips.file": Key("PRIVATE table: .parquet, .csv, .jsonl, or a folder of parts"),
    "trips.person": Key("Column of the person", "person"),
    "trips.day": Key("Column of the day, or a timestamp", "date"),
    "trips.trip": Key("Column of the trip", "trip_id"),
    "trips.edge": Key("A row per pass: columns of both ends, or an edge id", ["from", "to"]),
    "trips.seconds": Key("Column of the time that a pass took; lists in a row per trip", "seconds"),
    "trips.node": Key("A row per visit: column of the node"),
    "trips.time": Key("When the node was entered; lists in a row per trip"),
    "trips.nodes": Key("A row per trip: column of lists of nodes"),
    "trips.period": Key("Column of the period, or a timestamp", "period"),
    "trips.periods": Key("PUBLIC periods: names, or names with hours, or 'hours'", ["am", "pm"]),
    "trips.low": Key("Lower bound of the time of one pass: a multiple of the proxy, or a column", 0.5, CLIPS),
    "trips.high": Key("Upper bound of the time of one pass; times beyond the bounds are clipped", 6.0, CLIPS),
    "trips.edge_weighting": Key("inverse-traffic or even"),
    "unit.l1": Key("How far one protected unit can change all weights in total; required for weights", 1.0),
    "unit.l2": Key("The same in L2 norm, if that is less", 1.0),
    "unit.edges": Key("Instead: at most so many weights change, by so much each: [60, 0.5]"),
    "unit.lattice_step": Key("Step that weights are rounded down to, a power of two", change=ACCURACY),
    "unit.protects": Key("What one protected unit is: person, person-day or trip; required for trips", "person-day"),
    "unit.neighbours": Key("add-remove: a unit is present or absent; replace: it is exchanged for another"),
    "unit.days": Key(
        "Only these days count: 2026-10-01..2026-10-31",
        "2026-10-01..2026-10-31",
        "a different range of days is released, and the ledger charges those days",
    ),
    "unit.max_edges": Key("With Laplace noise: at most so many edges of a unit count", change=ACCURACY),
    "unit.population": Key(
        "PUBLIC: about how many protected units there are, to judge delta",
        100_000,
        "helps to judge delta; changes no protection",
    ),
    "budget.epsilon": Key("Privacy budget; smaller is more private. inf: NOT PRIVATE", 1.0),
    "budget.delta": Key("Probability of a larger loss; 0 for pure differential privacy", 1e-06),
    "noise.law": Key("auto, laplace or gaussian"),
    "noise.sampler": Key("auto, opendp or vector"),
    "ledger.file": Key("The ledger file", "city.ledger"),
    "quantity.name": Key("What a distance is, for example travel time", "travel time"),
    "quantity.unit_of_measure": Key("What it is measured in, for example seconds", "seconds"),
    "quantity.date": Key("Reporting period (free text), for example 2026-03", "2026-03"),
    "quantity.publisher": Key("Who publishes the release", "City"),
    "quantity.dataset": Key(
        "Name of the data; published, and charged in the ledger", "city", "the ledger charges the data of this name"
    ),
    "expected.units": Key("Trips: about how many protected units there will be", 35_000),
    "expected.edges_per_unit": Key("Trips: about how many edges one unit passes", 80),
    "expected.typical_weight": Key("Weights: the median, or the lower and upper quartile", [15, 40]),
    "schedule.first": Key("First day of the first release, for example 2026-01-01", "2026-01-01"),
    "schedule.every": Key("A release per day, week or month", "month"),
    "schedule.count": Key("How many releases", 12, "the budget is the total of these releases"),
    "schedule.split": Key("even, or front: the first release gets most"),
    "schedule.retry": Key("Reserve budget to repeat a release that was interrupted"),
}


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text of bounded size."""
    if len(text) > LARGEST_SPEC:
        raise OptionError(f"a specification has at most {LARGEST_SPEC} characters")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise OptionError(f"not valid TOML: {str(error)[:200]}") from None


def toml_value(value: Any) -> str:
    """Return a value as TOML writes it.

    >>> toml_value(["a", 1, True]), toml_value({"am": (7, 10)}), toml_value(Path("x/y.csv"))
    ('["a", 1, true]', '{am = [7, 10]}', '"y.csv"')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Path):
        return toml_value(value.name)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {toml_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(one) for one in value) + "]"
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value).encode("utf-8", "replace").decode()  # TOML has no lone surrogates
    return '"' + "".join(_escaped(letter) for letter in text) + '"'


def _key(key: Any) -> str:
    text = str(key)
    bare = text.isascii() and text != "" and all(letter.isalnum() or letter in "-_" for letter in text)
    return text if bare else toml_value(text)


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
