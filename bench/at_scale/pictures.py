"""Growth in pictures, in the style of every other picture of the house."""

from __future__ import annotations

from .rivals import RIVALS
from .told import GB, found, sizes

OURS = {"weigh tables": "hushpath, tables", "weigh labels": "hushpath, tables and labels"}
PANELS = (  # title, unit, our job (both kinds if None) and key, key of a rival, factor, asked at 10^6
    ("Cutting, or preparing", "s", "cut", "cut_s", "prepare_s", 1.0, 60.0),
    ("Weighing anew", "s", None, "weigh_s", "weigh_s", 1.0, 5.0),
    ("A point query", "us", None, "point_us", "point_us", 1.0, 50.0),
    ("1000 x 1000", "s", None, "block_s", "block_s", 1.0, 1.0),
    ("Index", "GB", None, "index_bytes", None, 1.0 / GB, 2.0),
    ("Peak of memory", "GB", None, "peak_gb", "peak_gb", 1.0, 4.0),
)


def growth(rows, path):
    """Six pictures, all over the number of nodes, both axes logarithmic; a grey bar is what was asked at 10^6."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.lines import Line2D

    from hushpath.output.report.pictures import COLOURS, GREY, MARKS, blank, plain, png, whole_decades

    nodes = sizes(rows)
    if not nodes:
        return
    everyone = [*OURS, *(f"rival {name}" for name in RIVALS)]
    here = [job for job in everyone if any(job in rows[f"road_like {n}"] for n in nodes)]
    look = {
        job: {"color": COLOURS[(0, 3, 1, 7, 2, 6, 4)[i]], "marker": MARKS[i], "markersize": 5, "linewidth": 1.8}
        for i, job in enumerate(everyone)
    }
    figure = blank(11.0, 7.2, dpi=110, layout=ConstrainedLayoutEngine(rect=(0, 0, 1, 0.94), w_pad=0.1, h_pad=0.09))
    for axes, (title, unit, only, key, theirs, factor, limit) in zip(
        figure.subplots(2, 3).ravel(), PANELS, strict=True
    ):
        for job in here:
            mine = job in OURS
            if (mine and only is not None and job != "weigh tables") or (not mine and theirs is None):
                continue
            what = (only or job, key) if mine else (job, theirs)
            points = [(n, x * factor) for n in nodes if (x := found(rows, f"road_like {n}", *what)) is not None]
            if points:
                axes.plot(*zip(*points, strict=True), **look[job])
        if nodes[-1] == 1_000_000:
            axes.plot(1e6, limit, marker="_", markersize=16, markeredgewidth=2.5, color=GREY)
        whole_decades(axes)
        plain(axes, f"{title}, {unit}")
        axes.set_xlabel("nodes")
    names = [OURS.get(job, job.removeprefix("rival ")) for job in here]
    handles = [Line2D([], [], **look[job], label=name) for job, name in zip(here, names, strict=True)]
    figure.legend(
        handles=handles, loc="upper left", ncols=len(handles), frameon=False, fontsize=10, handlelength=1.8,
        columnspacing=1.3, bbox_to_anchor=(0.005, 1.0),
    )  # fmt: skip
    path.write_bytes(png(figure))
