"""The partition of a network for the index: chains and pendant trees are contracted, the core is divided into cells.

*Contraction.*  The *core* keeps every vertex where paths have a choice.  A *contracted tree* is a connected set of
contracted vertices: a pendant tree, attached to one core vertex, or a chain with the trees on it, attached to two; the
core has one edge for the whole chain.  These core vertices are the *core entries* of the tree (``ends``).  Contracted
trees are small: some vertices of a long chain stay in the core, and so do inner vertices of a large tree.  Any path
that leaves a tree uses a core entry, so

    distance(s, t) = min over entries a of s and b of t:  (s to a in its tree) + distance(a, b) + (b to t in its tree)

and, if both are in one tree, their distance inside it.  That is exact, for directed networks too.  Contraction reads
the public topology alone and takes linear time, so it is repeated wherever it is needed and is not stored.

*Partition.*  Belongs to the public topology and is kept in a file (``roads.hushd``), so that every later release,
period and estimator can customise it.  The file holds only what takes long to find: the parent of each cell, and the
cell of each core vertex.  All the rest follows from the topology and is derived when a file is read.  So a file from an
untrusted source may be used: it is a valid partition of this network, though perhaps a slow one, or it is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Float, Int, frozen, starts
from ..errors import FileFormatError
from ..io import container
from ..kernels.layout import CoreEntries, Graphs
from ..kernels.partition import divide_tree, elimination_tree, find_contracted_trees, tree_distances
from ..kernels.paths import in_threads
from ..network.topology import Topology, Wiring
from ..progress import steps
from ..separators.hierarchy import Lists
from . import registry as index_registry
from .tables import Layout, partition_graphs

FORMAT = "hushpath-partition"
VERSION = 1
SUFFIX = ".hushd"
MOST = 32  # vertices of a contracted tree; its distances are kept as a table


@dataclass(frozen=True, eq=False)
class ContractedNetwork:
    """A network with its chains and pendant trees contracted, by public facts alone.

    Attributes:
        network: the whole of it.
        core: the vertices that stay, increasing; core vertices are numbered in this order.
        own: contracted vertices tree by tree, parents before children.
        above: for each of these the place of its parent in the tree, -1 for the first end; then, for each tree,
            that of the parent of its second end.
        ends: for each tree the core numbers of its two ends, the second -1 for a pendant tree.
        link: for each edge the vertex that it joins to its parent, as a position in ``own``, or for the second end of a
            tree behind all of these; -1 for an edge of the core.
        upward: whether such an edge leads from the vertex to its parent.
        tree, place: for each vertex its tree, -1 in the core, and its place there.
        nearest: for each vertex the core numbers of the ends of its tree; a core vertex is its own end.
        inner_start: where the table of each tree begins.
    """

    network: Wiring
    core: Int
    own: Lists
    above: Int
    ends: Int
    link: Int
    upward: Bool
    tree: NDArray[np.int32]
    place: NDArray[np.int32]
    nearest: NDArray[np.int32]
    inner_start: Int

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
        """The contracted trees that become an edge of the core: those whose two ends are different core vertices."""
        return np.flatnonzero((self.ends[:, 1] >= 0) & (self.ends[:, 0] != self.ends[:, 1]))

    def nbytes(self, size: int) -> int:
        """Count the memory of the distances of all trees, at ``size`` bytes a number."""
        n, sides = self.network.num_nodes, 4 if self.wiring.directed else 2
        return size * (int(self.inner_start[-1]) + sides * n) + 16 * n

    def customise(self, lengths: Float) -> tuple[CoreEntries, Float]:
        """Compute the distances in all trees and the lengths of the core's edges from one length per edge."""
        directed, trees = self.wiring.directed, len(self.own)
        up = np.full(len(self.above), np.inf)
        down = up.copy() if directed else up
        for to, leads in ((up, self.upward), (down, ~self.upward)):
            mine = np.flatnonzero((self.link >= 0) & (leads if directed else True))
            np.minimum.at(to, self.link[mine], lengths[mine])
        out = np.full((2, self.network.num_nodes), np.inf)
        out[0, self.core] = 0.0
        into = out.copy() if directed else out
        inner, across = np.empty(int(self.inner_start[-1])), np.empty((2, trees))
        entries = CoreEntries(self.nearest, out, into, self.tree, self.place, self.own.start, self.inner_start, inner)
        links = self.above, up, down

        def run(part: slice) -> None:
            tree_distances(np.arange(trees)[part], self.own.items, links, self.ends[:, 1], directed, entries, across)

        in_threads(run, trees)
        both = across[: 2 if directed else 1, self.chains].ravel()
        return entries, np.concatenate([lengths[self.stays], both])


