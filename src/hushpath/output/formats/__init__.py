"""Export of releases to the files of other programs.

core        what a format is, its options, and the small public tables it reads
speeds      OSRM and Valhalla
maps        GeoJSON and GeoParquet
omx         Open Matrix

Everything is computed from the release, so an export costs no privacy.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..._validate import check_confidence, one_of
from ...errors import CannotError, OptionError
from ...published.release import Release, in_periods
from ...published.statement import NOT_PRIVATE
from .core import ExportOptions, ExportResult, Format
from .maps import GEOJSON, GEOPARQUET
from .omx import OMX
from .speeds import OSRM, VALHALLA

__all__ = ["FORMATS", "export", "find_format"]

FORMATS = {one.name: one for one in (OSRM, VALHALLA, OMX, GEOJSON, GEOPARQUET)}


def find_format(name: str) -> Format:
    """Return the format of this name; raise ``OptionError`` if there is none."""
    return FORMATS[one_of(name, "to", FORMATS)]


def export(release: Release, path: str | os.PathLike[str], to: str, **options: Any) -> ExportResult:
    """Write a release in the format of another program, completely or not at all.

    NOT PRIVATE is written into every file that has room for it; other formats refuse such a release.

    Parameters
    ----------
    release : Release
        Of one period (``rel.for_period("am")``) if the format holds one only.
    path : path
        A file, or a new folder.
    to : str
        The name of a format: a key of ``FORMATS``.
    options
        Fields of ``ExportOptions`` that the format accepts.

    Returns
    -------
    ExportResult
        What was written.

    Raises
    ------
    OptionError
        For an unknown format, an option that the format does not accept, or a missing period.
    CannotError
        If the release is NOT PRIVATE and the format has no room for the marking, or lacks what the format needs.

    Examples
    --------
    >>> import tempfile, hushpath
    >>> net = hushpath.Network.build([1, 2], [0], [1], [60.0], coordinates=[[13.4, 52.5], [13.41, 52.5]])
    >>> rel = hushpath.release(net, epsilon=1.0, unit=1.0, max_weight=90.0, mechanism="input")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hushpath.export(rel, f"{folder}/edges.geojson", "geojson").facts["edges"]
    1
    """
    form = find_format(to)
    unknown = set(options) - set(ExportOptions.__dataclass_fields__)
    if unknown:
        raise OptionError(f"unknown export options: {', '.join(sorted(unknown))}")
    wanted = ExportOptions(**options)
    unused = wanted.given - form.takes
    if unused:
        raise OptionError(f"{form.name} does not accept {', '.join(f'--{name}' for name in sorted(unused))}")
    check_confidence(wanted.interval_confidence)
    if release.statement.marking and form.unmarked:
        raise CannotError(
            f"this release is {NOT_PRIVATE}, and {form.name} files cannot be marked so ({form.unmarked}); "
            "export a private release, or choose another format"
        )
    several = in_periods(release)
    if len(several) > 1 and not form.every_period:
        raise OptionError(f"{form.name} holds one period: add --period, one of {', '.join(several)}")
    return form.write(list(several.values()), Path(path), wanted)
