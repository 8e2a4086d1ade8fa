"""Draw docs/images/decomposition.png: the demo city cut by separators, coloured by level.

python docs/draw_decomposition.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from hushpath.demo.city import make_city
from hushpath.separators.build import separator_hierarchy

SHOWN = 6  # deeper levels are small and many


def main() -> None:
    topology = make_city().network.topology
    hierarchy, _ = separator_hierarchy(topology, leaf_size=8)
    places = topology.coordinates
    level = np.full(topology.num_nodes, hierarchy.depth + 1)
    for cell in range(hierarchy.num_cells - 1, -1, -1):
        level[hierarchy.separators[cell]] = hierarchy.level[cell]
    figure, axes = plt.subplots(figsize=(9, 8), dpi=110, layout="constrained")
    axes.add_collection(LineCollection(places[np.stack([topology.tails, topology.heads], 1)], color="#d5dbe1", lw=0.8))
    colours = plt.get_cmap("viridis_r")(np.linspace(0.12, 1.0, SHOWN))[::-1]
    for shown in range(SHOWN - 1, -1, -1):
        mine, cells = level == shown, np.bincount(hierarchy.level)
        axes.scatter(*places[mine].T, s=46 - 5 * shown, color=colours[shown], lw=0, zorder=3,
                     label=f"level {shown}: {mine.sum()} junctions in {cells[shown]} cells")  # fmt: skip
    axes.set_aspect("equal")
    axes.axis("off")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="lower center", bbox_to_anchor=(0.5, -0.1), ncols=3, frameon=False)
    axes.set_title(
        f"The demo city cut by '{hierarchy.family}' separators: junctions coloured by the level that first chose them"
    )
    figure.savefig(Path(__file__).parent / "images" / "decomposition.png")
    print(hierarchy.facts())


if __name__ == "__main__":
    main()
