"""Take release and index files apart and put them together again, changed, with a digest that fits."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from hushpath.index import partition, storage
from hushpath.io import container
from hushpath.published.file import FORMAT, VERSION

KINDS = {FORMAT: VERSION, storage.FORMAT: storage.VERSION, partition.FORMAT: partition.VERSION}


def taken_apart(path, kind=FORMAT):
    """The header as an object and writable copies of the arrays."""
    found = container.read(path, kind, KINDS[kind])
    return found.header, {name: np.array(array) for name, array in found.arrays.items()}


def put_together(path, header, arrays, kind=FORMAT, **label):
    """Write a file whose digest fits its content, whatever that is; ``label`` overrides parts of the label."""
    text = header if isinstance(header, str) else json.dumps(header, sort_keys=True)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    full = {"format": kind, "version": KINDS[kind], "digest": container.digest(text, arrays), "header": text, **label}
    save_file(arrays, path, metadata={"hushpath": json.dumps(full)})
    return Path(path)


def forged(path, change, out=None, kind=FORMAT):
    """Write the file again after ``change(header, arrays)``, in place unless told otherwise."""
    header, arrays = taken_apart(path, kind)
    change(header, arrays)
    return put_together(path if out is None else out, header, arrays, kind)


_MADE: dict[object, bytes] = {}


def made_once(key, path, write):
    """The file that ``write(path)`` makes: made for the first test that asks for this key, copied for the others."""
    if key not in _MADE:
        write(path)
        _MADE[key] = path.read_bytes()
    path.write_bytes(_MADE[key])
    return path
