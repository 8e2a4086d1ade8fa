"""Ours and theirs in turn, on the same network with the same lengths; every answer is compared."""

from __future__ import annotations

from functools import partial
from importlib import import_module

import numpy as np
from engine import touch_memory, versus

from .common import SIDE, agree, asked_of, clocked, engine, enough, loaded, peak, weighed
from .rivals import RIVALS, rivals


def rival(folder, name):
    """A rival by itself, for its peak; then in turn with ours on the index of the file."""
    import_module(RIVALS[name].module)
    network = weighed(folder)
    pairs, sources, targets = asked_of(network.nodes)
    row, other = clocked("prepare", lambda: RIVALS[name](network))
    some = enough(lambda: other.point(pairs[:1].tolist()), len(pairs))
    rows = enough(lambda: other.block(sources[:1], targets), SIDE)
    row |= {"peak_gb": peak(), "pairs_asked": some, "sources_asked": rows}
    ours, release = engine(), loaded(folder)
    assert release.index is not None
    clocks, (mine, theirs) = versus(
        lambda: [release.distance(a, b) for a, b in pairs.tolist()], lambda: other.point(pairs[:some].tolist())
    )
    agree(mine[:some], theirs, other.exact)
    row |= beside("point", clocks, len(pairs), some)
    clocks, (mine, theirs) = versus(
        lambda: release.matrix(sources, targets, positions=True), lambda: other.block(sources[:rows], targets)
    )
    agree(mine[:rows], theirs, other.exact)
    row |= beside("block", clocks, SIDE, rows)
    row["point_us"], row["block_s"] = 1e6 * row.pop("point_theirs_s"), SIDE * row.pop("block_theirs_s")
    if other.weighs:
        made = ours.again(folder / "roads.hushd", release.topology)
        for kind in ("tables", "labels"):
            waiting = [ours.fresh(release) for _ in range(3)]
            mine = partial(weigh_one_of, ours, waiting, made, kind == "labels")
            row |= beside(f"weigh_{kind}", versus(mine, other.weigh)[0])
        row["weigh_s"] = row["weigh_tables_theirs_s"]
    return row


def weigh_one_of(ours, waiting, made, labels):
    """Weigh a release that has no index yet; none of them is kept."""
    ours.weigh(waiting.pop(), made, labels=labels)


def beside(name, clocks, ours=1, theirs=1):
    """Their seconds for each of so many questions, and how many times as long we take, by wall and by processor."""
    each = clocks / [[ours], [theirs]]
    wall, cpu = each[0] / each[1]
    return {f"{name}_ours_s": each[0, 0], f"{name}_theirs_s": each[1, 0], f"{name}_over": wall, f"{name}_cpu_over": cpu}


def all_pairs(folder):
    """The whole matrix against copying one of the same size into new memory, and against the rivals' rows."""
    ours, found, network = engine(), loaded(folder, index=False), weighed(folder)
    release, nodes = ours.fresh(found), network.nodes
    ours.weigh(release, ours.cut(release.topology), labels=True)
    touch_memory(3 * 8 * nodes * nodes)
    row, sources = {}, np.random.default_rng(4).integers(0, nodes, nodes)
    for dtype in (np.float64, np.float32):
        source = np.random.default_rng(5).random((nodes, nodes), dtype)

        def copied(source=source):
            made = np.empty_like(source)
            np.copyto(made, source)
            return made

        clocks, (matrix, _) = versus(lambda dtype=dtype: release.matrix(dtype=dtype), copied, rounds=5)
        row |= beside(f"copy_{np.dtype(dtype).name}", clocks)
    for name in rivals()[0]:
        other = RIVALS[name](network)
        some = enough(lambda other=other: other.rows(sources[:1]), nodes)
        clocks, (matrix, rows) = versus(release.matrix, lambda other=other, some=some: other.rows(sources[:some]))
        agree(matrix[sources[:some]], rows, other.exact)
        row |= beside(name, clocks, nodes, some)
    return row | {"peak_gb": peak()}
