"""Algorithms 1 to 4 of the paper in plain Python, to be read beside it.  Nothing here is fast or used by the rest.

M. Dinitz, C. Fan, J. Liu, J. Upadhyay, Z. Zou: "A Generalized Binary Tree Mechanism for Differentially Private
Approximation of All-Pair Distances".  Repairs bear the numbers of the paper page, "What was repaired"; with
``repaired=False`` there is no repair 2: shortcuts and recursion are as printed.  Tests compare the package with this
page: the same numbers in, the same answers out, to the last bit (tests/conformance/test_paper.py).

Algorithm 1: ``binary_tree``, ``sigma``, ``shortcuts``.  2: ``recursion``.  3: ``all_pairs``.  4: the same, ``covered``.

The paper's names:
    G           an undirected graph; G[u][v] is the weight of the edge {u, v}
    b           a binary string that names a cell: "" is the whole graph, b + "0" and b + "1" are the children of b
    T           the paper's binary tree, a hierarchy of cells; T[b] holds G_b and S_b, and V_b are the vertices of G_b
    S_b, Z_b    a separator of G_b; those of its vertices that get shortcuts: all, or a cover S_b^k (Algorithm 4)
    d_b(x, y)   the distance inside G_b; infinite where G_b does not connect x and y
    d_hat       the shortcuts: d_hat[b, x, y] is d_b(x, y) with noise; IsShortcut(x, y, b) is (b, x, y) in d_hat
    k           in Algorithm 2: 0 between any two vertices, more if one is in a separator above; in Algorithm 4: hops

A path of seven vertices, cut in its middle and then once more.  With a "noise" of 1 in each number the answers tell
how many shortcuts they add up: at most one a level up, one where the ends meet, one a level down.

>>> G = graph((v, v + 1, 100) for v in range(6))
>>> cuts = {"": ({3}, {0, 1, 2}, {4, 5, 6}), "0": ({1}, {0}, {2, 3}), "1": ({5}, {4, 3}, {6})}
>>> {b: sorted(cell.G) for b, cell in binary_tree(G, cuts).items() if len(b) == 2}
{'00': [0, 1], '01': [1, 2, 3], '10': [3, 4, 5], '11': [5, 6]}
>>> answers = all_pairs(G, cuts, noise=lambda b, x, y: 1)
>>> [answers[0, t] for t in range(1, 7)]
[101, 202, 302, 403, 503, 604]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from heapq import heappop, heappush
from math import inf, log, sqrt
from typing import NamedTuple

Graph = dict[int, dict[int, float]]
Vertices = set[int]
Cuts = Mapping[str, tuple[Vertices, Vertices, Vertices]]
Noise = Callable[[str, int, int], float]
Cells = dict[str, "Cell"]
Shortcuts = dict[tuple[str, int, int], float]


class Cell(NamedTuple):
    """A node (G_b, S_b) of T; a leaf has no separator."""

    G: Graph
    S: Vertices
    Z: Vertices


def graph(edges: Iterable[tuple[int, int, float]], vertices: Iterable[int] = ()) -> Graph:
    """Build a graph from undirected edges u, v, w; of parallel edges the shortest counts."""
    G: Graph = {v: {} for v in vertices}
    for u, v, w in edges:
        for x, y in ((u, v), (v, u)):
            G.setdefault(x, {})[y] = min(w, G.get(x, {}).get(y, inf))
    return G


def binary_tree(G_b: Graph, cuts: Cuts, W: Graph | None = None, b: str = "") -> Cells:
    """Build T (Section 3.1) for separators ``cuts[b] = S_b, V'_b0, V'_b1``; cells without one are leaves.

    With largest lengths ``W`` (Algorithm 4) the edges inside a separator stay below as public ones (repair 4).
    """
    if b not in cuts:
        return {b: Cell(G_b, set(), set())}
    S_b, *sides = cuts[b]  # Algorithm 1, step 1
    if set(G_b) != S_b.union(*sides) or any(v in sides[1] for u in sides[0] for v in G_b[u]):
        raise ValueError("S_b must separate its two sides, and the three be all of V_b")
    T = {b: Cell(G_b, S_b, S_b)}
    for a, side in zip("01", sides, strict=True):
        touching = {x for x in S_b if W is not None or any(v in side for v in G_b[x])}  # printed: all of S_b
        G_ba = {u: {v: w for v, w in G_b[u].items() if v in side or u in side} for u in side | touching}  # no E(S_b)
        if W is not None:
            for x in S_b:
                G_ba[x] |= {y: W[x][y] for y in G_b[x] if y in S_b}  # repair 4: E(S_b), as long as it may be
        T |= binary_tree(G_ba, cuts, W, b + a)
    return T


def distances(G_b: Graph, s: int) -> dict[int, float]:
    """Compute d_b(s, .) by Dijkstra's algorithm; vertices that G_b does not connect with s are missing."""
    d_b: dict[int, float] = {}
    heap: list[tuple[float, int]] = [(0, s)]
    while heap:
        d, u = heappop(heap)
        if u not in d_b:
            d_b[u] = d
            for v, w in G_b[u].items():
                heappush(heap, (d + w, v))
    return d_b


def sigma(p: int, h: int, epsilon: float, delta: float) -> float:
    """Compute the noise of Algorithm 1 for epsilon, delta, separators (step 5: leaves) of p vertices, depth h."""
    delta_prime = delta / (4 * h)  # Algorithm 1, step 2
    epsilon_prime = epsilon / sqrt(4 * h * log(1 / delta_prime))  # Algorithm 1, step 2
    variance = p**2 * 2 * log(1.25 / delta_prime) / epsilon_prime**2  # the square that Lemma 12 lacks
    return sqrt(variance)  # Algorithm 1, step 3; Algorithm 4, step 3: f(p, k), the size of a cover, for p


