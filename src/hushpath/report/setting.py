"""What the numbers of a release mean, in the words of whoever owns them; all of it public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..data.labels import Label
from ..noise import simulation
from ..publish.oracle import Release
from .page import short

SOME_PAIRS = 5


@dataclass(frozen=True)
class Setting:
    """Words and map drawing for a report.

    Attributes:
        lead: one or two sentences under the title.
        quantity, units: what a distance is, e.g. "travel time" in "s".
        how: why one protected unit moves the weights by no more than the unit; one paragraph each.
        public: facts that are public besides topology and bounds.
        unprotected: what a reader might wrongly think is promised.
        page: the file of the map to explore, beside the report; empty if there is none.
        pairs: pairs of nodes to show answers for.
        commands: what to try next: (explanation, command line).
    """

    lead: str = ""
    quantity: str = "distance"
    units: str = ""
    how: Sequence[str] = ()
    public: Sequence[str] = ()
    unprotected: Sequence[str] = ()
    page: str = ""
    pairs: Sequence[tuple[Label, Label]] = ()
    commands: Sequence[tuple[str, str]] = ()

    @classmethod
    def of(cls, release: Release) -> Setting:
        """What a file says of itself, and a few pairs of nodes far from each other and near."""
        quantity, labels = release.statement.quantity, release.topology.labels
        count = len(labels)
        drawn = simulation(4).integers(0, count, (SOME_PAIRS, 2)).tolist() if count > 1 else []
        pairs = [(labels[i], labels[j if i != j else (i + 1) % count]) for i, j in drawn]
        return cls(quantity=quantity.noun, units=quantity.unit_of_measure, pairs=pairs)

    @property
    def title(self) -> str:
        """Of a report whose owner gave none."""
        return f"A release of {self.quantity}s"

    def amount(self, value: float) -> str:
        """A number with its unit of measurement."""
        return f"{short(value)}\u00a0{self.units}".strip()

    def measured(self, text: str) -> str:
        """A quantity with what it is measured in."""
        return f"{text} ({self.units})" if self.units else text
