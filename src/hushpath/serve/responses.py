"""Answers as bytes: compact JSON, and errors in one form, ``{"error": {"type": "OptionError", "message": "..."}}``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.responses import Response

from ..errors import CannotError, HushpathError, InputError
from .limits import HttpError

LONGEST = 300  # characters of a message: it may quote a label of thousands
JSON = "application/json"


def one_line(text: object) -> str:
    """Return text as one printable line of bounded length, whatever labels it quotes."""
    words = " ".join(str(text).split())
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST // 2]} ... {shown[-LONGEST // 2 :]}"


def json_bytes(data: Any) -> bytes:
    """Return compact JSON in ASCII; infinity must have been replaced (``finite``)."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")


def json_list_bytes(name: str, items: Iterable[Any], rest: Mapping[str, Any]) -> bytes:
    """Return an object with a long list, written item by item so that other threads can run in between."""
    return b'{"%s":[%s],%s' % (name.encode("ascii"), b",".join(map(json_bytes, items)), json_bytes(rest)[1:])


def finite(value: float) -> float | str:
    """Return a number as JSON can hold it."""
    return "inf" if math.isinf(value) else value


def error_response(error: Exception) -> Response:
    """Return the error document.  Of an unforeseen exception only the type: its message could quote the request."""
    if isinstance(error, HttpError):
        status, kind, message = error.status, error.kind, one_line(error)
    elif isinstance(error, InputError):
        status, kind, message = 400, type(error).__name__, one_line(error)
    elif isinstance(error, HushpathError):
        kind = type(error).__name__ if isinstance(error, CannotError) else "CannotError"
        status, message = 422, one_line(error)
    else:
        status, kind, message = 500, "InternalError", f"internal error ({type(error).__name__})"
    body = json_bytes({"error": {"type": kind, "message": message}})
    return Response(body, status, {**getattr(error, "headers", {}), "cache-control": "no-store"}, JSON)
