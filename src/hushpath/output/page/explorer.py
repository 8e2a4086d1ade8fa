"""A map page of a release in one self-contained file: packed data, style and a program in plain JavaScript.

The data are public facts only.  The browser searches distances over the released edge weights in whole lattice steps,
so they are equal to Python's to the last bit.  A release without edge weights brings a table of all distances, which
limits its size.  Intervals come from the same curves as in Python, or from a table.

Arrays are packed as planes of bytes (all lowest bytes, then all second bytes, ...), as many as the largest number
needs; sorted arrays as differences.  Planes of similar numbers compress well, and browsers can inflate without a
library.  Single-precision floats have four planes.

The modules in ``js/`` are concatenated in the order of their imports, without ``import`` and ``export``: a page opened
from disk may not load modules.  The content security policy of the page allows its one script by digest, so nothing
else can run, and forbids every request.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from os import PathLike
from statistics import NormalDist
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._validate import check_confidence
from ..._version import __version__
from ...arrays import Float
from ...decoder.edges import EdgeDecoder
from ...errors import CannotError, OptionError
from ...io.container import replacing
from ...network.labels import Label
from ...published.release import Release, in_periods
from .layout import node_positions

LONGEST_TITLE = 120
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(async )?(function|class|const) )", re.MULTILINE)
COMMENT = re.compile(r"^ */\*\*(?:(?!\*/).)*\*/\n|^ *//[^\n]*\n", re.MULTILINE | re.DOTALL)  # whole lines only
MOST_IN_TABLE = 1_000_000  # entries of a table: a thousand nodes, some megabytes
PLACES = 2**20  # grid points along the longer side of the map
EXACT = 2**53  # integers up to this are exact in JavaScript
Arrays = dict[str, NDArray[Any]]


def write_explorer(
    release: Release, path: str | PathLike[str], *, title: str | None = None, origin: Label | None = None,
    confidence: float = 0.9,
) -> int:  # fmt: skip
    """Write a map page of a release, completely or not at all.

    Parameters
    ----------
    release : Release
        The release to show, with all its periods.
    path : path
        The HTML file to write.
    title : str, optional
        One line; the quantity of the release by default.
    origin : label, optional
        The start that is chosen when the page opens.
    confidence : float
        Confidence of the intervals.

    Returns
    -------
    int
        The size of the file in bytes.

    Raises
    ------
    OptionError
        If the title or the confidence is invalid.
    CannotError
        If the release has no edge weights and too many nodes for a table of all distances.

    Examples
    --------
    >>> import tempfile, hushpath
    >>> net = hushpath.Network.build(range(3), [0, 1], [1, 2], [5.0, 7.0])
    >>> rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hushpath.write_explorer(rel, f"{folder}/map.html", title="A line") > 10_000
    True
    """
    text = explorer(release, title=title, origin=origin, confidence=confidence).encode()
    with replacing(path) as temporary:
        temporary.write_bytes(text)
    return len(text)


def explorer(
    release: Release, *, title: str | None = None, origin: Label | None = None, confidence: float = 0.9
) -> str:
    """Return the page as text; all parameters are those of ``write_explorer``."""
    check_confidence(confidence)
    noun = release.statement.quantity.noun
    title = f"{noun[:1].upper()}{noun[1:]}s" if title is None else title
    if not isinstance(title, str) or not 0 < len(title) <= LONGEST_TITLE or not title.isprintable():
        raise OptionError(f"`title` must be one line of 1 to {LONGEST_TITLE} characters")
    start = None if origin is None else release.topology.index(origin)
    header, arrays = page_data(release, title=title, origin=start, confidence=confidence)
    script = program("main")
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_text("page.html")).substitute(
        title=escape(title), version=escape(__version__), style=_text("style.css"), hash=f"sha256-{digest}",
        data=pack(header, arrays), worker=program("worker"), script=script,
    )  # fmt: skip


def program(name: str) -> str:
    """Return a JavaScript module and all its imports as one script."""
    done: dict[str, str] = {}

    def add(module: str) -> None:
        if module not in done:
            text = _text(f"js/{module}.js")
            for needed in IMPORT.findall(text):
                add(needed)
            done[module] = COMMENT.sub("", EXPORT.sub("", IMPORT.sub("", text)))

    add(name)
    return "\n" + "\n".join(done.values())


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def page_data(release: Release, *, title: str, origin: int | None, confidence: float) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a page, for all periods of a release or for its one period.

    ``title`` and ``confidence`` as in ``write_explorer``; ``origin`` is a position in the labels.
    """
    topology, statement = release.topology, release.statement
    several = in_periods(release)
    places, own = node_positions(topology)
    arrays: Arrays = {"tails": topology.tails, "heads": _zigzag(topology.heads - topology.tails), **_placed(places)}
    intervals = []
    for i, one in enumerate(several.values()):
        mine, ranges = _answers(one, confidence)
        arrays |= {f"{name}.{i}": array for name, array in mine.items()}
        intervals.append(ranges)
    header = {
        "title": title,
        "labels": list(map(str, topology.labels)),
        "directed": topology.directed,
        "ownPlaces": own,
        "origin": -1 if origin is None else origin,
        "granularity": one.decoder.lattice.granularity,
        "confidence": confidence,
        "periods": [name for name in several if name],
        "ranges": intervals,
        "quantity": statement.quantity.as_dict(),
        "marking": statement.marking,
        "promise": statement.promise.as_dict(),
        "technical": statement.technical,
        "fingerprint": release.fingerprint,
    }
    return header, arrays


