"""The sections of a report as HTML, each a function of what it may see.

All but ``truth`` see a release and public facts only; ``truth`` takes a ``Comparison`` and is NOT PRIVATE.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ..data.topology import Topology
from ..publish.evaluate import Comparison, Evaluation
from ..publish.oracle import Release
from ..publish.plan import Plan
from ..publish.statement import NOT_PRIVATE, Statement
from .pictures import distance_map, error_by_hops, true_against_private
from .setting import Setting, short

Cell = tuple[str, bool]  # text, and whether it is a number


def promise(statement: Statement, words: Setting) -> str:
    """Say who is protected, from what, and from what not."""
    unit, who = words.amount(statement.unit), words.protected or "one protected unit"
    text = (
        f"<p><strong>Who is protected.</strong> {escape(who[:1].upper() + who[1:])}: any change of the "
        f"private weights that adds up to at most {escape(unit)} over all edges together.</p>"
    )
    text += "".join(f"<p>{escape(paragraph)}</p>" for paragraph in words.how)
    public = [
        "the network itself (which nodes and edges there are)",
        "the declared bounds and every parameter",
        *words.public,
    ]
    limits = [
        *words.unprotected,
        "What is true of everybody may be learnt; that is what a release is for.",
        "Two releases from the same data add up: their epsilons and deltas are summed.",
        "Nothing is promised about the accuracy of a single answer; ask for its interval.",
    ]
    return (
        f'{text}{_odds(statement, who)}<div class="lists">'
        f"<div><h3>What is public anyway</h3>{_bullets(public)}</div>"
        f"<div><h3>What is not promised</h3>{_bullets(limits)}</div></div>"
        "<details open><summary>The statement inside the file</summary>"
        f"<pre>{escape(str(statement))}</pre></details>"
    )


def _odds(statement: Statement, who: str) -> str:
    """What epsilon means for one person, in odds."""
    if not statement.private:
        return f"<p><strong>{NOT_PRIVATE}.</strong> {escape('; '.join(statement.reasons))}.</p>"
    factor = math.exp(min(statement.epsilon, 700.0))
    slack = f" (up to a slack of delta = {statement.delta:.3g} in probability)" if statement.delta else ""
    rows = [
        _row([(f"{100 * chance:.2g}\u00a0%", True) for chance in (p, _moved(p, 1 / factor), _moved(p, factor))])
        for p in (0.01, 0.1, 0.5)
    ]
    columns = [("chance before", True), ("after, at least", True), ("after, at most", True)]
    return (
        f"<p><strong>What epsilon = {statement.epsilon:.4g} means.</strong> Suppose somebody suspects "
        f"something about {escape(who)}: that it is in the data at all, or what it was like. Whatever else "
        "they know, everything published here changes the odds that they are right by a factor of at most "
        f"e<sup>epsilon</sup> = {factor:.3g}{slack}, up or down:</p>{_table(columns, rows, 'scroll narrow')}"
    )


def _moved(chance: float, factor: float) -> float:
    """A probability after its odds were multiplied."""
    return chance * factor / (1 - chance + chance * factor)


def city_map(topology: Topology, release: Release, words: Setting) -> str:
    """Draw released distances from one node, if nodes have places."""
    if topology.coordinates is None:
        return "<p>This network has no coordinates, so there is no map of it.</p>"
    origin = topology.index(words.origin) if words.origin is not None else 0
    name = topology.labels[origin]
    label = f"released {words.quantity} from {name}" + (f" ({words.units})" if words.units else "")
    source = distance_map(
        topology,
        release.matrix([name])[0],
        origin,
        label=label,
        widths=words.widths,
        water=words.water,
        named=topology.indices(words.named).tolist(),
    )
    text = f"Each edge is coloured by the released {words.quantity} from the star"
    text += ", as anybody can compute it from the release."
    text += " Thicker lines: main roads." if words.widths is not None else ""
    return f'<div class="map">{_figure(source, label, escape(text))}</div>'


def answers(release: Release, words: Setting) -> str:
    """Answer a few questions, with intervals."""
    rows = []
    for (a, b), value in zip(words.pairs, release.distances(list(words.pairs)), strict=True):
        low, high = release.interval(a, b)
        interval = f"{short(low)} to {words.amount(high)}"
        rows.append(_row([(str(a), False), (str(b), False), (words.amount(value), True), (interval, True)]))
    columns = [("from", False), ("to", False), (f"released {words.quantity}", True), ("90 % interval", True)]
    return "<p>Answers cost no privacy: ask for as many as you like, for ever.</p>" + _table(columns, rows)


def candidates(plan: Plan, words: Setting) -> str:
    """List what was considered, the choice first."""
    rows = []
    for each in plan.candidates:
        if each.strategy is None:
            reason = f'<td colspan="5">not possible: {escape(each.reason)}</td>'
            rows.append(f'<tr class="out"><td>{escape(each.mechanism)}</td>{reason}</tr>')
            continue
        figures = [short(value) for value in (each.mean_error, each.p95_error, each.noise, each.numbers)]
        cells = [(each.mechanism, False), (str(each.law), False), *((figure, True) for figure in figures)]
        rows.append(_row(cells, "chosen" if each is plan.choice else ""))
    unit = f" ({words.units})" if words.units else ""
    errors = [f"mean error{unit}", f"95 % below{unit}", f"noise of one number{unit}", "numbers"]
    columns = [("mechanism", False), ("noise", False), *((name, True) for name in errors)]
    return (
        "<p>Every mechanism that fits was calibrated to the same promise, and its error predicted from "
        f"public facts alone, before any private weight was read. The choice: {escape(plan.why)}</p>"
        + _table(columns, rows)
    )


def truth(comparison: Comparison, plan: Plan | None, words: Setting) -> str:
    """Compare with the true data.  NOT PRIVATE."""
    result = Evaluation.of(comparison)
    text = (
        f"Over {short(result.pairs)} pairs of nodes the true {words.quantity} is "
        f"{words.amount(result.mean_distance)} on average; released answers are off by "
        f"{words.amount(result.mean_error)} ({100 * result.relative_error:.2g}\u00a0%) on average, "
        f"and 95\u00a0% of them by less than {words.amount(result.p95_error)}. "
        f"They are {words.amount(abs(result.bias))} too {'high' if result.bias > 0 else 'low'} on average."
    )
    scatter = true_against_private(comparison, quantity=words.quantity, units=words.units)
    hops = error_by_hops(comparison, plan, units=words.units)
    first = f"<strong>{NOT_PRIVATE}.</strong> Released against true {escape(words.quantity)} of some pairs."
    second = f"<strong>{NOT_PRIVATE}.</strong> Absolute error by number of hops: the mean, and the band that "
    second += "holds 95\u00a0% of the pairs."
    second += " The dashed line is what the plan predicted without looking." if plan is not None else ""
    return (
        f'<p>{escape(text)}</p><div class="pair">{_figure(scatter, "true against released", first)}'
        f"{_figure(hops, 'error by number of hops', second)}</div>"
    )


def _figure(source: str, text: str, caption: str) -> str:
    return f'<figure><img src="{source}" alt="{escape(text)}"><figcaption>{caption}</figcaption></figure>'


def _bullets(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _row(cells: Sequence[Cell], kind: str = "", tag: str = "td") -> str:
    number = {True: ' class="n"', False: ""}
    inner = "".join(f"<{tag}{number[right]}>{escape(text)}</{tag}>" for text, right in cells)
    return f'<tr class="{kind}">{inner}</tr>' if kind else f"<tr>{inner}</tr>"


def _table(columns: Sequence[Cell], rows: Sequence[str], kind: str = "scroll") -> str:
    return f'<div class="{kind}"><table>{_row(columns, tag="th")}{"".join(rows)}</table></div>'
