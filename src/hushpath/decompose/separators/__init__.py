"""Kinds of separators, one file per family; ``families.py`` beside this folder names them and chooses.

sides.py         from a set of vertices to two sides, with the packing lemma that the others use
tree.py          networks without cycles: one vertex
treewidth.py     small treewidth: a bag of a tree decomposition
grid.py          full grids: a straight line
general.py       any network: minimum cuts around METIS bisections and between vertices far apart
planar.py        planar networks: minimum cuts within the bounds of the theorem of Lipton and Tarjan
contraction.py   separators with a small hop cover, by contracting clusters
"""
