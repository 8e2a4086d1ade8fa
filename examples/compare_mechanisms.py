"""For a researcher: every mechanism that fits on one network, the error predicted for it and its true error.

The network is synthetic, so releasing it many times harms nobody.  On real data each release spends its own epsilon,
they add up, and a true error is not for publication.  `hushpath lab` does this at length.
"""

import random
import warnings

import hushpath

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
plan = hushpath.plan(net.topology, **TERMS)
print(f"{'mechanism':<18}{'law':<10}{'predicted':>10}{'true':>10}{'proved':>10}")
compared = 0
for candidate in plan.candidates:
    if candidate.strategy is None:
        print(f"{candidate.mechanism:<18}{candidate.reason}")
        continue
    rel = hushpath.release(net, mechanism=candidate.mechanism, law=candidate.law, **TERMS)
    true = hushpath.evaluate(net, rel).mean_error
    columns = (candidate.mean_error, true, candidate.bound)
    print(f"{candidate.mechanism:<18}{candidate.law:<10}" + "".join(f"{number:>10.1f}" for number in columns))
    assert rel.statement.epsilon <= 1
    assert true < candidate.bound
    compared += 1

assert compared >= 5
assert plan.choice.mean_error == min(c.mean_error for c in plan.candidates)
