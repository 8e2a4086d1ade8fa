r"""Files, folders of parts and data frames of trips, as tables of plain columns that DuckDB can query.

The layout of a table is public: names of files and folders, the first line of a CSV file, the schema that Parquet and
Arrow declare.  It is checked before anything is measured.  Rows are private and decide nothing: no separator, no
quoting, no type is guessed from them, and none makes reading fail.

| format | a row is | its columns are |
|---|---|---|
| ``.csv``, ``.tsv`` | a line, whatever the lines around it hold: values have no line breaks | text |
| ``.jsonl``, ``.ndjson`` | a line; one that is not an object has no values | text |
| ``.parquet``, Arrow tables | a row | of the declared types, part by part |
| pandas data frames | a row; types of columns come from rows, so they decide nothing (``trips.values``) | numbers, moments or text |

A line that is longer than 16 MiB, or not UTF-8, has no values.
"""  # noqa: E501 (a table)

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from ..errors import CannotError, NetworkError
from ..extras import imported
from ..io.readers.base import show_path
from ..network.public_rows import WantedColumns, choose_columns
from .periods import quote_text
from .values import (
    PER_SECOND,
    arrow_type,
    convert_array,
    decode_texts,
    find_kind,
    format_object,
    number_text_sql,
    to_microseconds,
)

if TYPE_CHECKING:
    import duckdb

MEMORY = "3GB"  # beyond, the engine works on disk
SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json"}
WHAT = "the table of trips"
LONGEST_HEADER = 2**20
LONGEST_LINE = 2**24
ROWS_AT_ONCE = 2**16
LINE = "\x01line"  # a name that no header has
Folders = dict[str, str | None]  # values of columns from folders named column=value
MISSING = "__HIVE_DEFAULT_PARTITION__"  # the folder of missing values


@dataclass(frozen=True, eq=False)
class Table:
    """Rows whose needed columns have the same kinds."""

    kinds: dict[str, str]  # of each needed column (``trips.values``)
    declared: bool  # whether kinds come from a declared schema, not from rows
    columns: dict[str, Any]  # that reach the engine, with their Arrow types
    batches: Callable[[], Iterator[Any]]  # open the rows; private
    select: Callable[[str], str]  # SQL for the needed columns of a registered name

    def register(self, engine: duckdb.DuckDBPyConnection, name: str) -> None:
        """Let the engine read the rows, once."""
        import pyarrow as pa

        engine.register(name, pa.RecordBatchReader.from_batches(pa.schema(list(self.columns.items())), self.batches()))