@lru_cache(maxsize=2)
def contract(network: Wiring) -> ContractedNetwork:
    """Contract the chains and pendant trees of a network."""
    n = network.num_nodes
    listed, tree, parent, ends = find_contracted_trees(*network.neighbours, MOST)
    groups = Lists.grouped(tree[listed], len(ends))
    own = Lists(groups.start, listed[groups.items])
    number = np.full(n + 1, -1, np.int64)  # of core vertices; the last stands for "no vertex"
    core = np.flatnonzero(tree < 0)
    number[core] = np.arange(len(core))
    slot, place = np.full(n + 1, -1, np.int64), np.full(n + 1, -1, np.int64)
    slot[own.items] = np.arange(len(own.items))
    place[own.items] = slot[own.items] - np.repeat(own.start[:-1], own.sizes())
    link, upward = _links(network, tree, parent, slot, len(listed))
    above = np.concatenate([place[parent[own.items]], place[ends[:, 2]]])
    ends = number[ends[:, :2]]
    nearest = np.stack([number[:n], np.full(n, -1)]).astype(np.int32)
    nearest[:, own.items] = ends[tree[own.items]].T
    inside = np.maximum(place[:n], 0).astype(np.int32)
    return ContractedNetwork(
        network, core, own, above, ends, link, upward, tree.astype(np.int32), inside, nearest, starts(own.sizes() ** 2)
    )  # fmt: skip


def _links(network: Wiring, tree: Int, parent: Int, slot: Int, count: int) -> tuple[Int, Bool]:
    """Return the ``link`` of each edge and whether it leads up, of a ``network`` as ``ContractedNetwork`` has them.

    ``tree`` and ``parent`` are those of each vertex, ``slot`` its position among ``count`` contracted vertices.
    """
    tails, heads = network.tails, network.heads
    link = np.full(len(tails), -1, np.int64)
    upward = np.zeros(len(tails), bool)
    for child, other, leads_up in ((tails, heads, True), (heads, tails, False)):
        mine = np.flatnonzero(tree[child] >= 0)
        up = parent[child[mine]] == other[mine]
        link[mine[up]], upward[mine[up]] = slot[child[mine[up]]], leads_up
        # Any other neighbour is a child, or the second end: then the edge is that of the end, and leads up from there.
        last = ~up & (tree[other[mine]] < 0)
        link[mine[last]] = count + tree[child[mine[last]]]
        upward[mine[last]] = not leads_up
    return link, upward


