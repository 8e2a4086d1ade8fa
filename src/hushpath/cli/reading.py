"""Verbs that read a release file: inspect, query, matrix, index, page, export, serve.  None of them costs privacy."""

from __future__ import annotations

import io
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from ..errors import CannotError, OptionError
from . import options as o
from .files import check_inputs, check_output, read_labels, read_pairs
from .messages import Answer, finite, mark, print_json, print_marking, privacy_fields

if TYPE_CHECKING:
    from ..published.quantity import Quantity

# A file can prove its structure, not its honesty.
PROVED = "that its numbers fit its network, and that noise of the stated scales costs the stated epsilon and delta"
NOT_PROVED = (
    "that this noise was really drawn, from a secret source, and that the unit means what the publisher says; "
    "that rests on trust in who published it"
)
EXPORT_FORMATS = "osrm, valhalla, omx, geojson or geoparquet."
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def inspect(
    opened: o.SignedRelease,
    spec: Annotated[bool, Option("--spec", help="Print the embedded specification alone, as TOML.")] = False,
    json: o.Json = False,
) -> Answer:
    """Say who is protected by a release, and what that is worth.  The certificate is proved again from the file."""
    from ..decoder.registry import decoders_for
    from ..estimator.registry import estimators_for
    from ..io.signing import fingerprint, read_public_key, signature_path

    rel, verify = opened.load(), opened.verify
    statement, quantity = rel.statement, rel.statement.quantity
    if spec and not statement.specification:
        raise OptionError(f"{opened.release} embeds no specification: it was made in Python")
    if spec and not json:
        return Answer({}, statement.specification.removesuffix("\n"), statement)
    signature, signer = signature_path(opened.release), fingerprint(read_public_key(verify)) if verify else None
    days = statement.unit.as_dict().get("days")
    decoder, *decoders = decoders_for(rel.measurements.strategy)
    estimator = rel.decoder_choice.estimator if decoder.searches else None
    estimators = [one for one in estimators_for(rel.measurements.strategy) if estimator and one is not estimator]
    document = {
        **privacy_fields(statement), "promise": statement.promise.as_dict(), "nodes": rel.topology.num_nodes,
        "edges": rel.topology.num_edges, "directed": rel.topology.directed, "fingerprint": rel.fingerprint,
        "proved": PROVED, "not_proved": NOT_PROVED,
        "signature": {"present": signature.is_file(), "verified": verify is not None, "key": signer,
                      "dataset": quantity.dataset, "date": quantity.date, "days": days},
        "decoders": [one.name for one in (decoder, *decoders)],
        "estimators": [one.name for one in (estimator, *estimators)] if estimator else [],
        "statement": statement.as_dict(),
    }  # fmt: skip
    lines = [str(statement)]
    if statement.private:
        lines.append(f"Proved from this file: {PROVED}.\nNot provable from any file: {NOT_PROVED}.")
    weights = f", with weights by estimator {estimator.name} ({estimator.summary})" if estimator else ""
    lines += [f"Network: {rel.topology!r}.", f"Read by decoder {decoder.name} ({decoder.summary}){weights}."]
    if estimators:
        lines.append(f"Other estimators: {'; '.join(f'{one.name} ({one.summary})' for one in estimators)}.")
    if rel.periods:
        lines.append(f"Periods: {', '.join(rel.periods)}; ask about one with --period.")
    if decoders:
        lines.append(f"Can also be read by: {'; '.join(f'{one.name} ({one.summary})' for one in decoders)}.")
    if statement.specification:
        lines.append("Specification: embedded, and it agrees with this promise; print it with --spec.")
    lines.append(f"Fingerprint of the release: {rel.fingerprint}")
    if signer:
        covered = f"; days {days[0]} to {days[1]}" if days else ""
        lines += [
            f"Signature: valid, made with the key of fingerprint {signer}.",
            f"Signed for: data set {quantity.dataset or 'not named'}; reporting period "
            f"{quantity.date or 'not stated'}{covered}.",
        ]
    elif signature.is_file():
        lines.append(f"Signature: {signature} exists but was NOT CHECKED; use --verify with the publisher's key.")
    else:
        lines.append("Signature: none, so nothing proves who published it.")
    return Answer(document, "\n".join(lines))


