"""The exceptions and the warning that hushpath raises.

    HushpathError
    ├── InputError          the caller can correct it: bad file, bad option, unknown label   (exit code 2)
    │   ├── NetworkError    the network itself: schema, labels, bounds
    │   ├── OptionError     an argument: epsilon, mechanism, noise, max_weight
    │   └── FileFormatError a file that is not a release, is damaged, or is newer than this program
    └── CannotError         a sound request that cannot be met here                       (exit code 1)
        └── BudgetError     a strategy whose certificate exceeds the budget, or what a ledger has left

    HushpathWarning         (a UserWarning) a public fact that the caller should look at; nothing was stopped

Messages state the rule, the public value that broke it and the place.  They never hold a weight or anything computed
from weights.  A weight that is missing or not a number is reported by its row.
"""

from __future__ import annotations

import sys
import warnings


class HushpathError(Exception):
    """Base of every error hushpath raises on purpose."""

    exit_code = 1


class InputError(HushpathError):
    """An input of the caller cannot be used."""

    exit_code = 2


class NetworkError(InputError):
    """The network cannot be read or is not supported."""


class OptionError(InputError):
    """An argument is missing, out of range or does not fit the others."""


class FileFormatError(InputError):
    """A file is not a readable hushpath release."""


class CannotError(HushpathError):
    """A sound request that cannot be met: too large, a missing optional package, no permission."""


class BudgetError(CannotError):
    """A strategy would cost more than the budget, or than is left of it; raised before any weight is read."""


class HushpathWarning(UserWarning):
    """A public fact worth a second look.  Never depends on a weight."""


def warn(text: str) -> None:
    """Issue a ``HushpathWarning`` that points at the first line outside of hushpath."""
    frame, level, package = sys._getframe(), 1, __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, HushpathWarning, stacklevel=level)


def one_line(text: object, longest: int = 600) -> str:
    """Return text as one printable line of bounded length, whatever names it quotes."""
    words = " ".join(str(text).split())
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words)
    return shown if len(shown) <= longest else f"{shown[: longest // 2]} ... {shown[-longest // 2 :]}"
