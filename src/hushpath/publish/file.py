"""The release file: what it holds, and what is proved when one is read (docs/FORMAT.md).

Nothing private is in it and nothing in it is executed.  A file is meant to be passed around, so it is
hostile until proved: every structure is checked against the topology before anything uses it, who owns which edge and
what the release costs are computed here and never taken from the file, and every failure is a ``FileFormatError``.

What no file can prove: that the noise was really drawn, from a secret source, and that ``unit`` is what it says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import frozen
from ..blocks import BLOCKS
from ..data.labels import MAX_LABEL_LENGTH
from ..data.topology import Topology
from ..errors import FileFormatError, HushpathError
from ..estimate.base import SavedEstimate
from ..estimate.registry import ESTIMATORS, estimators_for
from ..files import container
from ..measure import Measurements
from ..noise import SAMPLERS, SECRET_SAMPLERS, Law
from ..strategy.core import Mechanism, Problem, Strategy, check_fits, check_measures
from ..strategy.registry import RECORDED
from ..strategy.terms import Terms
from ..strategy.trips import MECHANISM as TRIPS
from ..strategy.trips import TripTerms
from . import trip_terms
from .quantity import UNNAMED, Quantity, checked_dataset
from .statement import Statement

FORMAT = "hushpath-release"
# 4 did not say what its numbers are; 3 had no trips and no unit in L2; 2 no proxies and no advice; 1 kept the order of
# the owner's rows.
VERSION = 5
OLDEST = 2
DECODER_WORDS = {("clique",): "table", ("edges", "clique"): "hubs", ("edges", "clique", "clusters"): "hubs-bounded"}
Tensors = dict[str, NDArray[Any]]


def write_release(path: Path | str, measurements: Measurements, statement: Statement, saved: SavedEstimate) -> str:
    """Write atomically and return the fingerprint: the path holds the complete file or is untouched."""
    header, tensors = _pack(measurements, statement, saved)
    return container.write(path, FORMAT, VERSION, header, tensors)


def fingerprint(measurements: Measurements, statement: Statement, saved: SavedEstimate) -> str:
    """The digest of the release's file: equal for equal content, and for nothing else."""
    header, tensors = _pack(measurements, statement, saved)
    return container.digest(container.header_text(header), container.contiguous(tensors))


def read_release(path: Path | str, *, sha256: str | None = None) -> tuple[Measurements, Statement, SavedEstimate, str]:
    """Read, check the digest, prove every structure and compute the certificate again; also the fingerprint.

    ``sha256`` is that of the file whose signature was verified: these bytes and no others are read.
    """
    found = container.read(path, FORMAT, VERSION, sha256=sha256, oldest=OLDEST)
    found.check_digest()
    header = found.header
    if container.header_text(header) != found.header_text:  # one content, one text: one fingerprint
        raise FileFormatError(f"{path} is not a sound release: its header is not written as hushpath writes it")
    try:
        return *_unpack(header, found.arrays, found.version), found.claimed_digest
    except HushpathError as error:
        raise FileFormatError(f"{path} is not a sound release: {error}") from None
    except Exception:  # a net under the checks below; that nothing falls into it is what the fuzzer looks for
        raise FileFormatError(f"{path} is not a sound release: its parts do not fit together") from None


