"""The section of a report about what was expected of a release of trips, before any was read."""

from __future__ import annotations

from ..publish.trip_plan import TripPlan
from .page import row, table


def forecasts(plan: TripPlan) -> str:
    """Expected errors over made-up times, beside what everybody knows already."""
    columns = {"times": False, "this release": True, "free flow, scaled": True, "free flow": True}
    rows = [
        row(
            columns,
            [one.kind, *(f"{100 * error / one.distance:.2g}\u00a0%" for error in one[2:3] + one[4:] + one[3:4])],
        )
        for one in plan.forecasts
    ]
    verdict = f"{plan.gain:.2g} times as close as" if plan.worth_it else "no better than"
    return (
        f"<p>Before any trip was read, {plan.units:,} protected units with about {plan.cells:g} edges and periods each "
        "were declared, and the release tried on made-up times: calm, usual and rough ones. Mean errors of distances, "
        f"in percent of the mean distance:</p>{table(columns, rows)}"
        f"<p>Expected: {100 * plan.share:.2g}\u00a0%, {verdict} public free-flow times scaled by one number.</p>"
    )
