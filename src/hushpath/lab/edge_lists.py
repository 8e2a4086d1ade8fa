"""Edge lists the user names: their own weights, scaled to median 1.  What comes of them is NOT PRIVATE."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..arrays import Float
from ..data.network import Network
from ..data.numbers import numbers
from ..data.readers import read_network, read_table
from ..data.readers.text import CSV, TSV
from ..data.topology import Topology
from ..data.weights import PrivateWeights
from ..errors import NetworkError, OptionError

TABLES = (*CSV.suffixes, *TSV.suffixes)
MOST_NODES = 20_000  # a case on a larger one would take minutes


@dataclass(frozen=True)
class OwnNetwork:
    """An edge list to measure: where it is, which column holds weights, and a digest of its bytes."""

    path: str
    column: str
    name: str
    nodes: int
    digest: str


def own_network(path: Path, column: str) -> OwnNetwork:
    """Look at a file once, so that mistakes are reported before hours of work."""
    if path.suffix.lower() not in TABLES:
        raise OptionError(f"the lab reads edge lists as {', '.join(TABLES)}, not {str(path)[-80:]!r}")
    topology = read_network(path, weight=column).topology
    if topology.num_nodes > MOST_NODES:
        raise OptionError(f"the lab takes networks of at most {MOST_NODES} nodes; this one has {topology.num_nodes}")
    if not topology.num_edges:
        raise NetworkError("the network has no edges, so there is nothing to measure")
    digest = hashlib.sha256(path.read_bytes() + column.encode()).hexdigest()[:12]
    return OwnNetwork(str(path), column, path.name, topology.num_nodes, digest)


def load_own(own: OwnNetwork) -> tuple[Network, Float, float]:
    """The network with weights of median 1, the same in the order of edges, and their largest as the public bound."""
    table = read_table(own.path, "the edge list", ["source", "target", own.column]).columns
    ends = [label.strip() for label in (*table["source"], *table["target"])]
    labels, position = np.unique(np.array(ends, object), return_inverse=True)
    topology, kept = Topology.build(labels, *np.split(position, 2))
    values = np.maximum(numbers(table[own.column], f"column {own.column!r}"), 0.0)
    middle = float(np.median(values[kept]))
    if middle <= 0:
        raise OptionError(f"the weights in column {own.column!r} have no positive median to count noise in")
    bound = float(values.max() / middle)
    lengths = values[kept] / middle
    return Network(topology, PrivateWeights(lengths, num_rows=len(lengths))), lengths, bound
