"""What a request asks: parameters that are declared once, for the parser and for the OpenAPI document alike.

Nothing is guessed: an unknown name, a name given twice or a value of another type is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from ..errors import InputError, OptionError
from .flat import MOST_FIELDS, parse_flat

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MOST = 1e300  # of a number in a document
SCHEMAS: dict[str, dict[str, Any]] = {
    "text": {"type": "string", "minLength": 1, "maxLength": 1000},
    "flag": {"type": "boolean"},
    "number": {"type": "number"},
    "numbers": {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*$"},
    "nodes": {"type": "array", "minItems": 1, "items": {"oneOf": [{"type": "string"}, {"type": "integer"}]}},
}


@dataclass(frozen=True)
class Asked:
    """One parameter: its name, its kind (a key of ``SCHEMAS``), and what it means."""

    name: str
    kind: str
    about: str
    required: bool = False
    choices: tuple[str, ...] = ()
    example: Any = None

    @property
    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        return {**SCHEMAS[self.kind], **({"enum": list(self.choices)} if self.choices else {})}

    def as_parameter(self, where: str = "query") -> dict[str, Any]:
        """As a parameter of OpenAPI."""
        shown = {} if self.example is None else {"example": self.example}
        said = {"name": self.name, "in": where, "description": self.about, "schema": self.schema, **shown}
        return {**said, "required": self.required or where == "path"}

    def read(self, text: str) -> Any:
        """The value that a text in a query string stands for."""
        if self.choices and text not in self.choices:
            raise OptionError(f"{self.name} must be one of {', '.join(self.choices)}")
        if self.kind == "flag":
            if text not in ("true", "false", "1", "0"):
                raise OptionError(f"{self.name} must be true or false")
            return text in ("true", "1")
        if self.kind == "number":
            return number(self.name, text)
        if self.kind == "numbers":
            return [number(self.name, part) for part in text.split(",", 1 + MOST_FIELDS)]
        if not text:
            raise OptionError(f"{self.name} is empty")
        return text

    def check(self, value: Any) -> Any:
        """A value of a JSON document, if it is of the right type."""
        fits: dict[str, Callable[[], bool]] = {
            "text": lambda: isinstance(value, str) and value != "",
            "flag": lambda: isinstance(value, bool),
            "number": lambda: type(value) in (int, float) and abs(value) < MOST,
            "nodes": lambda: isinstance(value, list) and value != [] and set(map(type, value)) <= {str, int},
        }
        if not fits[self.kind]() or (self.choices and value not in self.choices):
            rule = {"text": "a text", "flag": "true or false", "number": "a number", "nodes": "a list of nodes"}
            words = f"one of {', '.join(self.choices)}" if self.choices else rule[self.kind]
            raise OptionError(f"{self.name} must be {words}")
        return value


def number(name: str, text: str) -> float:
    """A plain number; no words such as nan, and no digits of other scripts."""
    if len(text) > 40 or NUMBER.fullmatch(text) is None:
        raise OptionError(f"{name} must be a number")
    return float(text)


def fields(query: bytes) -> dict[str, str]:
    """The names and values of a query string."""
    try:
        found = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:  # not ASCII, not UTF-8 or too many
        raise InputError(f"the query is not readable: at most {MOST_FIELDS} fields, in UTF-8") from None
    named = dict(found)
    if len(named) < len(found):
        raise InputError("a field of the query is given twice")
    return named


def query_of(query: bytes, known: Mapping[str, Asked]) -> dict[str, Any]:
    """The values of a query string, checked."""
    found = fields(query)
    _whole(found, known)
    return {name: known[name].read(text) for name, text in found.items()}


def body_of(body: bytes, known: Mapping[str, Asked], most: int, pause: Callable[[], None]) -> dict[str, Any]:
    """Return the checked values of a flat JSON object; ``null`` counts as missing.  See ``parse_flat``."""
    found = parse_flat(body, most, pause)
    given = {name: value for name, value in found.items() if value is not None}
    _whole(given, known)
    return {name: known[name].check(value) for name, value in given.items()}


def declared(*asked: Asked) -> dict[str, Asked]:
    """By name."""
    return {one.name: one for one in asked}


def body_schema(known: Mapping[str, Asked]) -> dict[str, Any]:
    """A JSON object of these values."""
    described = {name: {**one.schema, "description": one.about} for name, one in known.items()}
    required = [name for name, one in known.items() if one.required]
    return {"type": "object", "properties": described, "required": required, "additionalProperties": False}


def _whole(found: Mapping[str, Any], known: Mapping[str, Asked]) -> None:
    unknown: Sequence[str] = [name for name in found if name not in known]
    if unknown:
        raise InputError(f"there is no field {unknown[0][:60]!r}; there are {', '.join(known)}")
    for name, one in known.items():
        if one.required and name not in found:
            raise InputError(f"{name} is missing")
