"""The whole story on the built-in city: plan, release, save, load, ask, evaluate, report.

The city is the same every time; the noise is not: the release is truly private, as one of real data would be.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..publish.evaluate import Evaluation, compare
from ..publish.oracle import load
from ..publish.plan import plan
from ..publish.release import release
from ..publish.statement import NOT_PRIVATE
from ..report.page import make_folder
from ..report.release import write_report
from ..report.sections import ask
from ..report.setting import Setting
from .city import SIZE, TRIPS, City, make_city
from .streets import LANDMARKS
from .trips import LARGEST_DELAY, LEAST_PLANNED, STRETCH

EPSILON, DELTA = 1.0, 1e-6
PAIRS = (("market", "airport"), ("harbour", "university"), ("station", "hospital"), ("stadium", "harbour"))
TITLE = "Travel times of a city, without anybody's trip"


def run_demo(
    out: Path, *, say: Callable[[str], object] = print, size: int = SIZE, trips: int = TRIPS
) -> dict[str, Any]:
    """Run the demonstration into folder ``out``; return its numbers, ready for JSON."""
    began = time.perf_counter()
    out = Path(out)
    make_folder(out)
    city = make_city(size, trips)
    network, topology = city.network, city.network.topology
    say(
        f"1. A city of {topology.num_nodes:,} intersections and {topology.num_edges:,} streets. Its map is "
        "public; its travel times come from people's trips and are private."
    )
    say(f"2. The privacy unit is one trip: it moves all travel times together by at most {city.unit:g} s.")
    budget: dict[str, Any] = dict(epsilon=EPSILON, delta=DELTA, unit=city.unit, max_weight=city.max_weight)
    planned = plan(topology, **budget)
    say(f"3. Plan, before any travel time is read: {planned.why}")
    made = release(network, plan=planned)
    file = out / "city.hush"
    made.save(file)
    say(f"4. Released once, with epsilon = {made.statement.epsilon:.4g}, into {file}, which may be published.")
    published = load(file)
    answers = ask(published, PAIRS)
    say("5. Anybody can ask the file anything, as often as they like; answers cost no more privacy.")
    for one in answers:
        say(f"   {one.source} to {one.target}: {one.distance:.0f} s (90 % interval {one.low:.0f} to {one.high:.0f} s)")
    comparison = compare(network, published)
    result = Evaluation.of(comparison)
    say(
        f"6. {NOT_PRIVATE}, for the owner only: answers are off by {result.mean_error:.1f} s on average, "
        f"{100 * result.relative_error:.1f} % of the mean travel time of {result.mean_distance:.0f} s."
    )
    say(f"   {NOT_PRIVATE}, what everybody knows already: {result.known_already}.")
    edges, nodes = city.write_csv(out)
    say(f"7. The private data, to try it yourself: {edges} and {nodes}. Real ones never leave your hands.")
    words = setting(city)
    report, public = out / "report.html", out / "report-public.html"
    write_report(report, topology, published, planned, comparison, title=TITLE, setting=words)
    write_report(public, topology, published, planned, title=TITLE, setting=words)
    say(f"8. Look at {report} (yours: it shows the truth too) or {public} (may be published).")
    return {
        "city": {"intersections": topology.num_nodes, "streets": topology.num_edges},
        "plan": planned.as_dict(),
        "statement": published.statement.as_dict(),
        "answers": [one._asdict() for one in answers],
        "evaluation": result.as_dict(),
        "files": {
            "release": str(file), "network": str(edges), "nodes": str(nodes),
            "report": str(report), "public_report": str(public),
        },
        "seconds": round(time.perf_counter() - began, 2),
    }  # fmt: skip


def setting(city: City) -> Setting:
    """The words and the map of the demonstration city."""
    command = f"--unit {city.unit:g} --max-weight {city.max_weight:g}"
    return Setting(
        lead=(
            "A day of trips was simulated in a generated city. From the delays they report, hushpath released the "
            "travel time between all intersections. The map is public; the trips, and how many there were, are not."
        ),
        quantity="travel time",
        units="s",
        protected="one trip",
        how=(
            f"Why a trip cannot change more: it reports on one stretch of at most {STRETCH} streets, and its "
            f"delay counts with at most {LARGEST_DELAY:g} s on each. Delays on a street are added up and "
            f"divided by a public number of planned reports, at least {LEAST_PLANNED}, never by a count from "
            f"the data. So one trip adds at most {STRETCH} × {LARGEST_DELAY:g} s / {LEAST_PLANNED} = "
            f"{city.unit / 2:g} s in total, and replacing a trip by any other one moves at most twice that: "
            f"{city.unit:g} s.",
        ),
        public=(
            "length, class and free-flow time of every street",
            "the planned number of reports of every street, from a traffic model that saw no trip",
        ),
        unprotected=(
            "One trip is protected, not one person: for somebody with m trips in the data the factor is "
            "that of m times epsilon.",
        ),
        origin="market",
        named=[name for name in LANDMARKS if name != "market"],
        widths=np.array([0.9, 2.4, 3.4])[city.kinds],
        water=city.streets.river,
        pairs=PAIRS,
        commands=(
            (
                "In the folder of this page, ask the published file",
                "hushpath query city.hush market airport --interval",
            ),
            ("Read its promise", "hushpath inspect city.hush"),
            (
                "See what privacy costs on this network, before reading any weight",
                f"hushpath plan city.csv --nodes city.nodes.csv --weight seconds --proxy free_flow "
                f"--epsilon 1 {command}",
            ),
            (
                "Make your own release (each one from the same data costs its epsilon again)",
                "hushpath release city.csv -o mine.hush --nodes city.nodes.csv --weight seconds --proxy free_flow "
                f"--epsilon 1 {command}",
            ),
            (
                f"Compare it with the truth ({NOT_PRIVATE}: for the data owner only)",
                "hushpath evaluate city.csv mine.hush --nodes city.nodes.csv --weight seconds",
            ),
        ),
    )
