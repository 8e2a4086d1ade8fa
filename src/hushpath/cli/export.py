"""``hushpath export``: a release in the files of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import common as c
from .options import numbers

TO = "osrm, valhalla, omx, geojson or geoparquet."


def _file(name: str, words: str) -> Any:
    return typer.Option(name, help=words)


def command(
    release: Annotated[Path, typer.Argument(help="A release file.")],
    to: Annotated[str, typer.Option("--to", help=TO)],
    out: Annotated[Path, typer.Option("-o", "--out", help="A file, or a new folder (valhalla).")],
    zones: Annotated[Path | None, _file("--zones", "omx: one node per line, or a CSV file zone,node.")] = None,
    interval: Annotated[bool, typer.Option("--interval", help="omx: also low and high for each.")] = False,
    confidence: Annotated[float | None, typer.Option("--confidence", help="Of the intervals; default 0.9.")] = None,
    lengths: Annotated[
        Path | None, _file("--lengths", "osrm, valhalla: PUBLIC CSV file source,target,length in metres.")
    ] = None,
    ids: Annotated[Path | None, _file("--ids", "valhalla: PUBLIC CSV file source,target,edge_id.")] = None,
    night: Annotated[str | None, typer.Option("--night", help="valhalla: the period of free-flow speeds.")] = None,
    crs: Annotated[
        str | None, typer.Option("--crs", help="What coordinates are: EPSG:4326, EPSG:25832, or planar.")
    ] = None,
    isochrone: Annotated[
        str | None, typer.Option("--isochrone", help="geojson, geoparquet: what is reached from this node.")
    ] = None,
    steps: Annotated[str | None, typer.Option("--steps", help="geojson, geoparquet: within how much: 300,600.")] = None,
    decoder: c.DecoderName = "auto",
    estimator: c.EstimatorName = "auto",
    verify: c.Verify = None,
    dataset: c.ExpectedDataset = None,
    date: c.ExpectedDate = None,
    period: c.Period = None,
    json: c.Json = False,
) -> None:
    """Write a release for a routing engine, a travel model or a map; it costs no privacy."""
    from .._validate import check_confidence
    from ..io.folders import check_new_folder
    from ..output.formats import export, find_format
    from ..progress import shown
    from ..published.release import load
    from ..published.statement import NOT_PRIVATE

    form = find_format(to)
    files = {"lengths": lengths, "ids": ids, "zones": zones}
    within = None if steps is None else numbers(steps, "--steps")
    if confidence is not None:
        check_confidence(confidence)
    c.check_inputs(release, *files.values())
    if form.folder:
        check_new_folder(out)
    if not (form.folder and out.is_dir()):
        c.check_output(out, release, verify, *files.values())
    rel = load(release, verify=verify, dataset=dataset, date=date, decoder=decoder, estimator=estimator)
    rel = rel if period is None else rel.for_period(period)
    with shown():
        written = export(
            rel, out, to, **files, interval=interval, confidence=confidence, night=night, crs=crs, isochrone=isochrone,
            steps=within if within is None or isinstance(within, list) else [within],
        )  # fmt: skip
    c.print_marking(rel.statement)
    if json:
        told = rel.statement.quantity.as_dict()
        c.print_json({**c.privacy(rel.statement), "file": str(out), "format": to, "quantity": told, **written.facts})
    else:
        mark = f" {NOT_PRIVATE}" if rel.statement.marking else ""
        what = f" ({rel.statement.quantity})" if str(rel.statement.quantity) else ""
        print(f"{written.text}{what}, written to {out}.{mark}")
