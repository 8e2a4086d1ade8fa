"""Pages to look at, all of one style: the report of any release, and the parts that other reports are made of.

canvas      figures, axes, colours; a picture as bytes
page        one self-contained HTML page: sections, tables, figures, what is marked
setting     what the numbers of a release mean, in its owner's words
pictures    a map of released distances; released against true ones
sections    what a report of a release says, each part a function of what it may see
release     the report of any release, for its owner or for everybody
"""
