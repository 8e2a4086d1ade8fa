"""The release file: what it holds, and what is proved when one is read (file format).

It holds nothing private, and nothing in it is executed.  A file is untrusted input: every structure is checked against
the topology before it is used, the cost of the release is computed and never taken from the file, and every failure is
a ``FileFormatError``.

A file cannot prove that noise was really drawn from a secret source, nor that the declared unit is true.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import frozen
from ..errors import FileFormatError, HushpathError
from ..estimator.base import SavedEstimate
from ..estimator.registry import ESTIMATORS, estimators_for
from ..io import container
from ..measurement.blocks import BLOCKS, Block, TripBlock
from ..measurement.private_step import Measurements
from ..measurement.strategy import Strategy, WeightTerms, check_law, check_measures
from ..measurement.trip_strategy import NAME as TRIPS
from ..measurement.trip_strategy import TripStrategy, TripTerms, free_flow_of
from ..mechanism.base import Problem, check_fits
from ..mechanism.registry import MECHANISMS
from ..network.labels import MAX_LABEL_LENGTH
from ..network.topology import Topology
from ..noise import SAMPLERS, SECRET_SAMPLERS, Law
from ..privacy.accounting import Budget
from .quantity import Quantity
from .statement import Statement

FORMAT = "hushpath-release"
VERSION = 1
LARGEST_SPECIFICATION = 2**16  # characters
Tensors = dict[str, NDArray[Any]]


def write_release(path: Path | str, measurements: Measurements, statement: Statement, saved: SavedEstimate) -> str:
    """Write a release to ``path`` atomically (the whole file, or nothing) and return its fingerprint.

    It consists of ``measurements``, their ``statement`` and the ``saved`` estimate.
    """
    header, tensors = _pack(measurements, statement, saved)
    return container.write(path, FORMAT, VERSION, header, tensors)


def fingerprint(measurements: Measurements, statement: Statement, saved: SavedEstimate) -> str:
    """Return the digest of the release's file: equal if and only if the content is equal."""
    header, tensors = _pack(measurements, statement, saved)
    return container.digest(container.header_text(header), container.contiguous(tensors))


def read_release(path: Path | str, *, sha256: str | None = None) -> tuple[Measurements, Statement, SavedEstimate, str]:
    """Read a file and prove all of it; also return its fingerprint.  ``sha256`` is what a verified signature names."""
    found = container.read(path, FORMAT, VERSION, sha256=sha256)
    found.check_digest()
    header = found.header
    if container.header_text(header) != found.header_text:  # one content, one text: one fingerprint
        raise FileFormatError(f"{path} is not a valid release: its header is not in canonical form")
    try:
        return *_unpack(header, found.arrays), found.claimed_digest
    except HushpathError as error:
        raise FileFormatError(f"{path} is not a valid release: {error}") from None
    except Exception:  # the checks below should have found it; the fuzzer looks for files that get here
        raise FileFormatError(f"{path} is not a valid release: its parts do not fit together") from None


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
        tensors["estimate.weights"] = saved.weights
    tensors |= strategy.terms.arrays()
    for i, block in enumerate(strategy.blocks):
        tensors |= {f"block{i}.{name}": array for name, array in block.arrays().items()}
    header = {
        "statement": statement.certified,
        "directed": topology.directed,
        "dropped_loops": topology.dropped_loops,
        "proxy": topology.proxy_name,
        "mechanism": strategy.mechanism,
        "law": str(strategy.law),
        "blocks": [block.kind for block in strategy.blocks],
        "options": dict(strategy.options),
        "details": dict(strategy.details),
        "kind": strategy.terms.unit.kind,
        "terms": strategy.terms.header(strategy.lattice),
        "sampler": measurements.sampler,
        "estimator": saved.estimator,
        "quantity": statement.quantity.as_dict(),
        "specification": statement.specification,
    }
    return header, tensors


