"""The Starlette application and its endpoints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .._version import __version__
from ..errors import HushpathError, one_line
from ..kernels.minplus import LANES
from ..kernels.paths import THREADS
from ..output.distance_table import DistanceTable
from ..output.encode import encode
from ..output.isochrones import isochrones
from . import osrm, schema
from .catalog import ReleaseCatalog, ServedRelease
from .limits import JSON, HttpError, Limits, WorkerPool, too_large
from .responses import LONGEST, CutOff, Stream, error_response, finite, json_bytes, json_list_bytes
from .server import BodyLimit, receive_body

BLOCK, INTERVAL_BLOCK = 2**21, 2**17  # distances of a matrix computed at a time
MOST_BLOCK = 2**23  # and never more: 64 MB, of which a stream keeps three
TOGETHER = LANES * THREADS  # rows that the index computes side by side


def application(catalog: ReleaseCatalog, limits: Limits, cors: Sequence[str] = ()) -> Starlette:
    """Return the application that answers from this catalog."""
    endpoints = Endpoints(catalog, limits)
    body_limit = [Middleware(BodyLimit, limits=limits)]
    routes = [
        Route(
            endpoint.path, getattr(endpoints, endpoint.name), methods=[endpoint.method],
            middleware=body_limit if endpoint.method == "POST" else None,
        )
        for endpoint in schema.ENDPOINTS
    ]  # fmt: skip
    routes += [Route("/openapi.json", endpoints.openapi), Route("/", endpoints.page)]
    origins = Middleware(CORSMiddleware, allow_origins=list(cors), allow_methods=["GET", "POST"], allow_headers=["*"])
    app = Starlette(
        routes=routes,
        middleware=[Middleware(UnforeseenErrors), *([origins] if cors else [])],
        exception_handlers={HTTPException: _no_such_address, HushpathError: refuse},
    )
    app.router.redirect_slashes = False
    app.state.endpoints = endpoints
    return app


async def refuse(_: Request, error: Exception) -> Response:
    """Answer with an error document."""
    return error_response(error)


class UnforeseenErrors:
    """Answer any other exception with an error document, and keep it from the server's log: it may quote the request.

    Once an answer has begun, ``CutOff`` makes the server close the connection: half an answer must not look whole.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except Exception as error:
            if not isinstance(error, CutOff):
                print(f"hushpath: internal error ({type(error).__name__})", file=sys.stderr)
            if begun or scope["type"] != "http":
                raise CutOff("the answer was cut off") from None
            await error_response(error)(scope, receive, send)


