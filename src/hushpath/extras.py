"""Optional packages, and plugins that other packages register.

A minimal install releases and answers; the rest are extras, imported where they are used.  Mechanisms, decoders and
estimators can be added as entry points of any installed package (the guide to extending).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any, TypeVar

from .errors import CannotError, warn

Kind = TypeVar("Kind")


def library(module: str, extra: str, what: str) -> Any:
    """Import an optional module: ``library("pandas", "pandas", "a table")``, or raise an error that names the extra."""
    try:
        return import_module(module)
    except ImportError:
        raise absent(module, extra, what) from None


def absent(module: str, extra: str, what: str) -> CannotError:
    """Return the error for a package that is not installed.

    >>> print(absent("matplotlib.pyplot", "pictures", "a picture"))
    a picture needs matplotlib: pip install 'hushpath[pictures]'
    """
    return CannotError(f"{what} needs {module.partition('.')[0]}: pip install 'hushpath[{extra}]'")


def installed(module: str) -> bool:
    """Return whether a package can be imported, without importing it."""
    return find_spec(module) is not None


def imported(module: str) -> Any:
    """Return a module that was imported already, else None."""
    return sys.modules.get(module)


def plugins(group: str, kind: type[Kind]) -> Iterator[Kind]:
    """Yield the objects of this kind that installed packages register under an entry point group.

    One that cannot be loaded, or is of another kind, is skipped with a warning.
    """
    for point in entry_points(group=group):
        try:
            found = point.load()
        except Exception as error:
            warn(f"plugin {point.value!r} of {group!r} is skipped: it cannot be loaded ({type(error).__name__})")
            continue
        if isinstance(found, kind):
            yield found
        else:
            warn(f"plugin {point.value!r} of {group!r} is skipped: it is not a {kind.__name__}")
