"""Tools for tests of the page that pip cannot bring: a browser, and the checker of JavaScript types.

``python tests/browser/tools.py`` looks for them and installs what is missing, where it may; ``make test`` runs it.
What cannot be had is said in one line, and the tests that need it are skipped with the same line.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
# Where there is no graphics card WebGL is drawn in software.
SWITCHES = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"  # all is drawn by then
TYPESCRIPT = "typescript@7.0.2"
NO_BROWSER = "no browser was found: install chromium, or name one in HUSHPATH_CHROMIUM; the page was NOT tested in one"
NO_CHECKER = "no TypeScript was found, and npm could not bring it; types of the page's JavaScript were NOT checked"


def chromium():
    """The path of a browser, or nothing."""
    named = os.environ.get("HUSHPATH_CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


def checker():
    """The path of ``tsc``, or nothing."""
    own = ROOT / ".venv" / "npm" / "node_modules" / ".bin" / "tsc"
    return str(own) if own.exists() else shutil.which("tsc")


def main():
    """Install what is missing and say what could not be."""
    if chromium() is None and shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["apt-get", "update"], **quiet)
        install = ["apt-get", "install", "-y", "--no-install-recommends"]
        subprocess.run([*install, "chromium", "fonts-dejavu-core"], **quiet)
    if checker() is None and (npm := shutil.which("npm")):
        place = ROOT / ".venv" / "npm"
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run([npm, "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(place), TYPESCRIPT])
    for found, words in ((chromium(), NO_BROWSER), (checker(), NO_CHECKER)):
        if found is None:
            print(f"*** {words}", file=sys.stderr)


if __name__ == "__main__":
    main()
