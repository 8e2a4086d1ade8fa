"""Progress of long work: silent in the library, a bar on a terminal when the command line asks for it.

Steps are public: how many there are and when they are done never depends on a weight beyond the time they take.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar

T = TypeVar("T")
Advance = Callable[[int], None]
_bar: Callable[[int, str], AbstractContextManager[Advance]] | None = None


def counting(total: int, label: str) -> AbstractContextManager[Advance]:
    """Return a context that yields ``advance(count)``, to be called as parts of ``total`` are done."""
    return nullcontext(lambda _: None) if _bar is None else _bar(total, label)


def steps(work: Sequence[T], label: str) -> Iterator[T]:
    """Iterate over ``work`` and report each step."""
    if _bar is None or len(work) < 2:
        yield from work
        return
    with counting(len(work), label) as advance:
        for item in work:
            yield item
            advance(1)


@contextmanager
def shown() -> Iterator[None]:
    """Show bars on standard error while this context is open, if that is a terminal."""
    global _bar
    before, _bar = _bar, _terminal_bar if sys.stderr.isatty() else None
    try:
        yield
    finally:
        _bar = before


@contextmanager
def _terminal_bar(total: int, label: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda count: progress.advance(task, count)
