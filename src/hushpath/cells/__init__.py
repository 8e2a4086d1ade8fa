"""One structure for every question: tables and labels over a tree of cells.

Between the file and the decoders.  ``layout`` numbers cells, hubs and boundaries; ``tables`` holds the distances of
each cell (measured, or computed from published edge weights); ``labels`` one row of numbers per vertex; ``index``
answers; ``storage`` writes and maps the index file.  Nothing here sees private weights: only what was published.
"""

from __future__ import annotations

from .index import Index

__all__ = ["Index"]
