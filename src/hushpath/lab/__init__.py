"""The laboratory: every mechanism on generated networks, measured against the truth.  NOT PRIVATE throughout.

networks    generated networks by class and size
weights     generated weights, all with median 1
edge_lists  networks the user names, with weights of their own
cases       what to measure: network x weights x noise x mechanism x estimator, each with an id
trial       cases of one measurement: seeded releases, read by every estimator, compared with the truth
store       finished cases, one JSON line each; a killed run continues
runner      cases to results, with two worker processes
theorems    the shapes of the theorems' bounds
tables      the final table; fitted exponents, winners, coverage, estimators
rates       the paper's Table 1 measured, where nothing is clipped
table1      the paper's Table 1 predicted: bounds from certificates, up to a thousand million nodes
pictures    the same as pictures; table1_pictures
findings    every table and picture of a run
page        one page to look at; table1_page
study       a whole run
"""
