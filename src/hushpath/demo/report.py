"""One self-contained HTML page about a release: what is promised, what it looks like, how good it is.

Works for any release.  Without a ``Comparison`` everything on the page is public and the page says so; with
one it gains a section that shows the truth, and a banner that says which sections may be published.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template

from .._version import __version__
from ..evaluation import Comparison
from ..oracle import Release
from ..planning import Plan
from ..statement import NOT_PRIVATE, Statement
from ..topology import Topology
from . import sections
from .setting import Setting, short


def write_report(
    path: str | PathLike[str],
    topology: Topology,
    release: Release,
    plan: Plan | None,
    comparison: Comparison | None = None,
    *,
    title: str = "A private release of distances",
    setting: Setting | None = None,
) -> None:
    """Write the page.  With ``comparison`` it is for the data owner only, except the sections marked otherwise."""
    words = setting or Setting()
    parts = [
        _banner(release.statement, comparison is not None),
        _facts(topology, release.statement, plan, words),
        _section("What is promised", sections.promise(release.statement, words)),
        _section("The map", sections.city_map(topology, release, words)),
    ]
    if words.pairs:
        parts.append(_section("Some answers", sections.answers(release, words)))
    if plan is not None:
        parts.append(_section("How the mechanism was chosen", sections.candidates(plan, words)))
    if comparison is not None:
        parts.append(_section("How far from the truth", sections.truth(comparison, plan, words), owner=True))
    if words.commands:
        items = [f"<h3>{escape(why)}</h3><pre>{_unbroken(command)}</pre>" for why, command in words.commands]
        parts.append(_section("What to do next", "".join(items)))
    page = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    lead = words.lead or "Every distance of a network, published once; the weights stay with their owner."
    text = page.substitute(title=escape(title), lead=escape(lead), body="\n".join(parts), version=__version__)
    Path(path).write_text(text, encoding="utf-8")


def _unbroken(command: str) -> str:
    """A command line that breaks between words only, not inside an option."""
    return " ".join(f"<span>{escape(word)}</span>" for word in command.split())


def _section(heading: str, body: str, *, owner: bool = False) -> str:
    tag = f"{NOT_PRIVATE}: for the data owner only" if owner else "May be published"
    return f'<section class="{"owner" if owner else "public"}"><span class="tag">{tag}</span><h2>{heading}</h2>{body}</section>'


def _banner(statement: Statement, owner: bool) -> str:
    text = ""
    if not statement.private:
        why = escape("; ".join(statement.reasons))
        text = f'<div class="note"><p><strong>{NOT_PRIVATE}: {why}.</strong> For tests only; publish nothing of it.</p></div>'
    if owner:
        return text + (
            '<div class="note"><p><strong>This page as a whole is for the data owner.</strong> It has one section, framed '
            f"in orange and marked {NOT_PRIVATE}, that compares the release with the true data. Every other section uses "
            "only the release and public facts and may be published.</p></div>"
        )
    return (
        text
        + '<div class="note calm"><p>Everything on this page comes from the release and public facts.</p></div>'
    )


def _facts(topology: Topology, statement: Statement, plan: Plan | None, words: Setting) -> str:
    facts = [
        ("nodes", short(topology.num_nodes)),
        ("edges", short(topology.num_edges)),
        ("epsilon", f"{statement.epsilon:.4g}" if statement.private else NOT_PRIVATE),
        ("delta", f"{statement.delta:.3g}" if statement.delta else "0 (pure)"),
        (f"{words.protected or 'one protected unit'} can change, in total", words.amount(statement.unit)),
    ]
    if plan is not None:
        facts.append(("predicted mean error", words.amount(plan.choice.mean_error)))
    return (
        '<dl class="facts">'
        + "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in facts)
        + "</dl>"
    )
