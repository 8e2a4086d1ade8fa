"""Damage every seed thousands of times and see that nothing gets in.

`python tests/fuzz/run.py --structured 10000 --raw 10000 [--jobs 2] [--seconds 600]`

Four campaigns.  *structured*: arrays and headers of releases edited, digest repaired; every second one is loaded as if
its statement had been repaired too.  *structured index*: the same on index files beside an untouched release.  *raw*
and *raw index*: bytes.  Half of the index files are loaded as if they had been made here, so that what lies behind
that door is tried as well; there answers may differ, but nothing may crash.

Each worker runs one case after the other in its own process, with an address space limit; a case that kills it or
takes longer than ``PATIENCE`` is a finding, and a new worker goes on behind it.
"""

import argparse
import json
import multiprocessing as mp
import resource
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

import mutations
from exercise import Finding, answers, attempt
from forging import put_together, taken_apart
from seeds import NEW, write_seed

import hushpath
from hushpath.decoder import edges
from hushpath.index import registry as index_registry
from hushpath.index import storage
from hushpath.published import file as fileformat

CORPUS = Path(__file__).parent / "corpus"
CAMPAIGNS = ("structured", "structured index", "raw", "raw index")
PATIENCE = 30.0
ADDRESS_SPACE = 12 * 2**30  # numba and OpenBLAS map several GB they never touch


class Seeds:
    """The corpus taken apart, once."""

    def __init__(self, folder=CORPUS):
        new = Path(tempfile.mkdtemp())
        for name in NEW:
            write_seed(new, name)
        self.releases = sorted([*folder.glob("*.hush"), *new.glob("*.hush")])
        self.indexes = sorted(folder.glob("*.hushx"))
        self.parts = {path: taken_apart(path) for path in self.releases}
        self.parts |= {path: taken_apart(path, storage.FORMAT) for path in self.indexes}
        self.bytes = {path: path.read_bytes() for path in (*self.releases, *self.indexes)}
        self.truth, self.learnt = {}, {}
        for path in self.releases:
            alone = Path(tempfile.mkdtemp()) / path.name
            alone.write_bytes(self.bytes[path])
            rel = hushpath.load(alone)
            with self.known(path):
                self.truth[path] = rel.fingerprint, answers(rel)

    @contextmanager
    def known(self, path):
        """What an untouched release says about its weights is worked out once: no index has a part in it."""
        sample = edges.error_replicates

        def remembered(noisy):
            if path not in self.learnt:
                self.learnt[path] = sample(noisy)
            return self.learnt[path]

        edges.error_replicates = remembered
        try:
            yield
        finally:
            edges.error_replicates = sample


def case(seeds, campaign, number, folder):
    """Make and try one damaged file; return what became of it."""
    rng = np.random.default_rng([CAMPAIGNS.index(campaign), number])
    is_index = campaign.endswith("index")
    pool = seeds.indexes if is_index else seeds.releases
    path, donor = pool[number % len(pool)], pool[rng.integers(len(pool))]
    target = folder / f"case{path.suffix}"
    release = folder / "case.hush"
    if is_index:
        release.write_bytes(seeds.bytes[path.with_suffix(".hush")])
    else:
        (folder / "case.hushx").unlink(missing_ok=True)
    if campaign.startswith("raw"):
        target.write_bytes(mutations.raw(rng, seeds.bytes[path], seeds.bytes[donor]))
    else:
        header, arrays = mutations.structured(rng, *seeds.parts[path], seeds.parts[donor])
        put_together(target, header, arrays, storage.FORMAT if is_index else fileformat.FORMAT)
    trusting, whole = bool(rng.integers(2)), path.with_suffix(".hush")
    if is_index:
        with seeds.known(whole):
            return attempt_trusting(release) if trusting else attempt(release, seeds.truth[whole])
    if campaign == "structured" and trusting:
        return attempt_repaired(release)
    return attempt(release, seeds.truth[whole])


