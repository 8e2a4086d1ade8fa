"""Compiled kernels: numba is imported when the first kernel is called, and its cache folder is checked.

Importing numba takes longer than all else that one query of a release needs.

numba caches kernels in ``NUMBA_CACHE_DIR``, else beside the source, else in the user's cache folder, and fails if none
of these can be written, as in a container with a read-only system and no home; then a temporary folder is used.

Cached files are code that will be run, so no other user may be able to change them: a folder outside the package is
used only if ``cache_problem`` finds nothing; else there is a warning and the next one is tried.  (Beside the source
Python trusts ``.pyc`` files, too.)
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
OTHERS_WRITE, OTHERS_ENTER = 0o022, 0o011
PACKAGES = ("kernels", "noise", "separators")  # that hold kernels

_making = RLock()
_refused: list[str] = []  # why folders are not used; a warning when the first kernel is compiled
_uncached = False
_run_plain: ContextVar[bool] = ContextVar("run_plain", default=False)


@contextmanager
def uncompiled(little: bool = True) -> Iterator[None]:
    """Run kernels as plain Python unless numba is imported already: faster for a ``little`` of work."""
    before = _run_plain.set(little and "numba" not in sys.modules)
    try:
        yield
    finally:
        _run_plain.reset(before)


class Kernel:
    """A function that numba compiles when it is first called, also by another kernel (``_numba_type_``)."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._options, self._made = options, None

    @property
    def _compiled(self) -> Any:
        if self._made is None:
            with _making:  # several threads may call it first
                if self._made is None:
                    _warn_about_refused()
                    import numba

                    options = {**self._options, "cache": False} if _uncached else self._options
                    self._made = numba.njit(**options)(self.__wrapped__)
        return self._made

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Compile if needed, and run."""
        if self._made is None and _run_plain.get():
            return self.__wrapped__(*arguments, **named)
        return (self._made or self._compiled)(*arguments, **named)

    @property
    def _numba_type_(self) -> Any:
        return self._compiled._numba_type_

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of the compiled function."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._compiled, name)

    def __reduce__(self) -> str:
        """Pickle by name, as functions are."""
        return str(self.__qualname__)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator like ``numba.njit`` that imports and compiles nothing until the function is called."""
    return lambda function: Kernel(function, options)


def choose_cache_folder(package: Path) -> None:
    """Choose a temporary folder if numba would find none of its own.  Cheap: numba is not imported."""
    global _uncached
    given = os.environ.get(SETTING)
    if given and _usable(Path(given)):
        return
    if not _refused and all(_writable(package / name / "__pycache__") for name in PACKAGES):
        return
    if not _refused and _usable(users_cache() / "numba"):
        return
    try:
        folder = _make_temporary_folder()
    except OSError:  # nothing can be written anywhere; numba will say so when a kernel is needed
        return
    if problem := cache_problem(folder):
        _refused.append(problem)
        _uncached = True
    os.environ[SETTING] = str(folder)
    if "numba" in sys.modules:  # it has read its settings already
        sys.modules["numba"].config.CACHE_DIR = str(folder)


def cache_problem(folder: Path) -> str:
    """Return why a cache folder cannot be trusted; an empty text if only this user can change or replace it.

    If the folder does not exist yet, its parents are checked.
    """
    if not hasattr(os, "getuid"):
        return ""
    given, me = Path(os.path.abspath(folder)), os.getuid()
    itself = (given, Path(os.path.realpath(given)))
    for path in dict.fromkeys((given, *given.parents, itself[1], *itself[1].parents)):
        if not os.path.lexists(path):
            continue
        found = path.lstat()
        if found.st_uid != me and (found.st_uid != 0 or path in itself):
            return f"{path} belongs to another user"
        sticky = found.st_mode & stat.S_ISVTX and path not in itself  # only owners can rename what is inside
        if found.st_mode & OTHERS_WRITE and not stat.S_ISLNK(found.st_mode) and not sticky:
            return f"{path} can be written by other users (chmod go-w)"
    if not itself[1].is_dir():
        return ""
    enterable = itself[1].stat().st_mode & OTHERS_ENTER
    for where, folders, files in os.walk(itself[1]):
        for name in (*folders, *files):
            found = os.lstat(os.path.join(where, name))
            if found.st_uid != me:
                return f"{os.path.join(where, name)} belongs to another user"
            if enterable and found.st_mode & OTHERS_WRITE and not stat.S_ISLNK(found.st_mode):
                return f"{os.path.join(where, name)} can be written by other users (chmod go-w)"
    return ""


def _usable(folder: Path) -> bool:
    """Return whether the folder can be written, by this user alone."""
    if not folder.is_dir() and not _writable(folder):
        return False
    try:
        problem = cache_problem(folder)
    except OSError as error:
        problem = f"{folder} cannot be checked ({error.strerror})"
    if problem:
        _refused.append(problem)
    return not problem and _writable(folder)


def _warn_about_refused() -> None:
    """Warn, once, which folders are not used, and why."""
    while _refused:
        from .errors import warn

        instead = "no cache" if _uncached else "a temporary folder"
        warn(f"{_refused.pop()}: {instead} is used instead; set {SETTING} to a folder that only you can write")


def _writable(folder: Path) -> bool:
    """Return whether files can be created in this folder, or the folder itself can be."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def users_cache() -> Path:
    """Return the user's cache folder, as numba finds it; without a home, a path that cannot be created."""
    home = os.path.expanduser("~")
    return Path(
        os.environ.get("XDG_CACHE_HOME") or (os.path.join(home, ".cache") if os.path.isdir(home) else os.devnull)
    )


def _make_temporary_folder() -> Path:
    """Make this user's folder, the same in every run; if another user has that name, one for this process."""
    import tempfile

    if hasattr(os, "getuid"):
        folder = Path(tempfile.gettempdir(), f"hushpath-numba-{os.getuid()}")
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if not folder.is_symlink() and not folder.stat().st_mode & 0o077 and not cache_problem(folder):
                return folder
        except OSError:
            pass
    import atexit
    import shutil

    fresh = tempfile.mkdtemp(prefix="hushpath-numba-")
    atexit.register(shutil.rmtree, fresh, ignore_errors=True)
    return Path(fresh)
