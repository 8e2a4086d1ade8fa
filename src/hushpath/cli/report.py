"""``hushpath report``: a page about one release, with the truth beside it, for the data owner."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import common as c
from . import owned as o


@o.owner
def command(
    network: Annotated[Path, typer.Argument(help="The private edge list the release was made from.")],
    release: Annotated[Path, typer.Argument(help="The release file.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write, e.g. report.html.")],
    given: dict[str, Any],
    title: Annotated[str | None, typer.Option("--title", help="Of the page.")] = None,
    public: Annotated[bool, typer.Option("--public", help="Only what may be published; no truth is read.")] = False,
    sources: Annotated[int, typer.Option("--sources", min=1, help="Compare from this many nodes to all.")] = 64,
    json: c.Json = False,
) -> None:
    """Write a report of a release.  NOT PRIVATE (mode 0600) but for sections that say otherwise, unless --public."""
    from ..progress import shown
    from ..publish.evaluate import Comparison, Evaluation, compare
    from ..publish.oracle import in_periods, load
    from ..publish.statement import NOT_PRIVATE, OWNER_ONLY
    from ..report.canvas import needs_matplotlib
    from ..report.release import write_report
    from ..report.texts import ReportTexts

    c.check_inputs(network, release)
    c.check_output(out, network, release, given["nodes"], given["trips"], given["edge_data"])
    if not public:
        needs_matplotlib()
    rel = load(release)
    comparison = None
    with shown():
        if not public:
            owned = o.read(network, given, rel)
            several = [compare(owned, one, sources=sources) for one in in_periods(rel).values()]
            comparison = Comparison.joined(several)
        texts = ReportTexts.of(rel)
        write_report(out, rel.topology, rel, None, comparison, title=title or texts.title, texts=texts)
    c.print_marking(rel.statement)
    if json:
        marking = rel.statement.marking if public else OWNER_ONLY
        c.print_json({
            "publishable": public and rel.statement.private, **({"marking": marking} if marking else {}),
            "file": str(out), "public": public, "release": c.privacy(rel.statement),
            "evaluation": {} if comparison is None else Evaluation.of(comparison).as_dict(),
        })  # fmt: skip
    elif public:
        print(f"Written to {out}: {'may be published' if rel.statement.private else NOT_PRIVATE}.")
    else:
        print(f"Written to {out}. {NOT_PRIVATE}: it compares the release with the truth; keep it to yourself.")
