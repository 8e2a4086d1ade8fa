"""A customisable separator hierarchy with hub labels.

``tables`` lays out a hierarchy in flat arrays and fills them: from lattice weights in the private step, else from
published lengths.  ``partition`` contracts chains and pendant trees and splits the rest, the core (public, once per
network); ``index`` customises it with the lengths of a release and answers queries.  ``storage`` writes and maps the
index file; ``registry`` records which index files were made here.
"""

from __future__ import annotations

from .index import Index

__all__ = ["Index"]
