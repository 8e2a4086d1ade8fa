"""Ways to damage a file on purpose: structure-aware ones that keep the container whole, and raw ones that do not."""

import json

import numpy as np

WHOLE = [0, 1, -1, 2, 3, 7, 8, 63, 255, 2**31, 2**32, 2**52, 2**53, 2**61, 2**62, 2**63 - 1, -(2**63), -2]
REAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e308, 5e-324, 2.0**-60, 2.0**60]
FACTS = [None, True, False, 0, 1, -1, 2**70, 0.0, 1e300, "inf", "", "x", "a\nb", [], {}, [1], {"a": 1}, [[]], "laplace",
         "gaussian", "vector", "opendp", "input", "separator", "hierarchy", "edges"]  # fmt: skip


def _special(rng, array):
    if array.dtype.kind == "f":
        return float(rng.choice(REAL))
    if array.dtype.kind == "b":
        return bool(rng.integers(2))
    if array.dtype == np.uint8:
        return int(rng.integers(256))
    if rng.random() < 0.6 and array.size:  # something that could stand there
        return int(np.clip(rng.choice(array.ravel()), -(2**62), 2**62)) + int(rng.integers(-2, 3))
    return int(WHOLE[rng.integers(len(WHOLE))])


def _put(rng, array):
    out = array.copy()
    if out.size:
        for _ in range(int(rng.integers(1, 4))):
            with np.errstate(all="ignore"):  # wrapped where the array is narrower
                out.ravel()[rng.integers(out.size)] = np.array(_special(rng, out)).astype(out.dtype)
    return out


def _cut(rng, array):
    return array[: rng.integers(len(array) + 1)]


def _grow(rng, array):
    return np.concatenate([array, array[: rng.integers(len(array) + 1)]])


def _drop(rng, array):
    return np.delete(array, rng.integers(len(array)), axis=0) if len(array) else array


def _insert(rng, array):
    flat = array.ravel()
    return np.insert(flat, rng.integers(len(flat) + 1), np.array(_special(rng, array)).astype(array.dtype))


def _move(rng, array):
    with np.errstate(all="ignore"):
        return (array + rng.integers(-3, 4)).astype(array.dtype)


def _swap(rng, array):
    out = array.copy()
    if len(out) > 1:
        i, j = rng.integers(0, len(out), 2)
        out[[i, j]] = out[[j, i]]
    return out


ARRAY = [
    _put, _put, _put, _swap, _cut, _grow, _drop, _insert, _move,
    lambda rng, array: array[::-1],
    lambda rng, array: np.sort(array, axis=0),
    lambda rng, array: rng.permutation(array),
    lambda rng, array: np.zeros_like(array),
    lambda rng, array: array[:0],
    lambda rng, array: array.astype([np.float64, np.int64, np.uint8, np.bool_][rng.integers(4)], casting="unsafe"),
    lambda rng, array: array.reshape(-1, 1),
]  # fmt: skip


def structured(rng, header, arrays, donor):
    """One to four edits of arrays and header; ``donor`` is another file's (header, arrays)."""
    arrays, header = dict(arrays), json.loads(json.dumps(header))
    for _ in range(int(rng.integers(1, 5))):
        if not arrays:
            break
        name = str(rng.choice(sorted(arrays)))
        kind = rng.random()
        with np.errstate(all="ignore"):
            if kind < 0.55:
                arrays[name] = ARRAY[rng.integers(len(ARRAY))](rng, arrays[name])
            elif kind < 0.62:
                arrays[name] = arrays[str(rng.choice(sorted(arrays)))]
            elif kind < 0.68 and donor[1]:
                other = str(rng.choice(sorted(donor[1])))
                arrays[other] = donor[1][other]
            elif kind < 0.71:
                del arrays[name]
            elif kind < 0.73:
                arrays[name + str(rng.choice([".items", "x", ""]))] = arrays.pop(name)
            elif kind < 0.76:
                header = json.loads(json.dumps(donor[0]))
            else:
                _edit(rng, header)
    return header, arrays


def _edit(rng, header):
    """Replace, remove or add a fact somewhere in the header."""
    place = header
    while True:
        if not isinstance(place, (dict, list)) or not place:
            return
        key = str(rng.choice(sorted(place))) if isinstance(place, dict) else int(rng.integers(len(place)))
        if isinstance(place[key], (dict, list)) and place[key] and rng.random() < 0.7:
            place = place[key]
            continue
        break
    kind = rng.random()
    if kind < 0.15:
        del place[key]
    elif kind < 0.25 and isinstance(place, dict):
        place["extra"] = FACTS[rng.integers(len(FACTS))]
    elif kind < 0.6 and isinstance(place[key], (int, float)) and not isinstance(place[key], bool):
        factor = [2, 0.5, -1, 1e9, 1e-9, 0, 1 + 1e-12, 2.0**40][rng.integers(8)]
        place[key] = type(place[key])(place[key] * factor) if abs(place[key]) < 1e300 else 1
    else:
        place[key] = FACTS[rng.integers(len(FACTS))]


def raw(rng, data, donor):
    """Bytes flipped, cut, inserted, repeated or spliced with another file's."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        if not data:
            break
        head = 8 + int.from_bytes(data[:8], "little")
        high = len(data) if rng.random() < 0.5 else max(1, min(head, len(data)))  # half of them in the header
        at, length, kind = int(rng.integers(high)), int(rng.integers(1, 65)), rng.integers(7)
        if kind == 0:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            data[at : at + length] = rng.bytes(length)
        elif kind == 2:
            del data[at : at + length]
        elif kind == 3:
            data[at:at] = rng.bytes(length) if rng.random() < 0.5 else data[at : at + length]
        elif kind == 4:
            del data[at:]
        elif kind == 5:
            data[at : at + length] = donor[at : at + length]
        else:
            data[at : at + 8] = int(WHOLE[rng.integers(len(WHOLE))]).to_bytes(8, "little", signed=True)
    return bytes(data)
