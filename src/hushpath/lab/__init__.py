"""The laboratory: every mechanism on generated networks, measured against the truth.  NOT PRIVATE throughout.

networks    generated networks by class and size
weights     generated weights, all with median 1
edge_lists  networks the user names, with weights of their own
cases       what to measure: network x weights x noise x mechanism, each with an id
trial       one case: seeded releases compared with the truth
store       finished cases, one JSON line each; a killed run continues
runner      cases to results, with two worker processes
theorems    the exponents the theorems state
table1      the paper's Table 1: bounds from certificates, up to a thousand million nodes
tables      the final table; fitted exponents, winners, coverage
pictures    the same as pictures
findings    every table and picture of a run
page        one page to look at
study       a whole run
"""