async def _no_such_address(_: Request, error: Exception) -> Response:
    """Answer addresses and methods that do not exist in the form of every other error."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = {404: ("NotFound", "no such address; / lists the endpoints"),
             405: ("MethodNotAllowed", "this address needs another method")}  # fmt: skip
    kind, message = known.get(status, ("RequestError", "the request is not readable"))
    return error_response(HttpError(status, kind, message, **(getattr(error, "headers", None) or {})))


class Endpoints:
    """Every endpoint, over one catalog: each method reads a request, asks the release and writes the answer."""

    def __init__(self, catalog: ReleaseCatalog, limits: Limits) -> None:
        self.catalog, self.limits, self.workers = catalog, limits, WorkerPool(limits)
        self.summaries = {one.name: str(getattr(self, one.name).__doc__) for one in schema.ENDPOINTS}
        self.document = schema.openapi_document(self.summaries)

    async def distance(self, request: Request) -> Response:
        """Return one distance, and on request its interval."""
        query = schema.read_query(schema.DistanceQuery, request.scope["query_string"])
        served = self.catalog.find(query.release, query.period)
        topology = served.release.topology
        source, target = topology.index(query.source), topology.index(query.target)
        compute = partial(served.distance, source, target)
        distance = compute() if served.quick else await self.workers.run(compute)
        labels = topology.labels
        answer: dict[str, Any] = {"source": labels[source], "target": labels[target], "distance": finite(distance)}
        if query.interval:
            bounds = partial(served.interval, source, target, query.confidence)
            ends = bounds() if served.quick_intervals else await self.workers.run(bounds)
            answer |= {"interval": [finite(end) for end in ends], "confidence": query.confidence}
        return Response(json_bytes(answer)[:-1] + b"," + served.facts_json, 200, served.headers, JSON)

    async def matrix(self, request: Request) -> Response:
        """Stream the distances from sources to targets as CSV, Parquet or Arrow."""
        body = await receive_body(request, self.limits.request_seconds)
        return Stream(partial(self._matrix, body), self.workers, self.limits)

    def _matrix(self, body: bytes) -> tuple[Iterator[Any], str, Mapping[str, str]]:
        """Read the body and make the stream: in a thread, because the lists may be long."""
        given = schema.read_body(schema.MatrixBody, body)
        served = self.catalog.find(given.release, given.period)
        topology = served.release.topology
        for name, nodes in (("sources", given.sources), ("targets", given.targets)):
            if nodes is not None and len(nodes) > self.limits.nodes:
                raise too_large(f"{name} lists more than {self.limits.nodes} nodes")
        shape = [topology.num_nodes if nodes is None else len(nodes) for nodes in (given.sources, given.targets)]
        most, kind = self.limits.cells, "distances"
        if given.interval:
            served.require_intervals()
            most, kind = self.limits.interval_cells, "distances with intervals"
        if shape[0] * shape[1] > most:
            raise too_large(f"{shape[0]} x {shape[1]} {kind} are more than {most}; ask for fewer at a time")
        targets = None if given.targets is None else topology.indices(given.targets)
        table = DistanceTable(
            served.release, topology.indices(given.sources), targets, given.long,
            "float32" if given.float32 else "float64", given.confidence if given.interval else None,
        )  # fmt: skip
        block = INTERVAL_BLOCK if given.interval else min(max(BLOCK, TOGETHER * shape[1]), MOST_BLOCK)
        form = given.format or "csv"
        return encode(table, form, block), schema.MEDIA[form], served.headers

    async def isochrone(self, request: Request) -> Response:
        """Return isochrones: GeoJSON polygons for each step."""
        query = schema.read_query(schema.IsochroneQuery, request.scope["query_string"])
        served = self.catalog.find(query.release, query.period)
        if len(query.steps) > self.limits.steps:
            raise too_large(f"at most {self.limits.steps} steps at a time")
        origin = served.release.topology.labels[served.release.topology.index(query.origin)]
        confidence = query.confidence if query.interval else None

        def compute() -> bytes:
            if confidence is not None:
                served.require_intervals()
            found = isochrones(served.release, origin, query.steps, confidence=confidence, cells=query.cells)
            features = found.pop("features")
            return json_list_bytes("features", features, {**found, **served.facts})

        return Response(await self.workers.run(compute, "heavy"), 200, served.headers, schema.GEOJSON)

    async def statement(self, request: Request) -> Response:
        """Return what a release promises."""
        query = schema.read_query(schema.StatementQuery, request.scope["query_string"])
        served = self.catalog.find(query.release, None, any_period=True)
        statement = served.release.statement
        facts = {key: value for key, value in served.facts.items() if key != "period"}
        answer = {"promise": statement.promise.as_dict(), "statement": statement.as_dict(), "text": str(statement)}
        return Response(json_bytes({**answer, **facts}), 200, served.headers, JSON)

    async def releases(self, request: Request) -> Response:
        """List the releases that are served."""
        schema.read_query(schema.Parameters, request.scope["query_string"])
        return Response(json_bytes({"releases": self.catalog.summaries()}), 200, self._marking_headers(), JSON)

    async def health(self, request: Request) -> Response:
        """Say that the server answers."""
        schema.read_query(schema.Parameters, request.scope["query_string"])
        answer = {"status": "ok", "version": __version__, "releases": len(self.catalog.releases)}
        return Response(json_bytes(answer), 200, None, JSON)

    async def table(self, request: Request) -> Response:
        """Answer OSRM's table service: durations in seconds between places."""
        return await self._osrm(request, osrm.table, schema.TableOptions)

    async def route(self, request: Request) -> Response:
        """Answer OSRM's route service: the path of least released duration through places."""
        return await self._osrm(request, osrm.route, schema.RouteOptions)

    async def openapi(self, _: Request) -> Response:
        """Return the OpenAPI document."""
        return Response(json_bytes(self.document), 200, None, JSON)

    async def page(self, _: Request) -> Response:
        """List the endpoints for people."""
        markings = [f"{served.name}: {served.facts['marking']}" for served in self.catalog.not_private]
        return PlainTextResponse(schema.text_page(self.summaries, markings), headers=self._marking_headers())

    async def _osrm(
        self, request: Request, service: Callable[..., tuple[ServedRelease, bytes]], model: type[schema.OsrmOptions]
    ) -> Response:
        path = request.path_params
        try:
            options = osrm.read_options(model, request.scope["query_string"])
            # Metres take a search over the whole network for each source of a table.
            heavy = isinstance(options, schema.TableOptions) and "distance" in options.annotations
            compute = partial(service, self.catalog, self.limits, path["profile"], path["coordinates"], options)
            served, body = await self.workers.run(compute, "heavy" if heavy else "waiting")
        except HushpathError as error:
            if isinstance(error, HttpError) and error.status == 503:
                raise
            found = osrm.as_osrm_error(error)
            return Response(json_bytes({"code": found.code, "message": one_line(found, LONGEST)}), 400, None, JSON)
        return Response(body, 200, served.headers, JSON)

    def _marking_headers(self) -> dict[str, str]:
        """Return the headers of an answer about everything that is served."""
        marked = self.catalog.not_private
        return marked[0].headers if marked else {}