ARRAY_TYPES: dict[str, type] = {
    "topology.labels": np.int64, "topology.labels.text": np.uint8, "topology.labels.ends": np.int64,
    "topology.tails": np.int64, "topology.heads": np.int64, "topology.lower": np.float64, "topology.upper": np.float64,
    "topology.coordinates": np.float64, "topology.proxy": np.float64, "strategy.scales": np.int64, "values": np.int64,
}  # fmt: skip
HEADER_TYPES: dict[str, type] = {
    "statement": dict, "directed": bool, "dropped_loops": int, "proxy": str, "mechanism": str, "law": str,
    "blocks": list, "options": dict, "details": dict, "kind": str, "terms": dict, "sampler": str, "estimator": str,
    "quantity": dict, "specification": str,
}  # fmt: skip


def _unpack(header: Mapping[str, Any], tensors: Tensors) -> tuple[Measurements, Statement, SavedEstimate]:
    """Prove and return everything a file holds."""
    _check_header(header)
    topology = _read_topology(header, tensors)
    strategy = _read_strategy(header, tensors, topology)
    values = _get_array(tensors, "values")
    if values.shape != (strategy.num_values,):
        raise FileFormatError(f"it holds {values.size} numbers, but its strategy measures {strategy.num_values}")
    private = header["sampler"] in SECRET_SAMPLERS and not strategy.budget.unlimited
    measurements = Measurements(strategy, frozen(values, np.int64), header["sampler"], private)
    claimed = header["statement"]
    quantity = Quantity.from_dict(header["quantity"])
    _check_specification(header["specification"], strategy)
    proved = replace(
        Statement.of(measurements), version=_check_word(claimed.get("version")), quantity=quantity,
        specification=header["specification"],
    )  # fmt: skip
    if not _alike(proved.certified, claimed):
        raise FileFormatError("its statement promises something else than its strategy proves")
    return measurements, proved, _read_estimate(header["estimator"], tensors.get("estimate.weights"), strategy)


def _read_estimate(name: str, weights: NDArray[Any] | None, strategy: Strategy) -> SavedEstimate:
    """Check the saved estimate.  Weights in an untrusted file may be wrong, but not out of bounds."""
    if name and name not in ESTIMATORS:
        raise FileFormatError(f"unknown estimator {name[:40]!r}; a newer version may know it")
    if name and ESTIMATORS[name] not in estimators_for(strategy):
        raise FileFormatError(f"estimator {name!r} does not apply to this kind of release")
    if weights is None:
        return SavedEstimate(name)
    periods = len(strategy.terms.periods)
    low, high = np.tile(strategy.lattice.low, periods), np.tile(strategy.lattice.high, periods)
    if weights.dtype != np.int64 or weights.shape != low.shape or (weights < low).any() or (weights > high).any():
        raise FileFormatError("its estimated weights must be int64, one per edge and period, within the public bounds")
    return SavedEstimate(name, frozen(weights, np.int64))


def _check_header(header: Mapping[str, Any]) -> None:
    if set(header) != set(HEADER_TYPES):
        raise FileFormatError("its header has unknown or missing fields")
    for name, kind in HEADER_TYPES.items():
        if type(header[name]) is not kind:
            raise FileFormatError(f"field {name!r} of its header is not {kind.__name__}")
    if header["sampler"] not in SAMPLERS or header["law"] not in list(Law):
        raise FileFormatError("its noise law or its sampler is unknown")
    if not 0 <= header["dropped_loops"] < 2**62:
        raise FileFormatError("`dropped_loops` must be a number from 0 to 2**62")
    for name in ("options", "details"):
        for key, value in header[name].items():
            _check_word(key)
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, str):
                    _check_word(item)
                elif not isinstance(item, (bool, int, float, type(None))):
                    raise FileFormatError(f"field {name!r} of its header must hold plain values")


