"""The OpenAPI document's words: what every endpoint takes, what it answers, and how it refuses."""

from __future__ import annotations

from typing import Any

from .asked import Asked, body_schema, declared
from .tables import MEDIA

RELEASE = Asked("release", "text", "Which release, if several are served: see /releases.")
PERIOD = Asked("period", "text", "Which period, if the release has several.")
CONFIDENCE = Asked("confidence", "number", "Of intervals: between 0 and 1, 0.9 if not given.", example=0.9)
INTERVAL = Asked("interval", "flag", "Also a range meant to hold the true distance.")
DISTANCE = declared(
    Asked("source", "text", "From this node", required=True),
    Asked("target", "text", "to this one.", required=True),
    PERIOD, INTERVAL, CONFIDENCE, RELEASE,
)  # fmt: skip
MATRIX = declared(
    Asked("sources", "nodes", "Rows; all nodes in canonical order if not given."),
    Asked("targets", "nodes", "Columns; all nodes in canonical order if not given."),
    PERIOD, INTERVAL, CONFIDENCE, RELEASE,
    Asked("format", "text", "Or by the Accept header; csv if neither says.", choices=tuple(MEDIA)),
    Asked("long", "flag", "csv and parquet: columns source, target, distance instead of one per target."),
    Asked("float32", "flag", "Half the size, seven digits."),
)  # fmt: skip
ISOCHRONE = declared(
    Asked("origin", "text", "From this node.", required=True),
    Asked("steps", "numbers", "How far, in the units of the release.", required=True, example="300,600,900"),
    PERIOD, Asked("interval", "flag", "Also what is within or uncertain by intervals; true if not given."), CONFIDENCE,
    Asked("cells", "number", "Resolution along the longer side, from 10 to 2000; 300 if not given."), RELEASE,
)  # fmt: skip
STATEMENT = declared(RELEASE)
NONE: dict[str, Asked] = {}

NUMBER = {"oneOf": [{"type": "number"}, {"const": "inf"}]}
TEXT, FLAG, COUNT = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
LABEL = {"oneOf": [TEXT, COUNT]}


def _object(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required}


WORDS = {
    "release": TEXT, "period": TEXT, "private": FLAG, "marking": TEXT,
    "quantity": _object({"name": TEXT, "units": TEXT, "date": TEXT, "publisher": TEXT}),
}  # fmt: skip
ERROR = _object({"error": _object({"type": TEXT, "message": TEXT})})
WAYPOINT = _object({
    "location": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}, "name": TEXT,
    "distance": {"type": "number"}, "hint": TEXT,
})  # fmt: skip
NOT_OK = _object({"code": TEXT, "message": TEXT})
NULLABLE = {"oneOf": [{"type": "number"}, {"type": "null"}]}
NUMBERS = {"type": "array", "items": {"type": "array", "items": NULLABLE}}
LEG = _object({
    "distance": {"type": "number"}, "duration": {"type": "number"}, "weight": {"type": "number"}, "summary": TEXT,
    "steps": {"type": "array"}, "annotation": {"type": "object"},
}, "annotation")  # fmt: skip
ANSWERS: dict[str, dict[str, Any]] = {
    "distance": _object({
        "source": LABEL, "target": LABEL, "distance": NUMBER, "confidence": {"type": "number"},
        "interval": {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}, **WORDS,
    }, "interval", "confidence", "period", "marking"),
    "isochrone": _object({"type": {"const": "FeatureCollection"}, "features": {"type": "array"}, **WORDS},
                         "period", "marking"),
    "statement": _object(
        {"promise": {"type": "object"}, "statement": {"type": "object"}, "text": TEXT, **WORDS}, "period", "marking"
    ),
    "releases": _object({"releases": {"type": "array", "items": _object({**WORDS, "nodes": COUNT, "edges": COUNT,
                                                                         "periods": {"type": "array"}},
                                                                        "period", "marking")}}),
    "health": _object({"status": {"const": "ok"}, "version": TEXT, "releases": COUNT}),
    "table": _object({
        "code": {"const": "Ok"}, "durations": NUMBERS, "distances": NUMBERS,
        "sources": {"type": "array", "items": WAYPOINT}, "destinations": {"type": "array", "items": WAYPOINT}, **WORDS,
    }, "durations", "distances", "sources", "destinations", "period", "marking"),
    "route": _object({
        "code": {"const": "Ok"}, "waypoints": {"type": "array", "items": WAYPOINT}, **WORDS,
        "routes": {"type": "array", "items": _object({
            "distance": {"type": "number"}, "duration": {"type": "number"}, "weight": {"type": "number"},
            "weight_name": TEXT, "geometry": {"oneOf": [TEXT, {"type": "object"}]},
            "legs": {"type": "array", "items": LEG},
        }, "geometry")},
    }, "waypoints", "period", "marking"),
}  # fmt: skip
REFUSALS = {
    "400": "Something asked for is wrong.", "404": "There is no such release or address.",
    "405": "Questions are asked with GET or POST.", "408": "The request did not arrive in time.",
    "411": "A body without a Content-Length.",
    "413": "More than one request may take.", "422": "A sound question that this release cannot answer.",
    "431": "Headers that are too long.", "500": "A bug of ours.", "503": "Busy; come back after Retry-After seconds.",
}  # fmt: skip
PATH = [
    Asked("profile", "text", "A release, a period, or release@period; any word if one release is served."),
    Asked("coordinates", "text", "longitude,latitude;... or polyline(...).", example="13.4,52.5;13.3,52.5"),
]


def json_body(schema: dict[str, Any]) -> dict[str, Any]:
    """Content of type JSON."""
    return {"application/json": {"schema": schema}}


def operation(name: str, known: dict[str, Asked], *, osrm: set[str] | None = None) -> dict[str, Any]:
    """What OpenAPI says of one endpoint, beyond its words."""
    refusals = {code: {"description": text, "content": json_body(ERROR)} for code, text in REFUSALS.items()}
    if osrm is not None:
        refusals["400"] = {"description": "code says what is wrong.", "content": json_body(NOT_OK)}
        plain = [{"name": one, "in": "query", "schema": TEXT, "description": "As in OSRM."} for one in sorted(osrm)]
        return {
            "parameters": [*(one.as_parameter("path") for one in PATH), *plain],
            "responses": {"200": {"description": "Done.", "content": json_body(ANSWERS[name])}, **refusals},
        }
    if name == "matrix":
        binary = {"schema": {"type": "string", "format": "binary"}}
        streams = {media.partition(";")[0]: binary for media in MEDIA.values()}
        return {
            "requestBody": {"required": True, "content": json_body(body_schema(known))},
            "responses": {"200": {"description": "A stream.", "content": streams}, **refusals},
        }
    return {
        "parameters": [one.as_parameter() for one in known.values()],
        "responses": {"200": {"description": "Done.", "content": json_body(ANSWERS[name])}, **refusals},
    }
