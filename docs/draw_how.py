"""Draw the pictures of docs/explanation: one release seen step by step, dyadic shortcuts, the cut lemma.

python docs/draw_how.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Arc

import hushpath
from hushpath.output.report.pictures import BLUE, GREY, INK, ORANGE, PALE, blank, png

HERE = Path(__file__).parent / "images"
SIDE, UNIT = 12, 4.0


def town():
    """A grid of streets with two fast avenues; the seconds are made up."""
    at = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    ends = np.concatenate([np.c_[at[:, :-1].ravel(), at[:, 1:].ravel()], np.c_[at[:-1].ravel(), at[1:].ravel()]])
    places = np.c_[at.ravel() % SIDE, at.ravel() // SIDE].astype(float)
    middle = places[ends].mean(1)
    slow = 30 + 25 * np.exp(-((middle[:, 0] - 6) ** 2 + (middle[:, 1] - 6) ** 2) / 8)
    avenue = (middle[:, 1] == 2) | (middle[:, 0] == 9)
    seconds = np.where(avenue, 18, slow) * np.random.default_rng(5).uniform(0.9, 1.1, len(ends))
    return hushpath.Network.build(range(SIDE * SIDE), *ends.T, seconds, coordinates=places)


def steps() -> None:
    """Map, private times, noisy numbers, estimate: four panels with one scale of colours."""
    net = town()
    topology = net.topology
    truth = hushpath.release(net, epsilon=np.inf, unit=UNIT, mechanism="input", seed=1)
    rel = hushpath.release(net, epsilon=0.6, unit=UNIT, max_weight=90, mechanism="input", seed=4)
    noisy = rel.measurements.values * rel.measurements.strategy.lattice.granularity
    shown = (
        ("1. Public: the map", None, None),
        ("2. Private: the seconds", truth.edge_weights, truth),
        ("3. Released: with noise", noisy, None),
        ("4. Estimated from 3", rel.edge_weights, rel),
    )
    figure = blank(11, 3.6, dpi=140, layout="constrained")
    lines = topology.coordinates[np.stack([topology.tails, topology.heads], 1)]
    for axes, (title, weights, asked) in zip(figure.subplots(1, 4), shown, strict=True):
        colours = dict(color=GREY) if weights is None else dict(array=weights, cmap="viridis_r", clim=(15, 60))
        drawn = axes.add_collection(LineCollection(lines, linewidths=3, **colours))
        if asked is not None:
            path = topology.coordinates[topology.indices(list(asked.route(0, SIDE * SIDE - 1).nodes))]
            axes.plot(*path.T, color=ORANGE, lw=1.6, zorder=3)
            axes.text(5.5, -1.5, f"corner to corner {asked.distance(0, SIDE * SIDE - 1):.0f} s", ha="center",
                      fontsize=10, color=INK)  # fmt: skip
        axes.set(xlim=(-0.7, SIDE - 0.3), ylim=(-2.2, SIDE - 0.3), aspect="equal")
        axes.axis("off")
        axes.set_title(title, fontsize=10, fontweight="bold", color=INK, loc="left")
    figure.colorbar(drawn, ax=figure.axes, shrink=0.7, label="seconds", pad=0.01)
    (HERE / "steps.png").write_bytes(png(figure, "made up, and seeded: NOT PRIVATE"))


def shortcuts() -> None:
    """A path of 16 edges: how many noises an answer adds up, edge by edge and by shortcuts."""
    figure = blank(9, 3.7, dpi=140)
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.96))
    for row, size in enumerate((16, 8, 4, 2, 1)):
        for at in range(0, 16, size):
            used = (size, at) in {(1, 3), (4, 4), (4, 8), (1, 12)}
            axes.plot([at + 0.1, at + size - 0.1], [-row, -row], lw=6, color=ORANGE if used else "#cfe0ee",
                      solid_capstyle="round")  # fmt: skip
        words = "16 single edges" if size == 1 else f"{16 // size} sum{'s' * (size < 16)} of {size}"
        axes.text(16.5, -row, words, va="center", fontsize=10, color=INK)
    axes.plot(range(17), np.full(17, -5.2), color=INK, lw=1.5, marker="o", ms=6, mfc="white", zorder=3)
    for node in (3, 13):
        axes.plot(node, -5.2, "o", ms=9, color=ORANGE, zorder=4)
    told = "from node 3 to node 13: ten noisy edges, or four noisy numbers"
    axes.text(8, -6.1, told, ha="center", fontsize=11, color=INK)
    axes.set(xlim=(-0.5, 20), ylim=(-6.5, 0.6))
    axes.axis("off")
    (HERE / "shortcuts.png").write_bytes(png(figure))


def cut() -> None:
    """Six measured nodes and one edge: the distances that it can move lie across a cut."""
    figure = blank(7.2, 3.5, dpi=140)
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.96))
    left, right = [(0, 2), (-0.4, 0.9), (0.2, 0)], [(6, 2), (6.4, 0.9), (5.8, 0)]
    for a in left:
        for b in right:
            axes.plot(*zip(a, b, strict=True), color=ORANGE, lw=1.1, alpha=0.75, zorder=1)
    for side in (left, right):
        for one in range(3):
            for other in range(one):
                axes.plot(*zip(side[one], side[other], strict=True), color=BLUE, lw=1.1, zorder=1)
        axes.plot(*zip(*side, strict=True), "o", ms=11, color="white", mec=INK, mew=1.6, zorder=3)
    axes.plot([2.5, 3.5], [1, 1], color=INK, lw=4, marker="o", ms=7, zorder=4)
    axes.add_patch(Arc((0, 1), 2.6, 3.4, color=PALE, lw=2))
    axes.add_patch(Arc((6, 1), 2.6, 3.4, color=PALE, lw=2))
    axes.text(3, 1.22, "the edge e", ha="center", fontsize=11, color=INK)
    axes.text(0, 2.85, "A: reach e at one end", ha="center", fontsize=11, color=INK)
    axes.text(6, 2.85, "B: at the other", ha="center", fontsize=11, color=INK)
    axes.text(3, -1.2, "9 of the 15 distances can move (orange), the other 6 cannot (blue)", ha="center", fontsize=11,
              color=INK)  # fmt: skip
    axes.set(xlim=(-1.8, 7.8), ylim=(-1.5, 3.2))
    axes.axis("off")
    (HERE / "cut.png").write_bytes(png(figure))


if __name__ == "__main__":
    steps()
    shortcuts()
    cut()
