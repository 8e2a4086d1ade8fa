"""What the numbers of a release mean, in the words of whoever owns them; all of it public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..arrays import Float
from ..data.labels import Label


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


def short(value: float) -> str:
    """Four figures, thousands apart, powers of ten where it is huge."""
    if abs(value) >= 1e7:
        return f"{value:.2e}"
    text = f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return text.replace(",", "\u202f")
