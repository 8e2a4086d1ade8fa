"""For a water utility: pipes that branch and never meet again are a tree, and on long ones the tree mechanism pays.

Everybody may see where the pipes lie; how much pressure each loses tells who uses how much, and is private.  Noise on
every pipe adds up along a route like the root of its length, noise by centroids only like a power of a logarithm.
"""

import random

import hushpath

TERMS = dict(epsilon=1.0, delta=1e-6, unit=1.0, max_weight=50)


def make_network(pipes: int) -> hushpath.Network:
    """Every joint hangs on one of the two laid just before it, the first on the waterworks: a long main, short ends."""
    rng = random.Random(3)
    joints = range(1, pipes + 1)
    above = [rng.randrange(max(0, joint - 2), joint) for joint in joints]
    labels = ["waterworks", *(f"joint {joint}" for joint in joints)]
    return hushpath.Network.build(labels, above, joints, [rng.uniform(5, 50) for _ in joints])


def predicted(net: hushpath.Network, mechanism: str) -> float:
    """The mean error to expect, from public facts."""
    return hushpath.plan(net.topology, mechanism=mechanism, **TERMS).choice.mean_error


village, valley = make_network(300), make_network(30_000)
for name, net in (("village", village), ("valley", valley)):
    print(f"{name}: input {predicted(net, 'input'):.1f}, tree {predicted(net, 'tree'):.1f}")
assert predicted(village, "input") < predicted(village, "tree")
assert predicted(valley, "tree") < predicted(valley, "input")

rel = hushpath.release(valley, mechanism="tree", **TERMS)
end = "joint 30000"
low, high = rel.interval("waterworks", end)
print(f"released: pressure lost down to {end} is {rel.distance('waterworks', end):.0f} ({low:.0f} to {high:.0f})")
print(rel.statement)
assert low < rel.distance("waterworks", end) < high
assert rel.statement.epsilon <= 1
# NOT PRIVATE, for the owner alone: the true error is what was predicted, give or take.
assert hushpath.evaluate(valley, rel).mean_error < 3 * predicted(valley, "tree")
