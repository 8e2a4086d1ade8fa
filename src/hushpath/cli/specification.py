"""``hushpath init`` and ``diff``: write a specification to review, and compare two of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c


def init(
    network: Annotated[Path, typer.Argument(help=c.NETWORK)],
    trips: Annotated[Path | None, typer.Argument(help="PRIVATE table of trips, or a folder of parts.")] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="The specification to write.")] = Path("release.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: c.Json = False,
) -> None:
    """Write a commented specification to review, from the names and types of columns only."""
    from ..errors import OptionError
    from ..io.container import replacing
    from ..releasing.spec_review import initial_spec

    c.check_inputs(network)
    c.check_output(out, network, trips)
    if out.exists() and not force:
        raise OptionError(f"{out} exists: name another file, or use --force")
    text, open_questions = initial_spec(network, trips, relative_to=out.absolute().parent)
    with replacing(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    if json:
        c.print_json({"file": str(out), "to_decide": open_questions})
    else:
        decide = f" Decide: {', '.join(open_questions)}." if open_questions else ""
        print(f"Written to {out}.{decide} Then: hushpath plan {out}")


def diff(
    before: Annotated[Path, typer.Argument(help="A specification (.toml), or a release file that embeds one.")],
    after: Annotated[Path, typer.Argument(help="The other one.")],
    json: c.Json = False,
) -> None:
    """Say what changed between two specifications: in the promise first, then in everything else."""
    from ..releasing.spec_review import compare_specs, read_any_spec

    c.check_inputs(before, after)
    published = any(path.suffix.lower() != ".toml" for path in (before, after))
    changes = compare_specs(read_any_spec(before), read_any_spec(after), published=published)
    if json:
        c.print_json({"same": not changes, "changes": [one._asdict() for one in changes]})
    else:
        print("\n".join(map(str, changes)) or "The same specification.")