def _check_word(text: Any) -> str:
    """Return a short printable text: it may be printed on a terminal."""
    if not isinstance(text, str) or len(text) > MAX_LABEL_LENGTH or not text.isprintable():
        raise FileFormatError("a text in its header must be short and printable")
    return text


def _get_array(tensors: Tensors, name: str) -> NDArray[Any]:
    """Return one array of the file; check its type and shape."""
    array = tensors.get(name)
    if array is None:
        raise FileFormatError(f"it lacks the array {name!r}")
    if array.dtype != ARRAY_TYPES[name] or array.shape[1:] != ((2,) if name == "topology.coordinates" else ()):
        raise FileFormatError(f"array {name!r} has the wrong type or shape")
    return array


def _read_labels(tensors: Tensors) -> list[Any]:
    if "topology.labels" in tensors:
        numbers: list[Any] = _get_array(tensors, "topology.labels").tolist()
        return numbers
    text, ends = _get_array(tensors, "topology.labels.text"), _get_array(tensors, "topology.labels.ends")
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


def _read_topology(header: Mapping[str, Any], tensors: Tensors) -> Topology:
    given = _get_array(tensors, "topology.tails"), _get_array(tensors, "topology.heads")
    labels = _read_labels(tensors)
    coordinates = _get_array(tensors, "topology.coordinates") if "topology.coordinates" in tensors else None
    proxy = _get_array(tensors, "topology.proxy") if header["proxy"] else None
    return Topology.restore(
        labels, *given, directed=header["directed"], dropped_loops=header["dropped_loops"], coordinates=coordinates,
        proxy=proxy, proxy_name=header["proxy"],
        lower=_get_array(tensors, "topology.lower"), upper=_get_array(tensors, "topology.upper"),
    )  # fmt: skip


def _read_strategy(header: Mapping[str, Any], tensors: Tensors, topology: Topology) -> Strategy:
    """Return the strategy of either kind of release, proved against its topology."""
    kinds = {"weights": _weight_strategy, "trips": _trip_strategy}
    if header["kind"] not in kinds:
        raise FileFormatError(f"it is a release of {header['kind'][:40]!r}, which is unknown to this version")
    budget = _read_budget(header["statement"])
    strategy = kinds[header["kind"]](header, tensors, topology, budget)
    _check_arrays(header, tensors, strategy)
    if strategy.scales.shape != strategy.group_sizes.shape:  # their range is checked by the certificate
        raise FileFormatError("its noise scales do not fit its strategy")
    check_measures(strategy)
    return strategy


def _read_budget(claimed: Mapping[str, Any]) -> Budget:
    epsilon = claimed.get("budget_epsilon")
    return Budget(math.inf if epsilon == "inf" else epsilon, claimed.get("budget_delta"))  # type: ignore[arg-type]


def _weight_strategy(header: Mapping[str, Any], tensors: Tensors, topology: Topology, budget: Budget) -> Strategy:
    """Return the strategy that ``header`` and ``tensors`` describe, proved for this ``topology`` and ``budget``."""
    mechanism, law = MECHANISMS.get(header["mechanism"]), Law(header["law"])
    if mechanism is None:
        raise FileFormatError(f"it was made by {header['mechanism'][:40]!r}, which is unknown to this version")
    terms = WeightTerms.from_file(header["terms"], tensors, topology, budget)
    problem = Problem.of(topology, terms, law)
    check_fits(mechanism, problem)
    blocks = _read_blocks(header, tensors, topology)
    if tuple(header["blocks"]) != tuple(block.kind for block in mechanism.measures):
        raise FileFormatError(f"its blocks are not those that {mechanism.name!r} measures")
    strategy = Strategy(
        mechanism=mechanism.name, topology=topology, terms=terms, lattice=problem.lattice, law=law, blocks=blocks,
        scales=frozen(_get_array(tensors, "strategy.scales"), np.int64), options=header["options"],
        details=header["details"],
    )  # fmt: skip
    if reason := mechanism.misfit(strategy):
        raise FileFormatError(f"it cannot have been made by {mechanism.name!r}: {reason}")
    return strategy


