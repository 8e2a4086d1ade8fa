"""What a notebook shows: a summary of a release or a plan, and the map page in a frame."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from ..._validate import integer
from ...network.labels import Label
from ...planning.result import Plan, Sweep
from ...published.release import Release
from ...published.statement import NOT_PRIVATE
from ..page.write import explorer
from .page import folded, row, short, table
from .release import candidate_table, promise_html
from .texts import ReportTexts

# A notebook has its own style, light or dark; this adds what it lacks.
ALARM = "background:#b00020;color:#fff;font-weight:700;padding:.4em .8em;border-radius:.3em"
HEIGHTS = 200, 5000  # pixels


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
