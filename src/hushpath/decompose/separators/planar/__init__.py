"""Separators of planar networks: at most sqrt(8n) vertices, each side at most 2n/3.  One door: ``Planar``.

The network is embedded once; every cell is split by the theorem of Lipton and Tarjan, then the separator
is shrunk by maximum flow in a band around it.

    leftright.py     the left-right planarity test
    embedding.py     an embedding of the network, and what is left of it in a cell
    cycles.py        triangulation, and the best fundamental cycle of a breadth-first tree
    candidates.py    cycles and levels from several roots: separators that meet the theorem
    refine.py        a smaller separator near a given one
    family.py        the family, and how it splits a cell
"""

from .family import Planar, PlanarSplitter

__all__ = ["Planar", "PlanarSplitter"]
