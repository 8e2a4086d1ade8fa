"""The application: endpoints, their documents, and the layers around them.

FastAPI keeps the addresses and writes the OpenAPI document.  What a request holds is read by ``asked``, from the same
declarations as the document: a model per request would take longer than a distance does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response

from .._version import __version__
from . import schema
from .answers import Answers
from .guard import Guard
from .limits import Limits
from .osrm import ROUTE, TABLE
from .replies import Refusal, refused
from .shelf import Shelf

ABOUT = (
    "Distances of released networks. Everything that is answered is public: asking costs no privacy, and what is "
    "asked is not written down."
)
SILENT: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
PLAIN = {
    "distance": schema.DISTANCE, "isochrone": schema.ISOCHRONE, "statement": schema.STATEMENT,
    "releases": schema.NONE, "health": schema.NONE,
}  # fmt: skip


def application(shelf: Shelf, limits: Limits, cors: Sequence[str] = ()) -> FastAPI:
    """Make the application that answers from this shelf."""
    answers = Answers(shelf, limits)
    # No pages that load scripts from elsewhere: ours lists the endpoints.  No telemetry: newer FastAPIs would give
    # what is asked, query and all, to any OpenTelemetry exporter of the environment; older ones ignore the word.
    app = FastAPI(
        title="hushpath", version=__version__, description=ABOUT, docs_url=None, redoc_url=None,
        redirect_slashes=False, telemetry=SILENT,
    )  # fmt: skip
    for name, known in PLAIN.items():
        _add(app, f"/{name}", getattr(answers, name), schema.operation(name, known))
    _add(app, "/matrix", answers.matrix, schema.operation("matrix", schema.MATRIX), "POST")
    for name, options in (("table", TABLE), ("route", ROUTE)):
        path = f"/{name}/v1/{{profile}}/{{coordinates}}"
        _add(app, path, getattr(answers, name), schema.operation(name, schema.NONE, osrm=options))
    for path in ("/", "/docs"):
        app.add_route(path, answers.page, include_in_schema=False)
    app.add_exception_handler(HTTPException, _not_found)
    app.add_middleware(Guard, limits=limits, quick={"/distance": answers.distance}, bodies=("/matrix",))
    if cors:  # the last one added stands outermost, so that pages of these origins can read refusals too
        app.add_middleware(CORSMiddleware, allow_origins=list(cors), allow_methods=["GET", "POST"], allow_headers=["*"])
    return app


def _add(app: FastAPI, path: str, answer: Any, operation: dict[str, Any], method: str = "GET") -> None:
    app.add_api_route(
        path, answer, methods=[method], response_model=None, openapi_extra=operation, response_class=Response,
        summary=(answer.__doc__ or "").strip(), operation_id=answer.__name__, description="",
    )  # fmt: skip


async def _not_found(request: Request, error: Exception) -> Response:  # noqa: ARG001 - what handlers are given
    """Addresses and methods that do not exist, in the form of every other error."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: ("NotFound", "there is nothing at this address; / lists the endpoints"),
             405: ("MethodNotAllowed", "this address is asked with another method")}  # fmt: skip
    kind, message = words.get(status, ("RequestError", "the request is not readable"))
    answer = refused(Refusal(status, kind, message))
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer
