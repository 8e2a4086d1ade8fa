"""``hushpath report``: a page about one release, with the truth beside it, for the data owner."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c
from . import options as o
from .evaluate import Sources


@o.spec_options([*o.READ, *o.PRIVATE_WEIGHTS])
def command(
    given: Annotated[Path, typer.Argument(metavar="SPEC|NETWORK", help=c.SPEC_OR_NETWORK)],
    release: Annotated[Path, typer.Argument(help="The release file.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write, e.g. report.html.")],
    changes: o.Changes,
    title: Annotated[str | None, typer.Option("--title", help="Title of the page.")] = None,
    public: Annotated[bool, typer.Option("--public", help="Only what may be published; no truth is read.")] = False,
    sources: Sources = 64,
    json: c.Json = False,
) -> None:
    """Write a report of a release.  NOT PRIVATE (mode 0600) but for sections that say otherwise, unless --public."""
    from ..output.report.html import ReportTexts
    from ..output.report.pictures import needs_matplotlib
    from ..output.report.release import write_report
    from ..progress import shown
    from ..published.release import load
    from ..published.statement import NOT_PRIVATE, OWNER_ONLY
    from ..releasing.evaluate import Evaluation

    c.check_inputs(given, release)
    rel = load(release)
    spec = None if public else o.spec_of_release(given, changes, rel)
    c.check_output(out, given, release, *(c.spec_files(spec) if spec else []))
    if spec is not None:
        needs_matplotlib()
    with shown():
        comparison = None if spec is None else spec.compare(rel, sources=sources)
        texts = ReportTexts.of(rel)
        write_report(out, rel, None, comparison, title=title or texts.title, texts=texts)
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
