"""For a transport analyst: from private travel times on the edges of a metro to a matrix that may be published.

The stations are those of the Prague metro, in order; the seconds between them are made up here.  Put your own edge list
in the place of `metro.csv`: the lines are public, the seconds are private.  Needs no more than hushpath.
"""

import csv
import random
from itertools import pairwise

import hushpath

A = """Nemocnice Motol, Petřiny, Nádraží Veleslavín, Bořislavka, Dejvická, Hradčanská, Malostranská, Staroměstská,
Můstek, Muzeum, Náměstí Míru, Jiřího z Poděbrad, Flora, Želivského, Strašnická, Skalka, Depo Hostivař"""
B = """Zličín, Stodůlky, Luka, Lužiny, Hůrka, Nové Butovice, Jinonice, Radlická, Smíchovské nádraží, Anděl,
Karlovo náměstí, Národní třída, Můstek, Náměstí Republiky, Florenc, Křižíkova, Invalidovna, Palmovka, Českomoravská,
Vysočanská, Kolbenova, Hloubětín, Rajská zahrada, Černý Most"""
C = """Letňany, Prosek, Střížkov, Ládví, Kobylisy, Nádraží Holešovice, Vltavská, Florenc, Hlavní nádraží, Muzeum,
I. P. Pavlova, Vyšehrad, Pražského povstání, Pankrác, Budějovická, Kačerov, Roztyly, Chodov, Opatov, Háje"""
lines = [line.replace("\n", " ").split(", ") for line in (A, B, C)]

rng = random.Random(1)
with open("metro.csv", "w", newline="", encoding="utf-8") as file:
    rows = csv.writer(file)
    rows.writerow(["source", "target", "seconds"])  # the mean of what passengers took from one stop to the next
    rows.writerows([*ends, round(rng.uniform(75, 170), 1)] for line in lines for ends in pairwise(line))

net = hushpath.read_network("metro.csv", weight="seconds")

# Yours to declare, never computed from the data: one passenger moves all means together by at most 3 seconds, no mean
# is above 240, and about half of them lie between 90 and 150.
terms = dict(epsilon=1.0, delta=1e-6, unit=3.0, max_weight=240, typical_weight=(90, 150))
plan = hushpath.plan(net.topology, **terms)  # reads no weight: what error to expect
print(plan)

# The one private step: do it once.
rel = hushpath.release(
    net, plan=plan, quantity=hushpath.Quantity(name="travel time", unit_of_measure="seconds", date="2026-03")
)
rel.save("metro.hush")
ends = [station for line in lines for station in (line[0], line[-1])]
shape = hushpath.write_matrix(rel, "matrix.csv", targets=ends).shape
low, high = rel.interval("Zličín", "Háje")
print(f"\nreleased: {shape[0]} x {shape[1]} travel times in matrix.csv")
print(f"released: Zličín to Háje in {rel.distance('Zličín', 'Háje'):.0f} seconds ({low:.0f} to {high:.0f})\n")
print(rel.statement)

assert (len(rel.topology.labels), rel.topology.num_edges) == (58, 58)
assert shape == (58, 6)
assert rel.statement.private
assert rel.statement.epsilon <= 1
assert list(rel.route("Zličín", "Anděl").nodes) == lines[1][:10]  # stop by stop, as the line runs
assert hushpath.load("metro.hush").distance("Zličín", "Háje") == rel.distance("Zličín", "Háje")  # a file answers alike
# For the owner's eyes only, since it reads the true weights: about as wrong as was said before anything was measured.
assert hushpath.evaluate(net, rel).mean_error < 4 * plan.choice.mean_error < 4 * plan.baseline.error
