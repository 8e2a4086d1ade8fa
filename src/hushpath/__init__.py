"""hushpath: publish all distances of a network without publishing anyone's data.

The data flows one way, through the rooms of this house in this order:

    data       what an owner has: a public graph, private weights or trips
    files      arrays in a file, keys and signatures
    noise      the one door to randomness
    privacy    what a release costs, proved from public facts
    kernels    compiled loops without options; slow twins are in the tests
    cells      a hierarchy of cells, its tables and the index over it
    decompose  how a network falls into cells, and into lines
    blocks     the kinds of measurement, one file each
    strategy   what to measure, with how much noise: one file per mechanism
    measure    the one private step
    estimate   from noisy numbers to the weights that are searched: one file per estimator
    decode     answers from measurements, one file per decoder: reads, answers, bound, prediction
    publish    plan, release, file; every question one may ask
    output     tables of distances in files, in folders and over HTTP
    export     releases in the files of other programs, one file per format
    page       one file to open and explore a release
    report     pages to look at, all of one style
    serve      answers over HTTP, for programs and maps
    demo       the story on a built-in city
    lab        every mechanism side by side
    cli        one file per verb

Errors, arrays, compiled code and progress bars lie beside them; docs/ARCHITECTURE.md draws the house.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._version import __version__
from .compiled import settle

if TYPE_CHECKING:
    from .cells.partition import Partition
    from .data.network import Network
    from .data.readers import read_network, read_topology
    from .data.topology import Topology
    from .data.trips import Trips, read_trips
    from .decompose.dissection import partition
    from .errors import HushpathError, HushpathWarning
    from .export import export
    from .noise import Noise
    from .output.matrix import write_matrix
    from .page.write import write_explorer
    from .privacy.accounting import Budget
    from .privacy.ledger import Ledger
    from .privacy.units import TripUnit, WeightUnit
    from .publish.evaluate import evaluate
    from .publish.oracle import Release, load
    from .publish.plan import plan, plan_trips
    from .publish.quantity import Quantity
    from .publish.release import mechanisms, release, release_trips
    from .publish.series import Schedule, SeriesRun, series
    from .publish.spec import ReleaseSpec, read_spec

# Imported on first use: `hushpath --help` must not pay for numerical libraries.
_MODULES = {
    "cells.partition": ("Partition",),
    "data.network": ("Network",),
    "data.readers": ("read_network", "read_topology"),
    "data.topology": ("Topology",),
    "data.trips": ("Trips", "read_trips"),
    "decompose.dissection": ("partition",),
    "errors": ("HushpathError", "HushpathWarning"),
    "export": ("export",),
    "noise": ("Noise",),
    "output.matrix": ("write_matrix",),
    "page.write": ("write_explorer",),
    "privacy.accounting": ("Budget",),
    "privacy.ledger": ("Ledger",),
    "privacy.units": ("TripUnit", "WeightUnit"),
    "publish.evaluate": ("evaluate",),
    "publish.oracle": ("Release", "load"),
    "publish.plan": ("plan", "plan_trips"),
    "publish.quantity": ("Quantity",),
    "publish.release": ("mechanisms", "release", "release_trips"),
    "publish.series": ("Schedule", "SeriesRun", "series"),
    "publish.spec": ("ReleaseSpec", "read_spec"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Budget", "HushpathError", "HushpathWarning", "Ledger", "Network", "Noise", "Partition", "Quantity", "Release",
    "ReleaseSpec", "Schedule", "SeriesRun", "Topology", "TripUnit", "Trips", "WeightUnit", "__version__", "evaluate",
    "export", "load", "mechanisms", "partition", "plan", "plan_trips", "read_network", "read_spec", "read_topology",
    "read_trips", "release", "release_trips", "series", "write_explorer", "write_matrix",
]  # fmt: skip


settle(Path(__file__).parent)  # here, because every kernel is imported after this


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hushpath' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
