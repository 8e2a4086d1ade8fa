"""Parquet: integer columns are integers, text columns are text, exactly as they stand."""

from __future__ import annotations

from functools import partial
from typing import IO

from ...errors import CannotError, HushpathError, NetworkError
from ..columns import Table, choose_columns
from ..proxy import Raw
from .core import LARGEST_KEPT, Reader, not_kept


def _read(raw: IO[bytes], what: str, needed: list[str], optional: tuple[str, ...], *, keep: bool = False) -> Table:
    try:
        import pyarrow.parquet as pq
        from pyarrow.types import is_decimal, is_floating, is_integer
    except ImportError:
        raise CannotError("reading Parquet needs pyarrow: pip install 'hushpath[parquet]'") from None
    try:
        file = pq.ParquetFile(raw)
        wanted = choose_columns(file.schema_arrow.names, what, needed, optional)
        names, fields = file.schema_arrow.names, list(file.schema_arrow) if keep else []
        others = {one.name: one.type for one in fields if one.name not in wanted and names.count(one.name) == 1}
        numeric = [name for name, kind in others.items() if is_integer(kind) or is_floating(kind) or is_decimal(kind)]
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
