"""A case study, end to end, on four real networks: what their owners would publish, and how wrong it would be.

    HUSHPATH_DATA=FOLDER make case-study
    HUSHPATH_DATA=FOLDER python bench/case_study.py --only water --only river
    python bench/case_study.py --draw            tables and pictures of what was run, nothing else

A metro, the roads of a country, a water utility and a river (``case/owners.py``); what is private on them is made up
where nobody has it (``case/made_up.py``).  Every release and plan goes from file to file, as an owner would make it
(``case/cells.py``).  Results are kept line by line in the folder of --work, so it can be stopped and goes on:
bench/results/case_study.json, docs/images/case-study/*.png and the tables of
docs/explanation/case-study.md are written at the end.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from case import made_up
from case.cells import TARGETS, Owned, of_map, one_plan, one_release, solved
from case.owners import CASES, MAPPED
from case.pictures import draw
from case.told import summary, write_tables

ROOT = Path(__file__).parents[1]


class Kept:
    """A file of JSON lines: what was run."""

    def __init__(self, file):
        self.file = file
        self.rows = [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []

    def add(self, row):
        self.rows.append(row)
        with self.file.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def has(self, **asked):
        return any(all(row.get(name) == value for name, value in asked.items()) for row in self.rows)


def tasks(case, epsilons, plans):
    """Everything to be found out about one case: what it is, and what its line is known by."""
    every = sorted(epsilons or case.epsilons, key=lambda epsilon: epsilon != MAPPED)  # the maps first
    yield from (dict(case=case.name, epsilon=e, repeat=r) for r in range(case.repeats) for e in every)
    yield dict(case=case.name, what="known")
    if plans:
        yield from (dict(case=case.name, epsilon=e, what="plan") for e in case.plans)
        yield from (dict(case=case.name, target=t, what="target") for t in (TARGETS if case.weight else ()))


def run(case, work, kept, asked):
    """Whatever of one case is not there yet."""
    folder, owned = work / case.owner, None
    if not (folder / "made").is_file():
        print(f"{case.owner}: files", file=sys.stderr, flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        getattr(made_up, case.owner)(folder)
        (folder / "made").touch()
    todo = [task for task in tasks(case, asked.epsilon, not asked.no_plans) if not kept.has(**task)]
    for number, task in enumerate(todo, 1):
        began = time.perf_counter()
        owned = owned or Owned(case, folder)
        if task.get("what") == "plan":
            row = one_plan(owned, task["epsilon"])
        elif task.get("what") == "known":
            row = owned.known()
        elif task.get("what") == "target":
            row = solved(owned, task["target"])
        else:
            row, rel = one_release(owned, task["epsilon"], task["repeat"])
            if task["epsilon"] == MAPPED and task["repeat"] == 0:
                np.savez(work / f"{case.name}.npz", **of_map(owned, rel))
        kept.add({**task, **row, "all_seconds": time.perf_counter() - began})
        said = " ".join(f"{name} {value}" for name, value in task.items() if name != "case")
        print(f"{case.name}, {number} of {len(todo)}: {said}, {time.perf_counter() - began:.0f} s", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", choices=list(dict.fromkeys(case.owner for case in CASES)))
    parser.add_argument("--epsilon", type=float, action="append", help="only these")
    parser.add_argument("--no-plans", action="store_true", help="releases only")
    parser.add_argument("--draw", action="store_true", help="tables and pictures only")
    parser.add_argument("--out", type=Path, default=ROOT, help="where the folders bench/results and docs are")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "hushpath-case-study")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    asked.work.mkdir(parents=True, exist_ok=True)
    kept = Kept(asked.work / "results.jsonl")
    for case in CASES if not asked.draw else ():
        if not asked.only or case.owner in asked.only:
            run(case, asked.work, kept, asked)
    results = asked.out / "bench" / "results" / "case_study.json"
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text(json.dumps(summary(kept.rows), indent=1) + "\n")
    draw(results, asked.work, asked.out / "docs" / "images" / "case-study")
    write_tables(results, asked.out / "docs" / "explanation" / "case-study.md")


if __name__ == "__main__":
    main()
