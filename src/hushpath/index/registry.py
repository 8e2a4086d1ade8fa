"""Record which index files this user's hushpath has made: only their numbers are served.

An index is a cache of numbers that follow from its release.  They cannot be compared with the release faster than they
can be computed, and a digest inside the file proves nothing, because an attacker who changes numbers can repair it.  So
the digest of every index written here is recorded in a folder of the user's own, and other index files are ignored.

Hashing a large file takes as long as reading it.  So the record also keeps the identity of the open file that was
hashed last (device, inode, size, times of change); a file of the same identity is not hashed again.

The folder is ``HUSHPATH_CACHE``, or ``hushpath`` in the user's cache folder.  A user who can write to it can vouch for
any index, so it is used only if no other user can: otherwise there is a warning, and nothing is read or kept.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from ..compiled import cache_problem, users_cache
from ..errors import warn

DIGEST = re.compile(r"[0-9a-f]{64}")
Identity = list[int]


def cache() -> Path:
    """Return the user's folder in which hushpath keeps what it can make again."""
    named = os.environ.get("HUSHPATH_CACHE")
    return Path(named) if named else users_cache() / "hushpath"


def folder() -> Path:
    """Return the folder of the records."""
    return cache() / "indexes"


def usable() -> bool:
    """Tell whether only this user can change the content of the cache; warn if others can."""
    try:
        problem = cache_problem(cache())
    except OSError as error:
        problem = f"{cache()} cannot be checked ({error.strerror})"
    if problem:
        warn(f"{problem}, so the cache is not used; set HUSHPATH_CACHE to a folder that only you can write to")
    return not problem


def make(inside: Path) -> None:
    """Make the cache, and a folder in it, for this user alone."""
    cache().mkdir(mode=0o700, parents=True, exist_ok=True)
    inside.mkdir(mode=0o700, exist_ok=True)


def remember(digest: str, hashed: Identity) -> bool:
    """Record that a file of this digest was made here, and which open file was hashed; false if that fails."""
    try:
        make(folder())
        if not usable():
            return False
        part = folder() / f"{digest}.{os.getpid()}.part"
        part.unlink(missing_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(json.dumps(hashed))
        os.replace(part, folder() / digest)
    except OSError:
        return False
    return True


def recall(digest: str) -> Identity | None:
    """Return the identity of the file of this digest that was hashed last, if any; ``None`` if it was not made here."""
    try:
        if DIGEST.fullmatch(digest) is None or not (folder() / digest).is_file() or not usable():
            return None
        seen = json.loads((folder() / digest).read_text())
        return seen if isinstance(seen, list) else []
    except (OSError, ValueError):
        return None


def identity(opened: os.stat_result) -> Identity:
    """Return numbers that change when the file does; none where programs can set the time of change."""
    if os.name != "posix":
        return []
    return [opened.st_dev, opened.st_ino, opened.st_size, opened.st_mtime_ns, opened.st_ctime_ns]
