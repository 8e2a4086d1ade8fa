"""Optional packages, and plugins that other packages register.

A minimal install releases and answers; the rest are extras, imported where they are used.  Mechanisms, decoders and
estimators can be added as entry points of any installed package (the guide to extending).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any, TypeVar, cast

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


def with_plugins(group: str, built_in: Iterable[Kind], accepts: Callable[[Any], bool]) -> dict[str, Kind]:
    """Return what is built in, then what installed packages register under an entry point group, by name.

    A plugin that cannot be loaded, is not accepted, or has a name that is taken is left out with a warning.
    """
    found = {cast(Any, one).name: one for one in built_in}
    for point in entry_points(group=group):
        try:
            one = point.load()
            reason = "" if accepts(one) else "it is of another type"
            if not reason and one.name in found:
                reason = f"the name {one.name!r} is taken"
        except Exception as error:
            reason = f"it cannot be loaded ({type(error).__name__})"
        if reason:
            warn(f"plugin {point.value!r} of {group!r} is left out: {reason}")
        else:
            found[one.name] = one
    return found