def _pack(measurements: Measurements, statement: Statement, saved: SavedEstimate) -> tuple[dict[str, Any], Tensors]:
    strategy, topology = measurements.strategy, measurements.strategy.topology
    tensors: Tensors = {
        "topology.tails": topology.tails,
        "topology.heads": topology.heads,
        "topology.lower": topology.lower,
        "topology.upper": topology.upper,
        "strategy.scales": strategy.scales,
        "values": measurements.values,
    }
    if isinstance(topology.labels[0], int):
        tensors["topology.labels"] = np.array(topology.labels, np.int64)
    else:
        encoded = [str(label).encode() for label in topology.labels]
        tensors["topology.labels.text"] = np.frombuffer(b"".join(encoded), np.uint8)
        tensors["topology.labels.ends"] = np.cumsum([len(e) for e in encoded], dtype=np.int64)
    if topology.coordinates is not None:
        tensors["topology.coordinates"] = topology.coordinates
    if topology.proxy is not None:
        tensors["topology.proxy"] = topology.proxy
    if saved.weights is not None:
        tensors["advice.weights"] = saved.weights
    trips = None
    if isinstance(strategy.terms, TripTerms):
        trips, arrays = trip_terms.packed(strategy.terms)
        tensors |= arrays
    for i, block in enumerate(strategy.blocks):
        tensors |= {f"block{i}.{name}": array for name, array in block.arrays().items()}
    header = {
        "statement": statement.certified,
        "directed": topology.directed,
        "dropped_loops": topology.dropped_loops,
        "proxy": topology.proxy_name,
        "mechanism": strategy.mechanism,
        "decoder": _decoder(RECORDED[strategy.mechanism]),
        "law": str(strategy.law),
        "blocks": [block.kind for block in strategy.blocks],
        "options": dict(strategy.options),
        "details": dict(strategy.details),
        "unit": strategy.lattice.unit,
        "unit_l2": strategy.lattice.unit_l2,
        "trips": trips,
        "granularity": strategy.lattice.granularity,
        "max_weight": strategy.terms.max_weight,
        "sampler": measurements.sampler,
        "estimator": saved.estimator,
        "quantity": statement.quantity.as_dict(),
        "dataset": statement.dataset,
    }
    return header, tensors


def _decoder(mechanism: Mechanism) -> str:
    """The word of format 2 for what was measured; it binds nobody to a way of reading."""
    kinds = tuple(block.kind for block in mechanism.measures)
    if kinds == ("clique",) and not mechanism.lossless:
        return "cover"
    return DECODER_WORDS.get(kinds, "-".join(kinds))


HEADER_TYPES: dict[str, tuple[type, ...]] = {
    "statement": (dict,), "directed": (bool,), "dropped_loops": (int,), "proxy": (str,), "mechanism": (str,),
    "decoder": (str,), "law": (str,), "blocks": (list,), "options": (dict,), "details": (dict,), "unit": (float, int),
    "granularity": (float, int), "max_weight": (float, int, type(None)), "sampler": (str,),
    "estimator": (str,), "quantity": (dict,), "unit_l2": (float, int, type(None)), "trips": (dict, type(None)),
    "dataset": (str,),
}  # fmt: skip
# What each version added, and what a file of an older one means.
ADDED: dict[int, dict[str, Any]] = {
    3: {"proxy": "", "estimator": ""}, 4: {"unit_l2": None, "trips": None},
    5: {"quantity": UNNAMED.as_dict(), "dataset": ""},
}  # fmt: skip


def _unpack(header: Mapping[str, Any], tensors: Tensors, version: int) -> tuple[Measurements, Statement, SavedEstimate]:
    """Everything a file holds, proved in the order in which the data flow."""
    lacking = {name: value for added, fields in ADDED.items() if added > version for name, value in fields.items()}
    if lacking.keys() & header.keys():
        raise FileFormatError("its header has other fields than its version knows")
    header = {**header, **lacking}
    _check_header(header)
    topology = _topology(header, tensors)
    strategy = _strategy(header, tensors, topology)
    values = _row(tensors, "values", np.int64)
    if values.shape != (strategy.num_values,):
        raise FileFormatError(f"it holds {values.size} numbers, but its strategy measures {strategy.num_values}")
    private = header["sampler"] in SECRET_SAMPLERS and not strategy.budget.unlimited
    measurements = Measurements(strategy, frozen(values, np.int64), header["sampler"], private)
    claimed = header["statement"]
    if version < 4:
        claimed = {**claimed, **{name: None for name in ADDED[4] if name not in claimed}}
    quantity = Quantity.from_dict(header["quantity"])
    proved = replace(
        Statement.of(measurements), version=_word(claimed.get("version")), quantity=quantity,
        dataset=checked_dataset(header["dataset"]),
    )  # fmt: skip
    if not _alike(_as_claimed(proved.certified, claimed), claimed):
        raise FileFormatError("its statement promises something else than its strategy proves")
    return measurements, proved, _saved_estimate(header["estimator"], tensors.get("advice.weights"), strategy)


