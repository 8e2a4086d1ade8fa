"""One structure for every question: tables and labels over a hierarchy of cells.

``hierarchy`` is what mechanisms measure, and its axioms; ``layout`` numbers cells, hubs and boundaries; ``tables``
computes the distances of each cell, for ``measure`` from lattice weights and for everyone else from published lengths.
For the index of a network ``fold`` takes away chains and pendant trees, and ``decomposition`` is the rest, cut once
and kept in a file; ``labels`` is one row of numbers per vertex; ``span`` says whether 32 bits are enough for each;
``index`` answers; ``storage`` writes and maps the index file, and ``known`` remembers which were made here.
"""

from __future__ import annotations

from .index import Index

__all__ = ["Index"]
