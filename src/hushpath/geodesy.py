"""Metres on Earth, taken as a sphere: distances between longitudes and latitudes, and a plane around a latitude."""

from __future__ import annotations

import math

import numpy as np

from .arrays import Float

EARTH_RADIUS = 6_371_008.8  # metres, the mean radius


def great_circle(start: Float, end: Float) -> Float:
    """Return the metres between longitudes and latitudes in degrees, along the surface of the sphere.

    >>> round(float(great_circle(np.array([[13.4, 52.5]]), np.array([[13.4, 53.5]]))[0]))
    111195
    """
    (x0, y0), (x1, y1) = np.radians(start).T, np.radians(end).T
    half = np.sin((y1 - y0) / 2) ** 2 + np.cos(y0) * np.cos(y1) * np.sin((x1 - x0) / 2) ** 2
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.clip(half, 0, 1))), np.float64)


def unit_vectors(places: Float) -> Float:
    """Return longitudes and latitudes as points on a sphere of radius 1: nearest there is nearest on Earth."""
    longitude, latitude = np.radians(places).T
    level = np.cos(latitude)
    return np.stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)], axis=1)


def metres_per_degree(latitude: float) -> Float:
    """Return the metres of a degree of longitude and of latitude: a plane for a city or region around a latitude."""
    scale = np.radians(1.0) * EARTH_RADIUS
    return np.array([scale * max(math.cos(math.radians(latitude)), 1e-6), scale], np.float64)