def attempt_trusting(release):
    """As if the index had been made here: its numbers are then served, whatever they are."""
    recall, remember = index_registry.recall, index_registry.remember
    index_registry.recall, index_registry.remember = lambda digest: [], lambda *a: True
    try:
        return attempt(release)
    except Finding as finding:
        if "negative or not a number" in str(finding):  # numbers of a forger
            return "loaded"
        raise
    finally:
        index_registry.recall, index_registry.remember = recall, remember


def attempt_repaired(release):
    """As if the statement had been repaired to say what the structure proves."""
    alike, fileformat._alike = fileformat._alike, lambda one, other: True
    try:
        return attempt(release)
    finally:
        fileformat._alike = alike


def work(seeds, campaign, numbers, deadline, pipe):
    """Run cases; say which one before, and what became of it after."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            if time.monotonic() > deadline:
                break
            pipe.send(("start", number, ""))
            try:
                outcome, detail = case(seeds, campaign, number, Path(folder)), ""
            except Finding as finding:
                outcome, detail = "finding", str(finding)
            except BaseException as error:
                outcome, detail = "finding", f"untyped {type(error).__name__}: {error}"[:300]
            pipe.send((outcome, number, detail))
    pipe.send(("end", -1, ""))


def campaign_run(seeds, campaign, numbers, deadline, findings, counts):
    """One worker after another, forked with the seeds, until all numbers are done."""
    numbers = list(numbers)
    while numbers and time.monotonic() < deadline:
        ours, theirs = mp.Pipe(duplex=False)
        worker = mp.get_context("fork").Process(target=work, args=(seeds, campaign, numbers, deadline, theirs))
        worker.start()
        theirs.close()
        current, done = None, set()
        while True:
            try:
                if not ours.poll(PATIENCE if current is not None else 300):
                    findings.append((campaign, current, "hang"))
                    worker.kill()
                    break
                outcome, number, detail = ours.recv()
            except EOFError:
                worker.join()
                findings.append((campaign, current, f"crash, exit code {worker.exitcode}"))
                break
            if outcome == "end":
                numbers = []
                break
            if outcome == "start":
                current = number
                continue
            counts[campaign, outcome] += 1
            done.add(number)
            if outcome == "finding":
                findings.append((campaign, number, detail))
        worker.join(10)
        numbers = [number for number in numbers if number not in done and number != current]
        if len(findings) > 50:
            break


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--structured", type=int, default=10_000, help="structured mutations of releases")
    parser.add_argument("--raw", type=int, default=10_000, help="raw mutations of releases")
    parser.add_argument("--index", type=int, default=4_000, help="of index files, structured and raw each")
    parser.add_argument("--seconds", type=float, default=1500.0, help="stop after this time")
    parser.add_argument("--start", type=int, default=0, help="first case number; another one gives other cases")
    parser.add_argument("--case", help="repeat one case, e.g. 'structured:1234'")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.case:
        campaign, number = asked.case.split(":")
        with tempfile.TemporaryDirectory() as folder:
            print(case(Seeds(), campaign, int(number), Path(folder)))
        return 0
    begun, findings, counts = time.monotonic(), [], Counter()
    seeds = Seeds()
    sizes = dict(zip(CAMPAIGNS, (asked.structured, asked.index, asked.raw, asked.index), strict=True))
    for campaign, size in sizes.items():
        campaign_run(
            seeds, campaign, range(asked.start, asked.start + size), begun + asked.seconds, findings, counts
        )  # fmt: skip
        tried = sum(count for (name, _), count in counts.items() if name == campaign)
        print(
            f"{campaign:<17} {tried:>6} of {size} cases: {counts[campaign, 'refused']:>6} refused, "
            f"{counts[campaign, 'loaded']:>6} loaded and asked, {counts[campaign, 'finding']} findings "
            f"({time.monotonic() - begun:.0f} s)", flush=True,
        )  # fmt: skip
    for campaign, number, detail in findings:
        print(f"FINDING {campaign}:{number}: {detail}")
    complete = all(sum(c for (name, _), c in counts.items() if name == k) == size for k, size in sizes.items())
    print(f"{len(findings)} findings{'' if complete else '; stopped by --seconds before all cases were tried'}")
    if asked.json:
        asked.json.write_text(json.dumps({f"{a}/{b}": n for (a, b), n in counts.items()} | {"findings": findings}))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
