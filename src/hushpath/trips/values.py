r"""How one value of a trip table is read: a rule that depends on that value alone.

The type of a column is often inferred from rows (a missing id makes pandas turn integers into floats), so a type must
not decide how values are read: one person's row would decide it for all rows.  Each value is therefore brought to one
canonical form, whatever the type of its column:

| value | canonical form |
|---|---|
| key (person, trip, edge id, node label, name of a period) | text without spaces around it; whole numbers as digits: 7, 7.0, "7", "007" and "7.0" are one key; true is 1, false is 0; a timestamp in ISO 8601 |
| number (seconds) | a float |
| moment (timestamp, or text in ISO 8601) | microseconds since 1970; with a zone or an offset in UTC, without one as written; years 1 to 9999 |
| day | the date of a moment, or a number of at most 100 000 (8 digits, such as 20261001, if ``days`` declares such) |

Anything else is a missing value, never an error.  Numbers with a fraction are not keys, as floats or as text: programs
turn one into the other.  Nor are floats of 16 digits and more: two ids would be the same float.

A column reaches the engine as one of four kinds: ``text``, ``whole`` (int64), ``number`` (float64) or ``moment``
(int64), or as a list of one (``text[]``).  The SQL here gives the same result for the same value of any kind.
"""  # noqa: E501 (a table)

from __future__ import annotations

import datetime
import json
import re
from contextlib import suppress
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from ..arrays import Int
from ..days import LARGEST_DAY_NUMBER

LARGEST_EXACT = 10**15  # below, every whole number is a float of its own, and has at most 15 digits
DATES = 10**12  # dates are counted from here, so that no numbered day is taken for a date
SECOND, DAY = 10**6, 86_400 * 10**6  # in microseconds
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799  # the years 1 to 9999
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

_WHOLE = "[+-]?([0-9]+|0*[0-9]{1,15}[.]0*)"  # with a point it may have been a float
# Numbers that are not keys: with a fraction, or with an exponent as programs print it (12e4 may be a hexadecimal id).
_NO_KEY = "[+-]?([0-9]+[.][0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[+-]?[0-9]+[eE][+-][0-9]+"
_STAMP = (
    "^ *([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})"
    "(?:(?:T| +)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,6})[0-9]*)?)?)?"
    " *(?:Z|UTC|([+-])([0-9]{2})(?::?([0-9]{2}))?)? *$"
)


_LIMITS = {"h": 24, "i": 60, "s": 60, "oh": 24, "oi": 60}
# The usual form, which the engine itself reads, and quicker.
_PLAIN_STAMP = "[0-9]{4}-[0-9]{2}-[0-9]{2}([T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?)?"


def canonical_key(value: Any) -> str | None:
    """Return the canonical form of a public name, None for numbers that are not whole; ``key_sql`` is the same in SQL.

    A name such as 1e3 is refused although it can be a person: a column of such names may become one of floats.

    >>> [canonical_key(value) for value in (7, 7.0, " 007", "-0.0", "A 7", True, "7.50", "1e3", "")]
    ['7', '7', '7', '0', 'A 7', '1', None, None, None]
    """
    text = str(value).strip(" ")
    if re.fullmatch(_WHOLE, text):
        digits = text.partition(".")[0].lstrip("+-").lstrip("0") or "0"
        return f"-{digits}" if text.startswith("-") and digits != "0" else digits
    if text.lower() in ("true", "false"):
        return "1" if text.lower() == "true" else "0"
    return None if not text or _parse_number(text) is not None else text


def key_sql(column: str, kind: str) -> str:
    """Return SQL for the canonical text of a key, NULL if missing."""
    if kind == "whole":
        return f"CAST({column} AS VARCHAR)"
    if kind == "moment":  # as `_format_moment` writes it
        stamp = f"make_timestamp({column})"
        fraction = f"CASE WHEN {column} % {SECOND} = 0 THEN '' ELSE strftime({stamp}, '.%f') END"
        return f"strftime({stamp}, '%Y-%m-%dT%H:%M:%S') || {fraction}"
    if kind == "number":
        return (
            f"CASE WHEN abs({column}) < {LARGEST_EXACT} AND trunc({column}) = {column} "
            f"THEN CAST(TRY_CAST({column} AS BIGINT) AS VARCHAR) END"
        )
    text = f"trim({column})"
    digits = rf"regexp_replace(regexp_replace({text}, '[.]0*$', ''), '^[+]?(-?)0*([0-9])', '\1\2')"
    return (
        f"CASE WHEN regexp_full_match({column}, '[1-9][0-9]*') THEN {column} "
        f"WHEN regexp_full_match({text}, '{_WHOLE}') THEN regexp_replace({digits}, '^-0$', '0') "
        f"WHEN lower({text}) = 'true' THEN '1' WHEN lower({text}) = 'false' THEN '0' "
        f"WHEN NOT regexp_full_match({text}, '{_NO_KEY}') THEN nullif({text}, '') END"
    )


def number_text_sql(column: str) -> str:
    """Return SQL for a float as text, as ``_format_number`` writes it."""
    whole = key_sql(column, "number")
    return f"coalesce({whole}, CASE WHEN isfinite({column}) THEN printf('%.17e', {column}) END)"


