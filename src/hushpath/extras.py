"""Packages that not everybody has: what to install where one is missing, said in one way.

A minimal install releases and answers; the rest are extras (docs/INSTALL.md).  They are imported where they are used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .errors import CannotError


def library(module: str, extra: str, what: str) -> Any:
    """An optional module: ``library("pandas", "pandas", "a table")``, or an error that names the extra."""
    try:
        return import_module(module)
    except ImportError:
        raise absent(module, extra, what) from None


def absent(module: str, extra: str, what: str) -> CannotError:
    """What to say of a package that is not installed.

    >>> print(absent("matplotlib.pyplot", "pictures", "a picture"))
    a picture needs matplotlib: pip install 'hushpath[pictures]'
    """
    return CannotError(f"{what} needs {module.partition('.')[0]}: pip install 'hushpath[{extra}]'")


def installed(module: str) -> bool:
    """Whether a package could be imported; does not import it."""
    return find_spec(module) is not None


def imported(module: str) -> Any:
    """A module if somebody has imported it already, else None: whoever passes one of its objects has."""
    return sys.modules.get(module)
