"""Check the arguments of queries: nodes and pairs, by label or by position, and a confidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._validate import shorten
from ..arrays import Int
from ..errors import InputError, OptionError
from ..network.topology import Topology


def resolve_nodes(topology: Topology, nodes: Any, positions: bool) -> Int:
    """Return the positions of nodes; ``None`` means all."""
    if nodes is None or not positions:
        return topology.indices(nodes)
    found = _checked(topology, nodes)
    if found.ndim != 1:
        raise InputError(f"node positions must be one-dimensional, got shape {found.shape}")
    return found


def resolve_pairs(topology: Topology, pairs: Any, positions: bool) -> tuple[Int, Int]:
    """Return the positions of both ends of each pair."""
    if not positions:
        return _labelled(topology, pairs)
    ends = _checked(topology, pairs)
    if ends.ndim != 2 or ends.shape[1] != 2:
        raise InputError(f"pairs must have two columns, got shape {ends.shape}")
    return np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])


def check_confidence(confidence: float) -> None:
    """Refuse what is not a probability, or so close to 0 or 1 that its tails are lost in rounding."""
    if not isinstance(confidence, (int, float, np.number)) or not 0 < 1 - confidence < 1 or (1 + confidence) / 2 == 1:
        raise OptionError(f"`confidence` must be a number between 0 and 1, got {shorten(confidence)}")


def _checked(topology: Topology, nodes: Any) -> Int:
    found = np.asarray(nodes)
    if found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind not in "iu":
        raise InputError(f"node positions must be integers, got {found.dtype}")
    n = topology.num_nodes
    if found.size and (int(found.min()) < 0 or int(found.max()) >= n):
        raise InputError(f"node positions must be from 0 to {n - 1}")
    return np.ascontiguousarray(found, np.int64)


def _labelled(topology: Topology, pairs: Any) -> tuple[Int, Int]:
    values = pairs.to_numpy() if hasattr(pairs, "to_numpy") else pairs
    if isinstance(values, np.ndarray):
        if values.ndim != 2 or values.shape[1] != 2:
            raise InputError(f"pairs must have two columns, got shape {values.shape}")
        columns: Iterator[Any] = iter(values.T.tolist())
        left, right = next(columns), next(columns)
    else:
        values = list(values) if isinstance(values, Iterable) else [values]
        if any(isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2 for pair in values):
            raise InputError("each pair must hold two labels: (source, target)")
        left, right = [pair[0] for pair in values], [pair[1] for pair in values]
    return topology.indices(left), topology.indices(right)
