"""Answers as bytes: JSON, what the numbers are, NOT PRIVATE where it must stand, and errors in one form.

{"error": {"type": "OptionError", "message": "one line"}}
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.responses import Response

from ..errors import CannotError, HushpathError, InputError

LONGEST = 300  # characters of a message; somebody may have given a node a name of thousands
JSON = "application/json"
MARK_HEADER, QUANTITY_HEADER = "hushpath-marking", "hushpath-quantity"


class Refusal(HushpathError):  # noqa: N818 - an answer
    """A request that is not answered, and the status that says so."""

    def __init__(self, status: int, kind: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def too_large(message: str) -> Refusal:
    """More than one request may take."""
    return Refusal(413, "LimitError", message)


def refusal(error: HushpathError) -> Refusal:
    """The refusal that an error of the library stands for."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, InputError):
        return Refusal(400, type(error).__name__, str(error))
    return Refusal(422, type(error).__name__ if isinstance(error, CannotError) else "CannotError", str(error))


def one_line(text: object) -> str:
    """Text as one printable line, whatever names it quotes."""
    words = " ".join(str(text).split())
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST // 2]} ... {shown[-LONGEST // 2 :]}"


def dumps(data: Any) -> bytes:
    """Compact JSON; infinity must have been replaced, and lone surrogates are escaped."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")


def dumps_list(name: str, items: Iterable[Any], rest: Mapping[str, Any]) -> bytes:
    """The same with a long list, item by item: the interpreter does nothing else while it writes one."""
    return b'{"%s":[%s],%s' % (name.encode("ascii"), b",".join(map(dumps, items)), dumps(rest)[1:])


def finite(value: float) -> float | str:
    """A number as JSON can hold it."""
    return "inf" if math.isinf(value) else value


def refused(error: HushpathError) -> Response:
    """The answer to a request that cannot be met."""
    said = refusal(error)
    body = dumps({"error": {"type": said.kind, "message": one_line(said)}})
    return Response(body, said.status, {**said.headers, "cache-control": "no-store"}, JSON)


def internal(error: BaseException) -> Response:
    """A bug of ours: only its type is told, for the message of an unforeseen exception could hold anything."""
    said = {"error": {"type": "InternalError", "message": f"internal error ({type(error).__name__})"}}
    return Response(dumps(said), 500, {"cache-control": "no-store"}, JSON)