def _saved_estimate(name: str, weights: NDArray[Any] | None, strategy: Strategy) -> SavedEstimate:
    """Check the saved estimate.  Weights in an untrusted file may be wrong, but not out of bounds."""
    if name and name not in ESTIMATORS:
        raise FileFormatError(f"unknown estimator {name[:40]!r}; a newer version may know it")
    if name and ESTIMATORS[name] not in estimators_for(strategy):
        raise FileFormatError(f"estimator {name!r} does not apply to this kind of release")
    if weights is None:
        return SavedEstimate(name)
    periods = len(strategy.terms.periods) if isinstance(strategy.terms, TripTerms) else 1
    low, high = np.tile(strategy.lattice.low, periods), np.tile(strategy.lattice.high, periods)
    if weights.dtype != np.int64 or weights.shape != low.shape or (weights < low).any() or (weights > high).any():
        raise FileFormatError("its estimated weights do not fit its network")
    return SavedEstimate(name, frozen(weights, np.int64))


def _as_claimed(promise: dict[str, Any], claimed: Mapping[str, Any]) -> dict[str, Any]:
    """The promise with a Gaussian epsilon that claims less privacy than is proved: once zCDP alone was used for it."""
    epsilon, proved, budget = claimed.get("epsilon"), promise["epsilon"], promise["budget_epsilon"]
    if promise["law"] != Law.GAUSSIAN or any(type(number) is not float for number in (epsilon, proved, budget)):
        return promise
    return {**promise, "epsilon": epsilon} if proved <= epsilon <= budget else promise


def _check_header(header: Mapping[str, Any]) -> None:
    if set(header) != set(HEADER_TYPES):
        raise FileFormatError("its header has other fields than this version knows")
    for name, kinds in HEADER_TYPES.items():
        if type(header[name]) not in kinds:
            raise FileFormatError(f"field {name!r} of its header is not {kinds[0].__name__}")
    if header["sampler"] not in SAMPLERS or header["law"] not in list(Law):
        raise FileFormatError("its law of noise or its sampler is not one that this version knows")
    if not 0 <= header["dropped_loops"] < 2**62:
        raise FileFormatError("its number of dropped loops is not one")
    for name in ("options", "details"):
        for key, value in header[name].items():
            _word(key)
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, str):
                    _word(item)
                elif not isinstance(item, (bool, int, float, type(None))):
                    raise FileFormatError(f"field {name!r} of its header is not a plain list of facts")


def _word(text: Any) -> str:
    """A short printable text: what a stranger wrote may end up on a terminal."""
    if not isinstance(text, str) or len(text) > MAX_LABEL_LENGTH or not text.isprintable():
        raise FileFormatError("a text in its header is not a short line")
    return text


def _row(tensors: Tensors, name: str, dtype: Any, columns: int | None = None) -> NDArray[Any]:
    """One array of the file, of the type and shape it must have."""
    array = tensors.get(name)
    if array is None:
        raise FileFormatError(f"it lacks the array {name!r}")
    if array.dtype != dtype or array.shape[1:] != (() if columns is None else (columns,)):
        raise FileFormatError(f"array {name!r} has the wrong type or shape")
    return array


def _labels(tensors: Tensors) -> list[Any]:
    if "topology.labels" in tensors:
        numbers: list[Any] = _row(tensors, "topology.labels", np.int64).tolist()
        return numbers
    text, ends = _row(tensors, "topology.labels.text", np.uint8), _row(tensors, "topology.labels.ends", np.int64)
    starts = np.concatenate([[0], ends[:-1]])
    # Each byte belongs to one label: overlapping labels would make megabytes into gigabytes.
    if not len(ends) or ends[-1] != len(text) or (ends <= starts).any() or (starts < 0).any():
        raise FileFormatError("its labels do not fit together")
    if (ends - starts).max() > 4 * MAX_LABEL_LENGTH:
        raise FileFormatError("a label is too long")
    raw, cuts = text.tobytes(), zip(starts.tolist(), ends.tolist(), strict=True)
    try:
        if raw.isascii():  # a byte is a letter
            letters = raw.decode()
            return [letters[a:b] for a, b in cuts]
        return [raw[a:b].decode() for a, b in cuts]
    except UnicodeDecodeError:
        raise FileFormatError("a label is not UTF-8 text") from None


