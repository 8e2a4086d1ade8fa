"""``hushpath index``: make answers fast, once and for all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import common as c

if TYPE_CHECKING:
    from ..index.partition import Partition
    from ..network.topology import Topology


def command(
    release: Annotated[Path, typer.Argument(help="A release file.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Default: beside the release, as .hushx.")] = None,
    partition: Annotated[
        Path | None, typer.Option("--partition", help="Partition file (.hushd): read if it exists, else written.")
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels/--no-labels", help="Without: a smaller index, slower single queries.")
    ] = True,
    max_gb: Annotated[float, typer.Option("--max-gb", min=0.0, help="Refuse to build a larger index.")] = 4.0,
    decoder: c.DecoderName = "auto",
    estimator: c.EstimatorName = "auto",
    verify: c.Verify = None,
    dataset: c.ExpectedDataset = None,
    date: c.ExpectedDate = None,
    period: c.Period = None,
    json: c.Json = False,
) -> None:
    """Build the index of a release and write it beside it; `query` and `matrix` then use it."""
    from ..progress import shown
    from ..published.release import load
    from ..published.statement import NOT_PRIVATE

    c.check_inputs(release)
    # without the index that lies there: a damaged one can be replaced
    rel = load(
        release, verify=verify, dataset=dataset, date=date, index=False, decoder=decoder, estimator=estimator
    )  # fmt: skip
    rel = c.in_period(rel, period)
    path = rel.index_file(release) if out is None else out
    c.check_output(path, release, verify, partition)
    if partition is not None:
        _check_partition(partition, path)
    with shown():
        known = None if partition is None else _partition(partition, rel.topology)
        index = rel.build_index(max_bytes=int(min(max_gb, 1e9) * 2**30), labels=labels, partition=known)
        rel.save_index(path, labels=labels)
    c.print_marking(rel.statement)
    if json:
        facts = {"file": str(path), "nodes": rel.topology.num_nodes, "bytes": index.nbytes}
        c.print_json({**c.privacy(rel.statement), **facts})
    else:
        mark = f" {NOT_PRIVATE}" if rel.statement.marking else ""
        print(f"Index of {rel.topology.num_nodes} nodes ({index.nbytes / 2**20:.1f} MB) written to {path}.{mark}")


def _check_partition(path: Path, index: Path) -> None:
    """Refuse a path where a partition can be neither read nor written."""
    from ..errors import OptionError

    if path.absolute() == index.absolute():
        raise OptionError(f"{path} cannot be the index and its partition; name two files")
    if not path.is_file():
        c.check_output(path)


def _partition(path: Path, topology: Topology) -> Partition:
    """Read a partition, or make it and write it there."""
    from ..index import partition as dissection
    from ..index.partition import Partition

    if path.is_file():
        return Partition.load(path, topology)
    made = dissection.partition(topology)
    made.save(path)
    return made
