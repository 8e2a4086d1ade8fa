"""The lab: every mechanism on generated networks, compared with the truth.  NOT PRIVATE throughout.

networks    generated networks and weights by class, size and kind, and edge lists of the user
cases       what to measure: network x weights x noise x mechanism, each with an id
measure     one case: seeded releases, decoded by every estimator, compared with the truth
tables      the long table of results; fitted exponents, best mechanisms, coverage, estimators
table1      Table 1 of the paper: predicted bounds and measured rates
pictures    the same as pictures
report      every table and picture of a run, and the report
study       a whole run, which continues if it was interrupted
"""
