"""Kill processes that charge a ledger, at random moments, and let many charge at once; print what was found.

    python tests/ledger_crash.py FOLDER --kills 200 --processes 16

A worker charges, writes a file named after the charge, and notes it, for ever.  It is killed by SIGKILL, which nothing
can catch.  Afterwards every file must have its charge and the budget must hold.  Workers are forked, so that a kill
costs milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from hushpath.errors import BudgetError
from hushpath.privacy.ledger import Ledger
from hushpath.privacy.spending import Spending

STEP = 2.0**-7  # sums of it are exact in floats, so that it is known how many fit


def worker(path: Path, out: Path) -> None:
    """Charge and write files until nothing is left."""
    ledger = Ledger(path)
    while True:
        try:
            number = ledger.charge(Spending("person", "laplace", STEP, STEP), file="some.hush")
        except BudgetError:
            return
        mark = f"{number:064x}"
        part = out / f"{number}.part.{os.getpid()}"
        part.write_text(mark)
        os.link(part, out / f"{number}.hush")  # fails if somebody else had the same charge
        part.unlink()
        ledger.released(number, mark)


def forked(path: Path, out: Path) -> int:
    """Start a worker; return its process number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            worker(path, out)
            code = 0
        finally:
            os._exit(code)
    return child


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
    """One worker after the other, each killed within its first few charges."""
    path, out = folder / "killed.ledger", folder / "killed"
    out.mkdir()
    Ledger.create(path, dataset="d", protects="person", epsilon=count * 64 * STEP, delta=0.0)
    bad = {"files_without_charge": 0, "overspent": 0, "noted_without_file": 0}
    journals = 0
    for _ in range(count):
        child = forked(path, out)
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
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    start = time.perf_counter()
    found = {"kills": kills(given.folder, given.kills, random.Random(given.seed))}
    middle = time.perf_counter()
    found["crowd"] = crowd(given.folder, given.processes, given.fit)
    json.dump({**found, "seconds": [middle - start, time.perf_counter() - middle]}, sys.stdout)


if __name__ == "__main__":
    main()
