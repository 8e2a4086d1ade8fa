"""Trips on the command line: from a table of trips to a matrix, and every mistake one line."""

import json

import pandas as pd
import pytest
from command import call

TOLD = ["--proxy", "free_flow", "--directed", "--protects", "person-day", "--low", "0.5", "--high", "6"]
COLUMNS = ["--person", "who", "--day", "date", "--edge", "from,to", "--seconds", "seconds"]
PERIODS = ["--period-column", "period", "--periods", "am,pm"]


RELEASE = ["release-trips", "net.csv", "trips.parquet", "-o", "city.hush", "--epsilon", "4", *TOLD, *COLUMNS]
SPEC = """
[network]
file = "net.csv"
directed = true
proxy = "free_flow"
[trips]
file = "trips.parquet"
person = "who"
day = "date"
edge = ["from", "to"]
seconds = "seconds"
period = "period"
periods = ["am", "pm"]
low = 0.5
high = 6
[unit]
protects = "person-day"
[budget]
epsilon = 4
"""


def test_the_whole_story(city, capsys):
    code, out, err = call(
        capsys, "plan-trips", "net.csv", *TOLD, "--epsilon", 4, "--expected-units", 9000, "--edges-per-unit", 3,
        "--periods", "am,pm",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "No trip was read" in out
    assert "everything one person did on one day" in out
    budget = ["--dataset", "city", "--protects", "person-day", "--epsilon", 5, "--delta", "1e-6"]
    code, out, err = call(capsys, "ledger", "init", "city.ledger", *budget)
    assert (code, err) == (0, "")
    code, out, err = call(capsys, *RELEASE, *PERIODS, "--ledger", "city.ledger", "--days", "2024-01-15..2024-05-15")
    assert (code, err) == (0, "")
    assert "Protected: everything one person did on one day" in out
    code, out, err = call(capsys, "ledger", "check", "city.ledger", "city.hush")
    assert code == 0
    code, out, err = call(capsys, *RELEASE, *PERIODS, "--ledger", "city.ledger", "--force", "--days", "2024-05-15")
    assert code == 1
    assert "Nothing was charged" in err
    answers = {}
    for period in ("am", "pm"):
        code, out, err = call(capsys, "query", "city.hush", "n0", "n35", "--period", period, "--interval", "--json")
        answers[period] = json.loads(out)["answers"][0]
        low, high = answers[period]["interval"]
        assert low <= answers[period]["distance"] <= high
    assert 1.5 < answers["pm"]["distance"] / answers["am"]["distance"] < 2.5
    code, out, err = call(capsys, "matrix", "city.hush", "-o", "am.csv", "--period", "am")
    assert code == 0
    assert pd.read_csv("am.csv", index_col=0).loc["n0", "n35"] == pytest.approx(answers["am"]["distance"])
    code, out, err = call(capsys, "index", "city.hush", "--period", "pm")
    assert (code, (city / "city.1.hushx").is_file()) == (0, True)
    code, out, err = call(capsys, "query", "city.hush", "n0", "n35", "--period", "pm", "--json")
    assert (json.loads(out)["answers"][0]["distance"], err) == (answers["pm"]["distance"], "")
    code, out, err = call(capsys, "inspect", "city.hush")
    assert "Periods: am, pm" in out
    (city / "release.toml").write_text(SPEC)
    code, out, err = call(capsys, "evaluate", "release.toml", "city.hush", "--period", "am", "--json")
    result = json.loads(out)
    assert result["marking"].startswith("NOT PRIVATE")
    assert result["mean_error"] < result["proxy_error"]


def test_the_noise_of_a_release_is_that_of_the_plan(city, capsys):
    """A specification that expects few edges per unit: the choice is published, the guess is not."""
    for edges, law in ((1, "laplace"), (80, "gaussian")):
        expected = f"[expected]\nunits = 9000\nedges_per_unit = {edges}\n"
        (city / "release.toml").write_text(SPEC.replace("epsilon = 4", "epsilon = 1") + expected)
        code, out, _ = call(capsys, "plan-trips", "release.toml", "--ignore-baseline", "--json")
        assert (code, json.loads(out)["noise"]) == (0, law)
        assert call(capsys, "release-trips", "release.toml", "-o", "few.hush", "--force")[0] == 0
        assert call(capsys, "inspect", "few.hush", "--json")[1].count(law) > 0
        code, out, _ = call(capsys, "inspect", "few.hush", "--spec")
        assert ('law = "laplace"' in out) == (law == "laplace")
        assert "expected" not in out


def test_a_target_error_is_solved_for_trips(city, capsys):
    terms = [*TOLD, "--expected-units", 9000, "--edges-per-unit", 3, "--ignore-baseline"]
    code, out, err = call(capsys, "plan-trips", "net.csv", *terms, "--target-error", "10%", "--json")
    made = json.loads(out)
    assert (code, err) == (0, "")
    assert made["relative_error"] <= 0.1 == made["target_error"]
    assert made["optimistic"]["error"] < made["relative_error"] < made["pessimistic"]["error"]
    code, out, err = call(capsys, "plan-trips", "net.csv", *terms, "--target-error", "10%", "--epsilon", 1)
    assert (code, "--target-error" in err) == (2, True)


def test_bounds_may_be_columns_and_periods_hours(city, capsys):
    told = [word if word not in ("0.5", "6") else {"0.5": "least", "6": "most"}[word] for word in RELEASE]
    code, out, err = call(capsys, *told, "--period-column", "date", "--periods", "night=0-6,day=6-24", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)["statement"]
    assert (found["periods"], found["hours"]) == (["night", "day"], [[0.0, 6.0], [6.0, 24.0]])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (["--protects", "people"], "protects"),
        (["--protects", "trip"], "trip"),
        (["--low", "7"], "low < high"),
        (["--low", "leest"], "'leest'"),
        (["--proxy", "free"], "'free'"),
        (["--person", "whom"], "'whom'"),
        (["--edge", "a,b,c"], "edge"),
        (["--periods", "am,pm"], "period"),
        (["--period-column", "period", "--periods", "am=8"], "am"),
        (["--days", "today"], "days"),
        (["--unit", "3"], "--unit"),
        (["--mechanism", "tree"], "--mechanism"),
        (["--max-edges", "3", "--noise", "gaussian"], "--max-edges"),
        (["--ledger", "no.ledger"], "no.ledger"),
        (["--neighbours", "near"], "neighbours"),
    ],
    ids=str,
)
def test_mistakes_are_one_line(city, capsys, change, named):
    check_mistake(city, capsys, [*RELEASE, *change], named)


