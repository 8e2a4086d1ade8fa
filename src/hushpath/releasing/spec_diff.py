"""What changed between two specifications, in words: the promise first, then the data, then the rest."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import OptionError
from ..privacy.units import Protects
from ..published.promise import odds_factor
from ..published.release import load
from .spec import SECTIONS, ReleaseSpec, make_spec, parse_toml, read_spec, toml_value

PROMISE, PUBLISHED, PRIVATE, OTHER = "promise", "published data", "private data", "other"
SIZE = {Protects.TRIP: 0, Protects.PERSON_DAY: 1, Protects.PERSON: 2}
_ABOUT = {
    "unit": PROMISE, "budget": PROMISE, "ledger": PROMISE, "network": PUBLISHED, "quantity": PUBLISHED,
    "trips": PRIVATE, "weights": PRIVATE,
}  # fmt: skip


class Change(NamedTuple):
    """One key that differs, and what that means."""

    about: str
    key: str
    before: Any
    after: Any
    meaning: str

    def __str__(self) -> str:
        values = f"{_shown(self.before)} -> {_shown(self.after)}"
        return f"{self.about}: {self.key}: {values}{f' ({self.meaning})' if self.meaning else ''}"


def read_any_spec(path: Path) -> ReleaseSpec:
    """Read a specification file, or the specification that a release file embeds."""
    if path.suffix.lower() == ".toml":
        return read_spec(path)
    text = load(path, index=False).statement.specification
    if not text:
        raise OptionError(f"{path} embeds no specification: it was made in Python, not by the command line")
    return make_spec(parse_toml(text))


def compare_specs(before: ReleaseSpec, after: ReleaseSpec) -> list[Change]:
    """Return every key that differs between two specifications, those of the promise first."""
    one, other = _flat(before), _flat(after)
    found = [
        Change(_about(key), key, one.get(key), other.get(key), _meaning(key, one.get(key), other.get(key)))
        for key in dict.fromkeys([*one, *other])
        if one.get(key) != other.get(key)
    ]
    return sorted(found, key=lambda change: (PROMISE, PUBLISHED, PRIVATE, OTHER).index(change.about))


def _flat(spec: ReleaseSpec) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in SECTIONS:
        section = getattr(spec, name)
        if section is not None:
            inputs = {one.name for one in fields(section) if one.init}
            found |= {
                f"{name}.{key}": value.name if isinstance(value, Path) else value
                for key, value in asdict(section).items()
                if key in inputs and value is not None
            }
    return found


def _about(key: str) -> str:
    return _ABOUT.get(key.partition(".")[0], OTHER)


def _meaning(key: str, before: Any, after: Any) -> str:
    """What a change of a key of the promise means for those who are protected."""
    if key == "budget.epsilon" and before and after:
        factors = f"odds can change {odds_factor(before)} -> {odds_factor(after)} times"
        return f"{'weaker' if after > before else 'stronger'} protection: {factors}"
    if key in ("budget.delta",) and before is not None and after is not None:
        return f"{'weaker' if after > before else 'stronger'} protection"
    if key in ("unit.l1", "unit.l2") and before and after:
        return f"{'smaller' if after < before else 'larger'} changes of the weights are protected"
    if key == "unit.protects" and before in SIZE and after in SIZE:
        return f"{'weaker' if SIZE[after] < SIZE[before] else 'stronger'} protection: one unit is a {after}"
    if key == "unit.neighbours":
        return "stronger" if after == "replace" else "weaker: exchanging a unit's data counts as two changes"
    if key == "unit.days":
        return "other days count; the budget is charged for these days"
    if key == "ledger.file":
        return "charged to another ledger; earlier releases are not added up with it" if before and after else (
            "no ledger: releases of the same data are not added up" if before else "releases are added up in a ledger"
        )  # fmt: skip
    if key in ("network.proxy", "network.columns", "network.nodes"):
        return "published as given; it must not be computed from private data"
    if key.startswith("trips.") and key.partition(".")[2] in ("low", "high"):
        return "public bound of one pass; no part of the promise, it clips times"
    return ""


def _shown(value: Any) -> str:
    return "not set" if value is None else toml_value(value)