@contextmanager
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a fresh engine that installs nothing; beyond memory it uses a folder that only its owner can read."""
    import duckdb

    with TemporaryDirectory(prefix="hushpath-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY, "temp_directory": folder, "preserve_insertion_order": False,
            "autoinstall_known_extensions": False, "autoload_known_extensions": False,
        }  # fmt: skip
        with duckdb.connect(":memory:", config=settings) as opened:
            opened.execute("SET python_enable_replacements = false")  # no Python variable is a table
            yield opened


def fetch_columns(engine: duckdb.DuckDBPyConnection, query: str) -> dict[str, Any]:
    """Return the columns of a query's result.

    The engine's error messages may quote a value, so only the kind of failure is reported.  The query runs in its own
    thread, so that a signal is handled immediately and is not taken for a failure.
    """
    import duckdb

    problem = ""
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(lambda: engine.execute(query).fetchnumpy()).result()
        except KeyboardInterrupt:
            engine.interrupt()
            raise
        except Exception as error:
            full = isinstance(error, duckdb.OutOfMemoryException)
            problem = "they do not fit in memory and on disk" if full else "damaged?"
    raise CannotError(f"the trips could not be read to their end ({problem})")


def open_tables(given: Any, needed: list[str]) -> list[Table]:
    """Return the rows of files or of a data frame; refuse those that lack a needed column.  Reads no row of a file."""
    if isinstance(given, (str, PathLike)):
        return _open_files(given, needed)
    pandas = imported("pandas")
    if pandas is not None and isinstance(given, pandas.DataFrame):
        return [_open_frame(given, needed)]
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "to_arrow") or hasattr(given, "column_names"):
        return [_open_arrow(given, needed)]
    raise NetworkError(f"trips must be a file, a folder of parts or a data frame, not {type(given).__name__}")


def register_arrays(engine: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, NDArray[Any]]) -> None:
    """Name arrays as a table.  The engine reads arrays without pandas, but not those with gaps in memory."""
    engine.register(name, {column: np.ascontiguousarray(values) for column, values in columns.items()})


def quote_name(column: str) -> str:
    """Return a column as SQL writes it."""
    return '"' + column.replace('"', '""') + '"'


def _open_files(given: Any, needed: list[str]) -> list[Table]:
    path = Path(fspath(given))
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    parts = [file for file in files if file.suffix.lower() in SUFFIXES and (file == path or _is_part(path, file))]
    if not parts:
        raise NetworkError(f"{show_path(given)}: not found, or none of the supported suffixes: {', '.join(SUFFIXES)}")
    formats = {SUFFIXES[file.suffix.lower()] for file in parts}
    if len(formats) > 1:
        raise NetworkError(f"{show_path(given)} holds files of different kinds; keep trips in a folder of their own")
    if not parts[0].is_file():
        raise NetworkError(f"cannot read {show_path(given)}: no such file")
    layout_of, table_of = FORMATS[formats.pop()]
    alike: dict[Any, list[tuple[Path, Folders]]] = {}
    for file in parts:
        folders = _parse_folders(path, file, needed)
        layout = layout_of(file, [name for name in needed if name not in folders])
        if layout is not None:
            alike.setdefault((layout, tuple(folders)), []).append((file, folders))
    if not alike:
        raise NetworkError(f"{show_path(given)} has no first line that names its columns")
    return [table_of(layout, list(folders), files) for (layout, folders), files in alike.items()]


def _is_part(folder: Path, file: Path) -> bool:
    """Return whether a file below a folder is one of its parts: not hidden, and no marker of an engine."""
    return file.is_file() and not any(name.startswith((".", "_")) for name in file.relative_to(folder).parts)


def _parse_folders(path: Path, file: Path, needed: list[str]) -> Folders:
    """Return the values of needed columns from folders named column=value, as text."""
    found = (name.partition("=") for name in file.relative_to(path).parts[:-1] if "=" in name)
    return {name: None if value == MISSING else unquote(value) for name, _, value in found if name in needed}


def _parquet_layout(file: Path, needed: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the kinds of the needed columns; refuse a type that no value of a trip has."""
    import pyarrow.parquet as pq

    schema = None
    with suppress(Exception), pq.ParquetFile(file) as opened:
        schema = opened.schema_arrow
    if schema is None:
        raise NetworkError(f"{show_path(file)} is not a whole Parquet file")
    return tuple(_find_declared_kinds(schema, show_path(file), needed).items())


def _find_declared_kinds(schema: Any, what: str, needed: list[str]) -> dict[str, str]:
    choose_columns(schema.names, WantedColumns(what, needed))
    kinds = {}
    for name in needed:
        kind = find_kind(schema.field(name).type)
        if kind is None:
            raise NetworkError(f"{what}: column {name!r} has type {schema.field(name).type}, which trips cannot use")
        kinds[name] = kind
    return kinds


def _parquet_table(layout: tuple[tuple[str, str], ...], folders: list[str], files: list[tuple[Path, Folders]]) -> Table:
    kinds = dict(layout)

    def batches() -> Iterator[Any]:
        import pyarrow.parquet as pq

        for file, values in files:
            with pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches(ROWS_AT_ONCE, columns=list(kinds)):
                    for columns, rows in _convert_batch(batch, kinds):
                        yield _add_folders(columns, values, rows)

    return _make_typed_table({**kinds, **dict.fromkeys(folders, "text")}, batches, declared=True)