def query(
    opened: o.DecodedRelease,
    source: Annotated[str | None, Argument(help="The first node.")] = None,
    target: Annotated[str | None, Argument(help="The last node.")] = None,
    pairs: Annotated[Path | None, Option(help="CSV with columns source, target.")] = None,
    interval: o.Interval = False,
    confidence: o.Confidence = 0.9,
    json: o.Json = False,
) -> Answer:
    """Ask a release for distances.  Free: asking costs no privacy."""
    from ..published.statement import NOT_PRIVATE

    if (pairs is None) == (source is None or target is None) or (pairs is not None and source is not None):
        raise OptionError("pass two nodes, or --pairs FILE")
    check_inputs(pairs)
    rel = opened.load()
    asked = [(str(source), str(target))] if pairs is None else read_pairs(pairs)
    answers = rel.distances(asked).tolist()
    ranges: list[list[float]] = rel.intervals(asked, confidence).tolist() if interval else [[]] * len(asked)
    quantity = rel.statement.quantity
    if json:
        rows: list[dict[str, Any]] = []
        for pair, distance, ends in zip(asked, answers, ranges, strict=True):
            row = {"source": pair[0], "target": pair[1], "distance": finite(distance)}
            rows.append({**row, "interval": [finite(end) for end in ends]} if ends else row)
        return Answer({"quantity": quantity.as_dict(), "answers": rows}, "", rel.statement)
    if pairs is None:
        text = _format_distance(answers[0], ranges[0], confidence, quantity) + mark(rel.statement)
    else:
        numbers = [[distance, *ends] for distance, ends in zip(answers, ranges, strict=True)]
        text = _format_csv(asked, numbers, [NOT_PRIVATE] if rel.statement.marking else [])
    return Answer({}, text, rel.statement)


def _format_distance(distance: float, ends: list[float], confidence: float, quantity: Quantity) -> str:
    """Return one distance with the digits that noise leaves, and its interval if ``ends`` has one.

    ``confidence`` is that of the interval, and ``quantity`` says what the numbers are.
    """
    from ..published.quantity import format_interval, format_value

    if not ends:
        return quantity.amount(format_value(distance))
    number, low, high = format_interval(distance, *ends)
    return f"{quantity.amount(number)}   ({100 * confidence:g} % interval {low} to {quantity.amount(high)})"


def _format_csv(pairs: list[tuple[str, str]], numbers: list[list[float]], marks: list[str]) -> str:
    """Return a table; what is NOT PRIVATE has a first column that says so in every row, as ``matrix`` writes it."""
    from ..output.encode import csv_row_writer

    text = io.StringIO()
    write_row = csv_row_writer(text, (label for pair in pairs for label in pair))
    write_row([*marks, "source", "target", "distance", "low", "high"][: len(marks) + 2 + len(numbers[0])])
    for pair, row in zip(pairs, numbers, strict=True):
        write_row([*marks, *pair, *row])
    return text.getvalue().rstrip("\r\n")


def matrix(
    opened: o.DecodedRelease,
    out: Annotated[
        Path,
        Option(
            "-o", "--out",
            help="matrix.parquet, matrix.csv, matrix.npy; or a folder (a name without a dot) of Parquet files.",
        ),
    ],
    sources: Annotated[Path | None, Option(help="One node per line; default: all, sorted.")] = None,
    targets: Annotated[Path | None, Option(help="One node per line; default: all, sorted.")] = None,
    long: Annotated[bool, Option("--long", help="Columns source, target, distance.")] = False,
    float32: Annotated[bool, Option("--float32", help="Half the size, seven digits.")] = False,
    interval: o.Interval = False,
    confidence: o.Confidence = 0.9,
    dask: Annotated[str | None, Option(help="Dask scheduler whose workers write a folder, or local.")
    ] = None,
    workers: Annotated[int, Option(min=0, max=256, help="Processes of this machine, or of --dask local.")
    ] = 0,
) -> Answer:  # fmt: skip
    """Write a distance matrix; it may be larger than memory.  A folder that was interrupted is continued."""
    from ..output.matrix import write_matrix

    folder = out.suffix == ""
    check_inputs(sources, targets)
    if not folder:
        check_output(out, opened.release, sources, targets, opened.verify)
    rel = opened.load(all_periods=folder)
    rows, columns = (None if path is None else read_labels(path) for path in (sources, targets))
    with _how_to_continue(out) if folder else nullcontext():
        written = write_matrix(
            rel, out, rows, columns, long=long, dtype="float32" if float32 else "float64", interval=interval,
            confidence=confidence, workers=workers, dask=dask,
        )  # fmt: skip
    parts = {"parts": written.parts, "made": written.made, "kept": written.kept} if folder else {}
    what = "distances and their intervals" if interval else "distances"
    return Answer(
        {"file": str(out), "rows": written.shape[0], "columns": written.shape[1], **parts},
        f"{written.shape[0]} x {written.shape[1]} {what} written to {out}.{mark(rel.statement)}", rel.statement,
    )  # fmt: skip


