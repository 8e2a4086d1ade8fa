"""Parquet: integer columns are integers, text columns are text, exactly as they stand."""

from __future__ import annotations

from functools import partial
from typing import IO

from ...errors import HushpathError, NetworkError
from ..columns import Table, choose_public_columns
from ..proxy import Raw
from .core import LARGEST_KEPT, Reader, not_kept


def _read(raw: IO[bytes], what: str, needed: list[str], optional: tuple[str, ...], *, keep: bool = False) -> Table:
    import pyarrow.parquet as pq
    import pyarrow.types as types

    is_number = types.is_integer, types.is_floating, types.is_decimal
    try:
        file = pq.ParquetFile(raw)
        wanted = choose_public_columns(file.schema_arrow.names, what, needed, optional)
        names, fields = file.schema_arrow.names, list(file.schema_arrow) if keep else []
        others = {one.name: one.type for one in fields if one.name not in wanted and names.count(one.name) == 1}
        numeric = [name for name, kind in others.items() if any(test(kind) for test in is_number)]
        kept = numeric[: LARGEST_KEPT // (8 * max(file.metadata.num_rows, 1))]
        columns = file.read(columns=[*wanted, *kept])
        unread: dict[str, Raw] = {**dict.fromkeys(others), **dict.fromkeys(numeric, not_kept)}
        unread |= {name: columns[name].to_pylist for name in kept}
        return Table({name: columns[name].to_pylist() for name in wanted}, others=unread)
    except HushpathError:
        raise
    except Exception:  # noqa: S110 - a damaged file can make the decoder raise anything
        pass
    raise NetworkError(f"{what} is not a readable Parquet file")


READERS = (Reader("parquet", "Parquet", (".parquet",), _read, partial(_read, keep=True), typed=True),)
