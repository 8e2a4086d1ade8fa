"""Speeds for OSRM: ``osrm-customize --segment-speed-file``, lines ``from,to,km/h`` of OSM node ids without a header.

OSRM looks up pairs of nodes that are neighbours in OSM itself, and makes a time again from its own great circle between
them: a released edge that was merged of several segments is not found there.
Speeds are whole numbers, because many versions of OSRM stop at any other, and never 0, which would close the road.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import CannotError
from ..files.container import replacing
from ..publish.oracle import Release
from .core import Asked, Format, Written
from .speeds import speeds_of


def _write(releases: Sequence[Release], path: Path, asked: Asked) -> Written:
    (release,) = releases
    labels = release.topology.labels
    if not isinstance(labels[0], int) or labels[0] < 0:  # labels are sorted, and all of a kind
        raise CannotError("OSRM knows nodes by their OSM ids, and nodes of this release are not named by whole numbers")
    speeds = speeds_of(release, asked)
    rows = zip(speeds.tails.tolist(), speeds.heads.tolist(), speeds.kmh.tolist(), strict=True)
    with replacing(path) as temporary, open(temporary, "w", encoding="ascii", newline="\n") as file:
        file.writelines(f"{labels[a]},{labels[b]},{kmh}\n" for a, b, kmh in rows)
    facts = {"speeds": len(speeds.kmh), "cut": speeds.cut, "parallel": speeds.parallel}
    return Written(f"{len(speeds.kmh)} speeds in whole km/h{speeds.words}", facts)


FORMAT = Format(
    "osrm",
    "speeds for `osrm-customize --segment-speed-file`",
    _write,
    takes=frozenset({"lengths", "crs"}),
    unmarked="its lines are two nodes and a speed",
)
