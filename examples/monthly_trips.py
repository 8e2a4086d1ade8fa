"""For a data engineer: trips of people, two months of releases, and a ledger that knows what each day has cost.

Streets and trips are made up here; put your own files in their place.  The streets are public, the trips are private.
"""

import random

import pandas as pd

import hushpath

SIDE, PEOPLE = 8, 1500
rng = random.Random(1)
corners = [(x, y) for x in range(SIDE) for y in range(SIDE)]
ends = [((x, y), (x + a, y + b)) for x, y in corners for a, b in ((1, 0), (0, 1), (-1, 0), (0, -1))]
ends = [(one, other) for one, other in ends if other in corners]
name = "{0[0]}-{0[1]}".format
streets = pd.DataFrame({"source": [name(a) for a, _ in ends], "target": [name(b) for _, b in ends], "free_flow": 30.0})
streets.to_csv("streets.csv", index=False)

# A row per street passed: who, when, from where to where, how long.  Streets around the middle are slow.
rows = []
for person in range(PEOPLE):
    for month in (9, 10):
        day, at = rng.randint(1, 28), rng.choice(corners)
        for _ in range(rng.randint(5, 30)):
            there = rng.choice([b for a, b in ends if a == at])
            seconds = 30 * rng.uniform(0.8, 1.2) * (1.2 + 1.5 * (2 <= at[0] <= 5 and 2 <= at[1] <= 5))
            rows.append([person, f"2026-{month:02d}-{day:02d}", name(at), name(there), seconds])
            at = there
pd.DataFrame(rows, columns=["who", "date", "from", "to", "seconds"]).to_csv("trips.csv", index=False)

topology = hushpath.read_topology("streets.csv", directed=True, proxy="free_flow")
trips = hushpath.read_trips("trips.csv", topology, person="who", day="date", edge=("from", "to"), seconds="seconds")
ledger = hushpath.Ledger.create("town.ledger", dataset="town", protects="person-day", epsilon=2.0, delta=1e-6)

# What one person did on one day is protected.  Each day is in one month, so both months may spend the whole budget.
terms = dict(epsilon=2.0, delta=1e-6, protects="person-day", low=0.5, high=6, ledger="town.ledger")
for first, last in (("2026-09-01", "2026-09-30"), ("2026-10-01", "2026-10-31")):
    rel = hushpath.release_trips(trips, days=(first, last), **terms)
    rel.save(f"{first}.hush")
    print(f"released {first} to {last}: across town about {rel.distance('0-0', '7-7'):.0f} seconds")

assert rel.statement.unit.protects == "person-day"
assert len(ledger.charges()) == 2
assert ledger.spent().epsilon <= 2
try:
    hushpath.release_trips(trips, days=("2026-10-05", "2026-10-05"), **terms)  # this day was charged already
except hushpath.HushpathError as refused:
    print(refused)
else:
    raise AssertionError("a day was charged twice")
result = hushpath.evaluate(trips, rel)  # NOT PRIVATE: for the owner only
assert result.mean_error < result.proxy_error
