"""``hushpath inspect``: the privacy statement of a release file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c


def command(
    release: Annotated[Path, typer.Argument(help="A release file.")],
    json: c.Json = False,
) -> None:
    """Say in plain words what a release promises.  The certificate is proved again from the file."""
    from ..oracle import load

    rel = load(release)
    if json:
        topology = rel.topology
        c.print_json({
            "nodes": topology.num_nodes, "edges": topology.num_edges, "directed": topology.directed,
            "statement": rel.statement.as_dict(),
        })  # fmt: skip
    else:
        print(f"{rel.topology!r}\n{rel.statement}")
