"""Watch which functions and kernels of the package are called, and from which of its files."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import hushpath
from hushpath.compiled import Kernel

PACKAGE = Path(hushpath.__file__).parent


@contextmanager
def traced(note: Callable[[CodeType, FrameType], None]) -> Iterator[None]:
    """Call ``note(code, frame)`` at every call of the package's code, in this thread and in those that it starts.

    A compiled kernel counts as the function it was made of.
    """

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            if code is Kernel.__call__.__code__:
                code = frame.f_locals["self"].__wrapped__.__code__
            if file_of(code) is not None:
                note(code, frame)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def file_of(code: CodeType) -> str | None:
    """The file of the package that holds the code, as in ``"measurement/exact.py"``; ``None`` if another does."""
    start = f"{PACKAGE}/"
    return code.co_filename.removeprefix(start) if code.co_filename.startswith(start) else None


def calling_file(frame: FrameType) -> str | None:
    """The file of the package that made the call, whatever other libraries lie between (singledispatch, contextlib)."""
    caller = frame.f_back
    while caller is not None and file_of(caller.f_code) is None:
        caller = caller.f_back
    return None if caller is None else file_of(caller.f_code)
