"""What changed between two specifications, in words: the promise first, then the data, then the rest."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import OptionError
from ..privacy.units import Protects
from ..published.promise import odds_factor
from ..published.release import load
from .spec import PUBLISHED as PUBLISHED_SECTIONS
from .spec import SECTIONS, ReleaseSpec, inputs, make_spec, parse_toml, read_spec, toml_value

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
        raise OptionError(f"{path} embeds no specification: it was made in Python")
    return make_spec(parse_toml(text))


def compare_specs(before: ReleaseSpec, after: ReleaseSpec, *, published: bool = False) -> list[Change]:
    """Return every key that differs, those of the promise first; ``published`` leaves out what is not embedded."""
    sections = PUBLISHED_SECTIONS if published else tuple(SECTIONS)
    one, other = _flat(before, sections), _flat(after, sections)
    found = [
        Change(_ABOUT.get(key.partition(".")[0], OTHER), key, one.get(key), other.get(key), _meaning(key, one, other))
        for key in dict.fromkeys([*one, *other])
        if one.get(key) != other.get(key)
    ]
    return sorted(found, key=lambda change: (PROMISE, PUBLISHED, PRIVATE, OTHER).index(change.about))


def _flat(spec: ReleaseSpec, sections: tuple[str, ...]) -> dict[str, Any]:
    chosen = [(name, getattr(spec, name)) for name in sections]
    return {
        f"{name}.{key}": value.name if isinstance(value, Path) else value
        for name, section in chosen
        if section is not None
        for key, value in inputs(section).items()
    }


def _meaning(key: str, one: dict[str, Any], other: dict[str, Any]) -> str:
    """What a change means for those who are protected."""
    before: Any = one.get(key)
    after: Any = other.get(key)
    if ("unit.protects" in one) != ("unit.protects" in other) and key.startswith("unit."):
        return "another kind of protected unit: the two promises cannot be compared"
    if key == "budget.epsilon":
        factors = f"odds can change {odds_factor(before)} -> {odds_factor(after)} times"
        return _protection(after < before, "NOT PRIVATE" if after == math.inf else factors)
    if key == "budget.delta":
        return _protection(after < before)
    if key in ("unit.l1", "unit.l2"):  # without a bound in L2 norm, all changes within the L1 norm are protected
        larger = before is not None and (after is None or after > before)
        return _protection(larger, f"{'larger' if larger else 'smaller'} changes of the weights are protected")
    if key == "unit.protects":
        return _protection(SIZE[after] > SIZE[before], f"one unit is a {after}")
    if key == "unit.neighbours":
        return _protection(after == "replace", f"exchanging a unit counts as {1 if after == 'replace' else 2} changes")
    if key == "ledger.file" and before and after:
        return "charged to another ledger; earlier releases are not added up with it"
    return MEANINGS.get((key, after is None), MEANINGS.get((key, None), ""))


def _protection(stronger: bool, reason: str = "") -> str:
    return f"{'stronger' if stronger else 'weaker'} protection{f': {reason}' if reason else ''}"


PUBLIC = "published as given; it must not be computed from private data"
CLIPS = "public bound of one pass; it clips times and changes no protection"
MEANINGS: dict[tuple[str, bool | None], str] = {  # by key, and whether it was removed (None: either)
    ("unit.days", None): "other days are released; the budget is charged for these days",
    ("unit.population", None): "helps to judge delta; changes no protection",
    ("unit.max_edges", None): "changes the accuracy and no protection",
    ("unit.lattice_step", None): "changes the accuracy and no protection",
    ("ledger.file", True): "no ledger: releases of the same data are not added up",
    ("ledger.file", False): "releases of the same data are added up",
    ("network.proxy", None): PUBLIC, ("network.columns", None): PUBLIC, ("network.nodes", None): PUBLIC,
    ("trips.low", None): CLIPS, ("trips.high", None): CLIPS,
    ("schedule.count", None): "the budget is the total of these releases",
}  # fmt: skip


def _shown(value: Any) -> str:
    return "not set" if value is None else toml_value(value)
