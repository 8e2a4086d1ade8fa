"""hushpath: publish all distances of a network without publishing anyone's data.

The data flows one way, through these packages in this order:

    network      public topology and private weights
    io           file formats: network readers, the release container, signatures
    trips        people's trips: the private table, read row by row
    noise        exact discrete noise; the only source of randomness
    privacy      protected units, certificates, composition and the ledger
    kernels      compiled loops
    separators   separators, and the hierarchy of cells they make
    index        a customisable separator hierarchy with hub labels
    measurement  what can be measured, exact arithmetic, and the private step
    mechanism    what to measure, with how much noise: one file per mechanism
    estimator    from noisy numbers to edge weights
    decoder      from measurements to distances and intervals
    published    the release: statement, file, and every query
    planning     what error to expect, from public facts
    releasing    release, series, specification file, evaluation
    output       distance tables, exports, the page and reports
    serve        answers over HTTP
    demo, lab    a built-in city; every mechanism side by side
    cli          the command line
    extension    what a mechanism, decoder or estimator of another package is written with
    testing      the tests that it inherits

Everything documented is ``hushpath.X``.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._version import __version__
from .compiled import choose_cache_folder
from .errors import (
    BudgetError,
    CannotError,
    FileFormatError,
    HushpathError,
    HushpathWarning,
    InputError,
    NetworkError,
    OptionError,
)

if TYPE_CHECKING:
    from .index.partition import Partition, partition
    from .io.readers import read_network, read_topology
    from .io.signing import make_keys
    from .network.network import Network
    from .network.topology import Topology
    from .noise import Noise
    from .output.formats import export
    from .output.isochrones import isochrones
    from .output.matrix import write_matrix
    from .output.page.explorer import write_explorer
    from .planning.plan import plan
    from .planning.predict import Candidate
    from .planning.result import Plan, Sweep
    from .planning.trips import TripPlan, plan_trips
    from .privacy.accounting import Budget
    from .privacy.composition import Spending
    from .privacy.ledger import Ledger
    from .privacy.units import TripUnit, WeightUnit
    from .published.quantity import Quantity
    from .published.release import Release, Route, load
    from .published.statement import Statement
    from .releasing.evaluate import Evaluation, evaluate
    from .releasing.release import mechanisms, release, release_trips
    from .releasing.schedule import Schedule
    from .releasing.series import SeriesRun, series
    from .releasing.spec import ReleaseSpec, read_spec
    from .serve import make_app
    from .trips.trips import Trips, read_trips

# Imported on first use: `hushpath --help` must not pay for numerical libraries.
_MODULES = {
    "index.partition": ("Partition", "partition"),
    "io.readers": ("read_network", "read_topology"),
    "io.signing": ("make_keys",),
    "network.network": ("Network",),
    "network.topology": ("Topology",),
    "noise": ("Noise",),
    "output.formats": ("export",),
    "output.isochrones": ("isochrones",),
    "output.matrix": ("write_matrix",),
    "output.page.explorer": ("write_explorer",),
    "planning.plan": ("plan",),
    "planning.predict": ("Candidate",),
    "planning.result": ("Plan", "Sweep"),
    "planning.trips": ("TripPlan", "plan_trips"),
    "privacy.accounting": ("Budget",),
    "privacy.composition": ("Spending",),
    "privacy.ledger": ("Ledger",),
    "privacy.units": ("TripUnit", "WeightUnit"),
    "published.quantity": ("Quantity",),
    "published.release": ("Release", "Route", "load"),
    "published.statement": ("Statement",),
    "releasing.evaluate": ("Evaluation", "evaluate"),
    "releasing.release": ("mechanisms", "release", "release_trips"),
    "releasing.schedule": ("Schedule",),
    "releasing.series": ("SeriesRun", "series"),
    "releasing.spec": ("ReleaseSpec", "read_spec"),
    "serve": ("make_app",),
    "trips.trips": ("Trips", "read_trips"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Budget", "BudgetError", "Candidate", "CannotError", "Evaluation", "FileFormatError", "HushpathError",
    "HushpathWarning", "InputError", "Ledger", "Network", "NetworkError", "Noise", "OptionError", "Partition",
    "Plan", "Quantity", "Release", "ReleaseSpec", "Route", "Schedule", "SeriesRun", "Spending", "Statement",
    "Sweep", "Topology", "TripPlan", "TripUnit", "Trips", "WeightUnit", "__version__", "evaluate", "export",
    "isochrones", "load", "make_app", "make_keys", "mechanisms", "partition", "plan", "plan_trips", "read_network",
    "read_spec", "read_topology", "read_trips", "release", "release_trips", "series", "write_explorer",
    "write_matrix",
]  # fmt: skip

choose_cache_folder(Path(__file__).parent)  # here, because every kernel is imported after this


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hushpath' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
