"""Tasks that workers import by name: some of them die over one, as a killed process does."""

import os
import signal
import time
from pathlib import Path

from hushpath.errors import FileFormatError


def once(marker):
    """Whether this is the first call with this file, whichever process calls."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def squared(task):
    return task * task


def fatal_once(task, marker):
    if task == 3 and once(marker):
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task


def fatal(task):
    os.kill(os.getpid(), signal.SIGKILL)


def mistaken(task):
    raise FileFormatError(f"task {task} is wrong")


def one_quick(task):
    """The first task is quick, all others take for ever."""
    if task:
        time.sleep(1000)
    return task


def dies_in_the_middle(task, job):
    """The first worker that comes here leaves a file half-written and is gone."""
    from hushpath.output import matrix  # here: other tasks start quicker without it

    folder = Path(job.folder)
    if once(folder.parent / "died"):
        half = folder / matrix._open_job(job)[task].name
        half.parent.mkdir(parents=True, exist_ok=True)
        half.with_name(f".{half.name}.xyz.part").write_bytes(b"PAR1 half")
        os.kill(os.getpid(), signal.SIGKILL)
    matrix._write_in_worker(task, job)
