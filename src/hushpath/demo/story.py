"""The whole story on the built-in city: people, days, a plan, a release, questions, the truth, a report.

The city and its people are the same every time; the noise is not: the release is truly private, as one of real data
would be.  A second edge list, ``city.csv``, has private weights instead of trips, for those who own weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from ..extras import absent, installed
from ..page.write import write_explorer
from ..publish.evaluate import Comparison, Evaluation, compare
from ..publish.oracle import in_periods, load
from ..publish.plan import plan
from ..publish.release import release
from ..publish.statement import NOT_PRIVATE, OWNER_ONLY
from ..report.page import make_folder
from ..report.release import write_report
from ..report.sections import ask
from ..report.setting import Setting
from .city import SIZE, TRIPS, make_city
from .commuters import DAYS, MONDAY, PEOPLE, make_commuters

EPSILON, DELTA = 1.0, 1e-6
LOW, HIGH = 0.5, 6.0
UNITS_PER_CORNER, CELLS = 14, 80  # a public guess: what a planner would expect, never counted in the data
PAIRS = (("market", "airport"), ("harbour", "university"), ("station", "hospital"), ("stadium", "harbour"))
PAGE = "city.html"
TITLE = "Travel times of a city, without anybody's trip"


def run_demo(
    out: Path, *, say: Callable[[str], object] = print, size: int = SIZE, people: int = PEOPLE, trips: int = TRIPS
) -> dict[str, Any]:
    """Run the demonstration into folder ``out``; return its numbers, ready for JSON."""
    began = time.perf_counter()
    out = Path(out)
    make_folder(out)
    city = make_commuters(size, people)
    topology = city.topology
    say(
        f"1. A city of {topology.num_nodes:,} intersections and {topology.num_edges:,} directions of streets. Its map "
        "and its free-flow times are public. Five days of people's trips are private, and so is how many there are."
    )
    edges, table = city.write(out)
    _, nodes = make_city(size, trips).write_csv(out)
    say("2. Protected is a person-day: everything one person did on one day, in the morning and in the evening.")
    terms: dict[str, Any] = dict(epsilon=EPSILON, delta=DELTA, protects="person-day", low=LOW, high=HIGH)
    expected = UNITS_PER_CORNER * size
    planned = plan(topology, **terms, units=expected, cells=CELLS, periods=list(city.town.periods), anyway=True)
    say(
        f"3. Plan, before any trip is read: for about {expected:,} person-days answers should be off by "
        f"{100 * planned.share:.2g} %, {planned.gain:.2g} times as close as free-flow times scaled by one number."
    )
    owned = city.trips(table)
    days = MONDAY, MONDAY + timedelta(days=DAYS - 1)
    made = release(owned, **terms, days=days, population=expected, publisher="The demonstration city")
    file = out / "city.hush"
    made.save(file)
    say(f"4. Released once, with epsilon = {made.statement.epsilon:.4g}, into {file}, which may be published.")
    published = load(file)
    answers = {period: ask(one, PAIRS) for period, one in in_periods(published).items()}
    say("5. Anybody can ask the file anything, as often as they like; answers cost no more privacy.")
    for morning, evening in zip(*answers.values(), strict=True):
        (early, between), (late, _) = morning.told("s"), evening.told("s")
        say(
            f"   {morning.source} to {morning.target}: {early} in the morning (90 % interval {between}), "
            f"{late} in the evening"
        )
    comparison = Comparison.joined([compare(owned, one) for one in in_periods(published).values()])
    result = Evaluation.of(comparison)
    say(
        f"6. {NOT_PRIVATE}, for the owner only: answers are off by {result.mean_error:.1f} s on average, "
        f"{100 * result.relative_error:.1f} % of the mean travel time of {result.mean_distance:.0f} s."
    )
    say(f"   {NOT_PRIVATE}, what everybody knows already: {result.known_already}.")
    say(f"7. The data, to try it yourself: {edges} (public) and {table} (PRIVATE: real ones never leave your hands).")
    words = setting(expected)
    report, public = out / "report.html", out / "report-public.html"
    write_report(public, topology, published, planned, title=TITLE, setting=words)
    drawn = installed("matplotlib")
    if drawn:
        write_report(report, topology, published, planned, comparison, title=TITLE, setting=words)
        say(f"8. Two reports: {report} (yours: it shows the truth too) and {public} (may be published).")
    else:
        report.unlink(missing_ok=True)  # one of an earlier run would be of another release
        why = absent("matplotlib", "pictures", "it has pictures, and a picture")
        say(f"8. A report: {public} (may be published). The owner's, with the truth, is left out: {why}")
    page = out / PAGE
    write_explorer(published, page, title=TITLE, origin="market")
    say(f"9. Open {page} in a browser: click anywhere to start there. It loads nothing and may be published.")
    return {
        "publishable": False, "marking": OWNER_ONLY,
        "city": {"intersections": topology.num_nodes, "streets": topology.num_edges},
        "plan": planned.as_dict(),
        "statement": published.statement.as_dict(),
        "answers": {period: [one._asdict() for one in several] for period, several in answers.items()},
        "evaluation": result.as_dict(),
        "files": {
            "release": str(file), "network": str(edges), "nodes": str(nodes), "trips": str(table),
            **({"report": str(report)} if drawn else {}), "public_report": str(public), "page": str(page),
        },
        "seconds": round(time.perf_counter() - began, 2),
    }  # fmt: skip


def setting(expected: int) -> Setting:
    """The words of the demonstration city."""
    columns = "--person person --day date --edge from,to --seconds seconds --period period --periods am,pm"
    told = f"--protects person-day --low {LOW:g} --high {HIGH:g} --proxy free_flow"
    return Setting(
        lead=(
            "People drove through a generated city for five days. From their trips hushpath released the travel time "
            "between all intersections, in the morning and in the evening. The map is public; the trips are not."
        ),
        quantity="travel time",
        units="s",
        how=(
            "Why a day cannot change more: however many streets it touched, it enters each with a weight, and the "
            "squares of all its weights add up to at most 1. Each time is clipped to public bounds first "
            f"({LOW:g} to {HIGH:g} times the free-flow time). So noise of one size hides any day, that of a taxi as "
            "well as a short walk, and nobody had to say how many streets a day may have.",
        ),
        public=("length, class and free-flow time of every street", "the two periods and the bounds of a pass"),
        unprotected=('To protect whole people, ask for protects="person"; it takes more people, or more noise.',),
        page=PAGE,
        pairs=PAIRS,
        commands=(
            (
                "In the folder of this page, ask the published file",
                "hushpath query city.hush market airport --period am --interval",
            ),
            ("Read its promise", "hushpath inspect city.hush"),
            (
                "See what to expect of such a release, before reading any trip",
                f"hushpath plan streets.csv --directed --nodes city.nodes.csv --epsilon 1 {told} --units {expected} "
                f"--cells {CELLS} --periods am,pm",
            ),
            (
                "Make your own release (each one from the same days costs its epsilon again)",
                f"hushpath release streets.csv --directed --nodes city.nodes.csv --trips trips.parquet -o mine.hush "
                f"--epsilon 1 {told} {columns}",
            ),
            (
                f"Compare it with the truth ({NOT_PRIVATE}: for the data owner only)",
                "hushpath evaluate streets.csv mine.hush --directed --trips trips.parquet --period am "
                f"{columns.replace('--period ', '--period-column ')}",
            ),
        ),
    )
