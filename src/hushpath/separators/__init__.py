"""Separators, and the hierarchy of cells they make.

graph         a bare graph, and what a separator is
hierarchy     the hierarchy of cells, with its axioms
cover         hop covers
sides         from a set of vertices to two sides, with the packing lemma
tree          networks without cycles: one vertex
treewidth     small treewidth: a bag of a tree decomposition
grid          full grids: a straight line
general       any network: minimum cuts around METIS bisections and between vertices far apart
planar        planar networks: minimum cuts within the bounds of the theorem of Lipton and Tarjan
contraction   separators with a small hop cover, by contracting clusters
families      the families by name, and the choice between them
build         the recursion
lines         public lines of a network
"""
