"""Releases in the files of other programs: one file per format, and ``export`` for all of them.

Everything here is made from what is public already, so it costs no privacy.  Each format says what it needs, what it
has room for, and what is refused (docs/EXPORT.md).
"""

from __future__ import annotations

from .registry import FORMATS, export

__all__ = ["FORMATS", "export"]
