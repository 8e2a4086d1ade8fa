"""From a thousand to a million nodes: times, memory and answers, ours and those of others, in one run.

    make bench-scale                                     everything but --huge (ten minutes on two cores)
    .venv/bin/python bench/scale.py --huge               also 10^7 edges through the command line
    .venv/bin/python bench/scale.py --quick              small networks: does everything run?
    .venv/bin/python bench/scale.py --only city --only plan
    .venv/bin/python bench/scale.py --only growth --sizes 100000 300000

Every measurement is a process of its own (``at_scale/jobs.py``), so peaks of memory are its own; what is compared with
a rival is timed in turn with it, and every answer is compared.  Rivals are scipy, routingkit-cch, networkit, rustworkx
and graph-tool, those that can be imported (``pip install routingkit-cch networkit rustworkx``; graph-tool comes from
conda or a distribution, and must fit this numpy).  The results are written after each measurement, so a run that is
interrupted loses nothing: bench/results/scale-DATE.json and scale.png.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from at_scale.jobs import JOBS, NEEDS
from at_scale.pictures import growth
from at_scale.rivals import rivals
from at_scale.told import asked, tables

RESULTS = Path(__file__).parent / "results"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK = (1_000, 3_000)
STAGES = ("city", "all pairs", "plan", "growth", "query", "default")
HOURS = 1  # no job is waited for longer


class Run:
    """Jobs done so far, by network, and the file they are written to."""

    def __init__(self, folder, path, sizes):
        self.folder, self.path, self.sizes, self.rows = folder, path, sizes, {}
        here, missing = rivals()
        self.facts = {
            "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"), "cores": os.cpu_count(),
            "python": platform.python_version(), "rivals": here, "not installed": missing,
        }  # fmt: skip
        self.rivals = here

    def job(self, kind, nodes, name):
        """Do a job, and before it what it needs; once."""
        row = self.rows.setdefault(f"{kind} {nodes}", {})
        if name in row:
            return row[name]
        word, *rest = name.split(" ")
        before = NEEDS.get(word)
        if before is not None and "failed" in self.job(kind, nodes, before):
            row[name] = {"failed": f"for want of {before}"}
        else:
            where = self.folder / f"{kind}-{nodes}"
            where.mkdir(exist_ok=True)
            row[name] = self.process(where, name)
        print(f"{kind} {nodes:>8}  {name:<22} {told(row[name])}", flush=True)
        self.write()
        return row[name]

    def process(self, where, name):
        command = [sys.executable, __file__, "--job", name, "--folder", str(where)]
        settings = {**os.environ, "HUSHPATH_CACHE": str(self.folder / "cache")}
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=settings, timeout=3600 * HOURS)
        except subprocess.TimeoutExpired:
            return {"failed": f"took longer than {HOURS} h"}
        if done.returncode:
            last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
            return {"failed": " ".join([f"exit code {done.returncode}", *last])}
        found = json.loads(done.stdout.splitlines()[-1])
        return {key: float(f"{x:.4g}") if isinstance(x, float) else x for key, x in found.items()}

    def write(self):
        report = {**self.facts, "asked": asked(self.rows), "rows": self.rows}
        self.path.write_text(json.dumps(report, indent=1) + "\n")

    def stage(self, name):
        """All jobs of a stage; a quick run does each once."""
        small, large, quick = self.sizes[0], self.sizes[-1], self.sizes is QUICK
        weighing = ("cut", "weigh tables", "weigh labels")
        if name == "growth":
            for nodes in self.sizes:
                for job in ("release", *weighing, *(f"rival {x}" for x in self.rivals if nodes == large or not quick)):
                    self.job("road_like", nodes, job)
        elif name == "city":
            for job in ("then", *weighing):
                self.job("osm_like", large if quick else 231_000, job)
        elif name == "all pairs":
            for kind in ("road_like",) if quick else ("road_like", "delaunay"):
                self.job(kind, small if quick else 10_000, "all_pairs")
        elif name == "huge":  # 10^7 edges
            self.job("tiled", 8_000 if quick else 7_250_000, "read")
        else:
            second = 10_000 if name == "query" else 30_000
            for nodes in (large,) if quick else (second, large):
                self.job("road_like", nodes, name)


def told(row):
    return ", ".join(f"{key} {x:.4g}" if isinstance(x, float) else f"{key} {x}" for key, x in row.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("--only", action="append", choices=[*STAGES, "huge"])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="nodes of the networks that grow")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.job:
        word, *rest = chosen.job.split(" ")
        print(json.dumps(JOBS[word](chosen.folder, *rest) | {"load": os.getloadavg()[0]}))
        return
    chosen.results.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        stamp = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
        whole = not chosen.only and chosen.sizes is SIZES
        name = "scale-quick" if chosen.quick else f"scale-{stamp}" if whole else "scale-part"
        run = Run(Path(folder), chosen.results / f"{name}.json", QUICK if chosen.quick else chosen.sizes)
        print(f"rivals: {', '.join(run.rivals)}; not installed: {', '.join(run.facts['not installed']) or 'none'}")
        print("compiling", told(run.process(run.folder, "warm")), flush=True)
        for stage in chosen.only or [*STAGES, *(["huge"] if chosen.huge else [])]:
            run.stage(stage)
        growth(run.rows, chosen.results / f"{name.removesuffix('-' + stamp)}.png")
        print(tables(run.rows))


if __name__ == "__main__":
    main()
