"""For a data team with a table of people's trips: a matrix of travel times with intervals, and a page, to publish.

The city and its people are simulated; put your own three files in the place of theirs.  The streets are public, the
trips are private: who, on which day, from which corner to which, how many seconds, in the morning or in the evening.
Needs `hushpath[pandas]`.  For a release every month, and a ledger, see `monthly_trips.py`.
"""

from pathlib import Path

import pandas as pd

import hushpath
from hushpath.demo.city import make_city

city = make_city(size=300, people=4000)
city.write(Path("."))  # streets.csv: source, target, free_flow; trips.parquet: person, date, from, to, seconds, period

streets = hushpath.read_topology("streets.csv", directed=True, proxy="free_flow", nodes="city.nodes.csv")
trips = hushpath.read_trips(
    "trips.parquet", streets, person="person", day="date", edge=("from", "to"), seconds="seconds",
    period="period", periods=["am", "pm"],
)  # fmt: skip
print(trips)

# Yours to declare: what one person did on one day is protected, and a pass over a street counts as no less than half
# and no more than six times the time of the empty street.  A plan reads no trip: its last two numbers are guesses.
terms = dict(epsilon=1.0, delta=1e-6, protects="person-day", low=0.5, high=6)
print(hushpath.plan_trips(streets, periods=["am", "pm"], expected_units=15_000, edges_per_unit=50, **terms))

# The one private step: do it once.
rel = hushpath.release_trips(trips, quantity=hushpath.Quantity(date="October 2026"), **terms)
rel.save("city.hush")
hushpath.write_explorer(rel, "city.html", title="Travel times of a city", origin="market")  # open it in a browser
zones = ["market", "station", "university", "hospital", "harbour", "airport", "stadium"]
for period in rel.periods:
    hushpath.write_matrix(rel.for_period(period), f"matrix-{period}.csv", zones, zones, long=True, interval=True)
matrix = pd.read_csv("matrix-am.csv")
print(rel.statement, f"released, in the morning, in seconds:\n{matrix[matrix.source == 'market'].round()}", sep="\n\n")

assert len(matrix) == len(zones) ** 2
assert ((matrix.low <= matrix.distance) & (matrix.distance <= matrix.high)).all()
assert rel.statement.unit.protects == "person-day"
assert rel.statement.private
assert rel.statement.epsilon <= 1
loaded = hushpath.load("city.hush").for_period("am")
assert loaded.distance("market", "airport") == rel.for_period("am").distance("market", "airport")
assert "default-src 'none'" in Path("city.html").read_text(encoding="utf-8")  # the page may load nothing
result = hushpath.evaluate(trips, rel.for_period("am"))  # NOT PRIVATE: for the owner only
assert result.mean_error < result.proxy_scaled_error
