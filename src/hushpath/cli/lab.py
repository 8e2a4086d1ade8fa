"""``hushpath lab``: every mechanism on many networks, read by every estimator, against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c


def command(
    quick: Annotated[bool, typer.Option("--quick", help="A small run: minutes on two cores.")] = False,
    out: Annotated[Path, typer.Option("--out", help="Folder for tables (CSV), pictures (PNG) and the report.")] = Path(
        "hushpath-lab"
    ),
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same table, apart from times.")] = 0,
    mechanism: Annotated[list[str] | None, typer.Option("--mechanism", help="Only this one; may be repeated.")] = None,
    estimator: Annotated[list[str] | None, typer.Option("--estimator", help="Only this one; may be repeated.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--class", help="Only this class of networks; repeatable.")] = None,
    network: Annotated[list[Path] | None, typer.Option("--network", help="Also this edge list; repeatable.")] = None,
    weight: Annotated[str, typer.Option("--weight", help="Column of the weights in --network.")] = "weight",
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=64, help="Worker processes.")] = 2,
    dask: Annotated[
        str | None, typer.Option("--dask", help="Measure on this Dask cluster (address, or local).")
    ] = None,
    json: c.Json = False,
) -> None:
    """Measure every mechanism with the same privacy on the same networks.  NOT PRIVATE.

    A run that was stopped continues where it was; delete the folder to start afresh.
    """
    from ..lab.cases import FULL, QUICK
    from ..lab.study import Study, run_study
    from ..progress import shown

    c.check_inputs(*(network or []))
    given = [f"--mechanism {name}" for name in mechanism or []] + [f"--class {name}" for name in kind or []]
    given += [f"--estimator {name}" for name in estimator or []]
    given += [f"--network {path.name} --weight {weight}" for path in network or []]
    study = Study(
        out=out, scope=QUICK if quick else FULL, seed=seed, mechanisms=mechanism or (), classes=kind or (),
        estimators=estimator or (), networks=network or (), weight=weight, jobs=jobs, dask=dask,
        command=" ".join(["hushpath lab", *(["--quick"] if quick else []), f"--seed {seed}", *given]),
    )  # fmt: skip
    with shown():
        answer = run_study(study, say=lambda line: None if json else print(line))
    if json:
        c.print_json(answer)
