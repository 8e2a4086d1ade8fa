"""For a fixed seed every mechanism measures the same numbers in every version: digests of values and noise scales.

The recorded digests were made before the packages were rearranged.  A digest that changes is a change of the released
numbers, to be explained in the changelog (``python tests/contract/test_seeded_releases.py`` prints the new ones).
"""

import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hushpath

RECORDED = Path(__file__).with_name("seeded_releases.json")
SEED = 11


def _networks():
    """Name, number of nodes and edges: small networks whose separators need no planar embedding."""
    grid = np.arange(36).reshape(6, 6)
    yield "grid", 36, [*zip(grid[:, :-1].flat, grid[:, 1:].flat), *zip(grid[:-1].flat, grid[1:].flat)]  # noqa: B905
    yield "tree", 40, [((3 * i) // 4 if i % 5 else i - 1, i) for i in range(1, 40)]
    yield "path", 33, [(i, i + 1) for i in range(32)]
    yield "dense", 9, [(i, j) for i in range(9) for j in range(i)]


NETWORKS = {name: (nodes, np.array(ends)) for name, nodes, ends in _networks()}
MECHANISMS = (
    "input", "lines", "all-pairs", "cover", "hubs", "hubs-bounded", "tree", "treewidth", "separator", "separator-cover",
)  # fmt: skip
PROTECTS = [(protects, delta) for protects in ("person", "person-day") for delta in (1e-6, 0.0)]


def _digest(measurements):
    parts = (measurements.values, measurements.strategy.scales)
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()


def of_weights(network, mechanism, law, seed=SEED):
    """The digest of a release of weights, or the error where a mechanism does not apply."""
    nodes, ends = NETWORKS[network]
    weights = 5.0 + (np.arange(len(ends)) * 37) % 61 / 4
    net = hushpath.Network.build(range(nodes), *ends.T, weights, upper=40.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = hushpath.release(net, epsilon=1.0, delta=1e-6, unit=2.0, mechanism=mechanism, noise=law, seed=seed)
    except hushpath.HushpathError as error:
        return type(error).__name__
    return _digest(made.measurements)


def of_trips(protects, delta):
    """The digest of a release of trips: forty people on the grid."""
    nodes, ends = NETWORKS["grid"]
    free = 10.0 + np.arange(len(ends)) % 7
    topology = hushpath.Network.build(range(nodes), *ends.T, free, proxy=free).topology
    rows, count = np.arange(4000), len(ends)
    frame = pd.DataFrame({
        "who": rows % 41, "day": (rows // 41) % 3, "from": ends[rows % count, 0], "to": ends[rows % count, 1],
        "seconds": free[rows % count] * (1 + rows % 9 / 4), "period": np.where(rows % 3, "am", "pm"),
    })  # fmt: skip
    trips = hushpath.read_trips(
        frame, topology, person="who", day="day", edge=("from", "to"), seconds="seconds", period="period",
        periods=["am", "pm"],
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = hushpath.release_trips(trips, epsilon=3.0, delta=delta, protects=protects, low=0.5, high=6, seed=SEED)
    return _digest(made.measurements)


def everything():
    """All digests, by name."""
    found = {
        f"{network}/{mechanism}/{law}": of_weights(network, mechanism, law)
        for network in NETWORKS for mechanism in MECHANISMS for law in ("laplace", "gaussian")
    }  # fmt: skip
    return found | {f"trips/{protects}/{delta:g}": of_trips(protects, delta) for protects, delta in PROTECTS}


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("network", NETWORKS)
def test_weights(network, mechanism, law):
    assert of_weights(network, mechanism, law) == json.loads(RECORDED.read_text())[f"{network}/{mechanism}/{law}"]


@pytest.mark.parametrize(("protects", "delta"), PROTECTS)
def test_trips(protects, delta):
    assert of_trips(protects, delta) == json.loads(RECORDED.read_text())[f"trips/{protects}/{delta:g}"]


def test_every_mechanism_is_recorded_and_another_seed_gives_another_digest():
    recorded = json.loads(RECORDED.read_text())
    assert set(MECHANISMS) == set(hushpath.mechanisms()) - {"auto"}
    for mechanism in MECHANISMS:
        assert any(f"/{mechanism}/" in key and len(digest) == 64 for key, digest in recorded.items()), mechanism
    assert of_weights("tree", "input", "laplace", seed=SEED + 1) != recorded["tree/input/laplace"]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(everything(), indent=1) + "\n")
