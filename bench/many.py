"""A matrix on a local cluster, with a worker killed in the middle, against one process: same bytes, and what it costs.

    .venv/bin/python bench/many.py [--nodes 50000] [--workers 2] [--json FILE]

All runs are fresh processes of the command line on the same release (`input`, a Delaunay triangulation, float32) with
the index beside it, and each writes a folder of Parquet files: 10 GB in `TMPDIR` for 50 000 nodes.  The time of the
cluster includes starting it.  A run that writes the bare numbers to one .npy file says what the folder itself costs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
from scipy.spatial import Delaunay

HUSHPATH = [sys.executable, "-m", "hushpath"]


def released(nodes, path):
    """A release of a planar network, and its index."""
    import hushpath

    rng = np.random.default_rng(0)
    triangles = Delaunay(rng.random((nodes, 2))).simplices
    ends = np.unique(
        np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]])), axis=0
    )
    net = hushpath.Network.build(range(nodes), ends[:, 0], ends[:, 1], rng.uniform(1, 20, len(ends)))
    rel = hushpath.release(
        net,
        plan=hushpath.plan(
            net.topology, epsilon=1.0, unit=1.0, max_weight=20.0, mechanism="input", ignore_baseline=True
        ),
    ).with_decoder(estimator="clip")
    rel.save(path, index=True)


def timed(command, after=None):
    """Seconds that a command takes; ``after`` is called once, with its process, while it runs."""
    start = time.perf_counter()
    with subprocess.Popen([*HUSHPATH, *map(str, command)], stdout=subprocess.DEVNULL) as run:
        if after is not None:
            after(run)
    assert run.returncode == 0, command
    return time.perf_counter() - start


def killer(folder, parts, killed):
    """Kill a worker once a third of the parts are there."""

    def kill(run):
        while run.poll() is None and len(list(folder.glob("rows/part-*"))) < parts // 3:
            time.sleep(0.02)
        started = psutil.Process(run.pid).children(recursive=True)
        workers = [one for one in started if "spawn_main" in " ".join(one.cmdline())]
        if workers:
            busiest = max(workers, key=lambda one: sum(one.cpu_times()[:2]))
            os.kill(busiest.pid, signal.SIGKILL)
            killed.append(busiest.pid)

    return kill


def digests(folder):
    """The SHA-256 of every file."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            with open(file, "rb") as opened:
                found[str(file.relative_to(folder))] = hashlib.file_digest(opened, "sha256").hexdigest()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        os.environ["HUSHPATH_CACHE"] = str(place / "cache")
        hush = place / "r.hush"
        released(asked.nodes, hush)
        few = place / "few.txt"
        few.write_text("\n".join(map(str, range(64))))
        ask = ["matrix", hush, "--float32"]
        timed([*ask, "--sources", few, "-o", place / "warm"])  # compiles, and hashes the index
        took, bytes_of = {}, {}
        took["bare"] = timed([*ask, "-o", place / "bare.npy"])
        (place / "bare.npy").unlink()
        on_cluster, killed, parts = ["--dask", "local", "--workers", asked.workers], [], 0
        for name, more in (("here", []), ("cluster", on_cluster), ("dying", on_cluster)):
            out = place / name
            after = killer(out, parts, killed) if name == "dying" else None
            took[name] = timed([*ask, "-o", out, *more], after)
            parts, bytes_of[name] = len(list(out.glob("rows/part-*"))), digests(out)
            shutil.rmtree(out)
    same = bytes_of["here"] == bytes_of["cluster"] == bytes_of["dying"]
    result = {
        "nodes": asked.nodes,
        "workers": asked.workers,
        "cores": os.cpu_count(),
        "parts": parts,
        "workers killed": len(killed),
        "same bytes": same,
        "in process": took["here"],
        "overhead of the cluster": took["cluster"] / took["here"] - 1,
        "with a worker killed": took["dying"] / took["here"] - 1,
        "a folder to bare numbers": took["here"] / took["bare"],
    }
    for name, value in result.items():
        print(f"{name:<28} {value:.3g}" if isinstance(value, float) else f"{name:<28} {value}")
    if asked.json:
        asked.json.write_text(json.dumps(result, indent=1) + "\n")
    assert same
    assert killed


if __name__ == "__main__":
    main()
