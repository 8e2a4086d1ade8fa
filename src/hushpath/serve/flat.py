"""Read a flat JSON object in short slices: texts, numbers, true, false, null, and lists of texts and integers.

A JSON parser holds the interpreter until it has read the whole text, and nested lists cost a hundred times what flat
ones cost.  A request needs no nesting.  So each slice is matched against the flat grammar first; whatever is nested, or
longer than a label can be, is refused before any of it is parsed, and other threads run between two slices.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ..data.labels import MAX_LABEL_LENGTH
from ..errors import InputError

SLICE = 4096  # bytes of a list that are matched and parsed at a time
LONGEST = 12 * MAX_LABEL_LENGTH + SLICE  # bytes of one value with blanks; a character takes 12 bytes at most, escaped
MOST_FIELDS = 50
INVALID = "the body must be a JSON object in UTF-8, without nested values, of texts, numbers and lists of nodes"

_SPACE = rb"[ \t\n\r]*"
_TEXT = rb'"(?:[^"\\\x00-\x1f]|\\.)*"'
_ITEM = rb"(?:" + _TEXT + rb"|-?[0-9]{1,40})"
_KEY = re.compile(_SPACE + rb"(" + _TEXT + rb")" + _SPACE + rb":" + _SPACE)
_VALUE = re.compile(rb"(" + _TEXT + rb"|[-+.0-9A-Za-z]{1,500})" + _SPACE)
_ITEMS = re.compile(rb"(?:" + _SPACE + _ITEM + _SPACE + rb",)*")  # complete items, each with its comma
_LAST = re.compile(_SPACE + rb"(" + _ITEM + rb")" + _SPACE + rb"\]" + _SPACE)
_NO_ITEMS = re.compile(_SPACE + rb"\]" + _SPACE)


def parse_flat(body: bytes, most: int, pause: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Return the fields of a flat JSON object.

    Parameters:
        body: the text, in UTF-8.
        most: items that a list may have; one more is returned, so that the caller can refuse it, and no others.
        pause: called after each slice.

    Raises:
        InputError: the body is not JSON, has nested values, a field twice, or more than 50 fields.
    """
    try:
        return _Reader(body.strip(b" \t\n\r"), most, pause).fields()
    except (ValueError, RecursionError):
        raise InputError(INVALID) from None


class _Reader:
    def __init__(self, body: bytes, most: int, pause: Callable[[], None]) -> None:
        self.body, self.most, self.pause, self.at = body, most, pause, 1

    def fields(self) -> dict[str, Any]:
        """Read the object; ``ValueError`` if it is not one."""
        found: dict[str, Any] = {}
        if self.body[:1] != b"{" or self.body[-1:] != b"}":
            raise ValueError
        if not self.body[1:-1].strip(b" \t\n\r"):
            return found
        while True:
            name = _parsed(self._next(_KEY).group(1))
            if name in found or len(found) == MOST_FIELDS:
                raise ValueError
            if self.body[self.at : self.at + 1] == b"[":
                self.at += 1
                found[name] = self._items()
                if len(found[name]) > self.most:
                    return found
            else:
                found[name] = _parsed(self._next(_VALUE).group(1))
            self.pause()
            end = self.body[self.at : self.at + 1]
            self.at += 1
            if end == b"}" and self.at == len(self.body):
                return found
            if end != b",":
                raise ValueError

    def _items(self) -> list[Any]:
        items: list[Any] = []
        if empty := _NO_ITEMS.match(self.body, self.at, self.at + LONGEST):
            self.at = empty.end()
            return items
        while found := self._next(_ITEMS, SLICE).group() or self._next(_ITEMS).group():
            items += _parsed(b"[" + found[:-1] + b"]")
            self.pause()
            if len(items) > self.most:
                return items[: self.most + 1]
        return [*items, _parsed(self._next(_LAST).group(1))]

    def _next(self, pattern: re.Pattern[bytes], most: int = LONGEST) -> re.Match[bytes]:
        found = pattern.match(self.body, self.at, self.at + most)
        if found is None:
            raise ValueError
        self.at = found.end()
        return found


def _parsed(text: bytes) -> Any:
    return json.loads(text.decode("utf-8"), parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(name)
