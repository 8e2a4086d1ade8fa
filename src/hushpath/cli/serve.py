"""``hushpath serve``: answers over HTTP."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from . import common as c

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def command(
    releases: Annotated[list[Path], typer.Argument(help="Release files; each is served under its name.")],
    host: Annotated[str, typer.Option("--host", help="Address to listen on (default: this machine).")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 for any free port.")] = 8000,
    cors: Annotated[list[str] | None, typer.Option("--cors", help="Origin whose pages may read answers.")] = None,
    intervals: Annotated[bool, typer.Option("--intervals/--no-intervals", help="Prepare intervals at once.")] = True,
    max_gb: Annotated[float, typer.Option("--max-gb", min=0.0, help="Build no index larger than this.")] = 4.0,
    max_cells: Annotated[int, typer.Option("--max-cells", min=1, help="Cells of one matrix.")] = 100_000_000,
    max_nodes: Annotated[int, typer.Option("--max-nodes", min=1, help="Nodes listed by one request.")] = 100_000,
    max_body: Annotated[int, typer.Option("--max-body", min=1, help="Bytes of a request body.")] = 2**20,
    max_heavy: Annotated[int, typer.Option("--max-heavy", min=1, help="Large requests computed at a time.")] = 4,
    max_stall: Annotated[float, typer.Option("--max-stall", min=0.1, help="Seconds a reader may pause.")] = 10.0,
    max_stream: Annotated[float, typer.Option("--max-stream", min=0.1, help="Seconds of one matrix.")] = 600.0,
    max_steps: Annotated[int, typer.Option("--max-steps", min=1, help="Steps of one isochrone request.")] = 10,
    verify: c.Verify = None,
    json: c.Json = False,
) -> None:
    """Serve releases over HTTP until interrupted.  Requests cost no privacy and are not logged."""
    from ..errors import OptionError
    from ..progress import shown
    from ..published.release import load
    from ..published.statement import NOT_PRIVATE
    from ..serve import listen, make_app
    from ..serve.limits import Limits

    limits = Limits(
        cells=max_cells, nodes=max_nodes, body_bytes=max_body, heavy=max_heavy, stall_seconds=max_stall,
        stream_seconds=max_stream, steps=max_steps,
    )  # fmt: skip
    c.check_inputs(*releases)
    named = {path.stem: path for path in releases}
    if len(named) < len(releases):
        raise OptionError("two releases would be served under the same name; rename a file")
    loaded = {name: load(path, verify=verify) for name, path in named.items()}
    with _bound(host, port) as sock, shown():
        app = make_app(loaded, limits, cors=cors or (), max_bytes=int(min(max_gb, 1e9) * 2**30), intervals=intervals)
        for rel in loaded.values():
            c.print_marking(rel.statement)
        shown_host = f"[{host}]" if ":" in host else host
        url = f"http://{shown_host}:{sock.getsockname()[1]}"
        if host not in LOOPBACK:
            typer.echo("hushpath: caution: other machines can connect: use a proxy with TLS and limits", err=True)
        sock.listen(128)  # before the address is printed: clients may connect at once
        if json:
            marked = {name: c.privacy(rel.statement) for name, rel in loaded.items()}
            c.print_json({"url": url, "releases": marked})
        else:
            named_so = [f"{name} ({NOT_PRIVATE})" if rel.statement.marking else name for name, rel in loaded.items()]
            print(f"Serving {', '.join(named_so)} at {url} (Ctrl-C stops).")
        sys.stdout.flush()  # a program that started the server waits for this line
        listen(app, sock, limits, host=shown_host)


def _bound(host: str, port: int) -> socket.socket:
    """Return a bound socket, or fail before minutes are spent on the index and intervals."""
    from ..errors import CannotError

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
