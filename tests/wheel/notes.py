"""The notes of a release: its section of CHANGELOG.md.

`python tests/wheel/notes.py v0.2.0` prints it, and refuses a tag that is not the version, a section that is still
called unreleased and one that says nothing about privacy.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATED = r"\d{4}-\d{2}-\d{2}"


def section(changelog: str, version: str) -> tuple[str, str]:
    """What stands behind a version in its heading, and the text below it."""
    found = re.search(rf"^## {re.escape(version)} \((.*?)\)\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if found is None:
        raise SystemExit(f"CHANGELOG.md has no section {version}")
    return found[1], found[2].strip() + "\n"


def notes(tag: str, version: str, changelog: str) -> str:
    """The text to publish with a tag."""
    if tag != f"v{version}":
        raise SystemExit(f"the tag is {tag}, the version in pyproject.toml is {version}")
    when, text = section(changelog, version)
    if not re.fullmatch(DATED, when):
        raise SystemExit(f"CHANGELOG.md calls {version} {when!r}: put the date of the release there")
    if "### Privacy\n" not in text:
        raise SystemExit(f"the section {version} of CHANGELOG.md has no heading Privacy")
    return text


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    print(notes(sys.argv[1], project["version"], (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")), end="")
