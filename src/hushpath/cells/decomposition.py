"""Cut once, weigh often: a network folded and its core cut into cells, kept in a file (``roads.hushd``).

It belongs to the public topology, so every later release, period and estimator can use it.  The file holds what takes
long to find and nothing else: which cell is below which, and the cell of each core vertex.  All the rest follows from
the topology, and is made from it when a file is read.  So a file from anywhere may be used: whatever it says, it is
either a sound cut of this network, if perhaps a bad one, or refused.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Int, frozen
from ..data.topology import Topology, Wiring
from ..errors import FileFormatError
from ..files import container
from ..kernels.flat import Graphs
from .fold import Fold, folded
from .layout import Layout
from .tables import cut_graphs

FORMAT = "hushpath-decomposition"
VERSION = 1
SUFFIX = ".hushd"


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A network folded and cut.

    Attributes:
        fold: its fringes and its core.
        layout: the cells of the core.
    """

    fold: Fold
    layout: Layout

    @property
    def network(self) -> Wiring:
        """Who is joined to whom."""
        return self.fold.network

    @classmethod
    def of_cut(cls, topology: Topology, parent: Int, home: Int) -> Decomposition:
        """Lay out a cut of the core of a network; refuses what is none (``Layout.of_cut``)."""
        fold = folded(topology.wiring)
        layout = Layout.of_cut(fold.wiring, frozen(parent, np.int64), frozen(home, np.int64))
        return cls(fold, layout)

    def belongs_to(self, topology: Topology) -> bool:
        """Whether it is a cut of this topology."""
        return self.network is topology.wiring or digest(self.network) == digest(topology.wiring)

    @cached_property
    def graphs(self) -> Graphs:
        """The edges of the core by cell; ``lengths`` holds the number of each edge."""
        return cut_graphs(self.layout, self.fold.wiring)

    def __repr__(self) -> str:
        whole, core = self.network.num_nodes, len(self.fold.core)
        return f"Decomposition({whole} nodes, {core} of them in the core, {self.layout.num_cells} cells)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, atomically."""
        arrays = {"parent": self.layout.parent.astype(np.int32), "home": self.layout.home.astype(np.int32)}
        container.write(path, FORMAT, VERSION, {"network": digest(self.network)}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], topology: Topology) -> Decomposition:
        """Read a decomposition of this topology; refuse one of another, or what is none."""
        found = container.read(path, FORMAT, VERSION)
        found.check_digest()
        if found.header.get("network") != digest(topology.wiring):
            raise FileFormatError(f"{path} is the decomposition of another network")
        arrays = [found.arrays.get(name) for name in ("parent", "home")]
        if len(found.arrays) != len(arrays) or any(a is None or a.ndim != 1 or a.dtype != np.int32 for a in arrays):
            raise FileFormatError(f"{path} is not a sound decomposition: its arrays have the wrong type or shape")
        try:
            return cls.of_cut(topology, *(a.astype(np.int64) for a in arrays if a is not None))
        except FileFormatError as error:
            raise FileFormatError(f"{path} is not a sound decomposition: {error}") from None


def digest(network: Wiring) -> str:
    """What tells networks apart: their nodes in number and their edges in order."""
    found = hashlib.sha256(f"{network.num_nodes} {network.num_edges} {network.directed}".encode())
    for ends in (network.tails, network.heads):
        found.update(np.ascontiguousarray(ends, "<i8").data)
    return found.hexdigest()
