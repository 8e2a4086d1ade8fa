"""The sections of a report as HTML, each a function of what it may see.

All but ``truth`` see a release and public facts only; ``truth`` takes a ``Comparison`` and is NOT PRIVATE.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ..evaluation import Comparison, Evaluation
from ..oracle import Release
from ..planning import Plan
from ..statement import NOT_PRIVATE, Statement
from ..topology import Topology
from .pictures import distance_map, error_by_hops, true_against_private
from .setting import Setting, short


def promise(statement: Statement, words: Setting) -> str:
    """Say who is protected, from what, and from what not."""
    unit, who = words.amount(statement.unit), words.protected or "one protected unit"
    protected = f"<p><strong>Who is protected.</strong> {escape(who[:1].upper() + who[1:])}: any change of the private "
    protected += f"weights that adds up to at most {escape(unit)} over all edges together.</p>"
    protected += "".join(f"<p>{escape(paragraph)}</p>" for paragraph in words.how)
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
        f'{protected}{_odds(statement, who)}<div class="lists"><div><h3>What is public anyway</h3>{_bullets(public)}</div>'
        f"<div><h3>What is not promised</h3>{_bullets(limits)}</div></div>"
        f"<details open><summary>The statement inside the file</summary><pre>{escape(str(statement))}</pre></details>"
    )


def _odds(statement: Statement, who: str) -> str:
    """What epsilon means for one person, in odds."""
    if not statement.private:
        return f"<p><strong>{NOT_PRIVATE}.</strong> {escape('; '.join(statement.reasons))}.</p>"
    factor = math.exp(min(statement.epsilon, 700.0))
    apart = f" (up to a slack of delta = {statement.delta:.3g} in probability)" if statement.delta else ""
    rows = "".join(
        f'<tr><td class="n">{100 * before:.0f}\u00a0%</td><td class="n">{_moved(before, 1 / factor):.2g}\u00a0%</td>'
        f'<td class="n">{_moved(before, factor):.2g}\u00a0%</td></tr>'
        for before in (0.01, 0.1, 0.5)
    )
    return (
        f"<p><strong>What epsilon = {statement.epsilon:.4g} means.</strong> Suppose somebody suspects something about "
        f"{escape(who)}: that it is in the data at all, or what it was like. Whatever else they know, everything published "
        f"here changes the odds that they are right by a factor of at most e<sup>epsilon</sup> = {factor:.3g}{apart}, up or down:</p>"
        '<div class="scroll narrow"><table><tr><th class="n">chance before</th><th class="n">after, at least</th>'
        f'<th class="n">after, at most</th></tr>{rows}</table></div>'
    )


def _moved(before: float, factor: float) -> float:
    """A probability in per cent after its odds were multiplied."""
    odds = before / (1 - before) * factor
    return 100 * odds / (1 + odds)


def city_map(topology: Topology, release: Release, words: Setting) -> str:
    """Draw private distances from one node, if nodes have places."""
    if topology.coordinates is None:
        return "<p>This network has no coordinates, so there is no map of it.</p>"
    origin = topology.index(words.origin) if words.origin is not None else 0
    label = f"private {words.quantity} from {topology.labels[origin]}" + (
        f" ({words.units})" if words.units else ""
    )
    source = distance_map(
        topology, release.matrix([topology.labels[origin]])[0], origin,
        label=label, widths=words.widths, water=words.water, named=topology.indices(words.named).tolist(),
    )  # fmt: skip
    text = f"Each edge is coloured by the private {words.quantity} from the star, as anybody can compute it from the release."
    text += " Thicker lines: main roads." if words.widths is not None else ""
    return f'<figure class="map">{_image(source, label)}<figcaption>{escape(text)}</figcaption></figure>'


def answers(release: Release, words: Setting) -> str:
    """Answer a few questions, with intervals."""
    rows = []
    for (a, b), value in zip(words.pairs, release.distances(list(words.pairs)), strict=True):
        low, high = release.interval(a, b)
        cells = (
            f'<td class="n">{words.amount(value)}</td><td class="n">{short(low)} to {words.amount(high)}</td>'
        )
        rows.append(f"<tr><td>{escape(str(a))}</td><td>{escape(str(b))}</td>{cells}</tr>")
    head = f'<th>from</th><th>to</th><th class="n">private {escape(words.quantity)}</th><th class="n">90 % interval</th>'
    return (
        "<p>Answers cost no privacy: ask for as many as you like, for ever.</p>"
        f'<div class="scroll"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
    )


def candidates(plan: Plan, words: Setting) -> str:
    """List what was considered, the choice first."""
    rows = []
    for candidate in plan.candidates:
        name = f"<td>{escape(candidate.mechanism)}</td>"
        if candidate.strategy is None:
            rows.append(
                f'<tr class="out">{name}<td colspan="5">not possible: {escape(candidate.reason)}</td></tr>'
            )
            continue
        figures = (candidate.mean_error, candidate.p95_error, candidate.noise)
        numbers = "".join(f'<td class="n">{short(value)}</td>' for value in figures)
        mark = ' class="chosen"' if candidate is plan.choice else ""
        rows.append(
            f'<tr{mark}>{name}<td>{candidate.law}</td>{numbers}<td class="n">{short(candidate.numbers)}</td></tr>'
        )
    unit = f" ({escape(words.units)})" if words.units else ""
    head = f'<th>mechanism</th><th>noise</th><th class="n">mean error{unit}</th><th class="n">95 % below{unit}</th>'
    head += f'<th class="n">noise of one number{unit}</th><th class="n">numbers</th>'
    return (
        "<p>Every mechanism that fits was calibrated to the same promise, and its error predicted from public facts alone, "
        f"before any private weight was read. The choice: {escape(plan.why)}</p>"
        f'<div class="scroll"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
    )


def truth(comparison: Comparison, plan: Plan | None, words: Setting) -> str:
    """Compare with the true data.  NOT PRIVATE."""
    result = Evaluation.of(comparison)
    text = (
        f"Over {short(result.pairs)} pairs of nodes the true {words.quantity} is {words.amount(result.mean_distance)} on average; private "
        f"answers are off by {words.amount(result.mean_error)} ({100 * result.relative_error:.2g} %) on average, and 95 % of "
        f"them by less than {words.amount(result.p95_error)}. They are {words.amount(abs(result.bias))} too {'high' if result.bias > 0 else 'low'} on average."
    )
    scatter = true_against_private(comparison, quantity=words.quantity, units=words.units)
    hops = error_by_hops(comparison, plan, units=words.units)
    prediction = " The dashed line is what the plan predicted without looking." if plan is not None else ""
    return (
        f'<p>{escape(text)}</p><div class="pair"><figure>{_image(scatter, "true against private distances")}<figcaption>'
        f"<strong>{NOT_PRIVATE}.</strong> Private against true {escape(words.quantity)} for some of the pairs.</figcaption></figure>"
        f"<figure>{_image(hops, 'error by number of hops')}<figcaption><strong>{NOT_PRIVATE}.</strong> Absolute error by "
        f"number of hops: the mean, and the band that holds 95 % of the pairs.{prediction}</figcaption></figure></div>"
    )


def _image(source: str, text: str) -> str:
    return f'<img src="{source}" alt="{escape(text)}">'


def _bullets(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
