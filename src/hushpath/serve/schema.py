"""What every endpoint takes and answers, as pydantic models: they read requests and make the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar, get_args
from urllib.parse import parse_qsl

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    create_model,
)
from pydantic.json_schema import SkipJsonSchema, models_json_schema

from .._validate import check_confidence
from .._version import __version__
from ..errors import InputError, OptionError
from ..network.labels import MAX_LABEL_LENGTH
from .limits import JSON

MOST_FIELDS = 50
GEOJSON = "application/geo+json"
MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
}
# An object of texts, numbers and lists of these: nested values cost a hundred times their text in memory and time.
# Possessive (``*+``), so that it is matched in one pass.
_TEXT = rb'"(?:[^"\\]++|\\.)*+"'
FLAT = re.compile(rb'\s*+\{(?:[^"\[\]{}]++|%s|\[(?:[^"\[\]{}]++|%s)*+\])*+\}\s*+' % (_TEXT, _TEXT), re.DOTALL)
M = TypeVar("M", bound=BaseModel)
P = TypeVar("P", bound="Parameters")


# --- what is read


def parse_query(query: bytes) -> dict[str, str]:
    """Return the names and values of a query string, each name given once."""
    try:
        found = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:  # not ASCII, not UTF-8 or too many
        raise InputError(f"the query is not readable: at most {MOST_FIELDS} fields, in UTF-8") from None
    named = dict(found)
    if len(named) < len(found):
        raise InputError("a field of the query is given twice")
    return named


def read_query(model: type[P], query: bytes) -> P:
    """Return the checked parameters of a query string."""
    return _validated(model, {name: text for name, text in parse_query(query).items() if name not in model.ignored})


def read_body(model: type[M], body: bytes) -> M:
    """Return the checked fields of a JSON object without nested values."""
    try:
        found = json.loads(body) if FLAT.fullmatch(body) else None
    except ValueError:  # also a number of thousands of digits
        found = None
    if not isinstance(found, dict) or len(found) > MOST_FIELDS:
        raise InputError(
            f"the body must be a JSON object in UTF-8, of at most {MOST_FIELDS} fields without nested values"
        )
    return _validated(model, found)


def _validated(model: type[M], values: Any) -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name = str(first["loc"][0])
    if first["type"] == "missing":
        raise InputError(f"{name} is missing")
    if first["type"] == "extra_forbidden":
        raise InputError(f"field {name[:60]!r} does not exist; choose from {', '.join(model.model_fields)}")
    raise OptionError(f"{name}: {first['msg']}")


def _confidence(value: float) -> float:
    check_confidence(value)
    return value


def _split(value: Any) -> Any:
    return value.split(",", MOST_FIELDS) if isinstance(value, str) else value


Absent = SkipJsonSchema[None]  # a field may be missing, but null is not part of the document
Name = Annotated[str, Field(min_length=1, max_length=MAX_LABEL_LENGTH)]
Step = Annotated[float, Field(gt=0, allow_inf_nan=False)]
# Stops at the first wrong item: otherwise a list of 300 000 gets an error for each.
Nodes = Annotated[list[int | str], Field(min_length=1, fail_fast=True)]
FAIL_FAST = Field(fail_fast=True)


class Parameters(BaseModel):
    """Parameters of a query; unknown ones are errors."""

    model_config = ConfigDict(extra="forbid")
    ignored: ClassVar[frozenset[str]] = frozenset()  # accepted, and without effect


class StatementQuery(Parameters):
    """Which release."""

    release: Name | Absent = Field(None, description="Which release, if several are served: see /releases.")


class Selection(StatementQuery):
    """Which release in which period, and the confidence of intervals."""

    period: Name | Absent = Field(None, description="Which period, if the release has several.")
    interval: bool = Field(False, description="Also an interval for the true distance.")
    confidence: Annotated[float, AfterValidator(_confidence)] = Field(
        0.9, gt=0, lt=1, description="Of intervals: between 0 and 1.", examples=[0.9]
    )


class DistanceQuery(Selection):
    """One distance."""

    source: Name = Field(description="The first node.")
    target: Name = Field(description="The last node.")


class IsochroneQuery(Selection):
    """Isochrones around a node."""

    origin: Name = Field(description="The node to start from.")
    steps: Annotated[list[Step], BeforeValidator(_split), Field(min_length=1)] = Field(
        description="How far, in the units of the release.", examples=[[300, 600, 900]]
    )
    interval: bool = Field(True, description="Also what is within or uncertain by intervals.")
    cells: int = Field(300, ge=10, le=2000, description="Resolution along the longer side.")


class MatrixBody(Selection):
    """A matrix; null counts as missing."""

    model_config = ConfigDict(extra="forbid", strict=True)

    sources: Nodes | Absent = Field(None, description="Rows; all nodes in canonical order if not given.")
    targets: Nodes | Absent = Field(None, description="Columns; all nodes in canonical order if not given.")
    format: Literal["csv", "parquet", "arrow"] | Absent = Field(None, description="Of the answer; csv if not given.")
    long: bool = Field(False, description="csv and parquet: columns source, target, distance, not one per target.")
    float32: bool = Field(False, description="Half the size, seven digits.")


def _osrm_list(separator: str, words: Mapping[str, list[str]]) -> BeforeValidator:
    """Return what reads a list of OSRM: texts between separators, or a word that means a whole list."""
    return BeforeValidator(lambda text: words.get(text, text.split(separator)))


Annotation = Literal["duration", "nodes", "distance", "weight", "datasources", "speed"]
Plain = WithJsonSchema({"type": "string"})
Index = Annotated[int, Field(ge=0, lt=10**9)]
Indices = Annotated[list[Index], FAIL_FAST, _osrm_list(";", {"all": []}), Plain]  # empty: all
Radius = Annotated[float, BeforeValidator(lambda text: {"": "inf", "unlimited": "inf"}.get(text, text)), Field(ge=0)]


class OsrmOptions(Parameters):
    """Options of both services of OSRM."""

    ignored = frozenset({
        "bearings", "hints", "generate_hints", "approaches", "snapping", "fallback_coordinate", "alternatives",
        "continue_straight", "waypoints", "number",
    })  # fmt: skip
    exclude: str = ""
    radiuses: Annotated[
        list[Radius], FAIL_FAST, _osrm_list(";", {"": [], "unlimited": []}), Plain
    ] = []  # empty: no limit
    skip_waypoints: bool = False


class TableOptions(OsrmOptions):
    """Options of OSRM's table service."""

    sources: Indices = []
    destinations: Indices = []
    annotations: Annotated[set[Literal["duration", "distance"]], FAIL_FAST, _osrm_list(",", {}), Plain] = {"duration"}
    fallback_speed: str = ""
    scale_factor: float = 1.0


