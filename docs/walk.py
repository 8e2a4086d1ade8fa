"""Walk one CSV through the house and count what is entered: the table of docs/ARCHITECTURE.md.

    .venv/bin/python docs/walk.py

Counted are the functions of the package that a step enters (properties and one-line helpers too), the files they stand
in, and how often the expensive public facts of a release are worked out.  Kernels are warmed up first.
"""

from __future__ import annotations

import csv
import inspect
import sys
import tempfile
import threading
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import hushpath

PACKAGE = str(Path(hushpath.__file__).parent)
FACTS = ("certify", "build_strategy", "frame", "exposure", "certificate")


class Steps:
    """Distinct functions and files entered while a step runs."""

    def __init__(self) -> None:
        self.entered: set[tuple[str, str]] = set()
        self.calls: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
            self.entered.add((code.co_filename.removeprefix(PACKAGE), code.co_qualname))
            self.calls[code.co_name] += 1

    def of(self, work: Any) -> Any:
        """Run a step and return what it returns."""
        self.entered.clear()
        self.calls.clear()
        sys.setprofile(self)
        threading.setprofile(self)
        try:
            return work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def row(self, name: str) -> str:
        """One line of the table."""
        again = {fact: self.calls[fact] for fact in FACTS if self.calls[fact]}
        files = len({file for file, _ in self.entered})
        return f"{name:<8} {len(self.entered):>3} functions in {files:>2} files {again or ''}"


def walk(folder: Path) -> list[str]:
    """The seven steps, mechanism ``separator``."""
    side, rows, steps = 12, [("source", "target", "minutes")], Steps()
    for i in range(side):
        for j in range(side):
            rows += [(f"{i}-{j}", f"{i + 1}-{j}", 3)] * (i + 1 < side)
            rows += [(f"{i}-{j}", f"{i}-{j + 1}", 4)] * (j + 1 < side)
    with open(folder / "roads.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    asked = dict(epsilon=1.0, unit=1.0, mechanism="separator")
    lines = []

    def step(name: str, work: Any) -> Any:
        made = steps.of(work)
        lines.append(steps.row(name))
        return made

    net = step("read", lambda: hushpath.read_network(folder / "roads.csv", weight="minutes"))
    plan = step("plan", lambda: hushpath.plan(net.topology, **asked))
    by_plan = "plan" in inspect.signature(hushpath.release).parameters
    made = step("release", lambda: hushpath.release(net, **(dict(plan=plan) if by_plan else asked)))
    step("save", lambda: made.save(folder / "roads.hush"))
    loaded = step("load", lambda: hushpath.load(folder / "roads.hush"))
    step("index", loaded.build_index)
    step("matrix", loaded.matrix)
    return lines


if __name__ == "__main__":
    warnings.simplefilter("ignore", hushpath.HushpathWarning)  # the network is small, so its release is mostly noise
    with tempfile.TemporaryDirectory() as folder:
        walk(Path(folder))
        print("\n".join(walk(Path(folder))))
