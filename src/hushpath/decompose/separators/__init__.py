"""Ways to find separators, one file per family; ``families.py`` beside this folder names them and chooses.

Stage 2 of 6.

    centroid.py      trees: one vertex; also the packing lemma that the others use
    bags.py          small treewidth: a bag of a tree decomposition
    grid.py          full grids: a straight line
    planar.py        planar networks: a cycle, shrunk by flow
    contraction.py   separators with a small hop cover, by contracting clusters
    general.py       any network: minimum cuts around METIS bisections and between vertices far apart
"""
