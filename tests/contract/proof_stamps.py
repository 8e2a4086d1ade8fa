"""Fail when code changed after its proof was last read.

A proof in docs/proofs names its code in lines of their own:

    Proves: src/hushpath/privacy/sensitivity.py::hub_cut @ 0123456789ab

The digest covers the code without docstrings and comments: rewording never breaks a stamp, one changed
operator does.  It is built from the syntax tree in a way that does not depend on the Python version.

A name is

    hub_cut                 a function, a class or a module constant
    Lattice.build           something inside it
    _#2                     the second of several with the same name
    *                       the whole module

Read the proof against the code first.  Then:

    python tests/contract/proof_stamps.py            show every stamp, and what is stale
    python tests/contract/proof_stamps.py --write    put in the current digests
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
STAMP = re.compile(r"^Proves: (?P<path>\S+)::(?P<name>\S+) @ (?P<digest>[0-9a-f]{12})$", re.M)
ALMOST = re.compile(r"^[^\w\n]*Proves:.*$", re.M)
SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Stamp(NamedTuple):
    """One stamp and what the code says now; ``now`` is ``None`` if the code is not there."""

    proof: str
    path: str
    name: str
    digest: str
    now: str | None
    problem: str = ""


def code_digest(source: str, name: str) -> str:
    """Return the digest of one named piece of a module; ``LookupError`` if there is not exactly one."""
    return hashlib.sha256(_canonical(_named(ast.parse(source), name)).encode()).hexdigest()[:12]


def has_code(source: str) -> bool:
    """Whether a module holds more than a docstring."""
    return bool(_without_docstring(ast.parse(source)))


def stamps(root: Path, proofs: Path) -> list[Stamp]:
    """Return every stamp of every proof, compared with the code under ``root``."""
    out = []
    for proof in sorted(proofs.glob("*.md")):
        for found in STAMP.finditer(proof.read_text(encoding="utf-8")):
            path, name, digest = found["path"], found["name"], found["digest"]
            try:
                out.append(Stamp(proof.name, path, name, digest,
                                 code_digest((root / path).read_text(encoding="utf-8"), name)))  # fmt: skip
            except FileNotFoundError:
                out.append(Stamp(proof.name, path, name, digest, None, "there is no such file"))
            except LookupError as error:
                out.append(Stamp(proof.name, path, name, digest, None, str(error.args[0])))
    return out


def stale_proofs(root: Path, proofs: Path) -> list[str]:
    """Return one sentence for each stamp that does not fit, each proof without one, each one misspelt."""
    out = []
    for proof in sorted(proofs.glob("*.md")):
        text = proof.read_text(encoding="utf-8")
        if not STAMP.search(text):
            out.append(f"{proof.name}: no 'Proves:' line")
        misspelt = [line for line in ALMOST.findall(text) if not STAMP.match(line)]
        out += [f"{proof.name}: cannot read the stamp {line!r}" for line in misspelt]
    for stamp in stamps(root, proofs):
        place = f"{stamp.proof}: {stamp.path}::{stamp.name}"
        if stamp.now is None:
            out.append(f"{place}: {stamp.problem}")
        elif stamp.now != stamp.digest:
            out.append(f"{place} is now {stamp.now}; re-read the proof, then restamp")
    return out


def restamp(root: Path, proofs: Path) -> int:
    """Write the current digests into the proofs; return how many changed."""
    changed = 0
    for stamp in stamps(root, proofs):
        if stamp.now is not None and stamp.now != stamp.digest:
            proof = proofs / stamp.proof
            old = f"Proves: {stamp.path}::{stamp.name} @ "
            text = proof.read_text(encoding="utf-8")
            proof.write_text(text.replace(old + stamp.digest, old + stamp.now), encoding="utf-8")
            changed += 1
    return changed


def _named(tree: ast.AST, name: str) -> ast.AST:
    """Walk down a dotted name."""
    node = tree
    for part in [] if name == "*" else name.split("."):
        word, _, ordinal = part.partition("#")
        same = [inner for inner in ast.iter_child_nodes(node) if word in _names_of(inner)]
        if not same or (ordinal and not 1 <= int(ordinal) <= len(same)):
            raise LookupError(f"there is no {part!r}")
        if len(same) > 1 and not ordinal:
            raise LookupError(f"{part!r} stands for {len(same)} things; write {word}#1 and so on, or *")
        node = same[int(ordinal) - 1 if ordinal else 0]
    return node


def _names_of(node: ast.AST) -> set[str]:
    """What a statement defines: a function, a class, or the targets of an assignment."""
    if isinstance(node, SCOPES[1:]):
        return {node.name}
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}
    return set()


def _without_docstring(node: ast.AST) -> list[ast.stmt]:
    body: list[ast.stmt] = node.body  # type: ignore[attr-defined]
    first = body[0].value if body and isinstance(body[0], ast.Expr) else None
    return body[1:] if isinstance(first, ast.Constant) and isinstance(first.value, str) else body


def _canonical(value: object) -> str:
    """A syntax tree as text: no positions, no docstrings, no empty fields (these differ between Pythons)."""
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = {key: inner for key, inner in ast.iter_fields(value) if inner is not None and inner != []}
    if isinstance(value, SCOPES) and "body" in fields:
        fields["body"] = _without_docstring(value)
    if isinstance(value, ast.Constant):  # None is a value here, and the prefix u"" is not
        fields = {"value": value.value}
    inside = ",".join(f"{key}={_canonical(inner)}" for key, inner in sorted(fields.items()))
    return f"{type(value).__name__}({inside})"


def main(arguments: list[str]) -> int:
    """Show or write the digests."""
    proofs = ROOT / "docs" / "proofs"
    if arguments not in ([], ["--write"]):
        print("usage: python tests/contract/proof_stamps.py [--write]")
        return 2
    if arguments:
        print(f"{restamp(ROOT, proofs)} stamps rewritten")
    for stamp in stamps(ROOT, proofs):
        note = "" if stamp.now == stamp.digest else f"   <- stale, was {stamp.digest}"
        print(f"{stamp.proof:<16} Proves: {stamp.path}::{stamp.name} @ {stamp.now or stamp.problem}{note}")
    problems = stale_proofs(ROOT, proofs)
    print("\n".join(["", *problems]) if problems else "\nall stamps fit the code")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