def _topology(header: Mapping[str, Any], tensors: Tensors) -> Topology:
    given = _row(tensors, "topology.tails", np.int64), _row(tensors, "topology.heads", np.int64)
    labels = _labels(tensors)
    coordinates = _row(tensors, "topology.coordinates", np.float64, 2) if "topology.coordinates" in tensors else None
    proxy = _row(tensors, "topology.proxy", np.float64) if header["proxy"] else None
    return Topology.restore(
        labels, *given, directed=header["directed"], dropped_loops=header["dropped_loops"], coordinates=coordinates,
        proxy=proxy, proxy_name=header["proxy"],
        lower=_row(tensors, "topology.lower", np.float64), upper=_row(tensors, "topology.upper", np.float64),
    )  # fmt: skip


def _strategy(header: Mapping[str, Any], tensors: Tensors, topology: Topology) -> Strategy:
    mechanism = RECORDED.get(header["mechanism"])
    if mechanism is None:
        raise FileFormatError(f"it was made by {header['mechanism'][:40]!r}, which this version does not know")
    kinds = tuple(header["blocks"])
    for kind in kinds:
        if not isinstance(kind, str) or kind not in BLOCKS:
            raise FileFormatError(f"it measures {str(kind)[:40]!r}, which this version does not know")
    if kinds != tuple(block.kind for block in mechanism.measures) or header["decoder"] != _decoder(mechanism):
        raise FileFormatError("its decoder does not fit what it measured")
    claimed, law = header["statement"], Law(header["law"])
    epsilon = claimed.get("budget_epsilon")
    budget: dict[str, Any] = dict(
        epsilon=math.inf if epsilon == "inf" else epsilon, delta=claimed.get("budget_delta"),
        population=claimed.get("population"),
    )  # fmt: skip
    if (header["trips"] is None) != (mechanism is not TRIPS):
        raise FileFormatError("it says something of trips, or nothing, where its mechanism says otherwise")
    terms: Terms
    if header["trips"] is None:
        terms = Terms(
            **budget, unit=header["unit"], max_weight=header["max_weight"], granularity=header["granularity"],
            unit_l2=header["unit_l2"],
        )  # fmt: skip
    else:
        terms = trip_terms.unpacked(header["trips"], tensors, topology, **budget)
    problem = Problem.of(topology, terms, law)
    if header["trips"] is not None and (header["unit"], header["unit_l2"], header["max_weight"]) != (1.0, None, None):
        raise FileFormatError("its unit is not that of trips")
    if header["granularity"] != problem.lattice.granularity:
        raise FileFormatError("its granularity is not that of its bounds")
    check_fits(mechanism, problem, law)
    labels = ("labels",) if "topology.labels" in tensors else ("labels.text", "labels.ends")
    proxy = ("proxy",) if header["proxy"] else ()
    optional = {"advice.weights"} if header["estimator"] else set()
    optional |= {"trips.low", "trips.high", "trips.emphasis"} if header["trips"] is not None else set()
    known = {"strategy.scales", "values", *optional} | {
        f"topology.{name}" for name in ("tails", "heads", "lower", "upper", "coordinates", *labels, *proxy)
    }
    blocks = []
    for i, kind in enumerate(kinds):
        prefix = f"block{i}."
        arrays = {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
        known |= {prefix + name for name in arrays}
        blocks.append(BLOCKS[kind].from_arrays(arrays, topology))
    if set(tensors) - known:
        raise FileFormatError(f"it has an array {sorted(set(tensors) - known)[0][:40]!r} that does not belong to it")
    scales = _row(tensors, "strategy.scales", np.int64)
    strategy = Strategy(
        mechanism=mechanism.name, topology=topology, terms=terms, lattice=problem.lattice, law=law,
        blocks=tuple(blocks), scales=frozen(scales, np.int64), options=header["options"], details=header["details"],
    )  # fmt: skip
    if reason := mechanism.misfit(strategy):
        raise FileFormatError(f"it cannot have been made by {mechanism.name!r}: {reason}")
    if scales.shape != strategy.group_sizes.shape:  # their range is the certificate's business
        raise FileFormatError("its noise scales do not fit its strategy")
    check_measures(strategy)
    return strategy


def _alike(one: Any, other: Any) -> bool:
    """Equal, but for the last digits of floats: another platform's logarithm may round differently."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)) and not isinstance(other, bool):
        return math.isclose(one, other, rel_tol=1e-9)
    return type(one) is type(other) and bool(one == other)
