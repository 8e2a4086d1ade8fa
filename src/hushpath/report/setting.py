"""What the numbers of a release mean, in the words of whoever owns them; all of it public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..arrays import Float
from ..data.labels import Label
from .page import short


@dataclass(frozen=True)
class Setting:
    """Words and map drawing for a report.

    Attributes:
        lead: one or two sentences under the title.
        quantity, units: what a distance is, e.g. "travel time" in "s".
        protected: the protected unit, e.g. "one trip"; empty: any change of the weights within the unit.
        how: why one protected unit moves the weights by no more than the unit; one paragraph each.
        public: facts that are public besides topology and bounds.
        unprotected: what a reader might wrongly think is promised.
        origin, named, widths, water: for the map: the marked node, nodes to name, edge widths, a river.
        pairs: pairs of nodes to show answers for.
        commands: what to try next: (explanation, command line).
    """

    lead: str = ""
    quantity: str = "distance"
    units: str = ""
    protected: str = ""
    how: Sequence[str] = ()
    public: Sequence[str] = ()
    unprotected: Sequence[str] = ()
    origin: Label | None = None
    named: Sequence[Label] = ()
    widths: Float | None = None
    water: Float | None = None
    pairs: Sequence[tuple[Label, Label]] = ()
    commands: Sequence[tuple[str, str]] = ()

    def amount(self, value: float) -> str:
        """A number with its unit of measurement."""
        return f"{short(value)}\u00a0{self.units}".strip()

    def measured(self, text: str) -> str:
        """A quantity with what it is measured in."""
        return f"{text} ({self.units})" if self.units else text

    @property
    def who(self) -> str:
        """Who is protected, in words."""
        return self.protected or "one protected unit"
