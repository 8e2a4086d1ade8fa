"""How the index partitions a network: nested dissection by METIS, one call for all levels.

Mechanisms pay for every hub with noise, so they look for the smallest separators they can find (``separators``).  An
index pays for its hubs with memory alone, and METIS, which orders a million vertices in seconds, leaves it with labels
no longer than theirs.

The partition of a large network is kept in the user's cache folder (``cells.index_registry``), under the digest of its
topology.
"""

from __future__ import annotations

import contextlib
from functools import lru_cache

import numpy as np

from ..arrays import Int
from ..cells import index_registry
from ..cells.partition import SUFFIX, Partition, contract, digest
from ..data.topology import Topology, Wiring
from ..errors import FileFormatError
from ..kernels.partition import cells_of_tree, elimination_tree
from ..progress import steps

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
    parent, home = cells_of_tree(elimination_tree(*core.neighbours, order), order, LEAF_SIZE)
    made = Partition.from_cells(topology, parent, home)
    if keep:
        with contextlib.suppress(OSError):
            index_registry.make(kept.parent)
            made.save(kept)
            kept.chmod(0o600)
    return made


def _order(core: Wiring) -> Int:
    """An order of elimination: separators last."""
    import pymetis

    start, heads = core.neighbours
    if not len(heads):
        return np.arange(core.num_nodes)
    kind = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(start.astype(kind), heads.astype(kind))
    order, _ = pymetis.nested_dissection(adjacency, options=pymetis.Options(seed=SEED, nseps=TRIES))
    return np.asarray(order, np.int64)
