"""The command line, each run in a process of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np
from engine import timed

from .common import agree, generated, weighed
from .rivals import Scipy


def query(folder):
    """``hushpath query`` in a process of its own, index beside the release; the first run is not counted."""
    nodes = weighed(folder).nodes
    command = [sys.executable, "-m", "hushpath", "query", folder / "roads.hush", "0", str(nodes // 2), "--json"]
    runs = [measured(command, folder) for _ in range(6)][1:]
    told = json.loads(runs[-1][3])["answers"][0]["distance"]
    agree(told, Scipy(weighed(folder)).rows(np.array([0]))[0, nodes // 2])
    wall, cpu = (statistics.median(run[which] for run in runs) for which in (0, 1))
    return {"query_s": wall, "query_cpu_s": cpu, "peak_gb": max(run[2] for run in runs)}


def table(folder):
    """The network as an edge list for people."""
    import pandas

    made = generated(folder)
    weights = np.random.default_rng(1).uniform(1, 60, len(made.ends)).round(2)
    rows = pandas.DataFrame({"source": made.ends[:, 0], "target": made.ends[:, 1], "weight": weights})
    seconds, _ = timed(lambda: rows.to_csv(folder / "roads.csv", index=False))
    return {"write_s": seconds, "file_bytes": (folder / "roads.csv").stat().st_size}


def read(folder):
    """An edge list read and released on the command line."""
    out = folder / "read.hush"
    command = [sys.executable, "-m", "hushpath", "release", folder / "roads.csv", "-o", out, "--mechanism", "input"]
    terms = ["--epsilon", "1", "--unit", "1", "--max-weight", "60", "--estimator", "clip"]
    seconds, cpu, gigabytes, _ = measured([*command, *terms], folder)
    return {"release_s": seconds, "release_cpu_s": cpu, "peak_gb": gigabytes, "file_bytes": out.stat().st_size}


def measured(command, folder):
    """Wall and processor time, peak of memory in GB and output of a command; whoever calls must be small itself.

    Python may keep what it compiled, as it does where a package is installed.
    """
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    settings["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=settings
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[1:4]))} ended with {process.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20, output
