"""For a transport analyst: from an edge list with private travel times to a matrix that may be published.

The edge list is made up here; put your own file in its place.  The map is public, the seconds are private.
"""

import csv
import random

import hushpath
from hushpath.publish.export import write_matrix

SIDE = 9  # streets in each direction


def make_edge_list(path: str) -> None:
    """A town of square blocks; crossing one takes between 20 and 60 seconds."""
    rng = random.Random(1)
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["source", "target", "seconds"])
        for x in range(SIDE):
            for y in range(SIDE):
                for a, b in ((x + 1, y), (x, y + 1)):
                    if a < SIDE and b < SIDE:
                        rows.writerow([f"{x}-{y}", f"{a}-{b}", round(rng.uniform(20, 60), 1)])


make_edge_list("town.csv")
net = hushpath.read_network("town.csv", weight="seconds")

# Yours to declare: one trip moves all averages together by at most 2 seconds, and no block takes more than 60.
plan = hushpath.plan(net.topology, epsilon=1.0, delta=1e-6, unit=2.0, max_weight=60)  # reads no weight
print(plan)

rel = hushpath.release(net, plan=plan)  # the one private step: do it once
rel.save("town.hush")
shape = write_matrix(rel, "matrix.csv", targets=["0-0", "4-4", "8-8"])
print(f"released {shape[0]} x {shape[1]} travel times; across town about {rel.distance('0-0', '8-8'):.0f} seconds")
print(rel.statement)

assert shape == (SIDE * SIDE, 3)
assert rel.statement.private
assert rel.statement.epsilon <= 1
assert hushpath.load("town.hush").distance("0-0", "8-8") == rel.distance("0-0", "8-8")  # a file answers alike
# For the owner's eyes only, since it reads the true weights: within what was proved before anything was measured.
assert hushpath.evaluate(net, rel).mean_error < plan.choice.bound