def _convert_batch(batch: Any, kinds: dict[str, str]) -> Iterator[tuple[dict[str, Any], int]]:
    """Bring a batch to the types of its kinds.  One that fails is halved; a row that fails by itself has no values."""
    import pyarrow as pa

    rows = batch.num_rows
    try:
        columns = {name: convert_array(batch.column(name), kind) for name, kind in kinds.items()}
    except (pa.ArrowException, OverflowError):  # such as values that are too long for one array
        if rows > 1:
            yield from _convert_batch(batch.slice(0, rows // 2), kinds)
            yield from _convert_batch(batch.slice(rows // 2), kinds)
            return
        columns = {name: pa.nulls(rows, arrow_type(kind)) for name, kind in kinds.items()}
    yield columns, rows


def _make_typed_table(kinds: dict[str, str], batches: Callable[[], Iterator[Any]], *, declared: bool) -> Table:
    """Return a table whose columns reach the engine as they are named."""
    columns = {name: arrow_type(kind) for name, kind in kinds.items()}
    return Table(kinds, declared, columns, batches, lambda table: f"SELECT * FROM {table}")


def _add_folders(columns: dict[str, Any], folders: Folders, rows: int) -> Any:
    """Return columns of a file with the values of its folders in every row."""
    import pyarrow as pa

    repeated = {name: pa.repeat(pa.scalar(value, pa.string()), rows) for name, value in folders.items()}
    return pa.record_batch({**columns, **repeated})


def _csv_layout(file: Path, needed: list[str]) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    """Return the separator and the columns that the first line names; None for an empty file.

    The first line is not shown: in a file without a header it is a private row.
    """
    line, cut = "\r", ","
    names: tuple[str, ...] = ()
    with suppress(OSError, UnicodeDecodeError, csv.Error), file.open("rb") as opened:
        line = _header_line(opened).decode("utf-8-sig")
        cut = "\t" if file.suffix.lower() == ".tsv" else max(",;\t|", key=line.count)
        names = tuple(next(csv.reader([line], delimiter=cut), ()))
    if "\r" in line or (line and not names):
        raise NetworkError(f"{show_path(file)} cannot be read, or its first line is not a line of names in UTF-8")
    if not line:
        return None
    for name in needed:
        if names.count(name) != 1:
            times = "no" if name not in names else "more than one"
            raise NetworkError(f"the first line of {show_path(file)} names {times} column {name!r}; a part needs one")
    return cut, names, tuple(needed)


def _header_line(opened: IO[bytes]) -> bytes:
    return opened.readline(LONGEST_HEADER).rstrip(b"\r\n")


def _csv_table(layout: tuple[str, tuple[str, ...], tuple[str, ...]], folders: list[str], files: list[Any]) -> Table:
    """Return lines cut at the separator."""
    cut, names, needed = layout
    line, between = quote_name(LINE), "\\" + cut if cut == "|" else cut
    pattern = f'{between}("(?:[^"]|"")*"|[^{between}]*)'
    fields = (
        f"CASE WHEN contains({line}, '\"') "
        f"THEN regexp_extract_all({quote_text(cut)} || {line}, {quote_text(pattern)}, 1) "
        f"ELSE string_split({line}, {quote_text(cut)}) END"
    )
    # A line with an odd number of quotes is incomplete: its fields are unknown.
    whole = f"(length({line}) - length(replace({line}, '\"', ''))) % 2 = 0"
    columns = {name: _unquoted(f"fields[{names.index(name) + 1}]") for name in needed}

    def rows(table: str) -> str:
        return f"(SELECT {fields} AS fields, * FROM {table} WHERE {whole}) WHERE len(fields) = {len(names)}"

    return _open_lines(columns, rows, folders, files, header=True)


def _unquoted(field: str) -> str:
    return f"nullif(CASE WHEN {field} LIKE '\"%\"' THEN replace({field}[2:-2], '\"\"', '\"') ELSE {field} END, '')"


def _json_table(needed: tuple[str, ...], folders: list[str], files: list[tuple[Path, Folders]]) -> Table:
    pointers = ", ".join(quote_text("/" + name.replace("~", "~0").replace("/", "~1")) for name in needed)
    line = quote_name(LINE)
    fields = f"CASE WHEN json_valid({line}) THEN json_extract({line}, [{pointers}]) END"
    columns = {name: _json_text(f"fields[{i}]") for i, name in enumerate(needed, 1)}
    return _open_lines(columns, lambda table: f"(SELECT {fields} AS fields, * FROM {table})", folders, files)


def _json_text(field: str) -> str:
    """Return SQL for a value as text.  The engine rounds numbers with a point or an exponent: they are floats."""
    raw = f"CAST({field} AS VARCHAR)"
    return (
        f"CASE WHEN regexp_full_match({raw}, '-?[0-9]+[.eE][0-9.eE+-]*') "
        f"THEN {number_text_sql(f'TRY_CAST({raw} AS DOUBLE)')} ELSE {field} ->> '$' END"
    )


def _open_lines(
    columns: dict[str, str], rows: Callable[[str], str], folders: list[str], files: list[tuple[Path, Folders]], *,
    header: bool = False,
) -> Table:  # fmt: skip
    """Return the lines of ``files``, after a ``header`` if they have one, as a table.

    ``rows`` cuts the lines of a table into fields, of which ``columns`` are made in SQL; ``folders`` name more columns.
    """
    import pyarrow as pa

    def batches() -> Iterator[Any]:
        for file, values in files:
            with file.open("rb") as opened:
                if header:
                    _header_line(opened)
                for lines in _lines(opened):
                    yield _add_folders({LINE: lines}, values, len(lines))

    chosen = ", ".join([*(f"{sql} AS {quote_name(name)}" for name, sql in columns.items()), *map(quote_name, folders)])
    return Table(
        dict.fromkeys([*columns, *folders], "text"), True, dict.fromkeys([LINE, *folders], pa.string()), batches,
        lambda table: f"SELECT {chosen} FROM {rows(table)}",
    )  # fmt: skip


def _lines(opened: IO[bytes]) -> Iterator[Any]:
    """Return the lines of a file in batches; one that is too long or not UTF-8 is null."""
    begun: bytes | None = b""  # of a line that goes on; None: it is too long
    while block := opened.read(LONGEST_LINE):
        first, *others = block.split(b"\n")
        begun = None if begun is None or len(begun) + len(first) > LONGEST_LINE else begun + first
        if others:
            yield _decode_lines([begun, *others[:-1]])
            begun = others[-1]
    if begun:
        yield _decode_lines([begun])


def _decode_lines(lines: list[bytes | None]) -> Any:
    import pyarrow as pa

    return decode_texts(pa.array([line and line.removesuffix(b"\r") for line in lines], pa.binary()))


FORMATS: dict[str, tuple[Callable[[Path, list[str]], Any], Callable[[Any, list[str], Any], Table]]] = {
    "parquet": (_parquet_layout, _parquet_table), "csv": (_csv_layout, _csv_table),
    # Lines of JSON declare no columns, and to look for them would let rows decide what is refused.
    "json": (lambda _, needed: tuple(needed), _json_table),
}  # fmt: skip


def _open_arrow(given: Any, needed: list[str]) -> Table:
    """Return an Arrow table, or a frame that can be one; its schema is declared."""
    import pyarrow as pa

    table = given.to_arrow() if hasattr(given, "to_arrow") else pa.table(given)
    kinds = _find_declared_kinds(table.schema, WHAT, needed)
    table = table.select(needed)

    def batches() -> Iterator[Any]:
        for batch in table.to_batches(ROWS_AT_ONCE):
            for columns, _ in _convert_batch(batch, kinds):
                yield pa.record_batch(columns)

    return _make_typed_table(kinds, batches, declared=True)


def _open_frame(frame: Any, needed: list[str]) -> Table:
    """Return a copy of a pandas frame: numbers as floats, moments, and everything else as text, value by value."""
    import pyarrow as pa

    choose_columns([name for name in frame.columns if isinstance(name, str)], WantedColumns(WHAT, needed))
    columns = {name: _convert_series(frame[name]) for name in needed}
    kinds = {name: kind for name, (kind, _) in columns.items()}
    table = pa.table({name: array for name, (_, array) in columns.items()})
    return _make_typed_table(kinds, lambda: iter(table.to_batches(ROWS_AT_ONCE)), declared=False)


def _convert_series(series: Any) -> tuple[str, Any]:
    import pyarrow as pa

    pandas, kind = imported("pandas"), series.dtype
    types = pandas.api.types
    if types.is_datetime64_any_dtype(kind) and not isinstance(kind, pandas.ArrowDtype):
        moments = (series.dt.tz_convert(None) if getattr(kind, "tz", None) is not None else series).to_numpy()
        found, valid = to_microseconds(moments.view(np.int64), PER_SECOND[np.datetime_data(moments.dtype)[0]])
        return "moment", pa.array(found, mask=~valid | np.isnat(moments))
    if isinstance(kind, np.dtype) and kind.kind in "iuf":
        values = series.to_numpy().astype(np.float64)
        return "number", pa.array(values, mask=np.isnan(values))
    return "text", pa.array(list(map(format_object, _list_objects(series))), pa.string())


def _list_objects(series: Any) -> Any:
    """Return the values of a series as objects; None for one that cannot be an object, such as text not in UTF-8."""
    with suppress(Exception):
        return series.astype(object)

    def at(i: int) -> Any:
        with suppress(Exception):
            return series.array[i]

    return map(at, range(len(series)))
