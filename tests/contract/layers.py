"""What the files of a package import, call and name, by their syntax trees; and the order of the architecture page."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

ROW = re.compile(r"^\| `(?P<package>[a-z.]+)` \| (?P<files>[^|]*)\| (?P<text>[^|]+) \|$", re.M)


def rows(page: str) -> list[tuple[str, list[str]]]:
    """The table of docs/project/architecture.md: packages in order, with files where these are listed."""
    return [(row["package"], re.findall(r"`(\w+)`", row["files"])) for row in ROW.finditer(page)]


def order_of(page: str) -> list[str]:
    """Dotted names, earliest first: the listed files of a package, else the package as a whole."""
    listed = []
    for package, files in rows(page):
        inside = "" if package == "." else f"{package}."
        listed += [inside + name for name in files] or [package]
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
        for target in imported(path, package):
            theirs = _rank(target, order)
            if theirs is None:
                found.append(f"{here} imports {target}, which is not in the declared order")
            elif theirs > mine:
                found.append(f"{here} imports the later stage {target}")
    return found


def cycles(package: Path) -> list[str]:
    """Import cycles among the files of each folder."""
    found = []
    for folder in {path.parent for path in package.rglob("*.py")}:
        prefix = ".".join([*folder.relative_to(package).parts, ""])
        files = [path for path in folder.glob("*.py") if path.stem != "__init__"]
        graph = {
            path.stem: {
                target.removeprefix(prefix).partition(".")[0]
                for target in imported(path, package)
                if target.startswith(prefix) and target != prefix + path.stem
            }
            for path in files
        }
        try:
            TopologicalSorter({name: targets & set(graph) for name, targets in graph.items()}).prepare()
        except CycleError as error:
            found.append(f"{prefix or '.'}: {' -> '.join(error.args[1])}")
    return found


def _rank(name: str, order: list[str]) -> int | None:
    """The place of a module: its own or that of its package; a package whose files are listed has its last one's."""
    for i, listed in enumerate(order):
        if name == listed or name.startswith(listed + "."):
            return i
    below = [i for i, listed in enumerate(order) if listed.startswith(name + ".")]
    return below[-1] if below else None


def imported(path: Path, package: Path) -> list[str]:
    """Modules of the package that a file imports, dotted and without the package's name."""
    targets = []
    for _, target in _scan(path, package).bindings:
        if target.startswith(package.name + "."):
            inner = target.removeprefix(package.name + ".").split(".")
            while len(inner) > 1 and not _is_module(package.joinpath(*inner)):
                inner.pop()
            targets.append(".".join(inner))
    return targets


def _is_module(path: Path) -> bool:
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


class Scan(NamedTuple):
    """What a file says: imported names and what they stand for, dotted names it uses, attributes it uses."""

    bindings: list[tuple[str, str]]
    dotted: set[tuple[str, ...]]
    attributes: set[str]


def _scan(path: Path, package: Path) -> Scan:
    return _scan_text(path.read_text(encoding="utf-8"), path.relative_to(package.parent).parts[:-1])


@cache
def _scan_text(text: str, folder: tuple[str, ...]) -> Scan:
    found = Scan([], set(), set())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            base = [*folder[: len(folder) - node.level + 1]] if node.level else []
            base += node.module.split(".") if node.module else []
            found.bindings.extend((alias.asname or alias.name, ".".join([*base, alias.name])) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found.bindings.append((alias.asname, alias.name) if alias.asname else (top, top))
                found.dotted.add(tuple(alias.name.split(".")))
        elif isinstance(node, (ast.Attribute, ast.Name)):
            chain, root = [], node
            while isinstance(root, ast.Attribute):
                chain.append(root.attr)
                root = root.value
            found.attributes.update(chain[:1])
            if isinstance(root, ast.Name):
                found.dotted.add((root.id, *reversed(chain)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            found.attributes.update(arg.value for arg in node.args if isinstance(arg, ast.Constant))
    return found


def references(package: Path) -> dict[str, set[str]]:
    """For every file what it imports or names of other modules, under the name of the file that defines it.

    ``from ..noise import make_sampler as m`` counts as ``noise.samplers.make_sampler``, and so do ``import numpy as np;
    np.random.default_rng`` (as ``numpy.random.default_rng``) and what goes through a module: ``noise.make_sampler``.
    """
    exported = {}
    for path in package.rglob("__init__.py"):
        module = ".".join(path.relative_to(package.parent).parts[:-1])
        exported |= {f"{module}.{name}": target for name, target in _scan(path, package).bindings}

    def canonical(name: str) -> str:
        for _ in range(8):
            parts = name.split(".")
            starts = (".".join(parts[:i]) for i in range(len(parts), 0, -1))
            start = next((one for one in starts if exported.get(one, one) != one), None)
            if start is None:
                break
            name = exported[start] + name.removeprefix(start)
        return name.removeprefix(package.name + ".")

    found = {}
    for path in package.rglob("*.py"):
        scan = _scan(path, package)
        names = dict(scan.bindings)
        used = {target for _, target in scan.bindings}
        used |= {".".join([names[first], *rest]) for first, *rest in scan.dotted if first in names}
        found[path.relative_to(package).as_posix()] = {canonical(name) for name in used}
    return found


def attributes(package: Path) -> dict[str, set[str]]:
    """For every file the attributes and methods that it uses, also by ``getattr`` with a constant."""
    return {
        path.relative_to(package).as_posix(): _scan(path, package).attributes for path in package.rglob("*.py")
    }  # fmt: skip