def _trip_strategy(header: Mapping[str, Any], tensors: Tensors, topology: Topology, budget: Budget) -> TripStrategy:
    """Return the strategy that ``header`` and ``tensors`` describe, proved for this ``topology`` and ``budget``."""
    if header["mechanism"] != TRIPS or header["options"] or header["details"]:
        raise FileFormatError("a release of trips must not name a mechanism for weights")
    terms, law = TripTerms.from_file(header["terms"], tensors, topology, budget), Law(header["law"])
    free_flow_of(topology)
    check_law(law, budget)
    if law is Law.GAUSSIAN and terms.unit.max_edges is not None:
        raise FileFormatError("`max_edges` applies to Laplace noise only")
    blocks = _read_blocks(header, tensors, topology)
    expected = TripBlock(topology, len(terms.periods)).group_sizes
    if header["blocks"] != [TripBlock.kind] or not np.array_equal(blocks[0].group_sizes, expected):
        raise FileFormatError("its measured periods do not match its period names")
    return TripStrategy(
        mechanism=TRIPS, topology=topology, terms=terms, lattice=terms.lattice(topology), law=law, blocks=blocks,
        scales=frozen(_get_array(tensors, "strategy.scales"), np.int64),
    )  # fmt: skip


def _read_blocks(header: Mapping[str, Any], tensors: Tensors, topology: Topology) -> tuple[Block, ...]:
    """Return the blocks, each proved against the topology."""
    blocks = []
    for i, kind in enumerate(header["blocks"]):
        if not isinstance(kind, str) or kind not in BLOCKS:
            raise FileFormatError(f"it measures {str(kind)[:40]!r}, which is unknown to this version")
        prefix = f"block{i}."
        arrays = {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
        blocks.append(BLOCKS[kind].from_arrays(arrays, topology))
    return tuple(blocks)


def _check_specification(text: str, strategy: Strategy) -> None:
    """Refuse an embedded specification that promises another budget or unit than the certificate proves."""
    if not text:
        return
    if len(text) > LARGEST_SPECIFICATION or not all(line.isprintable() for line in text.split("\n")):
        raise FileFormatError("its specification is too long, or not plain text")
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise FileFormatError("its specification is not valid TOML") from None
    declared, unit = strategy.terms.unit, tables.get("unit")
    if ("trips" in tables) == declared.measures_edges or not isinstance(unit, dict):
        raise FileFormatError("its specification describes another kind of release")
    try:
        same = type(declared)(**unit).as_dict() == declared.as_dict() and Budget(**tables["budget"]) == strategy.budget
    except (TypeError, KeyError):
        same = False
    if not same:
        raise FileFormatError("its specification differs from what its strategy proves")


def _check_arrays(header: Mapping[str, Any], tensors: Tensors, strategy: Strategy) -> None:
    """Refuse arrays that the header does not account for."""
    known = {"strategy.scales", "values", *strategy.terms.arrays()}
    known |= {"estimate.weights"} if header["estimator"] else set()
    labels = ("labels",) if "topology.labels" in tensors else ("labels.text", "labels.ends")
    proxy = ("proxy",) if header["proxy"] else ()
    known |= {f"topology.{name}" for name in ("tails", "heads", "lower", "upper", "coordinates", *labels, *proxy)}
    blocks = tuple(f"block{i}." for i in range(len(strategy.blocks)))
    extra = sorted(name for name in tensors if name not in known and not name.startswith(blocks))
    if extra:
        raise FileFormatError(f"it has an array {extra[0][:40]!r} that does not belong to it")


def _alike(one: Any, other: Any) -> bool:
    """Return whether two values are equal, up to the last digits of floats (platforms round logarithms differently)."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)) and not isinstance(other, bool):
        return math.isclose(one, other, rel_tol=1e-9)
    return type(one) is type(other) and bool(one == other)
