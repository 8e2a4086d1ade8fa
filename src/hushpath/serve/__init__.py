"""Answers over HTTP: a catalog of releases, one small endpoint per question, on Starlette and uvicorn.

The server reads nothing but release files, so no answer costs privacy.  It has no state and writes nothing.
Its packages are an optional extra, imported when ``make_app`` or ``listen`` is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..cells.index import MAX_BYTES
from ..extras import absent
from .limits import Limits as Limits

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from ..publish.oracle import Release

EXTRA = {"starlette", "uvicorn", "httptools", "uvloop", "pydantic"}


def make_app(
    releases: Mapping[str, Release], limits: Limits | None = None, *, cors: Sequence[str] = (),
    max_bytes: int = MAX_BYTES, intervals: bool = False,
) -> Starlette:  # fmt: skip
    """Return the application that answers for these releases, by name; with one only, nobody needs to name it.

    Indexes that are missing are built now, unless larger than ``max_bytes``; with ``intervals`` what those need is
    worked out now, else when the first is asked for.  ``cors`` names the origins whose pages may read answers in a
    browser; none by default.
    """
    try:
        from .app import application
        from .catalog import ReleaseCatalog
    except ModuleNotFoundError as error:
        raise missing(error) from None
    return application(ReleaseCatalog(releases, max_bytes, intervals=intervals), limits or Limits(), cors)


def listen(app: Any, sock: Any, limits: Limits | None = None, *, host: str = "") -> None:
    """Serve an application on a bound socket until the process is interrupted.

    On a loopback address only requests for ``localhost``, ``127.0.0.1``, ``[::1]``, the address or ``host`` are met.
    """
    try:
        from .server import run
    except ModuleNotFoundError as error:
        raise missing(error) from None
    run(app, sock, limits or Limits(), host)


def missing(error: ModuleNotFoundError) -> Exception:
    """What to say if the extra is not installed; anything else that is missing is a fault of ours."""
    if (error.name or "").partition(".")[0] in EXTRA:
        return absent(error.name or "", "serve", "serving")
    return error
