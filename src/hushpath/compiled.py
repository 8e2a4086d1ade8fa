"""Where compiled kernels are kept, settled once, before the first of them is compiled.

numba keeps them in ``NUMBA_CACHE_DIR``, else beside the source, else in the user's cache folder, and gives up when none
of these can be written, as in a container with a read-only system and no home.  Then they go to a temporary folder.

The files are code that will be run, so a folder in a shared place must be ours alone: made by this user, closed to all
others.  One that was there already and is not is left alone, and a fresh one is made for this process.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

SETTING = "NUMBA_CACHE_DIR"
ROOMS = ("kernels", "noise", "decompose", "decompose/separators", "decompose/separators/planar")  # with kernels inside


def settle(package: Path) -> None:
    """Name a temporary folder to numba if it would find none of its own.  Cheap: numba is not imported."""
    given = os.environ.get(SETTING)
    if given and _writable(Path(given)):
        return
    if all(_writable(package / room / "__pycache__") for room in ROOMS) or _writable(users_cache() / "numba"):
        return
    try:
        folder = _temporary()
    except OSError:  # nothing can be written anywhere; numba will say so when a kernel is needed
        return
    os.environ[SETTING] = str(folder)
    if "numba" in sys.modules:  # it has read its settings already
        sys.modules["numba"].config.CACHE_DIR = str(folder)


def _writable(folder: Path) -> bool:
    """Whether files can be made in this folder, or the folder itself can be."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def users_cache() -> Path:
    """The user's cache folder, where numba looks too; one without a home has none (and none is made for it)."""
    home = os.path.expanduser("~")
    return Path(
        os.environ.get("XDG_CACHE_HOME") or (os.path.join(home, ".cache") if os.path.isdir(home) else os.devnull)
    )


def _temporary() -> Path:
    """A folder of this user's, the same for every run; if that name is taken by somebody else, one for this process."""
    import tempfile

    if hasattr(os, "getuid"):
        folder = Path(tempfile.gettempdir(), f"hushpath-numba-{os.getuid()}")
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            found = folder.lstat()
        except OSError:
            found = None
        if found and stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
            return folder
    import atexit
    import shutil

    fresh = tempfile.mkdtemp(prefix="hushpath-numba-")
    atexit.register(shutil.rmtree, fresh, ignore_errors=True)
    return Path(fresh)
