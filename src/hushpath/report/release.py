"""The report of a release: what is promised, what it looks like, how good it is.

Works for any network and release.  Without a ``Comparison`` everything on the page is public and the page says so;
with one it gains a section that shows the truth, and a banner that says which sections may be published.
"""

from __future__ import annotations

from html import escape
from os import PathLike

from ..data.topology import Topology
from ..publish.evaluate import Comparison
from ..publish.oracle import Release
from ..publish.planned import Plan
from ..publish.promise import up
from ..publish.statement import NOT_PRIVATE, Statement
from ..publish.trip_plan import TripPlan
from . import sections, trips
from .page import facts, note, section, short, write_page
from .setting import Setting

LEAD = "Every distance of a network, published once; the weights stay with their owner."


def write_report(
    path: str | PathLike[str], topology: Topology, release: Release, plan: Plan | TripPlan | None,
    comparison: Comparison | None = None, *, title: str = "A private release of distances",
    setting: Setting | None = None,
) -> None:  # fmt: skip
    """Write the page.  With ``comparison`` it shows the truth, so only its owner can read the file (mode 0600)."""
    words = setting or Setting()
    private = release.statement.private
    parts = [_banner(release.statement, comparison is not None), _facts(topology, release.statement, plan, words)]

    def add(heading: str, body: str, publishable: bool = private) -> None:
        tag = "May be published" if publishable else f"{NOT_PRIVATE}: for the data owner only"
        parts.append(section(heading, body, kind="public" if publishable else "owner", tag=tag))

    add("What is promised", sections.promise(release.statement, words))
    if words.page:
        add("The map", sections.explored(words))
    if words.pairs:
        add("Some answers", sections.answers(release, words))
    if isinstance(plan, TripPlan):
        add("What was expected", trips.forecasts(plan), publishable=True)
    elif plan is not None:
        add("How the mechanism was chosen", sections.candidates(plan, words), publishable=True)
    if comparison is not None:
        predicted = plan if isinstance(plan, Plan) else None
        add("How far from the truth", sections.truth(comparison, predicted, words), publishable=False)
    if words.commands:
        add("What to do next", sections.commands(words), publishable=True)
    shows_truth = comparison is not None
    write_page(path, title=title, lead=words.lead or LEAD, parts=parts, owner_only=shows_truth)


def _banner(statement: Statement, owner: bool) -> str:
    """What may be published, before anything else."""
    notes = []
    if not statement.private:
        why = escape("; ".join(statement.reasons))
        notes.append(f"<strong>{NOT_PRIVATE}: {why}.</strong> For tests only; publish nothing of it.")
    if owner:
        notes.append(
            "<strong>This page as a whole is for the data owner.</strong> It has one section, framed in "
            f"orange and marked {NOT_PRIVATE}, that compares the release with the true data. Every other "
            "section uses only the release and public facts" + (" and may be published." if statement.private else ".")
        )
    calm = "Everything on this page comes from the release and public facts, and may be published."
    return "".join(map(note, notes)) or note(calm, calm=True)


def _facts(topology: Topology, statement: Statement, plan: Plan | TripPlan | None, words: Setting) -> str:
    """The numbers one looks for first; all public."""
    named = {
        "nodes": short(topology.num_nodes),
        "edges": short(topology.num_edges),
        "epsilon": f"{statement.epsilon:.4g}" if statement.private else NOT_PRIVATE,
        "delta": up(statement.delta, 3) if statement.delta else "0 (pure)",
    }
    if statement.private:
        named["protection of one unit"] = statement.promise.risks[0].protection
    if statement.trips is None:
        named["one protected unit changes, in total"] = words.amount(statement.unit)
    else:
        named["protected"] = statement.trips["protects"]
        named["periods"] = ", ".join(statement.trips["periods"]) or "one"
    if isinstance(plan, TripPlan):
        named["expected mean error"] = f"{100 * plan.share:.2g}\u00a0%"
    elif plan is not None:
        named["predicted mean error"] = words.amount(plan.choice.mean_error)
    return facts(named)
