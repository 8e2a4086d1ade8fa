r"""Where trips are kept: files, folders of parts and data frames, as one table that an engine can ask.

A row must never decide how another row is read: a person who is added could otherwise move everybody's numbers.  So
nothing is guessed from rows.  What a table looks like comes from names of files, from the first line of a CSV file, from
the types that Parquet and data frames declare; columns that declare none (CSV, JSON, objects of pandas) are text.

| kept as | a row is |
|---|---|
| ``.csv``, ``.tsv`` | a line, whatever the lines around it hold: values have no line breaks, a quote that never closes ends with its line |
| ``.jsonl``, ``.ndjson`` | a line; one that is no object is nothing |
| ``.parquet`` | a row, of the types that all parts have in common |
| data frame | a row; objects that are no text become text, lists become JSON |
"""  # noqa: E501 (a table)

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import NetworkError
from ..extras import imported
from .columns import choose_columns
from .periods import quoted
from .readers.core import shown

if TYPE_CHECKING:
    import duckdb

MEMORY = "3GB"  # beyond, the engine works on disk
SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json"}
WHAT = "the table of trips"
UNREADABLE = f"{WHAT} cannot be read; is each file whole, with a first line that names its columns?"
LONGEST_HEADER = 2**20
FIRST_LINES = 1000
NOWHERE = "\x01"  # a separator that no line has: lines come out whole


@dataclass(frozen=True, eq=False)
class Source:
    """A table: how the engine names it, the data frame behind it, if it is one, and the type of each needed column."""

    table: str
    frame: Any
    types: dict[str, str]


