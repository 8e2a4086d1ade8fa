"""The demonstration: plan, release, query, evaluate and report on the built-in city.

The city and its people are the same every time.  The noise is fresh, so the release is private as one of real data
would be.  ``weights.csv`` holds the same streets with weights instead of trips, for examples about weighted networks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from ..extras import absent, installed
from ..output.page.explorer import write_explorer
from ..output.report.html import ReportTexts, make_folder
from ..output.report.release import query_pairs, write_report
from ..planning.trips import TripPlan
from ..published.release import in_periods, load
from ..published.statement import NOT_PRIVATE, OWNER_ONLY
from ..releasing.evaluate import Evaluation
from ..releasing.spec import read_spec
from .city import FIRST_DAY, PEOPLE, SIZE, make_city
from .people import DAYS

EPSILON, DELTA = 1.0, 1e-6
LOW, HIGH = 0.5, 6.0
UNITS_PER_CORNER, EDGES_PER_UNIT = 14, 80  # public guesses of a planner, not counts of the data
PAIRS = (("market", "airport"), ("harbour", "university"), ("station", "hospital"), ("stadium", "harbour"))
PAGE = "city.html"
TITLE = "Travel times of a city from private trips"


SPECIFICATION = """\
# What the demonstration releases, from what, and who is protected: reviewed before anything is released.
[network]  # public
file = "{network}"
directed = true
nodes = "{nodes}"
proxy = "free_flow"

[trips]  # private
file = "{trips}"
person = "person"
day = "date"
edge = ["from", "to"]
seconds = "seconds"
period = "period"
periods = [{periods}]
low = {low}
high = {high}

[unit]
protects = "person-day"
days = "{first}..{last}"
population = {expected}

[budget]
epsilon = {epsilon}
delta = {delta}

[quantity]
publisher = "The demonstration city"

