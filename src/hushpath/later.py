"""The one place where the flow is turned back: methods of an object that belong to a room further down.

People look for ``rel.explore()`` on a release, although pages are made of releases and not the other way round.  Such a
method finds its room by name, when it is called; nothing of the object depends on what is found there.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def later(module: str) -> Any:
    """A module of a later room: ``later("page.write")``."""
    return import_module(f"{__package__}.{module}")
