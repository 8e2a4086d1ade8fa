"""Parquet: integer columns are integers, text columns are text, exactly as they stand."""

from __future__ import annotations

from typing import IO

from ...errors import HushpathError, NetworkError
from ..columns import Table, choose_public_columns
from .core import Reader


def _read(raw: IO[bytes], what: str, needed: list[str], optional: tuple[str, ...]) -> Table:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(raw)
        wanted = choose_public_columns(file.schema_arrow.names, what, needed, optional)
        columns = file.read(columns=wanted)
        return Table({name: columns[name].to_pylist() for name in wanted})
    except HushpathError:
        raise
    except Exception:  # noqa: S110 - a damaged file can make the decoder raise anything
        pass
    raise NetworkError(f"{what} is not a readable Parquet file")


PARQUET = Reader("parquet", "Parquet", (".parquet",), _read, typed=True)
