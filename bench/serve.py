"""The server under load on loopback: distances and cells per second, beside streams and hostile clients, and memory.

    make bench-serve                                          a grid of 90 000 nodes, about two minutes
    .venv/bin/python bench/serve.py --minutes 10              memory over ten minutes
    .venv/bin/python bench/serve.py --against ../other/src    rates as ratios to another version of hushpath
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
FORMATS = (("arrow", 800, {}), ("arrow", 800, {"float32": True}), ("parquet", 40, {"long": True}), ("csv", 40, {}))


def make_release(folder, side):
    """A release of a grid, with its index beside it."""
    at = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    heads = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    places = np.c_[13.0 + at.ravel() // side / 1000, 52.0 + at.ravel() % side / 1500]
    weights = np.random.default_rng(0).uniform(5, 60, len(tails))
    net = hushpath.Network.build(range(side * side), tails, heads, weights, coordinates=places)
    quantity = hushpath.Quantity("travel time", "seconds")
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, max_weight=100.0, mechanism="input", quantity=quantity)
    rel.with_decoder(estimator="clip").save(folder / "grid.hush", index=True)
    return folder / "grid.hush"


@contextmanager
def server(path, source=None):
    """The real one, of this hushpath or of another source folder; ends with the context."""
    command = [sys.executable, "-m", "hushpath", "serve", str(path), "--port", "0", "--no-intervals"]
    env = os.environ | ({"PYTHONPATH": str(source)} if source else {})
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        line = process.stdout.readline()
        yield int(line.partition(f"{HOST}:")[2].split()[0]), process.pid
    finally:
        process.terminate()
        process.wait(20)


def resident(pid):
    """Memory of a process in MB; 0 where that is unknown."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


class Client(asyncio.Protocol):
    """One connection that sends a request, waits for the answer, and sends the next."""

    def __init__(self, requests, took, end, done):
        self.requests, self.took, self.end, self.done, self.buffer = requests, took, end, done, b""

    def connection_made(self, transport):
        self.transport = transport
        self.send()

    def send(self):
        request = next(self.requests, None)
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
            self.send()

    def connection_lost(self, error):
        self.done.set_result(error)


async def ask_distances(port, labels, count, seconds, connections):
    """Ask for random distances; return how long each took, and all."""
    draw = random.Random(1)
    pairs = ((quote(str(draw.choice(labels))), quote(str(draw.choice(labels)))) for _ in range(count))
    requests = (f"GET /distance?source={a}&target={b} HTTP/1.1\r\nhost: {HOST}\r\n\r\n".encode() for a, b in pairs)
    took, loop, began = [], asyncio.get_running_loop(), time.perf_counter()
    ends = []
    for _ in range(connections):
        ends.append(loop.create_future())
        await loop.create_connection(lambda: Client(requests, took, began + seconds, ends[-1]), HOST, port)
    await asyncio.gather(*ends)
    return np.array(took), time.perf_counter() - began


def distances(port, labels, count, seconds, connections):
    """Distances per second, and the median and 99th percentile of milliseconds."""
    took, whole = uvloop.run(ask_distances(port, labels, count, seconds, connections))
    return len(took) / whole, *(1000 * np.percentile(took, [50, 99]))


def post_matrix(port, body, most=60.0):
    """Post a matrix request and read its stream; return bytes, seconds, and whether it came to its end."""
    text = json.dumps(body).encode()
    head = f"POST /matrix HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: {len(text)}\r\nconnection: close\r\n\r\n"
    began, total, last = time.perf_counter(), 0, b""
    with socket.create_connection((HOST, port), timeout=most) as sock:
        sock.sendall(head.encode() + text)
        room = memoryview(bytearray(2**20))
        with suppress(ConnectionError):
            while (got := sock.recv_into(room)) and time.perf_counter() - began < most:
                if not total:
                    assert bytes(room[:12]) == b"HTTP/1.1 200", bytes(room[:got])
                total, last = total + got, bytes(room[max(0, got - 5) : got])
    return total, time.perf_counter() - began, last == b"0\r\n\r\n"


def rates(port, labels, rows, options):
    """Every rate of one server, by name."""
    distances(port, labels, 500, 10.0, options.connections)
    found = {}
    for connections in (1, options.connections):
        rate, p50, p99 = distances(port, labels, options.count, options.seconds, connections)
        found[f"distances/s, {connections} connections"] = rate
        print(f"{connections:3d} connections: {rate:.0f} distances/s, p50 {p50:.2f} ms, p99 {p99:.2f} ms", flush=True)
    for form, count, more in FORMATS:
        body = {"sources": rows[:count], "format": form, **more}
        post_matrix(port, {**body, "sources": rows[:30], "targets": labels[:1000]})  # loads its libraries
        total, whole, ended = post_matrix(port, body)
        name = " ".join([form, *more])
        found[f"million cells/s, {name}"] = rate = len(body["sources"]) * len(labels) / whole / 1e6
        print(f"{name:>14}: {rate:.1f} million cells/s, {total / 2**20 / whole:.0f} MB/s, whole: {ended}", flush=True)
    return found