@dataclass(frozen=True, eq=False)
class Partition:
    """A contracted network whose core is divided into cells.

    Attributes:
        contracted: its contracted trees and its core.
        layout: the cells of the core.
    """

    contracted: ContractedNetwork
    layout: Layout

    @property
    def network(self) -> Wiring:
        """The wiring of the whole network."""
        return self.contracted.network

    @classmethod
    def from_cells(cls, topology: Topology, parent: Int, home: Int) -> Partition:
        """Lay out cells of the core of a network; raises as ``Layout.of_partition`` does if they are not valid."""
        contracted = contract(topology.wiring)
        layout = Layout.of_partition(contracted.wiring, frozen(parent, np.int64), frozen(home, np.int64))
        return cls(contracted, layout)

    def belongs_to(self, topology: Topology) -> bool:
        """Tell whether it is a partition of this topology."""
        return self.network is topology.wiring or digest(self.network) == digest(topology.wiring)

    @cached_property
    def graphs(self) -> Graphs:
        """The edges of the core by cell; ``lengths`` holds the number of each edge."""
        return partition_graphs(self.layout, self.contracted.wiring)

    def __repr__(self) -> str:
        whole, core = self.network.num_nodes, len(self.contracted.core)
        return f"Partition({whole} nodes, {core} of them in the core, {self.layout.num_cells} cells)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, atomically."""
        arrays = {"parent": self.layout.parent.astype(np.int32), "home": self.layout.home.astype(np.int32)}
        container.write(path, FORMAT, VERSION, {"network": digest(self.network)}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], topology: Topology) -> Partition:
        """Read a partition of this topology; raise ``FileFormatError`` if the file is not one."""
        found = container.read(path, FORMAT, VERSION)
        found.check_digest()
        if found.header.get("network") != digest(topology.wiring):
            raise FileFormatError(f"{path} is a partition of another network")
        arrays = [found.arrays.get(name) for name in ("parent", "home")]
        if len(found.arrays) != len(arrays) or any(a is None or a.ndim != 1 or a.dtype != np.int32 for a in arrays):
            raise FileFormatError(f"{path} is not a valid partition: its arrays have the wrong type or shape")
        try:
            return cls.from_cells(topology, *(a.astype(np.int64) for a in arrays if a is not None))
        except FileFormatError as error:
            raise FileFormatError(f"{path} is not a valid partition: {error}") from None


def digest(network: Wiring) -> str:
    """Hash the number of nodes and the edges in order: the identity of a network."""
    found = hashlib.sha256(f"{network.num_nodes} {network.num_edges} {network.directed}".encode())
    for ends in (network.tails, network.heads):
        found.update(np.ascontiguousarray(ends, "<i8").data)
    return found.hexdigest()


LEAF_SIZE = 16  # smaller leaves make more cells, larger ones longer inner tables
TRIES = 3  # separators tried at each level, of which the smallest is taken
SEED = 1
KEPT_FROM = 50_000  # core vertices: smaller networks are partitioned faster than a file is found


@lru_cache(maxsize=2)
def partition(topology: Topology) -> Partition:
    """Contract a network and partition its core into cells, for the index of any release of the network.

    Reads public facts only.  Takes seconds for a million nodes; the partition of a large network is kept in the user's
    cache folder and found again, also by other processes.

    Parameters
    ----------
    topology : Topology
        The public half of a network, ``net.topology``.

    Returns
    -------
    Partition
        Has ``save`` and ``Partition.load``; ``Release.build_index`` takes it.

    Raises
    ------
    CannotError
        If the network has no small separators, so that no index would fit in memory.

    Examples
    --------
    >>> import hushpath
    >>> square = hushpath.Network.build(range(4), [0, 1, 2, 3], [1, 2, 3, 0], [5.0, 1.0, 2.0, 3.0])
    >>> hushpath.partition(square.topology)
    Partition(4 nodes, 1 of them in the core, 1 cells)
    """
    core = contract(topology.wiring).wiring
    kept = index_registry.cache() / "partitions" / f"{digest(topology.wiring)}{SUFFIX}"
    keep = core.num_nodes >= KEPT_FROM and index_registry.usable()
    if keep and kept.is_file():
        with contextlib.suppress(FileFormatError, OSError):
            return Partition.load(kept, topology)
    for _ in steps(["METIS"], "cutting cells"):
        order = _order(core)
    parent, home = divide_tree(elimination_tree(*core.neighbours, order), order, LEAF_SIZE)
    made = Partition.from_cells(topology, parent, home)
    if keep:
        with contextlib.suppress(OSError):
            index_registry.make(kept.parent)
            made.save(kept)
            kept.chmod(0o600)
    return made


def _order(core: Wiring) -> Int:
    """Return an order of elimination by nested dissection: separators last."""
    import pymetis

    start, heads = core.neighbours
    if not len(heads):
        return np.arange(core.num_nodes)
    kind = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(start.astype(kind), heads.astype(kind))
    order, _ = pymetis.nested_dissection(adjacency, options=pymetis.Options(seed=SEED, nseps=TRIES))
    return np.asarray(order, np.int64)
