"""The questions, one method each: read what is asked, ask the release, write it down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from .._version import __version__
from ..arrays import Int
from ..data.labels import Label
from ..errors import HushpathError, OptionError
from ..output.distance_table import DistanceTable
from ..publish.asked import check_confidence
from ..publish.isochrones import isochrones
from . import schema
from .asked import body_of, query_of
from .gate import Gate, Pace
from .limits import Limits
from .osrm import spelt, table, weight_of_table
from .osrm_route import route
from .page import POLICY, page
from .replies import JSON, dumps, dumps_list, finite, one_line, too_large
from .shelf import Book, Shelf
from .streams import Parts, Stream
from .tables import MEDIA, stream_table

LOOKUPS = 1000  # labels looked up at a time


class Answers:
    """Every endpoint, over one shelf."""

    def __init__(self, shelf: Shelf, limits: Limits) -> None:
        self.shelf, self.limits, self.gate = shelf, limits, Gate(limits)

    async def distance(self, request: Request) -> Response:
        """One distance, and if asked for its interval."""
        asked = query_of(request.scope["query_string"], schema.DISTANCE)
        book = self.shelf.find(asked.get("release"), asked.get("period"))
        source, target = book.position(asked["source"]), book.position(asked["target"])
        labels, sure = book.release.topology.labels, _confidence(asked)
        number = book.one(source, target) if book.quick else await self.gate.run(partial(book.one, source, target))
        answer: dict[str, Any] = {"source": labels[source], "target": labels[target], "distance": finite(number)}
        if sure is not None:
            ask = partial(book.range_of, source, target, sure)
            ends = ask() if book.quick_ranges else await self.gate.run(ask)
            answer |= {"interval": [finite(end) for end in ends], "confidence": sure}
        return Response(dumps(answer)[:-1] + b"," + book.tail, 200, book.headers, JSON)

    async def matrix(self, request: Request) -> Response:
        """Distances from sources to targets, streamed row by row as CSV, Parquet or Arrow."""
        begin = partial(self._matrix, await request.body(), request.headers.get("accept", ""))
        return Stream(begin, self.gate, self.limits)

    def _matrix(self, body: bytes, accept: str) -> Parts:
        """Read what is asked and make the stream; in a thread, and with pauses, however large the lists are."""
        with self.gate.reading:
            pace = Pace()
            asked = body_of(body, schema.MATRIX, self.limits.nodes, pace)
            book = self.shelf.find(asked.get("release"), asked.get("period"))
            form = asked.get("format") or _accepted(accept)
            size = book.release.topology.num_nodes
            for name in ("sources", "targets"):
                if len(asked.get(name, ())) > self.limits.nodes:
                    raise too_large(f"{name} lists more than {self.limits.nodes} nodes")
            shape = len(asked.get("sources", range(size))), len(asked.get("targets", range(size)))
            sure = _confidence(asked)
            most = self.limits.cells if sure is None else self.limits.interval_cells
            if shape[0] * shape[1] > most:
                kind = "distances" if sure is None else "distances with intervals"
                raise too_large(f"{shape[0]} x {shape[1]} {kind} are more than {most}; ask for fewer at a time")
            rows, columns = (_positions(book, asked.get(name), pace) for name in ("sources", "targets"))
        dtype = "float32" if asked.get("float32") else "float64"
        targets = columns if "targets" in asked else None
        wanted = DistanceTable(book.release, rows, targets, asked.get("long", False), dtype, sure)
        return Parts(stream_table(book, wanted, form), MEDIA[form], book.headers)

    async def isochrone(self, request: Request) -> Response:
        """How far one gets: GeoJSON polygons for each step."""
        asked = query_of(request.scope["query_string"], schema.ISOCHRONE)
        book = self.shelf.find(asked.get("release"), asked.get("period"))
        if len(asked["steps"]) > self.limits.steps:
            raise too_large(f"at most {self.limits.steps} steps at a time")
        sure = _confidence({"interval": True, **asked})
        cells = asked.get("cells", 300.0)
        if not float(cells).is_integer():
            raise OptionError("cells must be a whole number")
        source = book.position(asked["origin"])

        def drawn() -> bytes:
            if sure is not None:
                book.need_intervals()
            label = book.release.topology.labels[source]
            found = isochrones(book.release, label, asked["steps"], confidence=sure, cells=int(cells))
            features = found.pop("features")
            return dumps_list("features", features, {**found, **book.words})

        return Response(await self.gate.run(drawn, "heavy"), 200, book.headers, "application/geo+json")

    async def statement(self, request: Request) -> Response:
        """What a release promises."""
        asked = query_of(request.scope["query_string"], schema.STATEMENT)
        book = self.shelf.find(asked.get("release"), None, any_period=True)
        statement = book.release.statement
        words = {key: value for key, value in book.words.items() if key != "period"}
        promise = statement.promise.as_dict()
        said = {"promise": promise, "statement": statement.as_dict(), "text": str(statement), **words}
        return Response(dumps(said), 200, book.headers, JSON)

    async def releases(self, request: Request) -> Response:
        """What is served."""
        query_of(request.scope["query_string"], schema.NONE)
        return Response(dumps({"releases": self.shelf.listed()}), 200, self._marks(), JSON)

    async def health(self, request: Request) -> Response:
        """Whether the server answers."""
        query_of(request.scope["query_string"], schema.NONE)
        said = {"status": "ok", "version": __version__, "releases": len(self.shelf.releases)}
        return Response(dumps(said), 200, None, JSON)

    async def table(self, request: Request) -> Response:
        """OSRM's table service: durations in seconds between places."""
        return await self._osrm(request, table)

    async def route(self, request: Request) -> Response:
        """OSRM's route service: the path of least released duration through places."""
        return await self._osrm(request, route)

    async def page(self, request: Request) -> Response:
        """The list of endpoints."""
        shown = page(request.app.openapi(), [f"{b.name}: {b.words['marking']}" for b in self._marked()])
        return HTMLResponse(shown, headers={"content-security-policy": POLICY, **self._marks()})

    async def _osrm(self, request: Request, service: Callable[..., tuple[Book, bytes]]) -> Response:
        given = request.path_params
        profile, places, query = given["profile"], given["coordinates"], request.scope["query_string"]
        try:
            kind = weight_of_table(query) if service is table else "waiting"
            book, body = await self.gate.run(lambda: service(self.shelf, self.limits, profile, places, query), kind)
        except HushpathError as error:
            if getattr(error, "status", 0) == 503:
                raise
            said = spelt(error)
            return Response(dumps({"code": said.code, "message": one_line(said)}), 400, None, JSON)
        return Response(body, 200, book.headers, JSON)

    def _marked(self) -> list[Book]:
        return list({book.name: book for book in self.shelf.books.values() if book.mark}.values())

    def _marks(self) -> dict[str, str]:
        """The headers of an answer about everything that is served."""
        return self._marked()[0].headers if self._marked() else {}


def _confidence(asked: Mapping[str, Any]) -> float | None:
    """That of the interval, if one is asked for."""
    sure = float(asked.get("confidence", 0.9))
    check_confidence(sure)
    if not asked.get("interval"):
        return None
    return sure


def _positions(book: Book, labels: Sequence[Label] | None, pause: Callable[[], None]) -> Int:
    """Find nodes by label, some at a time: a lookup of all would hold the interpreter."""
    find = book.release.topology.indices
    if labels is None:
        return find(None)
    found = []
    for at in range(0, len(labels), LOOKUPS):
        found.append(find(labels[at : at + LOOKUPS]))
        pause()
    return np.concatenate(found)


def _accepted(accept: str) -> str:
    """The first format that an Accept header names; CSV if it names none."""
    for part in accept.lower().split(",")[:20]:
        media = part.partition(";")[0].strip()
        for form, known in MEDIA.items():
            if media == known.partition(";")[0]:
                return form
    return "csv"
