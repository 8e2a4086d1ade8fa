"""docs/explanation/results.md and its pictures, from one run of the lab.

    python docs/results.py --out FOLDER [--quick] [--class NAME]... [--network FILE]... [--weight COLUMN]

Runs ``hushpath lab`` in the folder (or continues it), draws docs/images/results-*.png, and replaces the tables between
``<!-- lab: NAME -->`` and ``<!-- end -->``.  Read the text around them again after every run.
"""

import argparse
import re
import shutil
from pathlib import Path

from hushpath.lab.cases import FULL, QUICK
from hushpath.lab.study import Study, run_study
from hushpath.lab.tables import estimators_by_mechanism

DOCS = Path(__file__).parent
PICTURES = ("phases", "error-n", "rates", "table1")


def table(rows):
    """Rows of equal keys as a Markdown table."""
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *([str(row[name]) for name in names] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value):
    """Three digits, and a power of ten for what is large."""
    return "–" if value is None else f"{value:.3g}"


def of_run(found, study):
    """What was run."""
    rows, skipped = found["results"], sum(bool(row["skipped"]) for row in found["results"])
    mechanisms = list(dict.fromkeys(row["mechanism"] for row in rows))
    estimators = [name for name in dict.fromkeys(row["estimator"] for row in rows) if name != "none"]
    return (
        f"```text\n{study.command}\n```\n\n{len(rows)} results ({skipped} left out: a mechanism does not fit, or "
        f"would store more numbers than the lab does), {study.scope.repeats} repeats, lab code digest "
        f"`{found['code']}`. Mechanisms: {', '.join(f'`{name}`' for name in mechanisms)}. "
        f"Estimators: {', '.join(f'`{name}`' for name in estimators)}."
    )


def _where(networks):
    """Classes and files in order of appearance, if they are few."""
    names = [name.rpartition(".")[0] or name for name in dict.fromkeys(networks)]
    return ", ".join(names) if len(names) <= 11 else "everywhere"


def of_winners(found):
    """Who won how often."""
    won = {}
    for row in found["winners"]:
        won.setdefault(row["winner"], []).append(row)
    return table(
        [
            {
                "smallest error": f"`{name}`",
                "fields": f"{len(mine)} of {len(found['winners'])}",
                "clear": sum(row["clear"] for row in mine),
                "where": _where([row["network"] for row in mine]),
            }
            for name, mine in sorted(won.items(), key=lambda item: -len(item[1]))
        ]
    )


