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
from ..data.topology import Topology
from ..publish.evaluate import Comparison
from ..publish.oracle import Release
from ..publish.plan import Plan
from ..publish.statement import NOT_PRIVATE, Statement
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
    """Write the page.  With ``comparison`` it is for the data owner only, but for sections marked public."""
    words = setting or Setting()
    owner = comparison is not None
    parts = [_banner(release.statement, owner), _facts(topology, release.statement, plan, words)]

    def add(heading: str, body: str, publishable: bool = release.statement.private) -> None:
        parts.append(_section(heading, body, publishable))

    add("What is promised", sections.promise(release.statement, words))
    add("The map", sections.city_map(topology, release, words))
    if words.pairs:
        add("Some answers", sections.answers(release, words))
    if plan is not None:
        add("How the mechanism was chosen", sections.candidates(plan, words), publishable=True)
    if comparison is not None:
        add("How far from the truth", sections.truth(comparison, plan, words), publishable=False)
    if words.commands:
        items = [f"<h3>{escape(why)}</h3><pre>{_unbroken(command)}</pre>" for why, command in words.commands]
        add("What to do next", "".join(items), publishable=True)
    page = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    lead = words.lead or "Every distance of a network, published once; the weights stay with their owner."
    text = page.substitute(title=escape(title), lead=escape(lead), body="\n".join(parts), version=__version__)
    Path(path).write_text(text, encoding="utf-8")


def _unbroken(command: str) -> str:
    """A command line that breaks between words only, not inside an option."""
    return " ".join(f"<span>{escape(word)}</span>" for word in command.split())


def _section(heading: str, body: str, publishable: bool) -> str:
    tag = "May be published" if publishable else f"{NOT_PRIVATE}: for the data owner only"
    kind = "public" if publishable else "owner"
    return f'<section class="{kind}"><span class="tag">{tag}</span><h2>{heading}</h2>{body}</section>'


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
    text = "".join(f'<div class="note"><p>{note}</p></div>' for note in notes)
    calm = "Everything on this page comes from the release and public facts, and may be published."
    return text or f'<div class="note calm"><p>{calm}</p></div>'


def _facts(topology: Topology, statement: Statement, plan: Plan | None, words: Setting) -> str:
    """The numbers one looks for first; all public."""
    facts = [
        ("nodes", short(topology.num_nodes)),
        ("edges", short(topology.num_edges)),
        ("epsilon", f"{statement.epsilon:.4g}" if statement.private else NOT_PRIVATE),
        ("delta", f"{statement.delta:.3g}" if statement.delta else "0 (pure)"),
        (f"{words.protected or 'one protected unit'} can change, in total", words.amount(statement.unit)),
    ]
    if plan is not None:
        facts.append(("predicted mean error", words.amount(plan.choice.mean_error)))
    cells = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{cells}</dl>'
