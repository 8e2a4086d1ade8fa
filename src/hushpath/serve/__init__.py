"""Answers over HTTP: a catalog of releases, one small endpoint per question, on Starlette and uvicorn.

The server reads nothing but release files, so no answer costs privacy.  It has no state and writes nothing.
Its packages are an optional extra, imported when ``make_app`` or ``listen`` is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..extras import library
from ..index.index import MAX_BYTES
from .limits import Limits as Limits

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from ..published.release import Release


def make_app(
    releases: Mapping[str, Release], limits: Limits | None = None, *, cors: Sequence[str] = (),
    max_bytes: int = MAX_BYTES, intervals: bool = True,
) -> Starlette:  # fmt: skip
    """Return the ASGI application that answers for these releases.

    Parameters
    ----------
    releases
        By the name that requests give; with one release the name may be left out.
    limits
        Bounds of every request.
    cors
        Origins whose pages may read answers in a browser.
    max_bytes
        Build no index larger than this; a release without an index answers by its decoder.
    intervals
        Prepare intervals, which may take minutes; otherwise requests for them are refused.
    """
    for package in ("starlette", "pydantic"):
        library(package, "serve", "serving")
    from .app import application
    from .catalog import ReleaseCatalog

    return application(ReleaseCatalog(releases, max_bytes, intervals=intervals), limits or Limits(), cors)


def listen(app: Any, sock: Any, limits: Limits | None = None, *, host: str = "") -> None:
    """Serve ``app`` on the bound socket ``sock`` until the process is interrupted.

    ``limits`` bound headers and connections.  On a loopback address the ``Host`` of a request must be ``localhost``,
    ``127.0.0.1``, ``[::1]``, the address or ``host``.
    """
    for package in ("starlette", "uvicorn", "httptools"):
        library(package, "serve", "serving")
    from .server import run

    run(app, sock, limits or Limits(), host)
