"""``hushpath release`` and ``release-trips``: measure once, privately, and write the file that may be published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import common as c
from . import options as o

if TYPE_CHECKING:
    from ..releasing.spec import ReleaseSpec

Out = Annotated[Path, typer.Option("-o", "--out", help="The release file to write, e.g. roads.hush.")]
Seed = Annotated[int | None, typer.Option("--seed", help="For tests: reproducible and NOT PRIVATE.")]
Sign = Annotated[Path | None, typer.Option("--sign", help="Sign with this private key; see `keygen`.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing release file.")]


@o.spec_options([*o.WEIGHT_PROMISE, *o.READ, *o.PRIVATE_WEIGHTS, "--typical-weight", *o.PUBLISH])
def command(
    given: Annotated[Path, typer.Argument(metavar="SPEC|NETWORK", help=c.SPEC_OR_NETWORK)],
    out: Out,
    changes: o.Changes,
    ignore_baseline: c.IgnoreBaseline = False,
    estimator: c.EstimatorName = "auto",
    sign: Sign = None,
    seed: Seed = None,
    force: Force = False,
    json: c.Json = False,
) -> None:
    """Release all distances of a network from a specification, or from its edge weights, with differential privacy."""
    spec, how = o.spec_from(given, changes), dict(seed=seed, ignore_baseline=ignore_baseline, estimator=estimator)
    _release(spec, given, out, sign, force=force, json=json, **how)


@o.spec_options([*o.TRIP_PROMISE, "--days", *o.READ, *o.PRIVATE_TRIPS, *o.PUBLISH])
def trips_command(
    given: Annotated[Path, typer.Argument(metavar="SPEC|NETWORK", help=c.SPEC_OR_NETWORK)],
    out: Out,
    changes: o.Changes,
    trips: Annotated[
        Path | None, typer.Argument(help="PRIVATE table: .parquet, .csv, .jsonl, or a folder of parts.")
    ] = None,
    estimator: c.EstimatorName = "auto",
    sign: Sign = None,
    seed: Seed = None,
    force: Force = False,
    json: c.Json = False,
) -> None:
    """Release the travel times of a network from people's trips, with differential privacy."""
    if trips is None and given.suffix.lower() != ".toml":
        raise typer.BadParameter("Missing argument 'TRIPS'.")
    spec = o.spec_from(given, changes, trips=trips)
    _release(spec, given, out, sign, force=force, json=json, seed=seed, estimator=estimator)


def _release(
    spec: ReleaseSpec, given: Path, out: Path, sign: Path | None, *, force: bool, json: bool, **how: Any
) -> None:
    from ..errors import OptionError
    from ..io.signing import read_private_key, signature_path
    from ..progress import shown

    inputs = [given, *c.spec_files(spec), sign]
    c.check_inputs(*c.public_files(spec))
    c.check_output(out, *inputs)
    if sign is not None:
        c.check_output(signature_path(out), *inputs)
        read_private_key(sign)  # a wrong key is an error before the data are opened
    if out.exists() and not force:
        raise OptionError(
            f"{out} exists. Releasing the same data again spends the budget again, even if this file is replaced: "
            "name another file, or use --force"
        )
    with shown(), o.named_by_flags(given):
        made = spec.release(out, sign=sign, **how)
        if sign is None:
            signature_path(out).unlink(missing_ok=True)  # the signature of a replaced release does not fit
    if json:
        signature = str(signature_path(out)) if sign else None
        c.print_json({
            **c.privacy(made.statement), "promise": made.statement.promise.as_dict(), "file": str(out),
            "signature": signature, "statement": made.statement.as_dict(),
        })  # fmt: skip
    else:
        print(f"{made.statement}\nWritten to {out}{f', signed in {signature_path(out)}' if sign else ''}.")
