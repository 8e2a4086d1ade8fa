"""``hushpath demo``: the whole story on a built-in city."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c


def command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the report and the files.")] = Path("hushpath-demo"),
    json: c.Json = False,
) -> None:
    """Plan, release, query and evaluate a generated city, ending with a report to look at."""
    from ..demo.story import run_demo
    from ..progress import shown

    with shown():
        numbers = run_demo(out, say=lambda line: None if json else print(line))
    if json:
        c.print_json(numbers)
