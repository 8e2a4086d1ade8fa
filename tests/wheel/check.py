"""What lies in the wheel and in the sdist: everything that must, and nothing that must not.

`make dist` builds both into dist/ and runs this: `python tests/wheel/check.py dist`.
"""

from __future__ import annotations

import fnmatch
import sys
import tarfile
import zipfile
from pathlib import Path

PACKAGE = ("__init__.py", "py.typed", "cli/__init__.py", "measurement/private_step.py",
           "output/page/*.html", "output/page/*.css",
           "output/page/js/*.js", "output/report/*.html")  # fmt: skip
SOURCE = (
    "pyproject.toml", "Makefile", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "RELEASING.md",
    "constraints.txt", "constraints-lowest.txt", "src/hushpath/py.typed", "tests/conftest.py",
    "tests/fuzz/corpus/*.hush",
    "docs/INSTALL.md", "examples/*.py", "bench/*.py", "paper/paper.md",
    ".github/workflows/*.yml", ".pre-commit-config.yaml",
)  # fmt: skip
NEVER = ("*__pycache__*", "*.py[co]", "*.nb[ci]", "*.pem", "*.key", "*.ledger", "*.env", "*/.git/*", "*/.venv*",
         "*.parquet", "*/demo-out/*", "*_cache/*")  # fmt: skip
RELEASES = ("tests/fuzz/corpus/*",)  # made up for tests; any other file is somebody's


def problems_of_wheel(names: list[str], texts: dict[str, str]) -> list[str]:
    """What is wrong with a wheel that holds these names; ``texts`` are its metadata and entry points."""
    found = [f"wheel lacks {one}" for one in PACKAGE if not fnmatch.filter(names, f"hushpath/{one}")]
    tops = {name.partition("/")[0] for name in names}
    found += [f"wheel holds {top}" for top in sorted(tops) if top != "hushpath" and not top.endswith(".dist-info")]
    found += [] if fnmatch.filter(names, "*.dist-info/licenses/LICENSE") else ["wheel lacks its licence"]
    if "hushpath = hushpath.cli:main" not in texts.get("entry_points.txt", ""):
        found.append("wheel lacks the command hushpath")
    about = texts.get("METADATA", "")
    wanted = ("License-Expression: Apache-2.0", "Classifier: Typing :: Typed")
    found += [f"metadata lacks {line!r}" for line in wanted if line not in about]
    return found + _never(names) + [f"wheel holds the release {name}" for name in names if ".hush" in Path(name).suffix]


def problems_of_sdist(names: list[str]) -> list[str]:
    """The same for an sdist; names are those below its one folder."""
    found = [f"sdist lacks {one}" for one in SOURCE if not fnmatch.filter(names, one)]
    kept = {name for pattern in RELEASES for name in fnmatch.filter(names, pattern)}
    strange = [name for name in names if Path(name).suffix in (".hush", ".hushx", ".hushd") and name not in kept]
    return found + _never(names) + [f"sdist holds the release {name}" for name in strange]


def _never(names: list[str]) -> list[str]:
    return sorted({f"holds {name}" for name in names if any(fnmatch.fnmatch(f"/{name}", one) for one in NEVER)})


def main(arguments: list[str]) -> int:
    """Look into the two files of a folder."""
    folder = Path(arguments[0] if arguments else "dist")
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        print(f"{folder} should hold one wheel and one sdist")
        return 1
    with zipfile.ZipFile(wheels[0]) as opened:
        inside = opened.namelist()
        texts = {Path(name).name: opened.read(name).decode() for name in inside if ".dist-info/" in name}
    with tarfile.open(sdists[0]) as archive:
        packed = [one.name.partition("/")[2] for one in archive.getmembers() if one.isfile()]
    problems = problems_of_wheel(inside, texts) + problems_of_sdist(packed)
    for file, names in ((wheels[0], inside), (sdists[0], packed)):
        print(f"{file.name}: {len(names)} files, {file.stat().st_size / 1e6:.2f} MB")
    print("\n".join(problems) or "both hold what they must, and nothing else")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