@contextmanager
def _how_to_continue(folder: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"Finished parts stay in {folder}; run the same command again to write the others.", err=True)
        raise


def index(
    opened: o.DecodedRelease,
    out: Annotated[Path | None, Option("-o", "--out", help="Default: beside the release, as .hushx.")] = None,
    partition: Annotated[Path | None, Option(help="Partition file (.hushd): read if it exists, else written.")] = None,
    labels: Annotated[
        bool, Option("--labels/--no-labels", help="Without: a smaller index, slower single queries.")
    ] = True,
    max_gb: o.MaxGigabytes = 4.0,
) -> Answer:
    """Build the index of a release and write it beside it; `query` and `matrix` then use it."""
    from ..index.partition import Partition
    from ..index.partition import partition as make_partition

    rel = opened.load(index=False)  # without the index that exists: a damaged one can be replaced
    path = rel.index_file(opened.release) if out is None else out
    check_output(path, opened.release, opened.verify, partition)
    known = None
    if partition is not None:
        if partition.absolute() == path.absolute():
            raise OptionError(f"{path} cannot be the index and its partition; name two files")
        if partition.is_file():
            known = Partition.load(partition, rel.topology)
        else:
            check_output(partition)
            known = make_partition(rel.topology)
            known.save(partition)
    made = rel.build_index(max_bytes=_bytes(max_gb), labels=labels, partition=known)
    rel.save_index(path, labels=labels)
    nodes = rel.topology.num_nodes
    return Answer(
        {"file": str(path), "nodes": nodes, "bytes": made.nbytes},
        f"Index of {nodes} nodes ({made.nbytes / 2**20:.1f} MB) written to {path}.{mark(rel.statement)}", rel.statement,
    )  # fmt: skip


def _bytes(gigabytes: float) -> int:
    return int(min(gigabytes, 1e9) * 2**30)


def page(
    opened: o.DecodedRelease,
    out: Annotated[Path, Option("-o", "--out", help="The page to write, e.g. city.html.")],
    title: Annotated[str | None, Option(help="Of the page; else what the numbers are.")] = None,
    origin: Annotated[str | None, Option(help="A node to open the page with.")] = None,
    confidence: o.Confidence = 0.9,
) -> Answer:
    """Write a page with a map to explore a release: one file that loads nothing and works anywhere."""
    from ..output.page.explorer import write_explorer

    check_output(out, opened.release, opened.verify)
    rel = opened.load(all_periods=True)
    size = write_explorer(rel, out, title=title, origin=origin, confidence=confidence)
    return Answer(
        {"file": str(out), "bytes": size},
        f"{size / 1e6:.2g} MB written to {out}: open it in a browser; it needs no network.{mark(rel.statement)}",
        rel.statement,
    )


