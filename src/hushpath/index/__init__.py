"""A customisable separator hierarchy with hub labels: the structure that is measured, and the index that answers.

``hierarchy`` is the hierarchy of cells that mechanisms measure, with its axioms.  ``tables`` lays out a hierarchy in
flat arrays and fills its tables and labels, for ``measure`` from lattice weights and otherwise from published lengths.
The index of a network is made in three steps, as in customisable contraction hierarchies: ``partition`` contracts
chains and pendant trees and holds the cells of what remains, the core (public, once per network); ``index`` customises
these with the lengths of a release and answers queries.  ``overflow`` decides whether 32 bits suffice, ``storage``
writes and maps the index file, and ``index_registry`` records which index files were made here.
"""

from __future__ import annotations

from .index import Index

__all__ = ["Index"]
