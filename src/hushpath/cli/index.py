"""``hushpath index``: make answers fast, once and for all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c


def command(
    release: Annotated[Path, typer.Argument(help="A release file.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Default: beside the release, as .hushx.")] = None,
    max_gb: Annotated[float, typer.Option("--max-gb", min=0.0, help="Refuse to build a larger index.")] = 4.0,
    json: c.Json = False,
) -> None:
    """Build the index of a release and write it beside it; `query` and `matrix` then use it."""
    from ..engine.storage import index_path
    from ..oracle import load
    from ..progress import shown

    path = index_path(release) if out is None else out
    with shown():
        rel = load(release)
        index = rel.build_index(max_bytes=int(max_gb * 2**30))
        rel.save_index(path)
    if json:
        c.print_json({"file": str(path), "nodes": rel.topology.num_nodes, "bytes": index.nbytes})
    else:
        print(f"Index of {rel.topology.num_nodes} nodes ({index.nbytes / 2**20:.1f} MB) written to {path}.")