def export(
    opened: o.DecodedRelease,
    to: Annotated[str, Option(help=EXPORT_FORMATS)],
    out: Annotated[Path, Option("-o", "--out", help="A file, or a new folder (valhalla).")],
    zones: Annotated[Path | None, Option(help="omx: one node per line, or a CSV file zone,node.")] = None,
    interval: Annotated[bool, Option("--interval", help="omx: also low and high for each.")] = False,
    confidence: Annotated[float | None, o.CONFIDENCE] = None,
    lengths: Annotated[
        Path | None,
        Option(help="osrm, valhalla: PUBLIC CSV file source,target,length in metres."),
    ] = None,
    ids: Annotated[Path | None, Option(help="valhalla: PUBLIC CSV file source,target,edge_id.")] = None,
    night: Annotated[str | None, Option(help="valhalla: the period of free-flow speeds.")] = None,
    crs: Annotated[str | None, Option(help="What coordinates are: EPSG:4326, EPSG:25832, or planar.")] = None,
    isochrone: Annotated[str | None, Option(help="geojson, geoparquet: what is reached from this node.")] = None,
    steps: Annotated[str | None, Option(help="geojson, geoparquet: within how much: 300,600.")] = None,
) -> Answer:
    """Write a release for a routing engine, a travel model or a map; it costs no privacy."""
    from ..io.folders import check_new_folder
    from ..output.formats import export as write_export
    from ..output.formats import find_format

    form = find_format(to)
    files: dict[str, Any] = {"lengths": lengths, "ids": ids, "zones": zones}
    within = None if steps is None else o.parse_numbers(steps, "--steps")
    check_inputs(*files.values())
    if form.folder:
        check_new_folder(out)
    if not (form.folder and out.is_dir()):
        check_output(out, opened.release, opened.verify, *files.values())
    rel = opened.load(all_periods=True)
    written = write_export(
        rel, out, to, **files, interval=interval, confidence=confidence, night=night, crs=crs, isochrone=isochrone,
        steps=within,
    )  # fmt: skip
    quantity = rel.statement.quantity
    what = f" ({quantity})" if str(quantity) else ""
    return Answer(
        {"file": str(out), "format": to, "quantity": quantity.as_dict(), **written.facts},
        f"{written.text}{what}, written to {out}.{mark(rel.statement)}", rel.statement,
    )  # fmt: skip


def serve(
    releases: Annotated[list[Path], Argument(help="Release files; each is served under its name.")],
    host: Annotated[str, Option(help="Address to listen on (default: this machine).")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="0 for any free port.")] = 8000,
    cors: Annotated[list[str] | None, Option(help="Origin whose pages may read answers.")] = None,
    intervals: Annotated[bool, Option("--intervals/--no-intervals", help="Prepare intervals at once.")] = True,
    max_gb: o.MaxGigabytes = 4.0,
    limit: Annotated[list[str] | None, Option(help="NAME=VALUE, e.g. cells=1000000; see the guide to serving.")] = None,
    verify: o.Verify = None,
    json: o.Json = False,
) -> None:
    """Serve releases over HTTP until interrupted.  Requests cost no privacy and are not logged."""
    from ..published.release import load
    from ..serve import Limits, listen, make_app

    settings = o.parse_settings(limit or [], "--limit")
    known = [field.name for field in fields(Limits)]
    for name in settings:
        if name not in known:
            raise OptionError(f"--limit {name[:60]!r} does not exist; choose from {', '.join(known)}")
    limits = Limits(**settings)
    check_inputs(*releases)
    named = {path.stem: path for path in releases}
    if len(named) < len(releases):
        raise OptionError("two releases would be served under the same name; rename a file")
    loaded = {name: load(path, verify=verify) for name, path in named.items()}
    with _bind_socket(host, port) as sock:
        app = make_app(loaded, limits, cors=cors or (), max_bytes=_bytes(max_gb), intervals=intervals)
        for rel in loaded.values():
            print_marking(rel.statement)
        shown_host = f"[{host}]" if ":" in host else host
        url = f"http://{shown_host}:{sock.getsockname()[1]}"
        if host not in LOOPBACK:
            typer.echo("hushpath: caution: other machines can connect: use a proxy with TLS and limits", err=True)
        sock.listen(128)  # before the address is printed: clients may connect at once
        if json:
            print_json({"url": url, "releases": {name: privacy_fields(rel.statement) for name, rel in loaded.items()}})
        else:
            names = ", ".join(f"{name}{mark(rel.statement)}" for name, rel in loaded.items())
            print(f"Serving {names} at {url} (Ctrl-C stops).")
        sys.stdout.flush()  # a program that started the server waits for this line
        listen(app, sock, limits, host=shown_host)


def _bind_socket(host: str, port: int) -> socket.socket:
    """Return a bound socket, or fail before minutes are spent on the index and intervals."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, proto)
    except (OSError, UnicodeError):
        raise CannotError(f"cannot listen on {host[:60]!r}: no such address") from None
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(address)
    except OSError as error:
        sock.close()
        raise CannotError(f"cannot listen on {host[:60]} port {port}: {error.strerror}") from None
    return sock
