"""The server under load, on this machine's loopback: distances and cells per second, hostile clients, memory over time.

    make bench-serve                                          a grid of 90 000 nodes, about two minutes
    .venv/bin/python bench/serve.py --minutes 10              memory over ten minutes
    .venv/bin/python bench/serve.py --hostile                 only distances while others send hostile bodies
    .venv/bin/python bench/serve.py --release roads.hush      a release of yours (looked for in HUSHPATH_DATA too)

The server is the real one, in a process of its own; the client is one more process.  Everything is bounded: requests by
count and by seconds.  Latencies are those of a client that keeps 16 connections busy, so they include waiting in line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import numpy as np
import uvloop

import hushpath

HOST = "127.0.0.1"


def made(folder, side):
    """A release of a grid, with its index beside it."""
    at = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    heads = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    places = np.c_[13.0 + at.ravel() // side / 1000, 52.0 + at.ravel() % side / 1500]
    weights = np.random.default_rng(0).uniform(5, 60, len(tails))
    net = hushpath.Network.build(range(side * side), tails, heads, weights, coordinates=places)
    about = {"quantity": "travel time", "measured_in": "seconds", "estimator": "clip", "mechanism": "input"}
    hushpath.release(net, epsilon=1.0, unit=1.0, max_weight=100.0, **about).save(folder / "grid.hush", index=True)
    return folder / "grid.hush"


@contextmanager
def server(path, *options):
    """The real one; ends with the context."""
    command = [sys.executable, "-m", "hushpath", "serve", str(path), "--port", "0", "--no-intervals", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        yield int(line.partition(f"{HOST}:")[2].split()[0]), process.pid
    finally:
        process.terminate()
        process.wait(20)


def resident(pid):
    """Memory of a process in MB; 0 where that cannot be told."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


class Asker(asyncio.Protocol):
    """One connection that asks, waits for the answer, and asks again."""

    def __init__(self, asked, took, end, done):
        self.asked, self.took, self.end, self.done, self.buffer = asked, took, end, done, b""

    def connection_made(self, transport):
        self.transport = transport
        self.ask()

    def ask(self):
        request = next(self.asked, None)
        if request is None or time.perf_counter() > self.end:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data):
        self.buffer += data
        head, split, body = self.buffer.partition(b"\r\n\r\n")
        if split and len(body) >= int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]):
            assert head.startswith(b"HTTP/1.1 200"), self.buffer
            self.took.append(time.perf_counter() - self.began)
            self.buffer = b""
            self.ask()

    def connection_lost(self, error):
        self.done.set_result(error)


async def distances(port, labels, count, seconds, connections):
    """Ask for random distances; return how long each took, and all."""
    draw = random.Random(1)
    pairs = ((quote(str(draw.choice(labels))), quote(str(draw.choice(labels)))) for _ in range(count))
    asked = (f"GET /distance?source={a}&target={b} HTTP/1.1\r\nhost: {HOST}\r\n\r\n".encode() for a, b in pairs)
    took, loop, began = [], asyncio.get_running_loop(), time.perf_counter()
    ends = []
    for _ in range(connections):
        ends.append(loop.create_future())
        await loop.create_connection(lambda: Asker(asked, took, began + seconds, ends[-1]), HOST, port)
    await asyncio.gather(*ends)
    return np.array(took), time.perf_counter() - began


def posted(port, body, sip=None, pause=0.0, most=60.0):
    """Post a matrix request and read its stream; return bytes, seconds, and whether it came to its end.

    ``sip`` bytes at a time with a pause in between make a slow reader.
    """
    text = json.dumps(body).encode()
    head = f"POST /matrix HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: {len(text)}\r\nconnection: close\r\n\r\n"
    began, total, last = time.perf_counter(), 0, b""
    with socket.create_connection((HOST, port), timeout=most) as sock:
        sock.sendall(head.encode() + text)
        room = memoryview(bytearray(sip or 2**20))
        try:
            while (got := sock.recv_into(room)) and time.perf_counter() - began < most:
                if not total:
                    assert bytes(room[:12]) == b"HTTP/1.1 200", bytes(room[:got])
                total, last = total + got, bytes(room[max(0, got - 5) : got])
                if pause:
                    time.sleep(pause)
        except ConnectionError:
            pass
    return total, time.perf_counter() - began, last == b"0\r\n\r\n"