def above(T: Cells, b: str, *, repaired: bool) -> Vertices:
    """Return the vertices of V_b that have shortcuts in b', the parent of b, or (repair 2) in any cell above b."""
    cells = [b[:i] for i in range(len(b))] if repaired else [b[:-1]] if b else []
    return {x for cell in cells for x in T[cell].Z if x in T[b].G}


def shortcuts(T: Cells, noise: Noise, *, repaired: bool = True) -> Shortcuts:
    """Run steps 4 and 5 of Algorithm 1 (or 4, if T is ``covered``): the only place where weights and noise meet."""
    d_hat: Shortcuts = {}
    for b, (G_b, _, Z_b) in T.items():
        if b + "0" in T:  # Algorithm 1, step 4, a non-leaf node: pairs in S_b, and in S_b x S_b'
            starts, ends = Z_b, Z_b | above(T, b, repaired=repaired)  # repair 1: each pair once, the child's d_b
        else:  # Algorithm 1, step 5, a leaf node: all pairs in V_b
            starts = ends = set(G_b)
        for x in starts:
            d_b = distances(G_b, x)
            d_hat[b, x, x] = 0
            for y in sorted(ends):
                if (b, x, y) not in d_hat:
                    d_hat[b, x, y] = d_hat[b, y, x] = d_b.get(y, inf) + noise(b, x, y)
    return d_hat


def recursion(T: Cells, d_hat: Shortcuts, *, repaired: bool = True) -> Callable[[str, int, int, int], float]:
    """Return Recursive-APSD(T, G_b, (s, t), k) of Algorithm 2 as a function of b, s, t and k."""
    S_above = {b: above(T, b, repaired=repaired) for b in T}

    def sides(b: str, s: int) -> list[str]:
        """Return the children ba that hold s.  Repair 2: none for a vertex of Z_b, which is there; else the first."""
        found = [b + a for a in "01" if s in T[b + a].G]
        if repaired:
            return [] if s in T[b].Z else found[:1]
        return found

    def to(b: str, s: int, z: int, k: int) -> float:
        """d_hat_ba(s, z) for z in Z_b.  A vertex s of Z_b need not be in a child; its shortcut in b stands for it."""
        if s in T[b].Z:
            if repaired:  # repair 2: only one shortcut a level
                return 0 if s == z else inf
            return d_hat[b, s, z]
        return min((recursive_apsd(ba, s, z, k + 1) for ba in sides(b, s) if z in T[ba].G), default=inf)

    @cache
    def recursive_apsd(b: str, s: int, t: int, k: int) -> float:
        if (b, s, t) in d_hat:  # Algorithm 2, step 1: IsShortcut(s, t, b)
            return d_hat[b, s, t]
        Z_b = T[b].Z
        if k == 0:  # Algorithm 2, step 2; its two cases in one: without a common child nothing is inside
            inside = [recursive_apsd(ba, s, t, 0) for ba in sides(b, s) if ba in sides(b, t)]
            s_to, t_to = {x: to(b, s, x, k) for x in Z_b}, {y: to(b, t, y, k) for y in Z_b}
            return min(inside + [s_to[x] + d_hat[b, x, y] + t_to[y] for x in Z_b for y in Z_b], default=inf)
        if s not in S_above[b] and t not in S_above[b]:
            raise ValueError("FAIL")  # Algorithm 2, step 3; never happens (Fact 32)
        s, t = (s, t) if t in S_above[b] else (t, s)  # Algorithm 2, step 3: t is in S_b'
        onward = k + 1 if repaired else 0  # repair 2: t has shortcuts to the cells below as well; printed: 0
        inside = [recursive_apsd(ba, s, t, onward) for ba in sides(b, s) if t in T[ba].G]
        return min(inside + [to(b, s, x, k) + d_hat[b, x, t] for x in Z_b], default=inf)

    return recursive_apsd


def all_pairs(
    G: Graph, cuts: Cuts, noise: Noise, *, W: Graph | None = None, hops: int = 0, repaired: bool = True
) -> dict[tuple[int, int], float]:
    """Run Algorithm 3 on ``G`` with separators ``cuts`` and ``noise``; with ``W`` and ``hops`` over Algorithm 4.

    ``repaired=False`` takes shortcuts and recursion as printed.
    """
    T = covered(binary_tree(G, cuts, W), hops)  # 0 hops: all of S_b
    recursive_apsd = recursion(T, shortcuts(T, noise, repaired=repaired), repaired=repaired)  # Algorithm 3, step 1
    return {(s, t): recursive_apsd("", s, t, 0) for s in G for t in G if s != t}  # Algorithm 3, step 2


def covered(T: Cells, hops: int) -> Cells:
    """Put S_b^k in place of S_b (Algorithm 4, step 4); the rest is Algorithm 1."""
    return {b: cell._replace(Z=k_covering(cell.G, cell.S, hops)) for b, cell in T.items()}


def k_covering(G_b: Graph, S_b: Vertices, hops: int) -> Vertices:
    """Choose vertices of S_b so that each other one is within ``hops`` steps inside S_b (repair 4; Definition 19)."""
    Z_b, rest = set[int](), set(S_b)
    while rest:  # Lemma 23: every (hops + 1)-st breadth-first layer, and the root, cover a connected part
        layers = [{min(rest)}]
        while layers[-1]:
            rest -= layers[-1]
            layers.append({y for x in layers[-1] for y in G_b[x] if y in rest})
        Z_b |= layers[0] | min((set().union(*layers[i :: hops + 1]) for i in range(hops + 1)), key=len)
    return Z_b