class RouteOptions(OsrmOptions):
    """Options of OSRM's route service."""

    steps: bool = False
    annotations: Annotated[
        set[Annotation], FAIL_FAST, _osrm_list(",", {"true": list(get_args(Annotation)), "false": []}), Plain
    ] = set()
    geometries: Literal["polyline", "polyline6", "geojson"] = "polyline"
    overview: Literal["simplified", "full", "false"] = "simplified"


# --- what is answered: for the document only, tests compare answers with it

Number = float | Literal["inf"]


def _answer(name: str, base: type[BaseModel] = BaseModel, /, **fields: Any) -> type[BaseModel]:
    """Return a model with these fields; one of type ``X | Absent`` may be missing."""
    defined: Any = {field: (kind, None if Absent in get_args(kind) else ...) for field, kind in fields.items()}
    return create_model(name, __base__=base, **defined)


Quantity = _answer("Quantity", name=str, unit_of_measure=str, date=str, publisher=str, dataset=str)
Facts = _answer("Facts", release=str, period=str | Absent, private=bool, marking=str | Absent, quantity=Quantity)
DistanceAnswer = _answer(
    "DistanceAnswer", Facts, source=int | str, target=int | str, distance=Number,
    interval=tuple[Number, Number] | Absent, confidence=float | Absent,
)  # fmt: skip
IsochroneAnswer = _answer("IsochroneAnswer", Facts, type=Literal["FeatureCollection"], features=list[dict[str, Any]])
StatementAnswer = _answer("StatementAnswer", Facts, promise=dict[str, Any], statement=dict[str, Any], text=str)
ReleaseSummary = _answer("ReleaseSummary", Facts, nodes=int, edges=int, periods=list[str])
ReleasesAnswer = _answer("ReleasesAnswer", releases=list[ReleaseSummary])  # type: ignore[valid-type]
HealthAnswer = _answer("HealthAnswer", status=Literal["ok"], version=str, releases=int)
OsrmAnswer = _answer("OsrmAnswer", Facts, code=Literal["Ok"])
ErrorAnswer = _answer("ErrorAnswer", error=_answer("ErrorDetail", type=str, message=str))
OsrmError = _answer("OsrmError", code=str, message=str)


# --- the document


