"""Kinds of separators, one file or folder per family; ``families.py`` beside this folder names them and chooses.

sides.py         from a set of vertices to two sides, with the packing lemma that the others use
centroid.py      networks without cycles: one vertex
elimination.py   an elimination order of small width
bags.py          small treewidth: a bag of a tree decomposition
grid.py          full grids: a straight line
flow.py          the fewest vertices between two sets
general.py       any network: minimum cuts around METIS bisections and between vertices far apart
planar/          planar networks: a cycle, shrunk by flow
contraction.py   separators with a small hop cover, by contracting clusters
"""
