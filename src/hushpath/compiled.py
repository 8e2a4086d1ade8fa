"""Compiled kernels: made when the first of them is called, and kept in a folder that is settled before.

``njit`` is numba's decorator, but numba itself is imported only when a kernel is called (or looked into): that takes
longer than everything else a single question to a release needs.

numba keeps kernels in ``NUMBA_CACHE_DIR``, else beside the source, else in the user's cache folder, and gives up when
none of these can be written, as in a container with a read-only system and no home.  Then they go to a temporary
folder.

The files are code that will be run, so a folder in a shared place must be ours alone: made by this user, closed to all
others.  One that was there already and is not is left alone, and a fresh one is made for this process.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import update_wrapper
from pathlib import Path
from threading import RLock
from typing import Any

SETTING = "NUMBA_CACHE_DIR"
ROOMS = ("kernels", "noise", "decompose", "decompose/separators", "decompose/separators/planar")  # with kernels inside

_making = RLock()
_plainly: ContextVar[bool] = ContextVar("plainly", default=False)


@contextmanager
def uncompiled(little: bool = True) -> Iterator[None]:
    """Kernels called here run as the Python they are written in, unless numba is there: for a ``little`` work.

    One answer is found sooner in plain Python than numba is imported.
    """
    before = _plainly.set(little and "numba" not in sys.modules)
    try:
        yield
    finally:
        _plainly.reset(before)


class Kernel:
    """A function that numba compiles when it is first called.

    Other kernels may call it: numba asks each value for its type (``_numba_type_``), and is told that of the compiled
    function.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._options, self._made = options, None

    @property
    def _compiled(self) -> Any:
        if self._made is None:
            with _making:  # several threads may come first
                if self._made is None:
                    import numba

                    self._made = numba.njit(**self._options)(self.__wrapped__)
        return self._made

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Compile if need be, and run."""
        if self._made is None and _plainly.get():
            return self.__wrapped__(*arguments, **named)
        return (self._made or self._compiled)(*arguments, **named)

    @property
    def _numba_type_(self) -> Any:
        return self._compiled._numba_type_

    def __getattr__(self, name: str) -> Any:
        """Whatever else numba, or a person, asks of a compiled function."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._compiled, name)

    def __reduce__(self) -> str:
        """Pickled by name, as functions are."""
        return str(self.__qualname__)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """As ``numba.njit``, but nothing is imported and compiled until the function is called."""
    return lambda function: Kernel(function, options)


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
