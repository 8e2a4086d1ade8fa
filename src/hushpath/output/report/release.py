"""The report of a release: what is promised, some answers, what was expected, how large the error is.

Works for any network and release.  Without a ``Comparison`` everything on the page is public and the page says so;
with one it has one more section, which compares with the true data, and a banner that says what may be published.
Every section is a function of what it may see: only ``accuracy_section`` takes a ``Comparison``.

Notebooks show parts of it: a summary of a release or of a plan, and the map page in a frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from os import PathLike
from typing import NamedTuple

from ..._validate import integer
from ...network.labels import Label
from ...planning.result import Plan, Sweep
from ...planning.trips import TripPlan
from ...published.promise import Promise, format_up
from ...published.quantity import format_interval
from ...published.release import Release, in_periods
from ...published.statement import NOT_PRIVATE, Statement
from ...releasing.evaluate import Comparison, Evaluation
from ..page.explorer import explorer
from .html import ReportTexts, bullets, facts, figure, folded, lists, note, row, section, short, table, write_page
from .pictures import error_by_hops, true_against_released

# A notebook has its own style, light or dark; this adds what it lacks.
ALARM = "background:#b00020;color:#fff;font-weight:700;padding:.4em .8em;border-radius:.3em"
HEIGHTS = 200, 5000  # pixels
LEAD = "All distances of a network, released once; the weights stay with their owner."


def write_report(
    path: str | PathLike[str], release: Release, plan: Plan | TripPlan | None = None,
    comparison: Comparison | None = None, *, title: str = "A private release of distances",
    texts: ReportTexts | None = None,
) -> None:  # fmt: skip
    """Write the report as the HTML file ``path``.

    ``plan`` adds what was expected of ``release``, ``comparison`` the error against the true data (then the file is
    for its owner only); ``title`` and ``texts`` are shown.
    """
    texts = texts or ReportTexts()
    private = release.statement.private
    parts = [_banner(release.statement, comparison is not None), _facts(release, plan, texts)]

    def add(heading: str, body: str, publishable: bool = private) -> None:
        tag = "May be published" if publishable else f"{NOT_PRIVATE}: for the data owner only"
        parts.append(section(heading, body, kind="public" if publishable else "owner", tag=tag))

    add("What is promised", _promise_section(release.statement, texts))
    if texts.page:
        add("The map", _map_section(texts))
    if texts.pairs:
        add("Some answers", _answers_section(release, texts))
    predicted = plan if isinstance(plan, Plan) else None
    if predicted is not None:
        add("How the mechanism was chosen", candidate_table(predicted, texts), publishable=True)
    elif plan is not None:
        add("What was expected", plan._repr_html_(), publishable=True)
    if comparison is not None:
        add("Error against the true data", accuracy_section(comparison, predicted, texts), publishable=False)
    if texts.commands:
        add("Next steps", _commands_section(texts), publishable=True)
    write_page(path, title=title, lead=texts.lead or LEAD, parts=parts, owner_only=comparison is not None)


def _banner(statement: Statement, owner: bool) -> str:
    """Say first what may be published."""
    notes = []
    if not statement.private:
        why = escape("; ".join(statement.reasons))
        notes.append(f"<strong>{NOT_PRIVATE}: {why}.</strong> For tests only; do not publish any of it.")
    if owner:
        notes.append(
            "<strong>This page as a whole is for the data owner.</strong> One section, framed in "
            f"orange and marked {NOT_PRIVATE}, compares the release with the true data. All other "
            "sections use only the release and public facts" + (" and may be published." if statement.private else ".")
        )
    calm = "Everything on this page comes from the release and public facts, and may be published."
    return "".join(map(note, notes)) or note(calm, calm=True)


def _facts(release: Release, plan: Plan | TripPlan | None, texts: ReportTexts) -> str:
    """Show the main figures; all public."""
    topology, statement = release.topology, release.statement
    named = {
        "nodes": short(topology.num_nodes),
        "edges": short(topology.num_edges),
        "epsilon": f"{statement.epsilon:.4g}" if statement.private else NOT_PRIVATE,
        "delta": format_up(statement.delta, 3) if statement.delta else "0 (pure)",
    }
    if statement.private:
        named["protection of one unit"] = statement.promise.risks[0].protection
    named["protected unit"] = statement.unit.noun
    if statement.unit.measures_edges:
        named["largest total change by one unit"] = texts.amount(statement.unit.norm)
    if statement.periods:
        named["periods"] = ", ".join(statement.periods)
    if plan is not None:
        named["expected mean error"] = plan.expected_error(texts.amount)
    return facts(named)


def _promise_section(statement: Statement, texts: ReportTexts) -> str:
    both = {"Also public": texts.public, "Not promised": texts.unprotected}
    return (
        promise_html(statement.promise)
        + "".join(f"<p>{escape(paragraph)}</p>" for paragraph in texts.how)
        + lists({heading: bullets(map(escape, items)) for heading, items in both.items() if items})
        + folded("Technical statement", f"<pre>{escape(chr(10).join(statement.technical))}</pre>")
    )


def promise_html(promise: Promise) -> str:
    """Return the text of a promise as HTML; a NOT PRIVATE marking comes first."""
    marking = f"<p><strong>{escape(promise.marking)}.</strong></p>" if promise.marking else ""
    named = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in promise.facts.items())
    risks = _risk_table(promise) if promise.risks else ""
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in promise.paragraphs)
    verdict = f"<p{' class=void' if promise.is_void else ''}><strong>{escape(promise.verdict)}</strong></p>"
    return f'{marking}<dl class="promise">{named}</dl>{verdict}{risks}{paragraphs}'


def _risk_table(promise: Promise) -> str:
    """Return the table of a promise; every cell names its column, for screens too narrow for a table."""
    rows = ["".join(f"<th>{escape(column)}</th>" for column in promise.columns)]
    for risk in promise.risks:
        cells = zip(promise.columns, risk.row(), strict=True)
        rows.append("".join(f'<td data-label="{escape(name)}">{escape(text)}</td>' for name, text in cells))
    return f'<table class="risks">{"".join(f"<tr>{one}</tr>" for one in rows)}</table>'


def _map_section(texts: ReportTexts) -> str:
    link = f'<a href="{escape(texts.page)}">{escape(texts.page)}</a>'
    return (
        f"<p>Open {link}: a map that shows any released {escape(texts.quantity)}, its interval and its path. "
        "It is one file and loads nothing.</p>"
    )


class Answer(NamedTuple):
    """The released distance of one pair, with its 90 % interval."""

    source: Label
    target: Label
    distance: float
    low: float
    high: float

    def format(self, units: str = "") -> tuple[str, str]:
        """Return distance and interval as text, with as many digits as the noise leaves."""
        number, low, high = format_interval(self.distance, self.low, self.high)
        suffix = f"\u00a0{units}" if units else ""
        return f"{number}{suffix}", f"{low} to {high}{suffix}"


def query_pairs(release: Release, pairs: Iterable[tuple[Label, Label]]) -> list[Answer]:
    """Query a release for the distances of some pairs, with 90 % intervals."""
    wanted = list(pairs)
    found = zip(wanted, release.distances(wanted).tolist(), release.intervals(wanted).tolist(), strict=True)
    return [Answer(*pair, distance, *ends) for pair, distance, ends in found]


def _answers_section(release: Release, texts: ReportTexts) -> str:
    when = {"period": False} if release.periods and release.period is None else {}
    columns = {"from": False, "to": False, **when, f"released {texts.quantity}": True, "90 % interval": True}
    answers = {period: query_pairs(one, texts.pairs) for period, one in in_periods(release).items()}
    rows = []
    for several in zip(*answers.values(), strict=True):
        for period, one in zip(answers, several, strict=True):
            at = [period] if when else []
            rows.append(row(columns, [str(one.source), str(one.target), *at, *one.format(texts.units)]))
    return "<p>Queries cost no privacy; their number is not limited.</p>" + table(columns, rows)


def candidate_table(plan: Plan, texts: ReportTexts) -> str:
    """Return the mechanisms that a plan compared, the choice first."""
    measured = map(texts.measured, ("mean error", "95th percentile", "bias", "noise standard deviation"))
    words = dict.fromkeys(("mechanism", "noise", "decoder"), False)
    columns = {**words, **dict.fromkeys((*measured, "measured numbers"), True)}
    rows = []
    for each in plan.candidates:
        if each.strategy is None:
            reason = f'<td colspan="7">not considered: {escape(each.reason)}</td>'
            rows.append(f'<tr class="out"><td>{escape(each.mechanism)}</td>{reason}</tr>')
            continue
        errors_of = each.mean_error, each.p95_error, each.bias, each.noise_std
        values = [each.mechanism, str(each.law), each.read_as, *errors_of, each.numbers]
        rows.append(row(columns, values, "chosen" if each is plan.choice else ""))
    return (
        "<p>Every applicable mechanism was calibrated to the same promise. Its error was predicted from public facts, "
        f"before any private weight was read. The choice: {escape(plan.why)} {escape(plan.range_summary)}</p>"
        + table(columns, rows)
    )


def forecast_table(plan: TripPlan) -> str:
    """Return the errors that a plan for trips expects, beside the baseline from public data."""
    columns = {"simulated times": False, "this release": True, "free flow, scaled": True, "free flow": True}
    rows = []
    for one in plan.forecasts:
        errors = (one.error, one.scaled, one.free_flow)
        rows.append(row(columns, [one.kind, *(f"{100 * error / one.distance:.2g}\u00a0%" for error in errors)]))
    if plan.worth_it:
        verdict = f"Public free-flow times have {plan.gain:.2g} times that error."
    else:
        verdict = "This is no better than public free-flow times."
    return (
        f"<p>Before any trip was read, the release was simulated for {plan.expected_units:,} protected units with "
        f"about {plan.edges_per_unit:g} edges each, on calm, usual and rough times. Mean errors of distances, in "
        f"percent of the mean distance:</p>{table(columns, rows)}"
        f"<p>{escape(plan.range_summary)} {verdict}</p>"
    )


def accuracy_section(comparison: Comparison, plan: Plan | None, texts: ReportTexts) -> str:
    """Compare with the true data.  NOT PRIVATE."""
    result = Evaluation.of(comparison)
    text = (
        f"Over {short(result.pairs)} pairs of nodes, the mean true {texts.quantity} is "
        f"{texts.amount(result.mean_distance)}. The mean error is {texts.amount(result.mean_error)} "
        f"({100 * result.relative_error:.2g}\u00a0%), the 95th percentile {texts.amount(result.p95_error)}. "
        f"Released values are {texts.amount(abs(result.bias))} too {'high' if result.bias > 0 else 'low'} on average."
    )
    if result.baseline_summary:
        text += f" Baseline from public data: {result.baseline_summary}."
    scatter = true_against_released(comparison, texts)
    hops = error_by_hops(comparison, plan, texts)
    first = f"<strong>{NOT_PRIVATE}.</strong> Released against true {escape(texts.quantity)} of some pairs."
    second = f"<strong>{NOT_PRIVATE}.</strong> Absolute error by number of hops: the mean, and the band that "
    second += "contains 95\u00a0% of the pairs."
    second += " The dashed line is the prediction of the plan." if plan is not None else ""
    return (
        f'<p>{escape(text)}</p><div class="pair">{figure(scatter, "released against true", first)}'
        f"{figure(hops, 'error by number of hops', second)}</div>"
    )


def _commands_section(texts: ReportTexts) -> str:
    """List commands to try; a line breaks between words only, not inside an option."""
    return "".join(
        f"<h3>{escape(why)}</h3><pre>{' '.join(f'<span>{escape(word)}</span>' for word in line.split())}</pre>"
        for why, line in texts.commands
    )


# --- notebooks --------------------------------------------------------------------------------------------------------


class Framed(NamedTuple):
    """The page of a release as HTML for a notebook."""

    html: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"Framed({len(self.html):,} characters of HTML)"


def framed(release: Release, origin: Label | None, height: int) -> Framed:
    """Return the page in a frame that may only run its own script."""
    integer(height, "height", *HEIGHTS)
    page = escape(explorer(release, origin=origin))
    style = f"width:100%;height:{height}px;border:1px solid #8888;border-radius:.4em"
    return Framed(
        f'<iframe sandbox="allow-scripts" style="{style}" title="Explore the release" srcdoc="{page}"></iframe>'
    )


def release_card(release: Release) -> str:
    """Return the promise, the network and the meaning of the numbers as HTML."""
    statement, topology = release.statement, release.topology
    named = {
        "numbers": str(statement.quantity) or "distances",
        "network": f"{short(topology.num_nodes)} nodes, {short(topology.num_edges)} edges, "
        f"{'directed' if topology.directed else 'undirected'}",
        "mechanism": f"{statement.mechanism}, {statement.law} noise; decoded by {statement.read_as}",
    }
    if release.periods:
        named["periods"] = release.period or ", ".join(release.periods)
    columns = {"Release": False, "": False}
    mark = f'<p style="{ALARM}">{escape(statement.marking)}</p>' if statement.marking else ""
    rows = [row(columns, pair) for pair in named.items()]
    return mark + promise_html(statement.promise) + table(columns, rows)


def plan_card(plan: Plan | Sweep) -> str:
    """Return the predicted errors as a table."""
    several = plan.plans if isinstance(plan, Sweep) else (plan,)
    cards = [candidate_table(one, ReportTexts()) for one in several]
    if isinstance(plan, Sweep):
        epsilons = [one.terms.budget.epsilon for one in several]
        cards = [f"<h4>epsilon = {one:g}</h4>{card}" for one, card in zip(epsilons, cards, strict=True)]
    unlimited = any(one.terms.budget.unlimited for one in several)
    text = folded("Full text, with warnings", f"<pre>{escape(str(plan))}</pre>")
    return (f'<p style="{ALARM}">{NOT_PRIVATE}: epsilon is infinite</p>' if unlimited else "") + "".join(cards) + text
