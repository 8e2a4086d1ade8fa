"""Kill processes that charge a ledger, at random moments, and let many charge at once; print what was found.

    python tests/ledger_crash.py FOLDER --kills 200 --processes 16

A worker charges, writes a file named after the charge, and notes it, for ever.  It is killed by SIGKILL, which nothing
can catch.  Afterwards every file must have its charge and the budget must hold.  Workers are forked, so that a kill
costs milliseconds.  With ``--releases`` so many more are killed that make real releases of trips.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import duckdb
import opendp.prelude as opendp
import pandas as pd

import hushpath
from hushpath.errors import BudgetError
from hushpath.privacy.composition import Spending
from hushpath.privacy.ledger import Ledger

# Imported before workers are forked: each is to be killed in the middle of a release, not of an import.
_READY = hushpath.release, hushpath.read_trips, hushpath.Topology, duckdb, opendp

STEP = 2.0**-7  # sums of it are exact in floats, so that it is known how many fit


def worker(path: Path, out: Path, begun: int | None = None, last: int | None = None) -> None:
    """Charge and write files until nothing is left.

    The first file is told to the pipe ``begun``; after the charge ``last`` the process kills itself.
    """
    ledger = Ledger(path)
    while True:
        try:
            number = ledger.charge(Spending("person", "laplace", STEP, STEP), file="some.hush")
        except BudgetError:
            return
        if number == last:
            os.kill(os.getpid(), signal.SIGKILL)
        mark = f"{number:064x}"
        part = out / f"{number}.part.{os.getpid()}"
        part.write_text(mark)
        os.link(part, out / f"{number}.hush")  # fails if somebody else had the same charge
        part.unlink()
        ledger.released(number, mark)
        if begun is not None:
            os.close(begun)
            begun = None


def forked(path: Path, out: Path, begun: int | None = None, last: int | None = None) -> int:
    """Start a worker; return its process number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            worker(path, out, begun, last)
            code = 0
        finally:
            os._exit(code)
    return child


def releases(folder: Path, count: int, chance: random.Random) -> dict[str, int]:
    """Real releases of trips, one worker after the other killed while it makes them."""
    path, out = folder / "releases.ledger", folder / "releases"
    out.mkdir()
    Ledger.create(path, dataset="d", protects="person", epsilon=0.02 * count, delta=0.0)
    without, refused = 0, 0
    for _ in range(count):
        child = os.fork()
        if child == 0:
            _release_for_ever(path, out)
        time.sleep(chance.uniform(0.0, 1.6))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        refused += os.WIFEXITED(status)
        noted = {charge.fingerprint for charge in Ledger.open(path).charges()}
        without = sum(file.stem not in noted for file in out.glob("*.hush"))
        assert without == 0
    ledger = Ledger.open(path)
    charges = ledger.charges()
    for file in out.glob("*.hush"):
        assert hushpath.load(file).fingerprint == file.stem
    return {
        "kills": count, "charges": len(charges), "files": len(list(out.glob("*.hush"))),
        "files_without_charge": without,
        "never_released": sum(charge.state == "charged" for charge in charges), "ended_by_refusal": refused,
        "overspent": int(sum(charge.asked.spent for charge in charges) > 0.02 * count),
    }  # fmt: skip


def _release_for_ever(path: Path, out: Path) -> None:
    """Release until nothing is left; what is written is named by its fingerprint."""
    code = 1
    warnings.simplefilter("ignore")  # six passes are mostly noise
    try:
        topology, _ = hushpath.Topology.build(
            "abc", [0, 1, 2], [1, 2, 0], directed=True, proxy=[9.0, 8.0, 7.0], proxy_name="t"
        )
        table = {"who": ["x", "y"] * 3, "from": list("abcabc"), "to": list("bcabca"), "took": [9.0, 12, 8, 10, 11, 7]}
        trips = hushpath.read_trips(pd.DataFrame(table), topology, person="who", edge=("from", "to"), seconds="took")
        while True:
            made = hushpath.release_trips(
                trips, epsilon=0.01, delta=0.0, protects="person", low=0.5, high=6, ledger=path
            )  # fmt: skip
            made.save(out / f"{made.fingerprint}.hush")
    except BudgetError:
        code = 0
    finally:
        os._exit(code)


def look(path: Path, out: Path) -> dict[str, int]:
    """What is in the ledger and in the folder."""
    ledger = Ledger.open(path)
    charges, (dataset,) = ledger.charges(), ledger.datasets()
    numbers = {charge.number for charge in charges}
    files = {int(file.stem) for file in out.glob("*.hush")}
    return {
        "charges": len(charges), "files": len(files), "files_without_charge": len(files - numbers),
        "never_released": sum(charge.state == "charged" for charge in charges),
        "noted_without_file": sum(charge.state == "released" and charge.number not in files for charge in charges),
        "overspent": int(len(charges) * STEP > dataset.budget.epsilon),
    }  # fmt: skip


def kills(folder: Path, count: int, chance: random.Random) -> dict[str, int]:
    """One worker after the other, killed soon after its start or its first file; the first one between two steps."""
    path, out = folder / "killed.ledger", folder / "killed"
    out.mkdir()
    Ledger.create(path, dataset="d", protects="person", epsilon=count * 64 * STEP, delta=0.0)
    bad = {"files_without_charge": 0, "overspent": 0, "noted_without_file": 0}
    journals = 0
    for turn in range(count):
        reading, writing = os.pipe()
        child = forked(path, out, writing, last=2 if turn == 0 else None)
        os.close(writing)
        if turn % 2 == 0:
            os.read(reading, 1)  # until it has written a file and closed the pipe, however busy the machine is
        os.close(reading)
        time.sleep(chance.uniform(0.0, 0.06))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        journals += Path(f"{path}-journal").exists()  # killed in the middle of a commit
        found = look(path, out)
        bad = {name: bad[name] + found[name] for name in bad}
    return {**look(path, out), **bad, "kills": count, "journals": journals}


def crowd(folder: Path, processes: int, fit: int) -> dict[str, int]:
    """Many workers at once, until nothing is left."""
    path, out = folder / "crowd.ledger", folder / "crowd"
    out.mkdir()
    Ledger.create(path, dataset="d", protects="person", epsilon=fit * STEP, delta=0.0)
    children = [forked(path, out) for _ in range(processes)]
    codes = [os.waitpid(child, 0)[1] for child in children]
    return {**look(path, out), "processes": processes, "fit": fit, "failed": sum(code != 0 for code in codes)}


def main() -> None:
    """Run both and print one JSON document."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--fit", type=int, default=60)
    parser.add_argument("--releases", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    start = time.perf_counter()
    found = {"kills": kills(given.folder, given.kills, random.Random(given.seed))}
    middle = time.perf_counter()
    found["crowd"] = crowd(given.folder, given.processes, given.fit)
    if given.releases:
        found["releases"] = releases(given.folder, given.releases, random.Random(given.seed))
    json.dump({**found, "seconds": [middle - start, time.perf_counter() - middle]}, sys.stdout)


if __name__ == "__main__":
    main()
