"""Separators, and the hierarchy of cells they make.

graph         a bare graph, separators and their two sides, with the packing lemma
general       any network: minimum cuts around METIS bisections and between vertices far apart
planar        planar networks: minimum cuts within the bounds of the theorem of Lipton and Tarjan
treewidth     small treewidth: a bag of a tree decomposition
families      trees and grids; the families by name, and the choice between them
cover         hop covers, and separators with a small one, by contracting clusters
hierarchy     the hierarchy of cells, with its axioms
build         the recursion
lines         public lines of a network
"""
