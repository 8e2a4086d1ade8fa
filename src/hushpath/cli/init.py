"""``hushpath init``: a commented specification from the names and types of columns; no value is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c


def command(
    network: Annotated[Path, typer.Argument(help=c.NETWORK)],
    trips: Annotated[Path | None, typer.Argument(help="PRIVATE table of trips, or a folder of parts.")] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="The specification to write.")] = Path("release.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: c.Json = False,
) -> None:
    """Write a commented specification to review, from the names and types of columns only."""
    from ..errors import OptionError
    from ..io.container import replacing
    from ..releasing.spec_init import initial_spec

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
