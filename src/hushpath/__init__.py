"""hushpath: publish all distances of a network without publishing anyone's data.

The data flows one way, and the files read in that order:

    topology, facts, weights, network, readers  what an owner has: a public graph, private weights
    noise                                       the one door to randomness
    privacy                                     sensitivity, certificate, accounting
    decompose, strategy, bounds, predict        what to measure, with how much noise; proved and expected error (public)
    exact, measure                              the one private step
    cautions, statement                         what is promised, and what deserves a second look
    container, fileformat, keys, signing        what is published, and by whom
    engine, decode, oracle, export              any distance from it, for ever (public again)
    planning, publish, evaluation               the choice; a release in one call; true error for the owner
    demo, lab, cli                              for people
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._version import __version__
from .compiled import settle

if TYPE_CHECKING:
    from .errors import HushpathError, HushpathWarning
    from .evaluation import evaluate
    from .network import Network
    from .oracle import Release, load
    from .planning import plan
    from .publish import mechanisms, release
    from .readers import read_network, read_topology
    from .topology import Topology

# Imported on first use: `hushpath --help` must not pay for numerical libraries.
_HOME = {
    "HushpathError": "errors",
    "HushpathWarning": "errors",
    "Network": "network",
    "Release": "oracle",
    "Topology": "topology",
    "evaluate": "evaluation",
    "load": "oracle",
    "mechanisms": "publish",
    "plan": "planning",
    "read_network": "readers",
    "read_topology": "readers",
    "release": "publish",
}

__all__ = [
    "HushpathError", "HushpathWarning", "Network", "Release", "Topology", "__version__", "evaluate", "load",
    "mechanisms", "plan", "read_network", "read_topology", "release",
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
