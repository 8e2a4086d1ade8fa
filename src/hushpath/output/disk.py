"""Room on the disk: checked and reserved before it is used, because a file that meets a full disk ends badly."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..errors import CannotError


def check_space(folder: Path, need: int) -> None:
    """Raise ``CannotError`` if the disk of a folder, which may not exist yet, has less than ``need`` bytes free."""
    exists = next(at for at in (folder.absolute(), *folder.absolute().parents) if at.is_dir())
    if need > (free := shutil.disk_usage(exists).free):
        raise CannotError(f"the distances take {need / 1e9:.3g} GB; {free / 1e9:.3g} GB are free")


def reserve_space(path: Path, need: int) -> None:
    """Allocate the first ``need`` bytes of a file now, so that the system reports an error if there is no room."""
    if hasattr(os, "posix_fallocate") and need:
        with open(path, "rb+") as file:
            os.posix_fallocate(file.fileno(), 0, need)
