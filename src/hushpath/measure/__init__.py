"""The one private step: exact numbers and noise meet here and nowhere else."""

from __future__ import annotations

from .door import Measurements, measure

__all__ = ["Measurements", "measure"]
