"""Reduce first: chains and pendant trees are folded away, and what is left, the core, is cut into cells.

The *core* keeps every vertex where paths have a choice.  A *fringe* is a connected set of folded vertices: a pendant
tree, which hangs on one core vertex, or a chain with the trees on it, which hangs on two (its *ends*) and is one edge
of the core from end to end.  Fringes are small: of a long chain some vertices stay, and so do the inner vertices of a
large tree.  Any path from a fringe leaves it over an end, so

    distance(s, t) = min over ends a of s and b of t:  (s to a in its fringe) + distance(a, b) + (b to t in its fringe)

and, if both are in one fringe, their distance inside it.  That is exact, for directed networks too.  Folding reads the
public topology alone and takes linear time, so it is made anew wherever it is needed and no file can be wrong about it.

Cut once, weigh often: a network folded and its core cut into cells, kept in a file (``roads.hushd``).

It belongs to the public topology, so every later release, period and estimator can use it.  The file holds what takes
long to find and nothing else: which cell is below which, and the cell of each core vertex.  All the rest follows from
the topology, and is made from it when a file is read.  So a file from anywhere may be used: whatever it says, it is
either a sound cut of this network, if perhaps a bad one, or refused.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Float, Int, frozen, sealed, starts
from ..data.topology import Topology, Wiring
from ..errors import FileFormatError
from ..files import container
from ..kernels.layout import Doors, Graphs
from ..kernels.partition import find_fringes, fringe_distances, link_lengths
from ..kernels.paths import in_threads
from .hierarchy import Lists
from .tables import Layout, cut_graphs

MOST = 32  # vertices of a fringe, whose distances among each other are kept as a table


@dataclass(frozen=True, eq=False)
class Fold:
    """How a network is folded, by public facts alone.

    Attributes:
        network: the whole of it.
        core: the vertices that stay, increasing; core vertices are numbered in this order.
        own: folded vertices fringe by fringe, parents before children.
        above: for each of these the place of its parent in the fringe, -1 for the first end; then, for each fringe,
            that of the parent of its second end.
        ends: for each fringe the core numbers of its two ends, the second -1 for a pendant tree.
        link: for each edge the vertex that it joins to its parent, as a position in ``own``, or for the second end of a
            fringe behind all of these; -1 for an edge of the core.
        upward: whether such an edge leads from the vertex to its parent.
    """

    network: Wiring
    core: Int
    own: Lists
    above: Int
    ends: Int
    link: Int
    upward: Bool

    @property
    def num_nodes(self) -> int:
        """Vertices of the whole network."""
        return self.network.num_nodes

    @cached_property
    def wiring(self) -> Wiring:
        """The core as a network: first the edges that stay, then one for each chain, and one back if it is directed."""
        number, directed = self.nearest[0].astype(np.int64), self.network.directed
        ends = self.ends[self.chains].T
        tails, heads = (ends, ends[::-1]) if directed else (ends[:1], ends[1:])
        return Wiring(
            len(self.core), np.concatenate([number[self.network.tails[self.stays]], *tails]),
            np.concatenate([number[self.network.heads[self.stays]], *heads]), directed,
        )  # fmt: skip

    @cached_property
    def stays(self) -> Int:
        """The edges of the network that are edges of the core."""
        return np.flatnonzero(self.link < 0)

    @cached_property
    def chains(self) -> Int:
        """The fringes that are edges of the core: those between two different vertices."""
        return np.flatnonzero((self.ends[:, 1] >= 0) & (self.ends[:, 0] != self.ends[:, 1]))

    @cached_property
    def fringe(self) -> NDArray[np.int32]:
        """The fringe of each vertex, -1 for those of the core."""
        out = np.full(self.num_nodes, -1, np.int32)
        out[self.own.items] = np.repeat(np.arange(len(self.own)), self.own.sizes())
        return out

    @cached_property
    def place(self) -> NDArray[np.int32]:
        """The place of each vertex in its fringe."""
        out = np.zeros(self.num_nodes, np.int32)
        out[self.own.items] = np.arange(len(self.own.items)) - np.repeat(self.own.start[:-1], self.own.sizes())
        return out

    @cached_property
    def nearest(self) -> NDArray[np.int32]:
        """The core numbers of the ends of each vertex's fringe; a core vertex is its own end."""
        out = np.full((2, self.num_nodes), -1, np.int32)
        out[0, self.core] = np.arange(len(self.core))
        out[:, self.own.items] = self.ends[self.fringe[self.own.items]].T
        return out

    @cached_property
    def inner_start(self) -> Int:
        """Where the table of each fringe begins."""
        return starts(self.own.sizes() ** 2)

    def nbytes(self, size: int) -> int:
        """Memory of the distances of all fringes, at this many bytes a number."""
        sides = 4 if self.wiring.directed else 2
        return size * (int(self.inner_start[-1]) + sides * self.num_nodes) + 16 * self.num_nodes

    def weighed(self, lengths: Float) -> tuple[Doors, Float]:
        """The distances of all fringes and the lengths of the core's edges, from one length per edge of the network."""
        directed, fringes = self.wiring.directed, len(self.own)
        up = np.full(len(self.above), np.inf)
        down = up.copy() if directed else up
        link_lengths(self.link, self.upward, sealed(lengths), directed, up, down)
        out = np.full((2, self.num_nodes), np.inf)
        out[0, self.core] = 0.0
        into = out.copy() if directed else out
        inner, across = np.empty(int(self.inner_start[-1])), np.empty((2, fringes))

        def run(part: slice) -> None:
            fringe_distances(
                np.arange(fringes)[part], self.own.start, self.own.items, self.above, self.ends[:, 1], up, down,
                directed, out, into, self.inner_start, inner, across,
            )  # fmt: skip

        in_threads(run, fringes)
        doors = Doors(self.nearest, out, into, self.fringe, self.place, self.own.start, self.inner_start, inner)
        both = across[: 2 if directed else 1, self.chains].ravel()
        return doors, np.concatenate([lengths[self.stays], both])


