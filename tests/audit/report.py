"""Audit everything and print two tables: sound mechanisms with their bounds, faults with what caught them.

    python tests/audit/report.py [--quick] [--json FILE] [--jobs N]

Exit code 1 if a check objects to a sound mechanism, if a fault is not caught by the checks that should see it, if
anything objects to a fault's sound twin, or if one of the named mechanisms is audited below 60 % of its claim.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from auditor import CONFIDENCE, MOST_BOUNDS, Finding
from broken import FAULTS
from cases import NAMED, NEAR, OTHERS, SECRET, whole_release
from experiment import CHECKS, Experiment, Outcome
from subject import Case, Pipeline

DOOR = [NAMED[0], NAMED[1]]  # audited once more, through hushpath.release
SOUND = [*((case, True) for case in NAMED), *((case, False) for case in OTHERS + SECRET)]


def counts(case: Case, named: bool, quick: bool) -> tuple[int, int]:
    """Trials of each neighbour for measured numbers and for distances, by what they cost."""
    if case.copies >= 100:
        return (24_000, 4_000) if quick else (100_000, 40_000)
    if named:
        return (4_000, 400) if quick else (32_000, 6_000)
    return (120, 80) if quick else (4_000, 800)


def audit_sound(which: int, quick: bool) -> dict[str, Any]:
    case, named = SOUND[which]
    return _row(case, Experiment(case), counts(case, named, quick), named and not quick)


def audit_door(which: int, quick: bool) -> dict[str, Any]:
    case = DOOR[which]
    trials = (4_000, 4_000) if quick else (20_000, 10_000)
    # Its noise is secret and cannot be frozen: no replay.
    row = _row(case, Experiment(case, whole_release(case)), trials, False, ("noise", "vector", "distances"))
    return row | {"mechanism": f"{case.title} by release()"}


def audit_fault(which: int, quick: bool) -> dict[str, Any]:
    """A fault and its twin, with the trials that the tests take."""
    fault = FAULTS[which]
    trials = fault.trials
    found, twin = (
        Experiment(fault.case, pipeline).outcome(trials, trials) for pipeline in (fault.pipeline, Pipeline())
    )
    return {
        "fault": fault.name, "mechanism": fault.case.mechanism, "law": fault.case.law, "claimed": fault.case.epsilon,
        **_figures(found), "caught_by": list(found.objections), "expected": list(fault.seen_by),
        "twin_objections": list(twin.objections), "trials": trials,
        "twin_vector": _epsilon(twin.vector), "twin_distances": _epsilon(twin.distances),
        "passed": set(fault.seen_by) <= set(found.objections) and not twin.objections,
    }  # fmt: skip


def _row(
    case: Case, experiment: Experiment, trials: tuple[int, int], named: bool, checks: tuple[str, ...] = CHECKS
) -> dict[str, Any]:
    outcome = experiment.outcome(*trials, checks)
    claimed = outcome.vector.claim.epsilon if outcome.vector else case.epsilon
    ratio = (_epsilon(outcome.vector) or 0.0) / claimed
    return {
        "mechanism": case.title, "law": case.law, "network": case.shape, "depth": experiment.depth, "claimed": claimed,
        "delta": outcome.vector.claim.delta if outcome.vector else case.delta,
        **_figures(outcome), "ratio": ratio, "trials": trials[0], "distance_trials": trials[1], "named": named,
        "objections": list(outcome.objections), "passed": not outcome.objections and (not named or ratio > NEAR),
    }  # fmt: skip


def _figures(outcome: Outcome) -> dict[str, Any]:
    return {
        "structure": outcome.structure, "replay": outcome.replay or None, "noise": outcome.noise,
        "vector": _epsilon(outcome.vector), "attack": outcome.vector.attack if outcome.vector else "",
        "distances": _epsilon(outcome.distances),
    }  # fmt: skip


def _epsilon(finding: Finding | None) -> float | None:
    return None if finding is None else finding.epsilon


def table(rows: list[dict[str, Any]], columns: list[tuple[str, str, str]]) -> str:
    """Aligned plain text: (heading, key, format) per column."""

    def cell(row: dict[str, Any], key: str, form: str) -> str:
        value = row.get(key)
        if isinstance(value, list):
            return ", ".join(value)
        return "-" if value is None or value == "" else format(value, form)

    lines = [[heading for heading, _, _ in columns], *([cell(r, key, form) for _, key, form in columns] for r in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    right = [form not in ("", "s") for _, _, form in columns]
    return "\n".join(
        "  ".join(t.rjust(w) if r else t.ljust(w) for t, w, r in zip(line, widths, right, strict=True)).rstrip()
        for line in lines
    )


SOUND_COLUMNS = [
    ("mechanism", "mechanism", "s"), ("law", "law", "s"), ("network", "network", "s"), ("depth", "depth", "d"),
    ("claimed", "claimed", ".3f"), ("reached", "replay", ".3f"), ("vector", "vector", ".3f"),
    ("distances", "distances", ".3f"), ("ratio", "ratio", ".2f"), ("trials", "trials", "d"),
    ("objections", "objections", "s"),
]  # fmt: skip
FAULT_COLUMNS = [
    ("broken on purpose", "fault", "s"), ("mechanism", "mechanism", "s"), ("law", "law", "s"),
    ("claimed", "claimed", ".3f"), ("reached", "replay", ".2f"), ("vector", "vector", ".2f"),
    ("distances", "distances", ".2f"), ("sound twin", "twin_vector", ".2f"), ("trials", "trials", "d"),
    ("caught by", "caught_by", "s"),
]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run all audits in parallel, print the tables, say whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few trials: lower bounds, and no demand on ratios")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    options = parser.parse_args(arguments)
    jobs = [(audit_sound, i) for i in range(len(SOUND))] + [(audit_door, i) for i in range(len(DOOR))]
    jobs += [(audit_fault, i) for i in range(len(FAULTS))]
    assert 2 * len(jobs) + 2 * len(FAULTS) <= MOST_BOUNDS, "more bounds than the strict level is made for"
    start, results = time.monotonic(), {}
    with ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(audit, i, options.quick): (audit.__name__, i) for audit, i in jobs}
        for done, future in enumerate(as_completed(waiting), 1):
            row = results[waiting[future]] = future.result()
            mark = "" if row["passed"] else "  FAILED"
            name = row.get("fault", row["mechanism"])
            print(f"[{time.monotonic() - start:4.0f} s] {done}/{len(jobs)} {name}, {row['law']}{mark}", file=sys.stderr)
    ordered = [results[audit.__name__, i] for audit, i in jobs]
    sound, faults = [r for r in ordered if "fault" not in r], [r for r in ordered if "fault" in r]
    passed = all(row["passed"] for row in ordered)
    print(f"Audited lower bounds on epsilon, {1 - CONFIDENCE:.0%} confidence each\n\n{table(sound, SOUND_COLUMNS)}\n")
    print(f"Broken on purpose\n\n{table(faults, FAULT_COLUMNS)}\n")
    named = min((row["ratio"] for row in sound if row["named"]), default=0.0)
    quiet, caught = sum(not r["objections"] for r in sound), sum(r["passed"] for r in faults)
    print(f"Sound: no objection to {quiet} of {len(sound)}; the named ones reach {named:.0%} of their claim or more.")
    print(f"Broken: {caught} of {len(faults)} caught by the checks that should see them, nothing against their twins.")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(
                {"confidence": 1 - CONFIDENCE, "quick": options.quick, "sound": sound, "faults": faults}, file, indent=1
            )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