def hostile_requests(labels, size):
    """Requests that should cost the server little, by kind: each a tuple of parts to send one after the other."""
    fill = {
        "nested lists": (b'{"sources":[', b"[],", b"[]]}"),
        "top-level lists": (b"[", b"[],", b"[]]"),
        "deep nesting": (b"", b"[", b""),
        "objects": (b'{"sources":[', b'{"a":0},', b"{}]}"),
        "huge numbers": (b'{"sources":[', b"9" * 4000 + b",", b"9]}"),
        "small numbers": (b'{"sources":[', b"1,", b"1]}"),
        "empty texts": (b'{"sources":[', b'"",', b'""]}'),
        "one long text": (b'{"sources":["', b"a", b'"]}'),
        "wide letters": (b'{"sources":["', "\N{GRINNING FACE}".encode(), b'"]}'),
        "escapes": (b'{"sources":["', b"\\n", b'"]}'),
        "many fields": (b"{", b'"a":0,', b'"a":0}'),
        "blanks": (b"", b" ", b"{}"),
    }
    bodies = {}
    for kind, (first, item, last) in fill.items():
        bodies[kind] = first + item * ((size - len(first + last)) // len(item)) + last
    listed = json.dumps(labels[: 8 * 10**4])[: size - 200].rpartition(",")[0].encode() + b"]"
    bodies["valid"] = b'{"targets":[%s],"format":"arrow","sources":%s}' % (json.dumps(labels[0]).encode(), listed)
    bodies["one row"] = b'{"sources":[%s],"format":"csv"}' % json.dumps(labels[0]).encode()
    head = "POST /matrix HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{}\r\n\r\n".format
    found = {kind: (head(HOST, f"content-length: {len(body)}").encode() + body,) for kind, body in bodies.items()}
    found["too long"] = (head(HOST, f"content-length: {4 * size}").encode() + b"[" * 4 * size,)
    chunks = b"1\r\n \r\n" * (size // 6) + b"0\r\n\r\n"
    found["tiny chunks"] = (head(HOST, "transfer-encoding: chunked").encode() + chunks,)
    found["pipelined"] = (f"GET /health HTTP/1.1\r\nhost: {HOST}\r\n\r\n".encode() * 1000,)
    found["held"] = (head(HOST, f"content-length: {size}").encode() + b" " * (size - 1), None)
    return found


def attack(port, parts, clients, seconds, answers):
    """Send a request again and again from so many connections at a time; tell how the answers began."""
    end, told = time.perf_counter() + seconds, []

    def one():
        while (left := end - time.perf_counter()) > 0:
            answer = b""
            with suppress(OSError), socket.create_connection((HOST, port), timeout=left + 1) as sock:
                for part in parts:
                    if part is None:  # hold it, for as long as the server lets us
                        sock.settimeout(max(end - time.perf_counter(), 0.1))
                    else:
                        sock.sendall(part)
                answer = sock.recv(12)
            told.append(answer[9:12].decode("latin-1") or "reset")

    threads = [threading.Thread(target=one, daemon=True) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 5)
    answers.put(dict(Counter(told)))


def sink(sock):
    """Read every request to its end, throw it away and refuse it: the least that any server must do."""

    def drain(other):
        with suppress(OSError), other:
            other.settimeout(10.0)
            head = b""
            while b"\r\n\r\n" not in head and (got := other.recv(2**16)):
                head += got
            left = int((head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]) or b"0")
            left -= len(head.partition(b"\r\n\r\n")[2])
            room = bytearray(2**18)
            while left > 0 and (got := other.recv_into(room)):
                left -= got
            other.sendall(b"HTTP/1.1 400 \r\n\r\n")

    while True:
        threading.Thread(target=drain, args=(sock.accept()[0],), daemon=True).start()


def tell_hostile(port, pid, labels, asked):
    """Distances per second beside hostile clients, as a share of those before and after.

    Clients take processor time, too.  So they send the same to a socket in another process that throws everything away:
    what is left then is what a server would keep that reads bodies for nothing.
    """
    fork, shares = multiprocessing.get_context("fork"), {}
    elsewhere = socket.create_server((HOST, 0), backlog=200)
    drains = fork.Process(target=sink, args=(elsewhere,), daemon=True)
    drains.start()

    def beside(parts, clients, at):
        answers, size = fork.Queue(), resident(pid)
        other = fork.Process(target=attack, args=(at, parts, clients, asked.phase + 1.5, answers))
        other.start()
        time.sleep(0.5)
        (found, p99), grew = rate(), resident(pid) - size
        told = answers.get(timeout=30)
        other.join(30)
        return found, p99, grew, told

    def rate():
        took, whole = uvloop.run(distances(port, labels, 10**6, asked.phase, asked.connections))
        return len(took) / whole, 1000 * np.percentile(took, 99)

    before, _ = rate()
    for kind, parts in hostile_requests(labels, asked.body).items():
        if asked.hostile not in ("", kind):
            continue
        for clients in (1, 8) if kind != "held" else (100,):
            with_others, p99, grew, told = beside(parts, clients, port)
            after, _ = rate()
            alone = (before + after) / 2
            shares[kind, clients] = share = with_others / alone
            said = f"{share:4.0%} of the rate ({with_others:.0f} of {alone:.0f}/s), p99 {p99:.1f} ms"
            if kind != "held":
                said += f", {beside(parts, clients, elsewhere.getsockname()[1])[0] / alone:4.0%} beside a socket"
            print(f"{kind:>16} x {clients:3d}: {said}, grew {grew:.0f} MB, answers {told}", flush=True)
            before = after
    drains.terminate()
    worst = min(shares, key=shares.get)
    print(f"least beside hostile clients: {shares[worst]:.0%} ({worst[0]} x {worst[1]})", flush=True)


def busy(port, labels, seconds):
    """A bounded mixture of everything, for the memory figure."""
    end, count = time.perf_counter() + seconds, 0
    some = labels[:: max(1, len(labels) // 50)]
    while time.perf_counter() < end:
        uvloop.run(distances(port, labels, 3000, 10.0, 16))
        posted(port, {"sources": some, "targets": labels[:2000], "format": ("arrow", "csv")[count % 2]})
        count += 1


def worked(pid):
    """Seconds of processor time of a process: what others on the machine do not change."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def tell_distances(port, pid, labels, asked, connections):
    before = worked(pid)
    took, whole = uvloop.run(distances(port, labels, asked.count, asked.seconds, connections))
    cpu = (worked(pid) - before) / len(took) * 1e6
    p50, p99 = 1000 * np.percentile(took, [50, 99])
    rate = f"{len(took) / whole:7.0f} distances/s, p50 {p50:.2f} ms, p99 {p99:.2f} ms"
    print(f"{connections:3d} connections: {rate}, {cpu:.0f} us of the server's processor time each", flush=True)


def tell_cells(port, pid, labels, rows):
    for form, count, more in (
        ("arrow", 800, {}), ("arrow", 800, {"float32": True}), ("parquet", 40, {"long": True}), ("csv", 40, {}),
    ):  # fmt: skip
        body = {"sources": rows[:count], "format": form, **more}
        posted(port, {**body, "sources": rows[:30], "targets": labels[:1000]})  # loads what it needs
        before = worked(pid)
        total, whole, ended = posted(port, body)
        cells, cpu = len(rows[:count]) * len(labels), worked(pid) - before
        rate = f"{cells / whole / 1e6:6.1f} million cells/s, {cells / max(cpu, 0.01) / 1e6:6.1f} per processor second"
        kind = " ".join([form, *more])
        print(f"{kind:>14}: {rate}, {total / 2**20 / whole:.0f} MB/s, whole: {ended}", flush=True)


def tell_both(port, labels, rows, connections):
    """Distances while matrices are streamed to somebody else."""
    for form in ("arrow", "csv"):
        body = {"sources": rows[:400] if form == "arrow" else rows[:60], "format": form}
        other = threading.Thread(target=posted, args=(port, body))
        other.start()
        took, whole = uvloop.run(distances(port, labels, 10_000, 4.0, connections))
        other.join()
        p99 = 1000 * np.percentile(took, 99)
        print(f"beside a stream of {form}: {len(took) / whole:.0f} distances/s, p99 {p99:.2f} ms", flush=True)


def tell_slow(port, pid, labels, rows, connections):
    before, body = resident(pid), {"sources": rows, "format": "arrow"}
    total, whole, ended = posted(port, body, sip=1024, pause=0.005, most=12.0)
    grew = f"server grew {resident(pid) - before:.0f} MB"
    print(f"slow reader: {total / 2**20:.1f} MB in {whole:.1f} s, whole: {ended}, {grew}")
    with socket.create_connection((HOST, port)) as sock:  # one that takes nothing at all
        text = json.dumps(body).encode()
        head = f"POST /matrix HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: {len(text)}\r\n\r\n"
        sock.sendall(head.encode() + text)
        took, whole = uvloop.run(distances(port, labels, 20_000, 5.0, connections))
        p99 = 1000 * np.percentile(took, 99)
        print(f"beside a reader who stopped: {len(took) / whole:.0f} distances/s, p99 {p99:.2f} ms")
        sock.settimeout(5.0)
        read = 0
        try:
            while got := len(sock.recv(2**20)):
                read += got
            cut = "ended"
        except ConnectionError:
            cut = "reset"
        except TimeoutError:
            cut = "still open"
        print(f"its connection was {cut} after {read / 2**20:.1f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--release", type=Path)
    parser.add_argument("--side", type=int, default=300)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--hostile", nargs="?", const="", help="only hostile clients: all kinds, or this one")
    parser.add_argument("--phase", type=float, default=2.0, help="seconds of each phase beside hostile clients")
    parser.add_argument("--body", type=int, default=10**6, help="bytes of a hostile body")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = asked.release
        if path is not None and not path.exists():
            path = Path(os.environ.get("HUSHPATH_DATA", ".")) / path
        began = time.perf_counter()
        path = made(Path(folder), asked.side) if path is None else path
        labels = list(hushpath.load(path, index=False).topology.labels)
        print(f"{path.name}: {len(labels)} nodes, ready after {time.perf_counter() - began:.0f} s", flush=True)
        rows = labels[:: max(1, len(labels) // 800)][:800]
        with server(path, "--max-stall", "2") as (port, pid):
            uvloop.run(distances(port, labels, 500, 10.0, asked.connections))
            if asked.hostile is not None:
                tell_hostile(port, pid, labels, asked)
                return
            for connections in (1, asked.connections):
                tell_distances(port, pid, labels, asked, connections)
            tell_cells(port, pid, labels, rows)
            tell_both(port, labels, rows, asked.connections)
            tell_slow(port, pid, labels, rows, asked.connections)
            asked.hostile = ""
            tell_hostile(port, pid, labels, asked)
            busy(port, labels, 10.0)
            first = resident(pid)
            busy(port, labels, 60 * asked.minutes)
            print(f"memory: {first:.0f} MB, after {asked.minutes:g} min of load {resident(pid):.0f} MB")


if __name__ == "__main__":
    main()
