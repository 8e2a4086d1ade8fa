"""Write folders atomically, as ``container.replacing`` does for a file; and lock a folder.

A folder is never overwritten: two folders cannot be exchanged in one step on every system, and deleting the content of
a folder that was named by mistake cannot be undone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..errors import CannotError, OptionError


def check_new_folder(path: str | os.PathLike[str]) -> None:
    """Raise ``OptionError`` if the path exists and is not an empty folder."""
    target = Path(path)
    if target.is_symlink() or (target.exists() and not (target.is_dir() and not any(target.iterdir()))):
        raise OptionError(f"{target} exists, and a folder is not overwritten; name another")


@contextlib.contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder beside ``path``; on success flush its files to the disk and rename, else remove it."""
    target = Path(path)
    try:
        check_new_folder(target)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise CannotError(f"cannot write {str(target)!r}: {getattr(error, 'strerror', None) or error}") from None
    try:
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                with open(file, "rb+") as opened:
                    os.fsync(opened.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o777 & ~mask)  # mkdtemp is for the owner alone, a release is public
        os.rename(temporary, target)
    except OSError as error:
        raise CannotError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def only_process(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock file ``name`` of a folder, or raise ``CannotError``; the system releases it with the process."""
    path = folder / name
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.exists(path) or os.fstat(handle).st_ino != os.stat(path).st_ino:
                raise BlockingIOError  # another process has just finished and removed the file
        except OSError:
            os.close(handle)
            raise
    except BlockingIOError:
        raise CannotError(f"another process is writing to {folder}: wait until it has finished") from None
    except OSError as error:
        raise CannotError(f"cannot write {path}: {error.strerror or error}") from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)
