"""What the numbers of a release mean, in the owner's words.  Public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...network.labels import Label
from ...noise import simulation
from ...published.release import Release
from .page import short

SOME_PAIRS = 5


@dataclass(frozen=True)
class ReportTexts:
    """Texts of a report."""

    lead: str = ""  # one or two sentences under the title
    quantity: str = "distance"  # what a distance is, for example "travel time"
    units: str = ""  # its unit of measure
    how: Sequence[str] = ()  # paragraphs: why one protected unit cannot change more than the unit
    public: Sequence[str] = ()  # what is public besides the topology and the bounds
    unprotected: Sequence[str] = ()  # what a reader might wrongly expect to be promised
    page: str = ""  # file name of the map page beside the report
    pairs: Sequence[tuple[Label, Label]] = ()  # pairs of nodes to show answers for
    commands: Sequence[tuple[str, str]] = ()  # explanations and command lines to try next

    @classmethod
    def of(cls, release: Release) -> ReportTexts:
        """Take the quantity from a release, and some pairs of its nodes."""
        quantity, labels = release.statement.quantity, release.topology.labels
        count = len(labels)
        drawn = simulation(4).integers(0, count, (SOME_PAIRS, 2)).tolist() if count > 1 else []
        pairs = [(labels[i], labels[j if i != j else (i + 1) % count]) for i, j in drawn]
        return cls(quantity=quantity.noun, units=quantity.unit_of_measure, pairs=pairs)

    @property
    def title(self) -> str:
        """The default title of a report."""
        return f"A release of {self.quantity}s"

    def amount(self, value: float) -> str:
        """Format a number with its unit of measurement."""
        return f"{short(value)}\u00a0{self.units}".strip()

    def measured(self, text: str) -> str:
        """Append the unit of measurement to the name of a quantity."""
        return f"{text} ({self.units})" if self.units else text
