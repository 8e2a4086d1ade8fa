"""The laboratory: every mechanism on generated networks, measured against the truth.  NOT PRIVATE throughout.

networks    generated networks by class and size
files       edge lists the user names
weights     generated weights, all with median 1
cells       what to measure: network x weights x noise x mechanism, each with an id
trial       one cell: seeded releases compared with the truth
store       finished cells, one JSON line each; a killed run continues
runner      cells to results, with two worker processes
tables      the final table; fitted exponents, winners, coverage
table1      the paper's Table 1: bounds from certificates, up to a thousand million nodes
theorems    the exponents the theorems state
canvas, pictures, phases, pages, report    what people look at
study       a whole run
"""