[expected]  # public guesses for a plan, not counts of the data
units = {expected}
edges_per_unit = {edges}
"""


TEXTS = ReportTexts(
    lead=(
        "Five days of trips in a generated city. hushpath released the travel times between all intersections, in "
        "the morning and in the evening. The map is public; the trips are private."
    ),
    quantity="travel time",
    units="s",
    how=(
        "Why one person-day cannot change more: each time is clipped to public bounds "
        f"({LOW:g} to {HIGH:g} times the free-flow time). A person-day then enters each street with a weight, and "
        "the squares of its weights sum to at most 1, however many streets it used. So noise of one size hides "
        "any day, that of a taxi as well as a short trip, and the number of streets needs no bound.",
    ),
    public=("length, class and free-flow time of every street", "the two periods and the bounds on a time"),
    unprotected=('To protect all days of a person, choose protects="person"; it needs more people or noise.',),
    page=PAGE,
    pairs=PAIRS,
    commands=(
        (
            "Query the published file (in the folder of this page)",
            "hushpath query city.hush market airport --period am --interval",
        ),
        ("Read its privacy statement", "hushpath inspect city.hush"),
        ("Predict the error of such a release, before reading any trip", "hushpath plan release.toml"),
        (
            "Make your own release (each release of the same days costs its epsilon again)",
            "hushpath release release.toml -o mine.hush",
        ),
        (
            f"Compare it with the truth ({NOT_PRIVATE}: for the data owner only)",
            "hushpath evaluate release.toml mine.hush --period am",
        ),
    ),
)


def run_demo(
    out: Path, *, say: Callable[[str], object] = print, size: int = SIZE, people: int = PEOPLE
) -> dict[str, Any]:
    """Run the demonstration: write all files to the folder ``out``, and ``say`` what happens.

    The city has about ``size`` intersections and so many ``people``.
    """
    began = time.perf_counter()
    out = Path(out)
    make_folder(out)
    city = make_city(size, people)
    topology = city.topology
    say(
        f"1. A city with {topology.num_nodes:,} intersections and {topology.num_edges:,} directed street segments. The "
        "map and the free-flow times are public. Five days of trips are private, and so is their number."
    )
    files = city.write(out)
    say("2. The protected unit is a person-day: everything one person did on one day, morning and evening.")
    expected = UNITS_PER_CORNER * size
    specification = out / "release.toml"
    filled = SPECIFICATION.format(
        **{name: files[name].name for name in ("network", "nodes", "trips")}, low=LOW, high=HIGH, epsilon=EPSILON,
        delta=DELTA, first=FIRST_DAY, last=FIRST_DAY + timedelta(days=DAYS - 1), expected=expected,
        edges=EDGES_PER_UNIT, periods=", ".join(f'"{one}"' for one in city.town.periods),
    )  # fmt: skip
    specification.write_text(filled, encoding="utf-8")
    spec = read_spec(specification)
    planned = cast("TripPlan", spec.plan(ignore_baseline=True))
    say(
        f"3. Plan, before any trip is read: for about {expected:,} person-days, expect a mean error of "
        f"{100 * planned.share:.2g} %. Public free-flow times have {planned.gain:.2g} times that error."
    )
    file = out / "city.hush"
    made = spec.release(file)
    say(
        f"4. {specification} says what is released; a privacy officer reviews it. Released once with epsilon = "
        f"{made.statement.epsilon:.4g}: {file} may be published."
    )
    published = load(file)
    answers = {period: query_pairs(one, PAIRS) for period, one in in_periods(published).items()}
    say("5. Any number of queries to the file are free: answers cost no further privacy.")
    for morning, evening in zip(*answers.values(), strict=True):
        (early, between), (late, _) = morning.format("s"), evening.format("s")
        say(
            f"   {morning.source} to {morning.target}: {early} in the morning (90 % interval {between}), "
            f"{late} in the evening"
        )
    comparison = spec.compare(published)
    result = Evaluation.of(comparison)
    say(
        f"6. {NOT_PRIVATE}, for the owner only: mean error {result.mean_error:.1f} s, "
        f"{100 * result.relative_error:.1f} % of the mean travel time of {result.mean_distance:.0f} s."
    )
    say(f"   {NOT_PRIVATE}, baseline from public data: {result.baseline_summary}.")
    say(
        f"7. The input files: {files['network']} (public) and {files['trips']} (PRIVATE). {files['weights']} (PRIVATE) "
        "has the same streets with mean times, for trying releases of a weighted network."
    )
    report, public = out / "report.html", out / "report-public.html"
    write_report(public, published, planned, title=TITLE, texts=TEXTS)
    drawn = installed("matplotlib")
    if drawn:
        write_report(report, published, planned, comparison, title=TITLE, texts=TEXTS)
        say(f"8. Two reports: {report} (for the owner: it compares with the truth) and {public} (may be published).")
    else:
        report.unlink(missing_ok=True)  # the report of an earlier run would describe another release
        why = absent("matplotlib", "pictures", "it has pictures, and a picture")
        say(f"8. A report: {public} (may be published). The owner's report is not written: {why}")
    page = out / PAGE
    write_explorer(published, page, title=TITLE, origin="market")
    say(f"9. Open {page} in a browser: click the map to choose a start. The page loads nothing and may be published.")
    return {
        "publishable": False, "marking": OWNER_ONLY,
        "city": {"intersections": topology.num_nodes, "streets": topology.num_edges},
        "plan": planned.as_dict(),
        "statement": published.statement.as_dict(),
        "answers": {period: [one._asdict() for one in several] for period, several in answers.items()},
        "evaluation": result.as_dict(),
        "files": {
            "release": str(file), **{key: str(path) for key, path in files.items()},
            **({"report": str(report)} if drawn else {}), "public_report": str(public), "page": str(page),
        },
        "seconds": round(time.perf_counter() - began, 2),
    }  # fmt: skip
