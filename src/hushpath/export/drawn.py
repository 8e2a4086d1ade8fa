"""Isochrones that somebody asked to have in a file."""

from __future__ import annotations

from typing import Any

from ..errors import OptionError
from ..publish.isochrones import isochrones
from ..publish.oracle import Release
from .core import Asked

NO_STEPS = "an isochrone needs a node and how far to go: --isochrone market --steps 300,600"


def asked_isochrones(release: Release, asked: Asked) -> dict[str, Any]:
    """The collection that ``publish.isochrones`` draws."""
    if asked.isochrone is None or not asked.steps:
        raise OptionError(NO_STEPS)
    if asked.crs is not None:
        raise OptionError("isochrones are drawn in the coordinates of the release; --crs is for edges")
    return isochrones(release, asked.isochrone, list(asked.steps), confidence=asked.held)
