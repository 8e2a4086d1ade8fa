"""Apply every edit of ``mutants.py`` to a copy of the package and see which behavioural test notices.

    python tests/mutants/run.py                  all, two at a time
    python tests/mutants/run.py -j 1 sensitivity those whose file or reason holds a word

A star marks a killer that is not the hint: the table should name it, as all tests before it were run for nothing.

Exit code 0: every mutant was killed.  1: one survived.  2: an edit no longer fits the sources, or the tests fail on
the unchanged package already (nothing would be shown by their failing).

Compiled kernels are copied with the package, and files get their old time stamps back, so that they are reused.  An
edit in a file with kernels gets a cache of its own: numba does not notice edits in kernels called from another file.
"""

from __future__ import annotations

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from mutants import EVERYTHING, MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "hushpath"
SECONDS = 900  # for the test that should notice; a mutant that hangs is noticed, too
SECONDS_OF_ALL = 3600  # for all tests: far above what they take, so that being slow is not taken for being noticed


class Worker:
    """A copy of the package and the compiled kernels that belong to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(PACKAGE, folder / "src" / "hushpath", ignore=shutil.ignore_patterns("*.pyc"))

    def tests(self, names: list[str], *, seconds: float, own_cache: bool = False) -> tuple[int, str]:
        """Run tests on the copy; return pytest's exit code and its output."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("NUMBA_CACHE_DIR", None)
        if own_cache:
            environment["NUMBA_CACHE_DIR"] = str(self.folder / "own-cache")
        command = [
            sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--no-header", "--tb=line", "-p", "no:cacheprovider",
            "--hypothesis-profile=first-failure", *names,
        ]  # fmt: skip
        try:
            run = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds, check=False
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return 1, "FAILED (no end within the time limit)"
        return run.returncode, run.stdout + run.stderr

    def is_used(self) -> bool:
        """Whether tests import the copy and not an installed package."""
        code = "import hushpath; print(hushpath.__file__)"
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
        return run.stdout.startswith(str(self.folder))

    def killer(self, mutant: Mutant, *, hint_only: bool) -> str:
        """The test that notices the mutant, or an empty string."""
        path = self.folder / "src" / "hushpath" / mutant.file
        text, before = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            runs = [([mutant.hint], SECONDS), (EVERYTHING, SECONDS_OF_ALL)]
            for names, seconds in runs[:1] if hint_only else runs:
                code, output = self.tests(names, seconds=seconds, own_cache="njit" in text)
                if code < 0:
                    return f"{names[0]} (crashed by signal {-code})"
                if code not in (0, 1, 2):
                    raise RuntimeError(f"pytest could not run {names}: {output[-2000:]}")
                if code:
                    found = re.search(r"^(?:FAILED|ERROR) (\S+|\(.*?\))", output, re.M)
                    return found[1] if found else "fails before the first test"
            return ""
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            shutil.rmtree(self.folder / "own-cache", ignore_errors=True)


def misfits() -> list[str]:
    """Edits whose old text does not stand exactly once in its file."""
    return [
        f"{mutant.file}: {mutant.why!r}: its old text stands {count} times"
        for mutant in MUTANTS
        if (count := (PACKAGE / mutant.file).read_text(encoding="utf-8").count(mutant.old)) != 1
    ]


def main(arguments: list[str] | None = None) -> int:
    """Run the mutants and print the table."""
    parser = argparse.ArgumentParser(description="Break the package on purpose and see which test notices.")
    parser.add_argument("words", nargs="*", help="only mutants whose file or reason holds one of these words")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="how many at a time (2)")
    parser.add_argument("--skip-baseline", action="store_true", help="do not run the tests on the unchanged package")
    parser.add_argument("--hints", action="store_true", help="run only the test that should notice, not all")
    asked = parser.parse_args(arguments)
    if wrong := misfits():
        print(*wrong, sep="\n")
        return 2
    chosen = [m for m in MUTANTS if not asked.words or any(word in f"{m.file} {m.why}" for word in asked.words)]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workers: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for number in range(asked.jobs):
            workers.put(Worker(Path(folder) / str(number)))
        worker = workers.get()
        if not worker.is_used():
            print("the tests would not import the copy")
            return 2
        if not asked.skip_baseline:
            code, output = worker.tests(EVERYTHING, seconds=SECONDS_OF_ALL)
            if code:
                print("the tests fail on the unchanged package", output[-3000:], sep="\n")
                return 2
        workers.put(worker)

        def tried(mutant: Mutant) -> str:
            worker = workers.get()
            try:
                return worker.killer(mutant, hint_only=asked.hints)
            finally:
                workers.put(worker)

        survivors = 0
        with ThreadPoolExecutor(asked.jobs) as pool:
            for mutant, killer in zip(chosen, pool.map(tried, chosen), strict=True):
                survivors += not killer
                mark = "" if killer.startswith(mutant.hint) or not killer else " *"
                print(f"{mutant.file:<26} {mutant.why:<58} {killer or 'SURVIVED'}{mark}", flush=True)
    print(f"{len(chosen)} mutants, {survivors} survived, {time.monotonic() - started:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
