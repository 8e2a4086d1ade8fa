"""How the query engine cuts a network: nested dissection by METIS, one call for all levels.

Mechanisms pay for every hub with noise, so they look for the smallest separators they can find (``separators``).  An
index pays for its hubs with memory alone, and METIS, which orders a million vertices in seconds, leaves it with labels
no longer than theirs.

A cut of a large network is kept in the user's cache folder (``cells.known``), under the digest of its topology.
"""

from __future__ import annotations

import contextlib
from functools import lru_cache

import numpy as np

from ..arrays import Int
from ..cells import known
from ..cells.partition import SUFFIX, Decomposition, digest, folded
from ..data.topology import Topology, Wiring
from ..errors import FileFormatError
from ..kernels.partition import cells_of_tree, elimination_tree
from ..progress import steps

LEAF_SIZE = 16  # smaller leaves make more cells, larger ones longer inner tables
TRIES = 3  # separators tried at each level, of which the smallest is taken
SEED = 1
KEPT_FROM = 50_000  # core vertices: smaller networks are cut faster than anybody looks for a file


@lru_cache(maxsize=2)
def cut(topology: Topology) -> Decomposition:
    """Fold a network and cut its core into cells: public, and the same for every release of the network.

    Takes seconds for a million nodes.  The cut of a large network is kept and found again, also by other processes.
    """
    core = folded(topology.wiring).wiring
    kept = known.cache() / "decompositions" / f"{digest(topology.wiring)}{SUFFIX}"
    keep = core.num_nodes >= KEPT_FROM and known.usable()
    if keep and kept.is_file():
        with contextlib.suppress(FileFormatError, OSError):
            return Decomposition.load(kept, topology)
    for _ in steps(["METIS"], "cutting cells"):
        order = _order(core)
    parent, home = cells_of_tree(elimination_tree(*core.neighbours, order), order, LEAF_SIZE)
    made = Decomposition.of_cut(topology, parent, home)
    if keep:
        with contextlib.suppress(OSError):
            known.make(kept.parent)
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
