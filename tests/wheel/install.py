"""Install the wheel into empty environments and use it: the minimal install, then each extra by itself.

`make test-dist`, or `python tests/wheel/install.py --python python3.13 --extras none,pandas`.  Prints a table of what
each takes: megabytes of site-packages, and seconds to install and to run.  Everything it starts has a time limit.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUB = "Scripts" if os.name == "nt" else "bin"
LIMIT = 900.0  # seconds of one command
ROADS = "source,target,weight\n" + "".join(f"{i},{i + 1},{i % 5 + 1}\n" for i in range(40))
PLACES = "node,x,y\n" + "".join(f"{i},{10 + i / 100},{50 + i % 7 / 100}\n" for i in range(41))
RELEASE = "release roads.csv --nodes places.csv --epsilon 2 --unit 1 --max-weight 9 --mechanism input -o roads.hush"
PYTHON = "import hushpath; rel = hushpath.load('roads.hush'); "

# A command of hushpath, or a program that begins with "import", and what must be found in what it prints.
SMOKE: dict[str, tuple[tuple[str, str], ...]] = {
    "none": (
        ("demo --out city", "city.html"),
        ("inspect city/city.hush", "Differentially private"),
        ("query city/city.hush market airport --period am --interval", "90 % interval"),
        ("matrix city/city.hush --period am --sources some.txt -o m.csv", "m.csv"),
        ("matrix roads.hush -o m.npy", "m.npy"),
        ("matrix roads.hush -o m.parquet", "m.parquet"),
        ("page roads.hush -o roads.html", "roads.html"),
    ),
    "pandas": ((PYTHON + "print('shape', rel.frame().shape)", "shape (41, 41)"),),
    "networkx": ((PYTHON + "print('edges', rel.to_networkx().number_of_edges())", "edges 40"),),
    "pictures": (
        ("plan roads.csv --epsilon 1,2,4 --unit 1 --max-weight 9 --picture plan.png", "plan.png"),
        ("report roads.csv roads.hush -o report.html", "report.html"),
    ),
    "opendp": (("inspect roads.hush", "sampler: opendp"),),
    "geo": (
        ("export roads.hush --to geoparquet --crs EPSG:4326 -o roads.parquet", "roads.parquet"),
        ("export roads.hush --to geojson --isochrone 3 --steps 5,10 -o r.geojson", "r.geojson"),
    ),
    "omx": (("export roads.hush --to omx -o roads.omx", "roads.omx"),),
    "dask": (("matrix roads.hush --dask local --workers 1 -o parts", "parts"),),
    "serve": (("serve roads.hush --port 0", "ok"),),
}


class Environment:
    """An empty environment in a folder, with the wheel and one extra in it."""

    def __init__(self, folder: Path, python: str, wheel: Path, extra: str) -> None:
        self.folder, self.bin = folder, folder / "venv" / SUB
        self.environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.environ |= {"HUSHPATH_CACHE": str(folder / "cache"), "COLUMNS": "200"}
        began = time.perf_counter()
        self._run([python, "-m", "venv", str(folder / "venv")])
        wanted = str(wheel) if extra == "none" else f"{wheel}[{extra}]"
        pip = [str(self.bin / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        self._run([*pip, "-c", str(ROOT / "constraints.txt"), wanted])
        self.seconds = time.perf_counter() - began
        where = "import sysconfig; print(sysconfig.get_path('purelib'))"
        packages = Path(self._run([str(self.bin / "python"), "-c", where]).strip())
        gone = [*packages.glob("pip*"), *packages.glob("setuptools*"), *packages.glob("_distutils_hack*")]
        self.megabytes = (_bytes(packages) - sum(map(_bytes, gone))) / 1e6
        for name, text in (("roads.csv", ROADS), ("places.csv", PLACES), ("some.txt", "market\nairport\n")):
            (folder / name).write_text(text, encoding="utf-8")

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(command, cwd=self.folder, env=self.environ, capture_output=True, text=True, timeout=LIMIT)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def use(self, command: str, wanted: str) -> None:
        """Run one command, and look for what it should print."""
        if command.startswith("serve "):
            told = self._served(command)
        elif command.startswith("import "):
            told = self._run([str(self.bin / "python"), "-c", command])
        else:
            told = self._run([str(self.bin / "hushpath"), *command.split()])
        if wanted not in told:
            raise SystemExit(f"hushpath {command} did not say {wanted!r}:\n{told}")

    def _served(self, command: str) -> str:
        """Start the server, ask for its health, stop it: whatever happens, it does not outlive this."""
        with (self.folder / "served.txt").open("w+", encoding="utf-8") as told:
            server = subprocess.Popen(
                [str(self.bin / "hushpath"), *command.split()], cwd=self.folder, env=self.environ, stdout=told,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
            try:
                until = time.monotonic() + 180
                while time.monotonic() < until and server.poll() is None:
                    text = (self.folder / "served.txt").read_text(encoding="utf-8")
                    if found := re.search(r"http://127\.0\.0\.1:\d+", text):
                        try:
                            with urllib.request.urlopen(found[0] + "/health", timeout=20) as answer:
                                return str(json.load(answer)["status"])
                        except OSError:
                            pass  # the address is told before it listens
                    time.sleep(0.3)
                return (self.folder / "served.txt").read_text(encoding="utf-8")
            finally:
                server.terminate()
                try:
                    server.wait(20)
                except subprocess.TimeoutExpired:
                    server.kill()


def _bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file() and "__pycache__" not in file.parts)


def main() -> int:
    """Each extra in an environment of its own, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="which Python to make environments with")
    parser.add_argument("--extras", default=",".join(SMOKE), help="none is the minimal install")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    asked = parser.parse_args()
    (wheel,) = asked.dist.resolve().glob("*.whl")
    version = subprocess.run([asked.python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{version}\n\n| extra | MB | install, s | run, s |\n|---|---|---|---|", flush=True)
    for extra in asked.extras.split(","):
        with tempfile.TemporaryDirectory(prefix="hushpath-dist-") as folder:
            made = Environment(Path(folder), asked.python, wheel, extra)
            began = time.perf_counter()
            made.use(RELEASE, "Written to roads.hush")
            for command, wanted in SMOKE[extra]:
                made.use(command, wanted)
            used = time.perf_counter() - began
            print(f"| {extra} | {made.megabytes:.0f} | {made.seconds:.0f} | {used:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