def _answers(release: Release, confidence: float) -> tuple[Arrays, dict[str, Any]]:
    """Return what the browser needs to find distances and their intervals."""
    decoder, n = release.decoder, release.topology.num_nodes
    arrays: Arrays = {}
    if decoder.routes:
        arrays["weights"] = decoder.weights
    elif n * n > MOST_IN_TABLE:
        raise CannotError(
            f"decoder {decoder.name!r} needs a table of all distances, and a page holds at most {MOST_IN_TABLE:,}, "
            f"got {n * n:,}; releases of edge weights have no such limit"
        )
    else:
        arrays["table"] = _steps(release.matrix(), decoder.lattice.granularity)
    if isinstance(decoder, EdgeDecoder) and decoder.strategy.budget.unlimited:
        return arrays, {"kind": "exact"}
    # In a forest Python knows the variance of every path; a large one takes the curves of other networks.
    if isinstance(decoder, EdgeDecoder) and (decoder.path_errors is None or n * n > MOST_IN_TABLE):
        model = decoder.interval_model
        curves = {"middle": model.middle, "spread": model.log_sd}
        if not np.isfinite(model.log_sd.heights).all():
            return arrays, {"kind": "none", "why": "no interval: any distance is possible"}
        arrays["spread.ends"] = model.log_sd.node_effects
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * model.inflation
        known = {"unit": model.unit, "relative": model.relative_sd}
        lists = {name: {"knots": c.knots.tolist(), "heights": c.heights.tolist()} for name, c in curves.items()}
        return arrays, {"kind": "curves", "reach": reach, **known, **lists}
    try:
        _, low, high = release.matrix(interval=True, confidence=confidence)
    except CannotError as error:
        return arrays, {"kind": "none", "why": str(error)}
    step = decoder.lattice.granularity  # a power of two; in steps every distance fits single precision
    largest = float(np.finfo(np.float32).max)
    low, high = _outward(low / step, down=True), np.minimum(_outward(high / step), largest)
    return {**arrays, "low": low, "high": high}, {"kind": "table", "unit": step}


def _steps(distances: Float, granularity: float) -> NDArray[Any]:
    """Return distances in lattice steps plus one; 0 where unreachable."""
    steps = np.where(np.isfinite(distances), distances / granularity, -1.0)
    whole = np.rint(steps)
    if (whole != steps).any():
        raise CannotError("the distances must be multiples of one lattice step to be shown exactly on a page")
    return whole.astype(np.int64) + 1


def _outward(values: Float, *, down: bool = False) -> Float:
    """Round to single precision, outwards, so that no interval becomes narrower."""
    single = values.astype(np.float32)
    off = (single > values) if down else (single < values)
    return np.where(off, np.nextafter(single, np.float32(-np.inf if down else np.inf)), single)


def _zigzag(values: NDArray[Any]) -> NDArray[Any]:
    """Map small integers of either sign to small non-negative integers."""
    return np.where(values < 0, -2 * values - 1, 2 * values)


def _placed(places: Float) -> Arrays:
    """Return coordinates as integers from the lower left corner."""
    low, span = places.min(axis=0), max(float(np.ptp(places, axis=0).max()), 1e-300)
    steps = np.rint((places - low) / span * PLACES).astype(np.int64)
    return {"x": steps[:, 0], "y": steps[:, 1]}


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return header (JSON) and arrays as one compressed text; ``unpack`` in ``js/data.js`` reads it."""
    parts, entries, at = [], {}, 0
    for name, array in arrays.items():
        data, kind = _planes(np.ravel(array))
        entries[name] = {**kind, "at": at, "length": array.size}
        parts.append(data)
        at += len(data)
    text = json.dumps({**header, "arrays": entries}, ensure_ascii=False, allow_nan=False).encode()
    block = b"".join([len(text).to_bytes(4, "little"), text, *parts])
    return b64encode(zlib.compress(block, 9)).decode()


def _planes(array: NDArray[Any]) -> tuple[bytes, dict[str, Any]]:
    """Return the bytes of one array, and how to read them."""
    if array.dtype.kind == "f":
        single = np.ascontiguousarray(array, "<f4")
        return single.view(np.uint8).reshape(-1, 4).T.tobytes(), {"kind": "float", "planes": 4}
    whole = array.astype(np.int64)
    if whole.size and (whole.min() < 0 or whole.max() > EXACT):
        raise CannotError("the numbers have too many digits for a browser; release with a coarser granularity")
    rising = bool((np.diff(whole) >= 0).all())
    whole = np.diff(whole, prepend=0) if rising else whole
    planes = max(1, (int(whole.max(initial=0)).bit_length() + 7) // 8)
    raw = np.ascontiguousarray(whole, "<i8").view(np.uint8).reshape(-1, 8)[:, :planes]
    return raw.T.tobytes(), {"kind": "rising" if rising else "whole", "planes": planes}
