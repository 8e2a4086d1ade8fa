"""Imports may only point to an earlier stage; anything else is an architecture change."""

from __future__ import annotations

import ast
from pathlib import Path


def backward_imports(package: Path, order: list[str]) -> list[str]:
    """``order`` lists modules or sub-packages, earliest first; unknown names are reported."""
    rank = {name: i for i, name in enumerate(order)}
    found = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).with_suffix("").parts
        here = inside[0]
        if here in ("__init__", "__main__"):
            continue
        if here not in rank:
            found.append(f"{here}: not in the declared order")
            continue
        for target in _imported(path, package.name, depth=len(inside) - 1):
            if target not in rank:
                found.append(f"{here} imports {target}, which is not in the declared order")
            elif target != here and rank[target] > rank[here]:
                found.append(f"{here} imports the later stage {target}")
    return found


def _imported(path: Path, package: str, depth: int) -> list[str]:
    targets = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            if node.level == depth + 1:  # from . / from .. up to the package itself
                targets += [node.module.split(".")[0]] if node.module else [a.name for a in node.names]
            elif node.level == 0 and (node.module or "").startswith(package + "."):
                targets.append(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            targets += [a.name.split(".")[1] for a in node.names if a.name.startswith(package + ".")]
    return targets