@contextmanager
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A fresh engine that installs nothing; what does not fit in memory goes to a folder that only its owner reads."""
    import duckdb

    with TemporaryDirectory(prefix="hushpath-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY, "temp_directory": folder, "preserve_insertion_order": False,
            "autoinstall_known_extensions": False, "autoload_known_extensions": False,
        }  # fmt: skip
        with duckdb.connect(":memory:", config=settings) as opened:
            opened.execute("SET TimeZone = 'UTC'")  # a day of a time with a zone does not depend on this machine's
            opened.execute("SET pandas_analyze_sample = 0")  # objects are text, whatever the first of them are
            opened.execute("SET python_enable_replacements = false")  # no table is a variable that happens to be there
            yield opened


def source_of(given: Any, needed: list[str]) -> Source:
    """The table and the types of the columns that are needed; refuses one that lacks a column.  Keeps no value."""
    if isinstance(given, (str, PathLike)):
        table, frame = _of_files(given, needed), None
    elif hasattr(given, "columns") or hasattr(given, "column_names"):
        table, frame = "given", _plain_frame(given, needed)
    else:
        raise NetworkError(f"trips are a file, a folder of parts or a data frame, not {type(given).__name__}")
    found = _described(table, frame)
    choose_columns(list(found), WHAT, needed)
    return Source(table, frame, {name: found[name] for name in needed})


def register_arrays(engine: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, NDArray[Any]]) -> None:
    """Name arrays as a table.  The engine reads arrays without pandas, but not those with gaps in memory."""
    engine.register(name, {column: np.ascontiguousarray(values) for column, values in columns.items()})


def name_of(column: str) -> str:
    """A column as SQL writes it."""
    return '"' + column.replace('"', '""') + '"'


def _described(table: str, frame: Any = None) -> dict[str, str]:
    """Names and types; what the engine says when it fails may quote a value, so it ends here."""
    found = None
    try:
        with connection() as engine:
            if frame is not None:
                engine.register("given", frame)
            found = {row[0]: str(row[1]) for row in engine.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()}
    except Exception:
        found = None
    if found is None:
        raise NetworkError(UNREADABLE)
    return found


def _of_files(given: Any, needed: list[str]) -> str:
    path = Path(fspath(given))
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    parts = [file for file in files if file.suffix.lower() in SUFFIXES and (file == path or _is_part(path, file))]
    if not parts:
        listed = ", ".join(SUFFIXES)
        raise NetworkError(f"{shown(given)} is no file, and no folder of files, with one of the suffixes {listed}")
    kinds = {SUFFIXES[file.suffix.lower()] for file in parts}
    if len(kinds) > 1:
        raise NetworkError(f"{shown(given)} holds files of different kinds; keep the trips in a folder of their own")
    if not parts[0].is_file():
        raise NetworkError(f"cannot read {shown(given)}: there is no such file")
    # Folders called column=value are columns of what lies inside, as text: their values decide no type.
    inside = {name.partition("=")[0] for file in parts for name in file.relative_to(path).parts[:-1] if "=" in name}
    folders = f"hive_partitioning = {'true' if inside else 'false'}, hive_types_autocast = false"
    return {"parquet": _of_parquet, "csv": _of_csv, "json": _of_json}[kinds.pop()](
        parts, folders, [name for name in needed if name not in inside]
    )


def _is_part(folder: Path, file: Path) -> bool:
    """Whether a file below a folder is one of its parts: not what hides, or what engines leave beside their parts."""
    return file.is_file() and not any(name.startswith((".", "_")) for name in file.relative_to(folder).parts)


def _listed(files: list[Path]) -> str:
    """Names of files for the engine, which reads patterns in them: their letters are escaped one by one."""
    names = ("".join(f"[{c}]" if c in "*?[" else c for c in fspath(file)) for file in files)
    return f"[{', '.join(map(quoted, names))}]"


def _of_parquet(files: list[Path], folders: str, _: list[str]) -> str:
    return f"read_parquet({_listed(files)}, union_by_name = true, {folders})"


def _of_json(files: list[Path], folders: str, needed: list[str]) -> str:
    """Needed columns as text; that they are there is seen from the names of fields of the first objects."""
    if names := _field_names(files):
        choose_columns(names, WHAT, needed)
    columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in needed)
    how = f"{_listed(files)}, format = 'newline_delimited', ignore_errors = true, {folders}"
    return f"read_json({how}, columns = {{{columns}}})"


def _field_names(files: list[Path]) -> list[str]:
    """Of objects in the first lines of the first file that has any; a line that holds none says nothing."""
    names: dict[str, None] = {}
    for file in files:
        with file.open("rb") as opened:
            for line in islice(opened, FIRST_LINES):
                with suppress(ValueError, RecursionError):
                    found = json.loads(line)
                    names |= dict.fromkeys(found) if isinstance(found, dict) else {}
        if names:
            break
    return list(names)


def _of_csv(files: list[Path], folders: str, _: list[str]) -> str:
    """Lines cut at the separator of the first one; parts with the same first line are read together."""
    alike: dict[tuple[str, tuple[str, ...]], list[Path]] = {}
    for file in files:
        if header := _header(file):
            alike.setdefault(header, []).append(file)
    if not alike:
        raise NetworkError(UNREADABLE)
    tables = (_cut_lines(names, cut, _listed(parts), folders) for (cut, names), parts in alike.items())
    return f"({' UNION ALL BY NAME '.join(tables)})"


def _header(file: Path) -> tuple[str, tuple[str, ...]] | None:
    """The separator and the names in the first line; nothing of a file without one."""
    trouble, line = False, ""
    try:
        with file.open("rb") as opened:
            line = opened.readline(LONGEST_HEADER).decode("utf-8-sig").rstrip("\r\n")
    except (OSError, UnicodeDecodeError):
        trouble = True
    if trouble or "\r" in line:
        raise NetworkError(UNREADABLE)
    cut = "\t" if file.suffix.lower() == ".tsv" else max(",;\t|", key=line.count)
    return (cut, tuple(next(csv.reader([line], delimiter=cut)))) if line else None


def _cut_lines(names: tuple[str, ...], cut: str, files: str, folders: str) -> str:
    lines = (
        f"read_csv({files}, auto_detect = false, header = true, columns = {{'{NOWHERE}': 'VARCHAR'}}, "
        f"delim = '{NOWHERE}', quote = '', escape = '', strict_mode = false, ignore_errors = true, {folders})"
    )
    line, between = f'"{NOWHERE}"', "\\" + cut if cut == "|" else cut
    pattern = f'{between}("(?:[^"]|"")*"|[^{between}]*)'
    fields = (
        f"CASE WHEN contains({line}, '\"') THEN regexp_extract_all({quoted(cut)} || {line}, {quoted(pattern)}, 1) "
        f"ELSE string_split({line}, {quoted(cut)}) END"
    )
    # A line with an odd number of quotes is a piece of something: it says nothing for certain.
    whole = f"(length({line}) - length(replace({line}, '\"', ''))) % 2 = 0"
    parts = name_of(NOWHERE + "parts")
    inner = f"SELECT *, {fields} AS {parts} FROM {lines} WHERE {whole}"
    columns = ", ".join(f"{_unquoted(f'{parts}[{i}]')} AS {name_of(name)}" for i, name in enumerate(names, 1) if name)
    return f"(SELECT * EXCLUDE ({line}, {parts}), {columns} FROM ({inner}) WHERE len({parts}) = {len(names)})"


def _unquoted(field: str) -> str:
    plain = f"CASE WHEN {field} LIKE '\"%\"' THEN replace({field}[2:-2], '\"\"', '\"') ELSE {field} END"
    return f"nullif({plain}, '')"


def _plain_frame(frame: Any, needed: list[str]) -> Any:
    """A copy whose columns have types that no value decides: what is no number and no time becomes text."""
    pd = imported("pandas")
    if pd is None or not isinstance(frame, pd.DataFrame):
        return frame
    columns = {}
    for name in needed:
        if list(frame.columns).count(name) != 1:
            choose_columns([str(column) for column in frame.columns if column != name], WHAT, needed)
        column = frame[name]
        typed = pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype)
        plain = typed and not isinstance(column.dtype, pd.SparseDtype) and not pd.api.types.is_complex_dtype(column)
        columns[name] = column.copy() if plain else pd.Series([*map(_text, column.astype(object))], dtype=object)
    return pd.DataFrame({name: column.reset_index(drop=True) for name, column in columns.items()})


def _text(value: Any) -> str | None:
    """Any object as text, or nothing; never an error, since whether a row holds such a thing is private."""
    try:
        if isinstance(value, str):
            text = value
        elif hasattr(value, "__len__"):
            text = json.dumps(_items(value), default=_items)
        elif value is None or not bool(value == value):  # what is missing is not itself
            return None
        else:
            text = str(value)
        if not text.isascii():
            text.encode()
    except Exception:
        return None
    return text


def _items(value: Any) -> Any:
    """What JSON does not know, as it knows it: arrays are lists, a missing number in a list is null, the rest text."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (list, tuple)):
        return [None if isinstance(item, float) and item != item else item for item in value]
    return value if isinstance(value, (dict, str, int, float, bool)) else str(value)