def of_largest(found):
    """Mean error on the largest network of each class, at the noise in the middle."""
    rows = [row for row in found["results"] if row["weights"] == "uniform" and row["unit"] == 1.0 and row["default"]]
    noise = sorted({row["noise"] for row in rows})[len({row["noise"] for row in rows}) // 2]
    shown = ("input", "hubs-bounded", "hubs", "cover", "treewidth", "separator", "separator-cover")
    lines = []
    for network in dict.fromkeys(row["network"] for row in rows):
        here = [row for row in rows if row["network"] == network and row["noise"] == noise]
        most = max(row["nodes"] for row in here)
        last = {row["mechanism"]: row for row in here if row["nodes"] == most}
        errors = {name: _capped(last[name]) if name in last else "–" for name in shown}
        distance = number(last["input"]["mean_distance"])
        lines.append({f"noise {noise:g}": f"{network}, {most}", "mean distance": distance, **errors})
    return table(lines)


def _capped(row):
    return number(row["mean_error"]) + " (at zero)" * row["at_zero"]


def of_weights(found):
    """Error and bias of input perturbation by kind of weights."""
    rows = [row for row in found["results"] if row["mechanism"] == "input" and row["default"] and row["unit"] == 1.0]
    kinds = list(dict.fromkeys(row["weights"] for row in rows if row["weights"] != "own"))
    lines = []
    for network, nodes, noise in dict.fromkeys(
        (row["network"], row["nodes"], row["noise"]) for row in rows if row["weights"] == "lognormal"
    ):
        at = network, nodes, noise
        here = {row["weights"]: row for row in rows if (row["network"], row["nodes"], row["noise"]) == at}
        errors = {name: f"{number(row['mean_error'])} ({row['bias']:+.2f})" for name, row in here.items()}
        lines.append({"network, noise": f"{network} {nodes}, {noise:g}", **{kind: errors.get(kind) for kind in kinds}})
    return table(lines)


def of_own(found):
    """Networks that were named."""
    rows = [row for row in found["results"] if row["weights"] == "own" and row["default"]]
    lines = []
    for network, noise in dict.fromkeys((row["network"], row["noise"]) for row in rows):
        here = {row["mechanism"]: row for row in rows if (row["network"], row["noise"]) == (network, noise)}
        others = sorted((row["mean_error"], name) for name, row in here.items() if name != "input")
        lines.append(
            {
                "network, nodes": f"{network}, {here['input']['nodes']}",
                "noise": f"{noise:g}",
                "mean distance": number(here["input"]["mean_distance"]),
                "input (bias)": f"{number(here['input']['mean_error'])} ({here['input']['bias']:+.3g})",
                "best other": f"{others[0][1]} {number(others[0][0])}",
                "separator": number(here["separator"]["mean_error"]),
            }
        )
    return table(lines) if lines else "(no network was named in this run)"


def of_rates(found):
    """Table 1, measured."""
    return table(
        [
            {
                "class": row["network"],
                "mechanism": f"`{row['mechanism']}`",
                "unit": f"{row['unit']:g}",
                "nodes": f"{row['least_nodes']:.0f} to {row['most_nodes']:.0f}",
                "largest error / unit": f"{number(row['least_error'])} to {number(row['most_error'])}",
                "shape": row["shape"],
                "constant": f"{row['constant']:.2g}",
                "points within": f"{row['within']:.2f}×",
                "bare power": f"n^{row['exponent_of_n']:.2f}",
                "within": f"{row['within_power']:.2f}×",
                "a": "–" if row["exponent_of_log"] is None else f"{row['exponent_of_log']:.1f}",
            }
            for row in found["rates"]
            if row["mechanism"] in ("separator", "hubs", "input")
        ]
    )


def of_table1(found):
    """Table 1, predicted."""
    return table(
        [
            {
                "family": row["family"],
                "mechanism": f"`{row['mechanism']}`",
                "shape": row["shape"],
                **{
                    f"{name}: ours (theorem's)": f"{row[f'{name}_fitted']:.2f} ({row[f'{name}_theorem']:.2f})"
                    for name in ("n", "W", "epsilon")
                },
                "constant at 10^9": f"{row['constant']:.2g}",
            }
            for row in found["table1"]
        ]
    )


def of_coverage(found):
    """Intervals, plans and bounds."""
    return table(
        [
            {
                "mechanism": f"`{row['mechanism']}`",
                "cases": row["cases"],
                "at zero": row["cases_at_zero"],
                "90 % intervals that hold the truth": f"{row['coverage']:.3f} of {row['intervals']}"
                if row["intervals"]
                else "–",
                "error / plan: median (least to most)": f"{number(row['measured_over_predicted_median'])} "
                f"({number(row['measured_over_predicted_least'])} to {number(row['measured_over_predicted_most'])})",
                "cases above the bound": row["cases_above_bound"],
            }
            for row in found["coverage"]
        ]
    )


def of_estimators(found):
    """Estimators side by side."""
    return table(
        [
            {
                "mechanism": f"`{row['mechanism']}`",
                "estimator": f"`{row['estimator']}`",
                "cases": row["cases"],
                "of these, by default": row["default"],
                "error / clip's, geometric mean": number(row["geometric_mean"]),
                "worst": number(row["worst"]),
            }
            for row in estimators_by_mechanism(found["estimators"])
        ]
    )


BLOCKS = {
    "winners": of_winners, "largest": of_largest, "weights": of_weights, "own": of_own, "rates": of_rates,
    "table1": of_table1, "coverage": of_coverage, "estimators": of_estimators,
}  # fmt: skip


def main():
    """Run, draw and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--class", dest="classes", action="append", default=[])
    parser.add_argument("--network", type=Path, action="append", default=[])
    parser.add_argument("--weight", default="weight")
    asked = parser.parse_args()
    named = [f"--class {name}" for name in asked.classes] + [f"--network {path.name}" for path in asked.network]
    command = " ".join(["hushpath lab", *["--quick"] * asked.quick, "--seed 0", *named])
    study = Study(
        out=asked.out, scope=QUICK if asked.quick else FULL, classes=asked.classes, networks=asked.network,
        weight=asked.weight, jobs=asked.jobs, command=command,
    )  # fmt: skip
    found = run_study(study)
    for name in PICTURES:
        shutil.copy(asked.out / f"{name}.png", DOCS / "images" / f"results-{name}.png")
    page = DOCS / "explanation" / "results.md"
    text = page.read_text(encoding="utf-8")
    for name, made in {"run": lambda found: of_run(found, study), **BLOCKS}.items():
        pattern = re.compile(rf"(<!-- lab: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = pattern.sub(lambda match, made=made: match[1] + made(found) + "\n" + match[2], text)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