def number_sql(column: str, kind: str) -> str:
    """Return SQL for a float, NULL for what is not a finite number."""
    value = {"moment": "NULL::DOUBLE", "text": f"TRY_CAST({column} AS DOUBLE)"}.get(kind, f"CAST({column} AS DOUBLE)")
    return f"CASE WHEN isfinite({value}) THEN {value} END"


def moment_sql(column: str, kind: str) -> str:
    """Return SQL for microseconds since 1970, NULL for other values."""
    if kind != "text":
        return column if kind == "moment" else "NULL::BIGINT"
    parts = f"regexp_extract({column}, '{_STAMP}', ['y', 'm', 'd', 'h', 'i', 's', 'f', 'sign', 'oh', 'oi'])"

    def part(name: str) -> str:
        return f"coalesce(TRY_CAST({parts}.{name} AS BIGINT), 0)"

    date = f"TRY_CAST({parts}.y || '-' || {parts}.m || '-' || {parts}.d AS DATE)"
    offset = f"CASE {parts}.sign WHEN '-' THEN -60 ELSE 60 END * ({part('oh')} * 60 + {part('oi')})"
    seconds = f"{part('h')} * 3600 + {part('i')} * 60 + {part('s')} - {offset}"
    fraction = f"coalesce(TRY_CAST(rpad({parts}.f, 6, '0') AS BIGINT), 0)"
    valid = " AND ".join(f"{part(name)} < {most}" for name, most in _LIMITS.items())
    slow = f"(date_diff('day', DATE '1970-01-01', {date}) * 86400 + {seconds}) * {SECOND} + {fraction}"
    found = (
        f"CASE WHEN regexp_full_match({column}, '{_PLAIN_STAMP}') THEN epoch_us(TRY_CAST({column} AS TIMESTAMP)) "
        f"WHEN {valid} THEN {slow} END"
    )
    return f"CASE WHEN {found} BETWEEN {FIRST_SECOND * SECOND} AND {LAST_SECOND * SECOND + SECOND - 1} THEN {found} END"


def day_sql(column: str, kind: str, *, dates_as_numbers: bool) -> str:
    """Return SQL for a day: dates from ``DATES`` on, numbered days below; NULL for anything finer than a day."""
    value = number_sql(column, kind)
    whole = f"TRY_CAST(floor({value}) AS BIGINT)"
    smallest, largest = (19_000_101, 22_001_231) if dates_as_numbers else (-LARGEST_DAY_NUMBER, LARGEST_DAY_NUMBER)
    numbered = f"CASE WHEN {whole} BETWEEN {smallest} AND {largest} THEN {whole} END"
    dated = f"CAST(floor({moment_sql(column, kind)} / {DAY}.0) AS BIGINT) + {DATES}"
    return f"coalesce({dated}, {numbered})"


def encode_day(declared: datetime.date | int) -> int:
    """Return a declared day as the integer that ``day_sql`` computes for it."""
    if isinstance(declared, int):
        return declared
    return (declared - datetime.date(1970, 1, 1)).days + DATES


def clock_sql(column: str, kind: str) -> str:
    """Return SQL for a time in seconds: a number, or a moment."""
    return f"coalesce({number_sql(column, kind)}, {moment_sql(column, kind)} / {SECOND}.0)"


def list_sql(column: str, kind: str) -> tuple[str, str]:
    """Return SQL for a list, of a column of lists or of JSON text that holds one, and the kind of its items."""
    if kind.endswith("[]"):
        return column, kind.removesuffix("[]")
    return (f"TRY_CAST(TRY_CAST({column} AS JSON) AS VARCHAR[])" if kind == "text" else "NULL::VARCHAR[]"), "text"


def to_microseconds(raw: Int, per_second: int) -> tuple[Int, Any]:
    """Return points in time as microseconds since 1970, and which of them lie in the years 1 to 9999."""
    seconds = raw // per_second
    valid = (seconds >= FIRST_SECOND) & (seconds <= LAST_SECOND)
    rest = (raw - seconds * per_second) * SECOND // per_second
    return np.where(valid, np.where(valid, seconds, 0) * SECOND + rest, 0), valid


def find_kind(kind: Any) -> str | None:
    """Return the kind that an Arrow type is brought to; None for types that no value of a trip has."""
    import pyarrow as pa
    import pyarrow.types as t

    while isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if t.is_dictionary(kind):
        return find_kind(kind.value_type)
    if t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind):
        item = find_kind(kind.value_type)
        return None if item is None or item.endswith("[]") else f"{item}[]"
    if t.is_timestamp(kind) or t.is_date(kind):
        return "moment"
    if t.is_integer(kind) and not t.is_uint64(kind):
        return "whole"
    if t.is_floating(kind):
        return "number"
    texts = "string", "large_string", "string_view", "binary", "large_binary", "binary_view", "boolean", "decimal"
    known = any(getattr(t, f"is_{name}")(kind) for name in texts if hasattr(t, f"is_{name}"))
    uuid = t.is_fixed_size_binary(kind) and kind.byte_width == 16
    return "text" if known or uuid or t.is_uint64(kind) or t.is_null(kind) else None


