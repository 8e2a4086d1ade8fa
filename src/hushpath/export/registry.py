"""The formats by name, one line each, and the one way to write any of them."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import CannotError, OptionError
from ..publish.asked import check_confidence
from ..publish.oracle import Release, in_periods
from ..publish.statement import NOT_PRIVATE
from .core import Asked, Format, Written

FILES = (
    "osrm",
    "valhalla",
    "omx",
    "geojson",
    "geoparquet",
)
_made: list[Format] = [import_module(f"{__package__}.{file}").FORMAT for file in FILES]
FORMATS = {one.name: one for one in _made}


def format_named(name: str) -> Format:
    """The format of this name."""
    if not isinstance(name, str) or name not in FORMATS:
        raise OptionError(f"no format is called {str(name)[:40]!r}; choose from: {', '.join(FORMATS)}")
    return FORMATS[name]


def export(release: Release, path: str | os.PathLike[str], to: str, **asked: Any) -> Written:
    """Write a release in the format of another program, complete or not at all (docs/EXPORT.md).

    ``asked`` are the names of ``hushpath.export.core.Asked``.  Where a format holds one period, ask a release that is
    of one (``rel.at("am")``).  NOT PRIVATE goes into every file that has room for it, and what has none is refused.
    """
    form = format_named(to)
    unknown = set(asked) - set(Asked.__dataclass_fields__)
    if unknown:
        raise OptionError(f"an export is not asked for {', '.join(sorted(unknown))}")
    wanted = Asked(**asked)
    strange = wanted.given - form.takes
    if strange:
        raise OptionError(f"{form.name} has no use for {', '.join(f'--{name}' for name in sorted(strange))}")
    check_confidence(wanted.held)
    if release.statement.marking and form.unmarked:
        raise CannotError(
            f"this release is {NOT_PRIVATE}, and {form.name} has no room to say so ({form.unmarked}); "
            "export one that is private, or write another format"
        )
    return form.write(_times(release, form), Path(path), wanted)


def _times(release: Release, form: Format) -> list[Release]:
    """The release at each of the times that are written."""
    several = in_periods(release)
    if len(several) > 1 and not form.every_period:
        raise OptionError(f"{form.name} holds one period: add --period, one of {', '.join(several)}")
    return list(several.values())
