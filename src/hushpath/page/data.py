"""What a page needs of a release: public facts alone, packed for a browser.

Distances are searched in the browser over the released edge weights, in whole lattice steps, so they are the same to
the last bit as those of Python.  Releases that tell distances and no edge weights bring a table of them, which bounds
how large they may be.  Intervals come from the same curves as in Python, or from a table too.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Float
from ..decode.edges import EdgeDecoder
from ..decode.intervals import Curve
from ..errors import CannotError
from ..publish.oracle import Release, in_periods
from .layout import drawn_places

MOST_IN_TABLE = 1_000_000  # numbers in each layer of a table: a thousand nodes, some megabytes
PLACES = 2**20  # steps of the longer side of the map
Arrays = dict[str, NDArray[Any]]


def page_data(release: Release, *, title: str, origin: int | None, confidence: float) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a page about all periods of a release, or about the one it is asked about."""
    topology, statement = release.topology, release.statement
    several = in_periods(release)
    places, own = drawn_places(topology)
    arrays: Arrays = {"tails": topology.tails, "heads": _zigzag(topology.heads - topology.tails), **_placed(places)}
    told = []
    for i, one in enumerate(several.values()):
        mine, ranges = _answers(one, confidence)
        arrays |= {f"{name}.{i}": array for name, array in mine.items()}
        told.append(ranges)
    header = {
        "title": title,
        "labels": list(map(str, topology.labels)),
        "directed": topology.directed,
        "ownPlaces": own,
        "origin": -1 if origin is None else origin,
        "granularity": one.decoder.lattice.granularity,
        "confidence": confidence,
        "periods": [name for name in several if name],
        "ranges": told,
        "quantity": statement.quantity.as_dict(),
        "marking": statement.marking,
        "promise": statement.promise.as_dict(),
        "technical": statement.technical,
        "fingerprint": release.fingerprint,
    }
    return header, arrays


def _answers(release: Release, confidence: float) -> tuple[Arrays, dict[str, Any]]:
    """How the browser finds distances and their intervals."""
    decoder, n = release.decoder, release.topology.num_nodes
    arrays: Arrays = {}
    if decoder.routes:
        arrays["weights"] = decoder.weights
    elif n * n > MOST_IN_TABLE:
        raise CannotError(
            f"a release read by decoder {decoder.name!r} comes with a table of all its distances, and a page has room "
            f"for {MOST_IN_TABLE:,} of them, not {n * n:,}; releases of edge weights have no such limit"
        )
    else:
        arrays["table"] = _steps(release.matrix(), decoder.lattice.granularity)
    if isinstance(decoder, EdgeDecoder) and decoder.strategy.budget.unlimited:
        return arrays, {"kind": "exact"}
    # In a forest Python knows the variance of every path; a large one is told by the curves of other networks.
    if isinstance(decoder, EdgeDecoder) and (decoder.path_errors is None or n * n > MOST_IN_TABLE):
        model = decoder.interval_model
        curves = {"middle": model.middle, "spread": model.log_sd}
        if not np.isfinite(model.log_sd.heights).all():
            return arrays, {"kind": "none", "why": "no interval can be told: any distance is possible"}
        arrays |= {f"{name}.ends": curve.node_effects for name, curve in curves.items()}
        reach = NormalDist().inv_cdf((1 + confidence) / 2)
        known = {"unit": model.unit, "below": model.below, "above": model.above, "shared": model.shared_sd}
        return arrays, {"kind": "curves", "reach": reach, **known, **{k: _listed(c) for k, c in curves.items()}}
    try:
        _, low, high = release.matrix(interval=True, confidence=confidence)
    except CannotError as error:
        return arrays, {"kind": "none", "why": str(error)}
    step = decoder.lattice.granularity  # a power of two; in steps no distance is beyond single precision
    largest = float(np.finfo(np.float32).max)
    low, high = _outward(low / step, down=True), np.minimum(_outward(high / step), largest)
    return {**arrays, "low": low, "high": high}, {"kind": "table", "unit": step}


def _listed(curve: Curve) -> dict[str, Any]:
    return {"knots": curve.knots.tolist(), "heights": curve.heights.tolist()}


def _steps(distances: Float, granularity: float) -> NDArray[Any]:
    """Distances in whole lattice steps plus one; 0 where no path leads."""
    steps = np.where(np.isfinite(distances), distances / granularity, -1.0)
    whole = np.rint(steps)
    if (whole != steps).any():
        raise CannotError("its distances are no multiples of one step, so a page cannot tell them as they are")
    return whole.astype(np.int64) + 1


def _outward(values: Float, *, down: bool = False) -> Float:
    """In single precision, and no interval narrower for it."""
    single = values.astype(np.float32)
    off = (single > values) if down else (single < values)
    return np.where(off, np.nextafter(single, np.float32(-np.inf if down else np.inf)), single)


def _zigzag(values: NDArray[Any]) -> NDArray[Any]:
    """Small numbers of either sign as small whole ones."""
    return np.where(values < 0, -2 * values - 1, 2 * values)


def _placed(places: Float) -> Arrays:
    """Places in whole steps from the lower left corner."""
    low, span = places.min(axis=0), max(float(np.ptp(places, axis=0).max()), 1e-300)
    steps = np.rint((places - low) / span * PLACES).astype(np.int64)
    return {"x": steps[:, 0], "y": steps[:, 1]}
