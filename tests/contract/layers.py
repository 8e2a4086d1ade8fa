"""Imports may only point to an earlier stage; anything else is an architecture change."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROW = re.compile(r"^\| `(?P<room>[a-z.]+)` \| (?P<files>[^|]*)\| (?P<text>[^|]+) \|$", re.M)


def rooms(page: str) -> dict[str, tuple[list[str], str]]:
    """The table of rooms in docs/project/architecture.md: files in order, and what happens there."""
    return {row["room"]: (re.findall(r"`(\w+|\*)`", row["files"]), row["text"]) for row in ROW.finditer(page)}


def order_of(page: str) -> list[str]:
    """Dotted names, earliest first: a room's files where they are listed, else the room as a whole."""
    listed = []
    for room, (files, _) in rooms(page).items():
        inside = "" if room == "." else f"{room}."
        listed += [inside + name for name in files] or [room]
    return listed


def backward_imports(package: Path, order: list[str]) -> list[str]:
    """``order`` lists modules or sub-packages, earliest first; unknown names are reported."""
    found = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).with_suffix("").parts
        here = ".".join(inside).removesuffix(".__init__")
        if here in ("__init__", "__main__"):
            continue
        mine = _rank(here, order)
        if mine is None:
            found.append(f"{here}: not in the declared order")
            continue
        for target in _imported(path, package, inside[:-1]):
            theirs = _rank(target, order)
            if theirs is None:
                found.append(f"{here} imports {target}, which is not in the declared order")
            elif theirs > mine:
                found.append(f"{here} imports the later stage {target}")
    return found


def _rank(name: str, order: list[str]) -> int | None:
    """The place of a module: its own or that of the listed room it is in; a room stands where its last file does."""
    for i, listed in enumerate(order):
        if name == listed or name.startswith(listed + "."):
            return i
    for i, listed in enumerate(order):  # the other files of a room
        if listed.endswith(".*") and name.rpartition(".")[0] == listed[:-2]:
            return i
    below = [i for i, listed in enumerate(order) if listed.startswith(name + ".")]
    return below[-1] if below else None


def _imported(path: Path, package: Path, folder: tuple[str, ...]) -> list[str]:
    """Modules of the package that a file imports, dotted."""
    targets = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            named = (node.module or "").split(".") if node.module else []
            if node.level:
                named = [*folder[: len(folder) - node.level + 1], *named]
            elif named[0] == package.name:
                named = named[1:]
            else:
                continue
            for alias in node.names:
                inner = package.joinpath(*named, alias.name)
                is_module = inner.with_suffix(".py").is_file() or (inner / "__init__.py").is_file()
                targets.append(".".join([*named, alias.name] if is_module or not named else named))
        elif isinstance(node, ast.Import):
            targets += [a.name.partition(".")[2] for a in node.names if a.name.startswith(package.name + ".")]
    return targets
