"""The one private step: exact numbers and noise meet here and nowhere else."""

from __future__ import annotations

from .door import Measurements, measure, measure_trips

__all__ = ["Measurements", "measure", "measure_trips"]
