"""The sections of a report as HTML, each a function of what it may see.

All but ``truth`` see a release and public facts only; ``truth`` takes a ``Comparison`` and is NOT PRIVATE.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from ..data.labels import Label
from ..publish.evaluate import Comparison, Evaluation
from ..publish.oracle import Release, in_periods
from ..publish.planned import Plan
from ..publish.promise import Promise
from ..publish.quantity import told_range
from ..publish.statement import NOT_PRIVATE, Statement
from .page import bullets, figure, folded, lists, row, short, table
from .pictures import error_by_hops, true_against_released
from .setting import Setting


def promise(statement: Statement, words: Setting) -> str:
    """Show what is promised, why one unit cannot change more, and the technical statement."""
    both = {"What is public besides": words.public, "What else is not promised": words.unprotected}
    return (
        promise_text(statement.promise)
        + "".join(f"<p>{escape(paragraph)}</p>" for paragraph in words.how)
        + lists({heading: bullets(map(escape, items)) for heading, items in both.items() if items})
        + folded("Technical statement", f"<pre>{escape(chr(10).join(statement.technical))}</pre>")
    )


def promise_text(promise: Promise) -> str:
    """The one text of a promise as HTML; a marking stands first."""
    marking = f"<p><strong>{escape(promise.marking)}.</strong></p>" if promise.marking else ""
    named = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in promise.facts.items())
    risks = _risks(promise) if promise.risks else ""
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in promise.paragraphs)
    verdict = f"<p{' class=void' if promise.is_void else ''}><strong>{escape(promise.verdict)}</strong></p>"
    return f'{marking}<dl class="promise">{named}</dl>{verdict}{risks}{paragraphs}'


def _risks(promise: Promise) -> str:
    """The table of a promise; every cell knows its heading, for screens too narrow for a table."""
    head = "".join(f"<th>{escape(column)}</th>" for column in promise.columns)
    rows = (
        "".join(
            f'<td data-label="{escape(column)}">{escape(cell)}</td>'
            for column, cell in zip(promise.columns, risk.row(), strict=True)
        )
        for risk in promise.risks
    )
    return f'<table class="risks"><tr>{head}</tr>{"".join(f"<tr>{cells}</tr>" for cells in rows)}</table>'


def explored(words: Setting) -> str:
    """Where the map is."""
    link = f'<a href="{escape(words.page)}">{escape(words.page)}</a>'
    return (
        f"<p>Open {link}: a map of the network to ask for any released {escape(words.quantity)}, its interval and its "
        "path. It is one file that loads nothing.</p>"
    )


class Answer(NamedTuple):
    """What a release says about one pair: the distance, and its 90 % interval."""

    source: Label
    target: Label
    distance: float
    low: float
    high: float

    def told(self, units: str = "") -> tuple[str, str]:
        """Both with the digits that noise leaves."""
        number, low, high = told_range(self.distance, self.low, self.high)
        measured = f"\u00a0{units}" if units else ""
        return f"{number}{measured}", f"{low} to {high}{measured}"


def ask(release: Release, pairs: Iterable[tuple[Label, Label]]) -> list[Answer]:
    """Ask a release for the distances of a few pairs, with intervals."""
    asked = list(pairs)
    found = zip(asked, release.distances(asked).tolist(), release.intervals(asked).tolist(), strict=True)
    return [Answer(*pair, distance, *ends) for pair, distance, ends in found]


def answers(release: Release, words: Setting) -> str:
    """Show the answers to a few questions."""
    when = {"period": False} if release.periods and release.period is None else {}
    columns = {"from": False, "to": False, **when, f"released {words.quantity}": True, "90 % interval": True}
    asked = {period: ask(one, words.pairs) for period, one in in_periods(release).items()}
    rows = []
    for several in zip(*asked.values(), strict=True):
        for period, one in zip(asked, several, strict=True):
            at = [period] if when else []
            rows.append(row(columns, [str(one.source), str(one.target), *at, *one.told(words.units)]))
    return "<p>Answers cost no privacy: ask for as many as you like, for ever.</p>" + table(columns, rows)


def candidates(plan: Plan, words: Setting) -> str:
    """List what was considered, the choice first."""
    errors = [words.measured(text) for text in ("mean error", "95 % below", "bias", "noise of one number")]
    columns = {"mechanism": False, "noise": False, "read as": False, **dict.fromkeys([*errors, "numbers"], True)}
    rows = []
    for each in plan.candidates:
        if each.strategy is None:
            reason = f'<td colspan="7">not possible: {escape(each.reason)}</td>'
            rows.append(f'<tr class="out"><td>{escape(each.mechanism)}</td>{reason}</tr>')
            continue
        errors_of = each.mean_error, each.p95_error, each.bias, each.noise
        values = [each.mechanism, str(each.law), each.read_as, *errors_of, each.numbers]
        rows.append(row(columns, values, "chosen" if each is plan.choice else ""))
    return (
        "<p>Every mechanism that fits was calibrated to the same promise, and its error predicted from "
        f"public facts alone, before any private weight was read. The choice: {escape(plan.why)}</p>"
        + table(columns, rows)
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
    if result.known_already:
        text += f" What everybody knows already: {result.known_already}."
    scatter = true_against_released(comparison, words)
    hops = error_by_hops(comparison, plan, words)
    first = f"<strong>{NOT_PRIVATE}.</strong> Released against true {escape(words.quantity)} of some pairs."
    second = f"<strong>{NOT_PRIVATE}.</strong> Absolute error by number of hops: the mean, and the band that "
    second += "holds 95\u00a0% of the pairs."
    second += " The dashed line is what the plan predicted without looking." if plan is not None else ""
    return (
        f'<p>{escape(text)}</p><div class="pair">{figure(scatter, "true against released", first)}'
        f"{figure(hops, 'error by number of hops', second)}</div>"
    )


def commands(words: Setting) -> str:
    """What to try next; a command line breaks between words only, not inside an option."""
    return "".join(
        f"<h3>{escape(why)}</h3><pre>{' '.join(f'<span>{escape(word)}</span>' for word in line.split())}</pre>"
        for why, line in words.commands
    )
