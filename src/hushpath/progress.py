"""Progress of long work: silent in the library, a bar on a terminal when the command line asks for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
_show: Callable[[Sequence[object], str], Iterator[object]] | None = None


def steps(work: Sequence[T], label: str) -> Iterator[T]:
    """Iterate over ``work``, reporting each step to whoever listens.  Steps are public: never one per weight."""
    if _show is None or len(work) < 2:
        return iter(work)
    return _show(work, label)  # type: ignore[return-value]


@contextmanager
def shown() -> Iterator[None]:
    """Show bars on standard error while this context is open, if that is a terminal."""
    global _show
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    before = _show
    _show = lambda work, label: iter(track(work, label, console=console, transient=True))  # noqa: E731
    try:
        yield
    finally:
        _show = before
