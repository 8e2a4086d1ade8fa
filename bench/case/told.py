"""From lines of results to one file of figures, and from that to the tables of docs/explanation/case-study.md.

A table stands between ``<!-- study: NAME -->`` and ``<!-- end -->``; the words around it are ours.
"""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise

import numpy as np

from .owners import CASES, EPSILONS, MAPPED

KNOWN = ("known", "known_scaled")
WANTED = {"5%": 0.05, "10%": 0.10}
MARKED = re.compile(r"(<!-- study: (\w+) -->\n)(?:[^<].*?\n)?(<!-- end -->)", re.S)
AVERAGED = ("mean_distance", "mean_error", "p95_error", "bias", "relative", "owner", "edge_error",
            "edge_relative", "edge_median", "cover", "width", "bytes", "seconds", "unpassed",
            "passed_true", "passed_released", "unpassed_share", "unpassed_true", "unpassed_released")  # fmt: skip


def summary(rows):
    """One entry per case: figures at each epsilon, averaged over releases, and the epsilon that targets need."""
    found = []
    for case in CASES:
        mine = [row for row in rows if row["case"] == case.name]
        cells = [_cell(mine, epsilon) for epsilon in case.epsilons]
        cells = [cell for cell in cells if cell]
        plans = {f"{row['epsilon']:g}": row["planned"] for row in mine if row.get("what") == "plan"}
        solved = {row["target"]: row["epsilon"] for row in mine if row.get("what") == "target"}
        realised = [(cell["epsilon"], cell["relative"]) for cell in cells]
        expected = sorted((float(epsilon), share) for epsilon, share in plans.items())
        needed = {
            target: dict(planned=solved.get(target) or crossing(expected, share), realised=crossing(realised, share))
            for target, share in WANTED.items()
        }
        about = dict(case=case.name, owner=case.owner, shown=case.shown)
        about |= next(({key: row[key] for key in KNOWN} for row in mine if row.get("what") == "known"), {})
        found.append(dict(about, cells=cells, planned=plans, needed=needed))
    return found


def _cell(rows, epsilon):
    mine = [row for row in rows if "repeat" in row and row["epsilon"] == epsilon]
    if not mine:
        return None
    means = {name: float(np.mean(have)) for name in AVERAGED if (have := [row[name] for row in mine if name in row])}
    shares = [row["relative"] for row in mine]
    return dict(epsilon=epsilon, releases=len(mine), mechanism=mine[0]["mechanism"], read_as=mine[0]["read_as"],
                least=min(shares), most=max(shares), **means)  # fmt: skip


def crossing(points, share):
    """The epsilon at which the error is ``share``, between two that were run, on a line of logarithms; or a side."""
    if not points:
        return None
    if points[0][1] <= share:
        return f"< {points[0][0]:g}"
    for (low, above), (high, below) in pairwise(points):
        if below <= share:
            part = math.log(above / share) / math.log(above / below)
            return float(f"{low * (high / low) ** part:.2g}")
    return f"> {points[-1][0]:g}"


def tables(found):
    """Every table by its name."""
    made = {"errors": _errors(found), "needed": _needed(found), "worth": _worth(found), "planned": _planned(found)}
    return made | {owner: _owner([one for one in found if one["owner"] == owner]) for owner in _owners(found)}


def _owners(found):
    return list(dict.fromkeys(one["owner"] for one in found))


def _table(head, lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def _percent(share):
    return "–" if share is None else f"{100 * share:.{0 if share >= 0.995 else 1 if share >= 0.0095 else 2}f}"


def _number(value):
    return "–" if value is None else value if isinstance(value, str) else f"{value:.3g}"


def _at(one, epsilon):
    return next((cell for cell in one["cells"] if cell["epsilon"] == epsilon), {})


def _errors(found):
    """Mean error in percent of the mean distance, with the range over releases."""
    head = ["owner", "releases", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS), "known already", "times one number"]
    lines = []
    for one in found:
        cells = [_at(one, epsilon) for epsilon in EPSILONS]
        figures = [_percent(cell.get("relative")) for cell in cells]
        count = sorted({cell["releases"] for cell in cells if cell})
        lines.append([one["case"], " to ".join(map(str, count)), *figures, *(_percent(one.get(key)) for key in KNOWN)])
    return _table(head, lines)


def _planned(found):
    """The same, as plans predicted it."""
    head = ["owner", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS)]
    return _table(head, [[one["case"], *(_percent(one["planned"].get(f"{e:g}")) for e in EPSILONS)] for one in found])


def _needed(found):
    head = ["owner"]
    for target in WANTED:
        head += [f"{target[:-1]} %: planned", f"{target[:-1]} %: realised"]
    lines = []
    for one in found:
        ends = [one["needed"][target] for target in WANTED]
        lines.append([one["case"], *(_number(end[how]) for end in ends for how in ("planned", "realised"))])
    return _table(head, lines)


def _worth(found):
    """The release at epsilon 1 beside what everybody knows already."""
    head = ["owner", "mechanism", "mean distance", "mean error", "95 % below", "bias", "mean error, %",
            "known already, %", "90 % intervals hold", "file"]  # fmt: skip
    lines = []
    for one in found:
        if cell := _at(one, MAPPED):
            name, size = one["shown"]
            measured = [f"{cell[key] / size:{sign}.3g} {name}" for key, sign in
                        (("mean_distance", ""), ("mean_error", ""), ("p95_error", ""), ("bias", "+"))]  # fmt: skip
            shares = [_percent(cell["relative"]), _percent(one.get("known"))]
            cover = f"{100 * cell['cover']:.0f} %" if "cover" in cell else "–"
            how, file = f"`{cell['mechanism']}`, read as {cell['read_as']}", f"{cell['bytes'] / 1e6:.2g} MB"
            lines.append([one["case"], how, *measured, *shares, cover, file])
    return _table(head, lines)


def _owner(cases):
    """All that was measured of one owner."""
    name, size = cases[0]["shown"]
    edges = any("edge_error" in cell for one in cases for cell in one["cells"])
    head = ["case", "epsilon", "mechanism", f"mean error, {name}", "in %", "least to most"]
    head += [f"95 % below, {name}", "intervals hold"]
    head += [f"error of an edge, {EDGE[name][0]}", "in %"] if edges else []
    lines = []
    for one in cases:
        for cell in one["cells"]:
            line = [one["case"], f"{cell['epsilon']:g}", f"`{cell['mechanism']}`"]
            line += [f"{cell['mean_error'] / size:.3g}", _percent(cell["relative"])]
            line.append(f"{_percent(cell['least'])} to {_percent(cell['most'])}" if cell["releases"] > 1 else "–")
            line += [f"{cell['p95_error'] / size:.3g}", f"{100 * cell['cover']:.0f} %" if "cover" in cell else "–"]
            if edges:
                line += [f"{cell['edge_error'] / EDGE[name][1]:.3g}", _percent(cell["edge_relative"])]
            lines.append(line)
    return _table(head, lines)


EDGE = {"min": ("s", 1.0), "h": ("min", 60.0), "L/s": ("L/s", 1.0)}  # edges are smaller than distances


def filled(text, found):
    """The page with its tables written anew."""
    made = tables(found)
    return MARKED.sub(lambda part: part[1] + made[part[2]] + "\n" + part[3], text)


def write_tables(results, page):
    """Into the page, if it is there."""
    if page.is_file():
        page.write_text(filled(page.read_text(), json.loads(results.read_text())))
