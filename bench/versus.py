"""Two versions of hushpath against each other, in one run: did a change cost speed?

    .venv/bin/python bench/versus.py OTHER/src            this checkout against another one's sources
    .venv/bin/python bench/versus.py OTHER/src --rounds 5

Each round starts a fresh process for each version, in turn; a step's time is the least of its rounds, which a busy
machine disturbs least.  A ratio below 1 means that this checkout is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent.parent / "src"


def steps():
    """Time every step once (after a warm-up that compiles or loads the kernels) and return seconds by name."""
    import tempfile
    import time
    import warnings

    import numpy as np
    from engine import delaunay, tree, warm_up

    import hushpath

    warnings.simplefilter("ignore")
    warm_up()
    found = {}

    def timed(name, work, times=1):
        found[name] = float("inf")
        for _ in range(times):
            start = time.process_time()
            made = work()
            found[name] = min(found[name], time.process_time() - start)
        return made

    folder = Path(tempfile.mkdtemp())
    for shape, (n, ends), mechanism in (
        ("delaunay 10000", delaunay(10_000), "input"),
        ("delaunay 5000", delaunay(5_000), "separator"),
        ("tree 25000", tree(25_000), "tree"),
    ):
        weights = np.random.default_rng(1).uniform(1, 60, len(ends))
        net = hushpath.Network.build(range(n), ends[:, 0], ends[:, 1], weights, upper=60.0)
        asked = dict(epsilon=1.0, unit=1.0, mechanism=mechanism)
        where = f"{mechanism}, {shape}"
        hushpath.release(hushpath.Network.build([0, 1, 2], [0, 1], [1, 2], [1.0, 1.0]), seed=1, **asked).matrix()
        timed(f"plan ({where})", lambda: hushpath.plan(net.topology, **asked))  # noqa: B023
        rel = timed(f"release ({where})", lambda: hushpath.release(net, seed=1, **asked))  # noqa: B023
        path = folder / "x.hush"
        timed(f"save and load ({where})", lambda: (rel.save(path), hushpath.load(path)), 3)  # noqa: B023
        pairs = np.random.default_rng(2).integers(0, n, (20_000, 2))
        if mechanism != "tree":
            timed(f"index ({where})", rel.build_index)
        timed(f"20 000 pairs ({where})", lambda: rel.distances(pairs, positions=True), 5)  # noqa: B023
        timed(f"1 000 rows ({where})", lambda: rel.matrix(np.arange(1000), positions=True), 5)  # noqa: B023
    return found


def measured(source):
    """The steps in a fresh process with these sources."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(Path(__file__).parent)])}
    done = subprocess.run([sys.executable, __file__, "--steps"], env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", action="store_true", help="(used by itself)")
    told = parser.parse_args()
    if told.steps:
        print(json.dumps(steps()))
        return
    runs = {"other": [], "this": []}
    for _ in range(told.rounds):
        for who, source in (("other", told.other.resolve()), ("this", HERE)):
            runs[who].append(measured(source))
    print(f"{'step':<42}{'other, s':>10}{'this, s':>10}{'ratio':>8}")
    for name in runs["this"][0]:
        other, this = (min(run[name] for run in runs[who]) for who in ("other", "this"))
        print(f"{name:<42}{other:>10.3f}{this:>10.3f}{this / other:>8.2f}")


if __name__ == "__main__":
    main()
