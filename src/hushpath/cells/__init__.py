"""One structure for every question: tables and labels over a hierarchy of cells.

``hierarchy`` is the decomposition and its axioms; ``layout`` numbers cells, hubs and boundaries; ``tables`` computes
the distances of each cell, for ``measure`` from lattice weights and for everyone else from published lengths;
``labels`` is one row of numbers per vertex; ``index`` answers; ``storage`` writes and maps the index file.
"""

from __future__ import annotations

from .index import Index

__all__ = ["Index"]