class Endpoint(NamedTuple):
    """One endpoint: its name is that of the method that answers it."""

    name: str
    path: str
    parameters: type[Parameters]
    answer: type[BaseModel] | None  # None: a stream
    method: str = "GET"
    media: str = JSON


OSRM_PATH = "/v1/{profile}/{coordinates}"
ENDPOINTS = (
    Endpoint("distance", "/distance", DistanceQuery, DistanceAnswer),
    Endpoint("matrix", "/matrix", MatrixBody, None, "POST"),
    Endpoint("isochrone", "/isochrone", IsochroneQuery, IsochroneAnswer, media=GEOJSON),
    Endpoint("statement", "/statement", StatementQuery, StatementAnswer),
    Endpoint("releases", "/releases", Parameters, ReleasesAnswer),
    Endpoint("health", "/health", Parameters, HealthAnswer),
    Endpoint("table", f"/table{OSRM_PATH}", TableOptions, OsrmAnswer),
    Endpoint("route", f"/route{OSRM_PATH}", RouteOptions, OsrmAnswer),
)
OSRM_PATH_PARAMETERS = {
    "profile": "A release, a period, or release@period; any word if one release is served.",
    "coordinates": "longitude,latitude;... or polyline(...).",
}
ABOUT = "Distances of released networks. Every answer is public: requests cost no privacy, and they are not logged."
ERRORS = {
    "400": "A parameter is missing, unknown or invalid.", "404": "No such release or address.",
    "405": "Another method is needed.", "408": "The body did not arrive in time.",
    "413": "More than one request may take.", "422": "This release cannot answer the request.",
    "431": "The headers are too long.", "500": "A bug in the server.",
    "503": "Busy; repeat after Retry-After seconds.",
}  # fmt: skip


def openapi_document(summaries: Mapping[str, str]) -> dict[str, Any]:
    """Return the OpenAPI document; ``summaries`` says what each endpoint answers, by its name."""
    models = {endpoint.answer for endpoint in ENDPOINTS if endpoint.answer} | {ErrorAnswer, OsrmError}
    _, schemas = models_json_schema([(m, "validation") for m in models], ref_template="#/components/schemas/{model}")
    paths = {one.path: {one.method.lower(): {"summary": summaries[one.name], **_operation(one)}} for one in ENDPOINTS}
    info = {"title": "hushpath", "version": __version__, "description": ABOUT}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": schemas["$defs"]}}


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    errors = {code: {"description": text, "content": _content(ErrorAnswer)} for code, text in ERRORS.items()}
    operation: dict[str, Any] = {"operationId": endpoint.name}
    if endpoint.method == "POST":
        body = {"schema": endpoint.parameters.model_json_schema()}
        operation["requestBody"] = {"required": True, "content": {JSON: body}}
    else:
        operation["parameters"] = _parameters(endpoint.parameters.model_json_schema())
    if issubclass(endpoint.parameters, OsrmOptions):
        errors["400"] = {"description": "`code` says what is wrong.", "content": _content(OsrmError)}
        text = {"type": "string", "minLength": 1}
        operation["parameters"] += [
            {"name": name, "in": "path", "required": True, "schema": text, "description": about}
            for name, about in OSRM_PATH_PARAMETERS.items()
        ]
    if endpoint.answer:
        content = _content(endpoint.answer, endpoint.media)
    else:
        binary = {"schema": {"type": "string", "format": "binary"}}
        content = {media.partition(";")[0]: binary for media in MEDIA.values()}
    return {**operation, "responses": {"200": {"description": "The answer.", "content": content}, **errors}}


def _content(model: type[BaseModel], media: str = JSON) -> dict[str, Any]:
    return {media: {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}


def _parameters(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of a model as parameters of a query; a list is written with commas."""
    found = []
    for name, field in schema.get("properties", {}).items():
        about = field.pop("description", "As in OSRM.")
        style = {"style": "form", "explode": False} if field.get("type") == "array" else {}
        required = name in schema.get("required", ())
        found.append({"name": name, "in": "query", "required": required, "description": about, "schema": field} | style)
    return found


def text_page(summaries: Mapping[str, str], markings: list[str]) -> str:
    """Return the endpoints as text for people, below the markings of releases that are NOT PRIVATE."""
    lines = ["hushpath", *markings, ABOUT, "For programs: /openapi.json"]
    for one in ENDPOINTS:
        lines += ["", f"{one.method} {one.path}", f"    {summaries[one.name]}"]
        fields = one.parameters.model_fields.items()
        lines += [f"    {name:20} {field.description or 'As in OSRM.'}" for name, field in fields]
    return "\n".join([*lines, ""])
