"""Which index files this user's hushpath has made: the only ones whose numbers it serves.

An index is a cache of what follows from its release.  Its numbers cannot be compared with the release faster than they
can be made, and a digest inside the file proves nothing, because whoever changes numbers can repair it.  So the digest
of every index written here is remembered in a folder of the user's own, and an index with another digest is left alone.

Hashing a large file takes as long as reading it.  So the record also keeps the identity of the file that was hashed
last (device, inode, size, times of change); as long as it is the same, it is not hashed again.

The folder is ``HUSHPATH_CACHE``, or ``hushpath`` in the user's cache folder.  Without a folder that can be written,
nothing is remembered, and indexes serve only the process that built them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path

from ..compiled import users_cache

DIGEST = re.compile(r"[0-9a-f]{64}")
Identity = list[int]


def remember(digest: str, file: Path) -> None:
    """Note that this file, of this digest, was made or hashed here."""
    with contextlib.suppress(OSError):
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = folder / f"{digest}.{os.getpid()}.part"
        part.write_text(json.dumps(identity(file)))
        os.replace(part, folder / digest)


def recall(digest: str) -> Identity | None:
    """The identity of the file that had this digest when it was last hashed; ``None`` if it was not made here."""
    try:
        if DIGEST.fullmatch(digest) is None:
            return None
        seen = json.loads((_folder() / digest).read_text())
        return seen if isinstance(seen, list) else []
    except (OSError, ValueError):
        return None


def identity(file: Path) -> Identity:
    """Numbers that change when the file does.  Where the time of change can be set at will, the file is never equal."""
    found = file.stat()
    if os.name != "posix":
        return []
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _folder() -> Path:
    told = os.environ.get("HUSHPATH_CACHE")
    return (Path(told) if told else users_cache() / "hushpath") / "indexes"
