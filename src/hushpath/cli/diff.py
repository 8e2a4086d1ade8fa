"""``hushpath diff``: what changed in the promise between two specifications, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c


def command(
    before: Annotated[Path, typer.Argument(help="A specification (.toml), or a release file that embeds one.")],
    after: Annotated[Path, typer.Argument(help="The other one.")],
    json: c.Json = False,
) -> None:
    """Say what changed between two specifications: in the promise first, then in everything else."""
    from ..releasing.spec_diff import compare_specs, read_any_spec

    c.check_inputs(before, after)
    published = any(path.suffix.lower() != ".toml" for path in (before, after))
    changes = compare_specs(read_any_spec(before), read_any_spec(after), published=published)
    if json:
        c.print_json({"same": not changes, "changes": [one._asdict() for one in changes]})
        return
    if not changes:
        print("The same specification.")
    for one in changes:
        print(one)
