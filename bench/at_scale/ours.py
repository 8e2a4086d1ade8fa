"""The engine as ``bench/scale.py`` asks it, and the engine as it was before networks were folded.

``cut``, ``again`` and ``weigh`` are the only places that know how a partition is made, found in a file and used.
"""

from __future__ import annotations

import numpy as np

import hushpath
from hushpath.index.tables import Layout
from hushpath.separators.build import separator_hierarchy

from .networks import road_like

TERMS = {"epsilon": 1.0, "unit": 1.0, "max_weight": 60.0}
LIMIT = 2**36  # of an index: the bench tells how large it is instead of refusing
LEAF_THEN = 32  # of the index before networks were folded


def network(generated, seed=1):
    """A generated network with weights between 1 and 60."""
    weights = np.random.default_rng(seed).uniform(1, 60, len(generated.ends))
    return hushpath.Network.build(range(generated.nodes), *generated.ends.T, weights)


def released(net, estimator="clip"):
    """An `input` release, read in the quickest way unless told otherwise."""
    return hushpath.release(net, mechanism="input", seed=1, **TERMS).with_decoder(estimator=estimator)


def planned(topology):
    return hushpath.plan(topology, **TERMS)


def cut(topology):
    return hushpath.partition(topology)


def again(path, topology):
    return hushpath.Partition.load(path, topology)


def weigh(release, made, *, labels):
    """An index for a release on a known partition."""
    return release.build_index(partition=made, labels=labels, max_bytes=LIMIT)


def fresh(release):
    """The same release, read but not yet asked: its edge lengths are known, as those of a rival are."""
    other = hushpath.Release(release.measurements, release.statement, release.saved_estimate, release.fingerprint)
    assert other.decoder.weights is not None
    return other


def cut_then(topology):
    """The hierarchy of cells of the whole network."""
    return separator_hierarchy(topology, leaf_size=LEAF_THEN)[0]


def bytes_then(hierarchy):
    """Tables, labels and layout of an undirected network with eight bytes a number."""
    layout = Layout.of(hierarchy)
    long = layout.col + np.diff(layout.hub_start)  # of the labels of a cell
    return 8 * (sum(layout.table_sizes) + int(long @ layout.rows)) + sum(x.nbytes for x in layout.arrays().values())


def warm_up():
    """Compile (or load) every kernel before anything is timed."""
    first = released(network(road_like(600)))
    made = cut(first.topology)
    for labels in (False, True):
        release = fresh(first)
        weigh(release, made, labels=labels)
        release.distance(0, 5)
        release.distances(np.zeros((100, 2), np.int64), positions=True)
        release.rows(np.arange(1))
        release.matrix()
        release.matrix(dtype=np.float32)
        release.matrix([1, 2], [3])