def arrow_type(kind: str) -> Any:
    """Return the Arrow type of a kind."""
    import pyarrow as pa

    if kind.endswith("[]"):
        return pa.list_(arrow_type(kind.removesuffix("[]")))
    return {"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "moment": pa.int64()}[kind]


def convert_array(array: Any, kind: str) -> Any:
    """Bring an Arrow array to the type of its kind.  No value raises: one that cannot be read is null."""
    import pyarrow as pa
    import pyarrow.types as t

    if isinstance(array.type, pa.BaseExtensionType):
        return convert_array(array.storage, kind)
    if t.is_dictionary(array.type):
        return convert_array(array.dictionary_decode(), kind)
    if kind.endswith("[]"):
        import pyarrow.compute as pc

        lists = array.cast(pa.large_list(array.type.value_type)) if t.is_fixed_size_list(array.type) else array
        lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        missing = pa.array(lists.is_null().to_numpy(zero_copy_only=False))
        values = convert_array(lists.flatten(), kind.removesuffix("[]"))
        return pa.ListArray.from_arrays(pa.array(offsets), values, mask=missing)
    if kind == "moment":
        return _convert_moments(array)
    if kind == "whole":
        return array.cast(pa.int64())
    if kind == "number":
        return array.cast(pa.float64())
    return _convert_texts(array)


def _convert_moments(array: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as t

    narrow = t.is_date32(array.type)
    raw = array.view(pa.int32() if narrow else pa.int64()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    unit = array.type.unit if t.is_timestamp(array.type) else "s" if narrow else "ms"
    found, valid = to_microseconds(raw * 86_400 if narrow else raw, PER_SECOND[unit])
    missing = ~valid | array.is_null().to_numpy(zero_copy_only=False)
    return pa.array(found, pa.int64(), mask=missing)


def _convert_texts(array: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_fixed_size_binary(array.type):
        values = (None if value is None else str(UUID(bytes=value)) for value in array.to_pylist())
        return pa.array(values, pa.string())
    if any(is_type(array.type) for is_type in (t.is_boolean, t.is_integer, t.is_decimal, t.is_null)):
        return array.cast(pa.string())
    return decode_texts(array.cast(pa.binary()))


def decode_texts(array: Any) -> Any:
    """Return an Arrow array of bytes as text, null where a value is not UTF-8."""
    import pyarrow as pa

    def text(value: bytes | None) -> str | None:
        with suppress(UnicodeDecodeError):
            return None if value is None else value.decode()
        return None

    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array(map(text, array.to_pylist()), pa.string())


def format_object(value: Any) -> str | None:
    """Return a value of a data frame as text that reads as the same value; None if it has none.  Never raises.

    What a value is must not depend on the type that pandas gave its column, so text that writes a number is that
    number, in lists too, and only the types below have values.
    """
    with suppress(Exception):
        if isinstance(value, (list, tuple, np.ndarray)):
            return json.dumps([_format_scalar(item) for item in value])
        return _format_scalar(value)
    return None


def _format_scalar(value: Any) -> str | None:
    if value is None or value != value:  # NaN, NaT
        return None
    if isinstance(value, str | bytes):
        text = value.decode() if isinstance(value, bytes) else value
        text.encode()  # raises for half of a surrogate pair
        return text if (found := _parse_number(text)) is None else _format_number(found)
    if isinstance(value, np.complexfloating | complex):  # one such value makes a whole column of numbers complex
        return _format_number(float(value.real)) if value.imag == 0 else None
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return _format_number(float(value / np.timedelta64(1, "us")) / 1e6)
    if isinstance(value, bool | np.bool_ | int | float | np.number | Decimal):
        return _format_number(float(value))
    if isinstance(value, datetime.date | np.datetime64):
        return _format_moment(value)
    return str(value) if isinstance(value, UUID) else None


def _parse_number(text: str) -> float | None:
    """Return the number that a text writes in any form that programs take for one when they guess types."""
    try:
        return float(text)
    except ValueError:
        return None


def _format_number(value: float) -> str | None:
    """Return digits for what can be a key, and other numbers as ``key_sql`` refuses and ``number_sql`` reads them."""
    if not np.isfinite(value):
        return None
    return str(int(value)) if value.is_integer() and abs(value) < LARGEST_EXACT else f"{value:.17e}"


def _format_moment(value: Any) -> str | None:
    if isinstance(value, np.datetime64):
        unit = np.datetime_data(value.dtype)[0]
        raw = value if unit in PER_SECOND else value.astype("datetime64[s]")  # of days, months and years
        found, valid = to_microseconds(np.array([raw.astype(np.int64)]), PER_SECOND.get(unit, 1))
        value = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=int(found[0]))
        return str(value.isoformat()) if valid[0] else None
    if hasattr(value, "to_pydatetime"):  # of pandas: in UTC and to the microsecond, as a whole column of times is read
        value = value.tz_convert(None) if value.tzinfo is not None else value
        value = value.to_pydatetime(warn=False)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return str(value.isoformat())
