"""A small town for the page: named corners, places, streets that take no time, and an island."""

import pandas as pd

import hushpath


def grid(side=12, directed=False, **more):
    """A grid with names, places, some weights of zero, and a part that no path joins."""
    rows = [(i, j) for i in range(side) for j in range(side)]
    name = {(i, j): f"corner {i}.{j}" for i, j in rows} | {(0, 0): "harbour", (side - 1, side - 1): "airport"}
    edges = [(a, b) for a in rows for b in ((a[0] + 1, a[1]), (a[0], a[1] + 1)) if b in name]
    edges += [(b, a) for a, b in edges] if directed else []
    table = pd.DataFrame([(name[a], name[b], float((3 * i) % 7)) for i, (a, b) in enumerate(edges)],
                         columns=["source", "target", "weight"])  # fmt: skip
    table.loc[len(table)] = ("far", "away", 2.0)
    nodes = pd.DataFrame([(name[a], *a) for a in rows] + [("far", -2, 0), ("away", -2, 1)], columns=["node", "x", "y"])
    return hushpath.Network.from_pandas(table, nodes=nodes, directed=directed, **more)
