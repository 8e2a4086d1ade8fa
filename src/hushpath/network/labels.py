"""Labels of nodes: all integers or all text, in canonical order.  A mix becomes text; other types are errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..arrays import Int
from ..errors import NetworkError

Label = int | str
MAX_LABEL_LENGTH = 1_000
CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
TOO_LARGE = "an integer label must fit in 64 bits; write it as text instead"


class PlainLabels(tuple[Label, ...]):
    """Labels that ``plain_labels`` has checked."""

    __slots__ = ()


def clean_labels(labels: Iterable[Any]) -> PlainLabels:
    """Return labels as all ``int`` or all ``str``; other types, empty and repeated labels are errors."""
    names = labels if isinstance(labels, PlainLabels) else plain_labels(labels)
    if not names:
        raise NetworkError("the network has no nodes")
    if len(set(names)) != len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise NetworkError(f"two nodes have the label {str(twice)[:60]!r}")
    return names


def plain_labels(labels: Iterable[Any]) -> PlainLabels:
    """Return labels as all ``int`` or all ``str``, in the same order, repeated or not."""
    raw = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    kinds = set(map(type, raw))
    for kind in kinds:
        if kind is bool or not issubclass(kind, (str, int, np.integer)):
            raise NetworkError(
                f"labels must be integers or text, not {kind.__name__}; convert them first, e.g. with str()"
            )
    text = [issubclass(kind, str) for kind in kinds]
    if not any(text):
        if raw and not -(2**63) <= min(raw) <= max(raw) < 2**63:
            raise NetworkError(TOO_LARGE)
        return PlainLabels(raw if kinds == {int} else map(int, raw))
    if not all(text):
        try:
            raw = [label if isinstance(label, str) else str(int(label)) for label in raw]
        except ValueError:  # Python refuses to print integers of thousands of digits
            raise NetworkError(TOO_LARGE) from None
    lengths = set(map(len, raw))
    for length in (min(lengths), max(lengths)):
        if not 1 <= length <= MAX_LABEL_LENGTH:
            raise NetworkError(f"a text label must have 1 to {MAX_LABEL_LENGTH} characters, one has {length}")
    try:
        "".join(raw).encode()
    except UnicodeEncodeError:
        raise NetworkError("a text label is not valid unicode") from None
    return PlainLabels(raw if kinds == {str} else map(str, raw))


def is_canonical_integer(text: str) -> bool:
    """Return whether text is a 64-bit integer as Python prints it: "17" and "-3", not "017", "+3", "-0" or "1e3"."""
    if CANONICAL_INTEGER.fullmatch(text) is None:
        return False
    return len(text) < 19 or (len(text) <= 20 and -(2**63) <= int(text) < 2**63)


def sort_labels(names: Sequence[Label]) -> Int:
    """Return the positions of the sorted labels: integers by value, text by code point."""
    if isinstance(names[0], int):
        return np.argsort(np.array(names, np.int64))
    return np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
