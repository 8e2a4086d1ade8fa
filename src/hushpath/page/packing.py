"""Arrays for a browser: few bytes, one block, unpacked without a library.

Whole numbers are written as planes of bytes (all lowest bytes, then all second ones, ...), as many as the largest
needs; sorted ones as differences.  Planes of numbers that resemble each other compress well, and a browser has
``deflate`` built in.  Single-precision floats have four planes.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CannotError

EXACT = 2**53  # whole numbers up to this are exact in JavaScript


def packed(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """The header (JSON) and the arrays as one compressed text; ``unpack`` in ``js/data.js`` is its reader."""
    parts, entries, at = [], {}, 0
    for name, array in arrays.items():
        data, kind = _planes(np.ravel(array))
        entries[name] = {**kind, "at": at, "length": array.size}
        parts.append(data)
        at += len(data)
    text = json.dumps({**header, "arrays": entries}, ensure_ascii=False, allow_nan=False).encode()
    block = b"".join([len(text).to_bytes(4, "little"), text, *parts])
    return b64encode(zlib.compress(block, 9)).decode()


def _planes(array: NDArray[Any]) -> tuple[bytes, dict[str, Any]]:
    """Bytes of one array, and how to read them."""
    if array.dtype.kind == "f":
        single = np.ascontiguousarray(array, "<f4")
        return single.view(np.uint8).reshape(-1, 4).T.tobytes(), {"kind": "float", "planes": 4}
    whole = array.astype(np.int64)
    if whole.size and (whole.min() < 0 or whole.max() > EXACT):
        raise CannotError("its numbers have more digits than a browser can hold: release it with a coarser granularity")
    rising = bool((np.diff(whole) >= 0).all())
    whole = np.diff(whole, prepend=0) if rising else whole
    planes = max(1, (int(whole.max(initial=0)).bit_length() + 7) // 8)
    raw = np.ascontiguousarray(whole, "<i8").view(np.uint8).reshape(-1, 8)[:, :planes]
    return raw.T.tobytes(), {"kind": "rising" if rising else "whole", "planes": planes}
