"""Export of releases to the files of other programs.

Everything is computed from the release, so an export costs no privacy.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from ..._validate import check_confidence, one_of
from ...errors import CannotError, OptionError
from ...published.release import Release, in_periods
from ...published.statement import NOT_PRIVATE
from .maps import write_geojson, write_geoparquet
from .omx import write_omx
from .speeds import write_osrm, write_valhalla

__all__ = ["FORMATS", "export", "find_format"]


class ExportResult(NamedTuple):
    """What was written: one sentence, and the same as facts for programs."""

    text: str
    facts: dict[str, Any]


@dataclass(frozen=True)
class Format:
    """One export format.

    ``write(release, path, **options)`` returns a sentence and facts about what was written; its keyword-only
    parameters are the options that the format accepts.
    """

    write: Callable[..., tuple[str, dict[str, Any]]]
    unmarked: str = ""  # why a file of this format cannot be marked NOT PRIVATE; empty if it can
    folder: bool = False  # whether a folder is written instead of a file
    every_period: bool = False  # whether one file holds all periods


FORMATS = {
    "osrm": Format(write_osrm, unmarked="a line is two nodes and a speed"),
    "valhalla": Format(write_valhalla, unmarked="a line is an id and two speeds", folder=True),
    "omx": Format(write_omx, every_period=True),
    "geojson": Format(write_geojson),
    "geoparquet": Format(write_geoparquet),
}


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
        What the format accepts; options that are None or False count as not given.

        * ``lengths`` (osrm, valhalla): a public CSV file with columns source, target and length in metres, or its rows.
        * ``ids`` (valhalla): a public CSV file with columns source, target and edge_id, or its rows.
        * ``night`` (valhalla): the period of free-flow speeds.
        * ``zones`` (omx): a file of zones, or nodes, or pairs of a number and a node.
        * ``interval`` (omx): also write the ends of intervals.
        * ``isochrone``, ``steps`` (geojson, geoparquet): write isochrones of this origin with these limits.
        * ``crs`` (all but omx): the coordinate reference system of the coordinates.
        * ``confidence`` (omx, geojson, geoparquet): of the intervals; 0.9 by default.

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
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    if unused := given.keys() - signature(form.write).parameters.keys():
        raise OptionError(f"{to} does not accept {', '.join(f'--{name}' for name in sorted(unused))}")
    if "confidence" in given:
        check_confidence(given["confidence"])
    if release.statement.marking and form.unmarked:
        raise CannotError(
            f"this release is {NOT_PRIVATE}, and {to} files cannot be marked so ({form.unmarked}); "
            "export a private release, or choose another format"
        )
    several = in_periods(release)
    if len(several) > 1 and not form.every_period:
        raise OptionError(f"{to} holds one period: add --period, one of {', '.join(several)}")
    shown = release if form.every_period else next(iter(several.values()))
    return ExportResult(*form.write(shown, Path(path), **given))