def compare(path, labels, rows, options):
    """Three rounds of both versions in turn; the median of the ratios."""
    ratios = {}
    for _ in range(3):
        both = []
        for source in (None, options.against):
            with server(path, source) as (port, _pid):
                both.append(rates(port, labels, rows, options))
        for name in both[0]:
            ratios.setdefault(name, []).append(both[0][name] / both[1][name])
    for name, found in ratios.items():
        print(f"{name:>36}: {np.median(found):.2f} of {options.against} ({min(found):.2f} to {max(found):.2f})")


def beside_streams(port, labels, rows, connections):
    """Distances while matrices are streamed to another client."""
    for form, count in (("arrow", 400), ("csv", 60)):
        other = threading.Thread(target=post_matrix, args=(port, {"sources": rows[:count], "format": form}))
        other.start()
        rate, _, p99 = distances(port, labels, 10_000, 4.0, connections)
        other.join()
        print(f"beside a stream of {form}: {rate:.0f} distances/s, p99 {p99:.2f} ms", flush=True)


def hostile_requests(labels, size):
    """Requests that should cost the server little, by kind: parts to send one after the other, None to wait."""
    fill = {
        "nested lists": (b'{"sources":[', b"[],", b"[]]}"),
        "deep nesting": (b"", b"[", b""),
        "objects": (b'{"sources":[', b'{"a":0},', b"{}]}"),
        "huge numbers": (b'{"sources":[', b"9" * 4000 + b",", b"9]}"),
        "small numbers": (b'{"sources":[', b"1,", b"1]}"),
        "one long text": (b'{"sources":["', b"a", b'"]}'),
    }
    bodies = {
        kind: first + item * ((size - len(first + last)) // len(item)) + last
        for kind, (first, item, last) in fill.items()
    }
    bodies["valid: one row as CSV"] = b'{"sources":[%s],"format":"csv"}' % json.dumps(labels[0]).encode()
    head = "POST /matrix HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{}\r\n\r\n".format
    found = {kind: (head(HOST, f"content-length: {len(body)}").encode() + body,) for kind, body in bodies.items()}
    found["too long"] = (head(HOST, f"content-length: {4 * size}").encode() + b"[" * 4 * size,)
    found["never finished"] = (head(HOST, f"content-length: {size}").encode() + b" " * (size - 1), None)
    return found


def attack(port, parts, clients, seconds, answers):
    """Send a request again and again from so many connections at a time; report the statuses."""
    end, statuses = time.perf_counter() + seconds, Counter()

    def one():
        while (left := end - time.perf_counter()) > 0:
            answer = b""
            with suppress(OSError), socket.create_connection((HOST, port), timeout=left + 1) as sock:
                for part in parts:
                    if part is None:
                        sock.settimeout(max(end - time.perf_counter(), 0.1))
                    else:
                        sock.sendall(part)
                answer = sock.recv(12)
            statuses[answer[9:12].decode("latin-1") or "reset"] += 1

    threads = [threading.Thread(target=one, daemon=True) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 5)
    answers.put(dict(statuses))


def beside_hostile(port, pid, labels, options):
    """Distances per second beside hostile clients, as a share of the rate just before and after."""
    fork = multiprocessing.get_context("fork")

    def rate():
        return distances(port, labels, 10**6, options.phase, options.connections)[0]

    before = rate()
    for kind, parts in hostile_requests(labels, 10**6).items():
        for clients in (1, 8) if kind != "never finished" else (100,):
            answers, size = fork.Queue(), resident(pid)
            other = fork.Process(target=attack, args=(port, parts, clients, options.phase + 1.5, answers))
            other.start()
            time.sleep(0.5)
            beside, grew = rate(), resident(pid) - size
            statuses = answers.get(timeout=30)
            other.join(30)
            after = rate()
            share = beside / ((before + after) / 2)
            print(f"{kind:>22} x {clients:3d}: {share:4.0%} of the rate, grew {grew:.0f} MB, {statuses}", flush=True)
            before = after


def keep_busy(port, labels, seconds):
    """A mixture of requests, for the memory figure."""
    end, count = time.perf_counter() + seconds, 0
    some = labels[:: max(1, len(labels) // 50)]
    while time.perf_counter() < end:
        distances(port, labels, 3000, 10.0, 16)
        post_matrix(port, {"sources": some, "targets": labels[:2000], "format": ("arrow", "csv")[count % 2]})
        count += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--release", type=Path)
    parser.add_argument("--side", type=int, default=300)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--phase", type=float, default=2.0, help="seconds of each phase beside hostile clients")
    parser.add_argument("--against", type=Path, help="only rates, as ratios to this source folder of hushpath")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.release
        if path is not None and not path.exists():
            path = Path(os.environ.get("HUSHPATH_DATA", ".")) / path
        path = make_release(Path(folder), options.side) if path is None else path
        labels = list(hushpath.load(path, index=False).topology.labels)
        rows = labels[:: max(1, len(labels) // 800)][:800]
        print(f"{path.name}: {len(labels)} nodes", flush=True)
        if options.against:
            compare(path, labels, rows, options)
            return
        with server(path) as (port, pid):
            rates(port, labels, rows, options)
            beside_streams(port, labels, rows, options.connections)
            beside_hostile(port, pid, labels, options)
            keep_busy(port, labels, 10.0)
            first = resident(pid)
            keep_busy(port, labels, 60 * options.minutes)
            print(f"memory: {first:.0f} MB, after {options.minutes:g} min of load {resident(pid):.0f} MB")


if __name__ == "__main__":
    main()