@pytest.mark.parametrize("table", ["net.csv", "none.parquet"])
def test_a_table_that_is_no_table_of_trips_is_one_line(city, capsys, table):
    """The network itself, which would be published, and a file that does not exist."""
    check_mistake(city, capsys, [*RELEASE[:2], table, *RELEASE[3:]], table)


def check_mistake(city, capsys, arguments, words):
    code, out, err = call(capsys, *arguments)
    assert code in (1, 2)
    assert words in err
    assert err.count("\n") == 1
    assert out == ""
    assert not (city / "city.hush").exists()


def test_what_is_said_of_trips_is_refused_for_weights(city, capsys):
    plain = ["--directed", "--unit", "1", "--epsilon", "1"]
    told = ["release", "net.csv", *plain, "--weight", "most", "-o", "x.hush", "--protects", "trip"]
    code, _, err = call(capsys, *told)
    assert (code, "protects" in err) == (2, True)
    code, _, err = call(capsys, "plan", "net.csv", *plain, "--expected-units", "10")
    assert (code, "--expected-units" in err) == (2, True)


def test_periods_must_be_named_when_asking(city, capsys):
    assert call(capsys, *RELEASE, *PERIODS)[0] == 0
    for verb in (["query", "city.hush", "n0", "n1"], ["matrix", "city.hush", "-o", "x.csv"], ["index", "city.hush"]):
        code, _, err = call(capsys, *verb)
        assert (code, "--period" in err) == (2, True)
    code, _, err = call(capsys, "query", "city.hush", "n0", "n1", "--period", "noon")
    assert (code, "'noon'" in err) == (2, True)