@lru_cache(maxsize=2)
def folded(network: Wiring) -> Fold:
    """Fold a network."""
    n = network.num_nodes
    listed, fringe, parent, ends = find_fringes(*network.neighbours, MOST)
    groups = Lists.grouped(fringe[listed], len(ends))
    own = Lists(groups.start, listed[groups.items])
    number = np.full(n + 1, -1, np.int64)  # of core vertices; the last stands for "no vertex"
    core = np.flatnonzero(fringe < 0)
    number[core] = np.arange(len(core))
    slot, place = np.full(n + 1, -1, np.int64), np.full(n + 1, -1, np.int64)
    slot[own.items] = np.arange(len(own.items))
    place[own.items] = slot[own.items] - np.repeat(own.start[:-1], own.sizes())
    link, upward = _links(network, fringe, parent, slot, len(listed))
    above = np.concatenate([place[parent[own.items]], place[ends[:, 2]]])
    return Fold(network, core, own, above, number[ends[:, :2]], link, upward)


def _links(network: Wiring, fringe: Int, parent: Int, slot: Int, count: int) -> tuple[Int, Bool]:
    """The link of each edge and whether it leads up; ``Fold`` says what these are."""
    tails, heads = network.tails, network.heads
    link = np.full(len(tails), -1, np.int64)
    upward = np.zeros(len(tails), bool)
    for child, other, leads_up in ((tails, heads, True), (heads, tails, False)):
        mine = np.flatnonzero(fringe[child] >= 0)
        up = parent[child[mine]] == other[mine]
        link[mine[up]], upward[mine[up]] = slot[child[mine[up]]], leads_up
        # What is no parent is a child, or the second end: then the edge is that of the end, and leads up from there.
        last = ~up & (fringe[other[mine]] < 0)
        link[mine[last]] = count + fringe[child[mine[last]]]
        upward[mine[last]] = not leads_up
    return link, upward


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
