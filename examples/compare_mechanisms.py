"""For a researcher: every mechanism that fits on one network, with the error predicted for it, its true and proved one.

The network is synthetic, so releasing it many times harms nobody.  On real data each release spends its own epsilon,
they add up, and a true error is not for publication.  `hushpath lab` does this at length.  Needs `hushpath[pictures]`.
"""

import random
import warnings

import hushpath
from hushpath.output.report.html import write_file
from hushpath.output.report.pictures import BLUE, GREY, ORANGE, blank, plain, png, whole_decades

SIDE = 8
TERMS = dict(epsilon=1.0, delta=1e-6, unit=1.0, max_weight=100)


def make_network() -> hushpath.Network:
    """A grid of SIDE x SIDE nodes, every edge between 50 and 100 long."""
    nodes = range(SIDE * SIDE)
    ends = [(v, v + 1) for v in nodes if (v + 1) % SIDE] + [(v, v + SIDE) for v in nodes[:-SIDE]]
    rng = random.Random(2)
    tails, heads = zip(*ends, strict=True)
    return hushpath.Network.build(nodes, tails, heads, [rng.uniform(50, 100) for _ in ends])


warnings.simplefilter("ignore", hushpath.HushpathWarning)  # some are mostly noise: the table shows which
net = make_network()
plan = hushpath.plan(net.topology, **TERMS)  # those that "auto" chooses from; the others are named below
candidates = {}
for name in hushpath.mechanisms():
    try:
        candidates[name] = hushpath.plan(net.topology, mechanism=name, **TERMS).choice  # the better noise law
    except hushpath.HushpathError as error:  # it does not fit this network
        print(f"{name:<18}{error}")
rows = {}
print(f"{'mechanism':<18}{'law':<10}{'predicted':>10}{'true':>10}{'proved':>10}")
for candidate in sorted(candidates.values(), key=lambda one: one.mean_error):
    name, law = candidate.mechanism, candidate.law
    if name in rows:  # "auto" chose it
        continue
    rel = hushpath.release(net, mechanism=name, noise=law, **TERMS)
    rows[name] = candidate.mean_error, hushpath.evaluate(net, rel).mean_error, candidate.bound
    print(f"{name:<18}{law:<10}" + "".join(f"{error:>10.1f}" for error in rows[name]))
    assert rel.statement.epsilon <= 1
    assert rows[name][1] < candidate.bound  # no answer is off by more, with probability 0.95

figure = blank(7.2, 4.8, layout="constrained")
axes = figure.subplots()
looks = {"predicted mean": (BLUE, "o"), "true mean": (ORANGE, "x"), "proved for all": (GREY, "|")}
for errors, (label, (hue, mark)) in zip(zip(*rows.values(), strict=True), looks.items(), strict=True):
    axes.plot(errors, list(rows), mark, color=hue, label=label, markersize=10, markeredgewidth=2, fillstyle="none")
axes.invert_yaxis()
plain(axes, "", text=12)
axes.set_xlabel("error, of edges 50 to 100 long", loc="left")
whole_decades(axes, "x")
figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=11)
write_file("mechanisms.png", png(figure, "NOT PRIVATE: true errors"))

assert len(rows) >= 5
assert plan.choice.mean_error == min(predicted for predicted, *_ in rows.values())
