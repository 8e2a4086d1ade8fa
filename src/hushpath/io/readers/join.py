"""Private weights that stand in a file of their own, by the ids of the edges of a public network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import NetworkError, OptionError
from ...network.table import Table
from .base import FilePath, Reader, check_path, decoded, shown

ID = "id"  # the column that names edges


def check_join(reader: Reader, edge_data: FilePath | None, interval: float | None) -> None:
    """Refuse a second file where it has no meaning, and an interval without one."""
    if edge_data is None and interval is not None:
        raise OptionError("interval says which part of edge_data is meant; name that file too")
    if edge_data is not None and reader.join is None:
        raise OptionError(f"edge_data belongs to a SUMO network; {reader.title} has the weights in a column")
    if edge_data is not None:
        check_path(edge_data)
    if interval is not None and (isinstance(interval, bool) or not isinstance(interval, (int, float, np.number))):
        raise OptionError(f"interval is the second at which one begins, not {type(interval).__name__}")


def joined(table: Table, reader: Reader, weight: str, edge_data: FilePath, interval: float | None) -> Table:
    """The same edges with their weights; every edge has one, and no weight is left over.

    A missing weight is never "no edge": which edges exist is public and must not depend on what was measured.
    """
    join, ids = reader.join, table.columns[ID]
    found = {} if join is None else decoded(edge_data, lambda raw: join(raw, weight, interval))
    if len(set(ids)) < len(ids) or None in ids:
        raise NetworkError("two edges of the network have the same id, or one has none, so edge_data cannot name them")
    if found.keys() - set(ids):
        raise NetworkError(f"{shown(edge_data)} names an edge that the network does not have; do they belong together?")
    values = [found.get(one) for one in ids]
    if None in values:
        raise NetworkError(
            f"{shown(edge_data)} has no {str(weight)[:60]!r} for edge {values.index(None) + 1} of the network; "
            'SUMO writes one for every edge if told excludeEmpty="defaults"'
        )
    return replace(table, columns={**table.columns, weight: values})
