"""Reports as HTML pages and pictures, all in one style.

canvas      figures, axes, colours; a picture as bytes
page        one self-contained HTML page and its parts
texts       what the numbers of a release mean, in the owner's words
pictures    errors against the truth, and predicted error against epsilon
isochrones  isochrones as a picture
release     the report of a release, for its owner or for publication
notebook    what a notebook shows of a release and of a plan
"""
