"""The command line as people meet it: every verb, every kind of mistake, always one line and the right exit code."""

import json
import signal
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest
from command import call
from named_graphs import grid_ends

import hushpath
from hushpath.cli import run
from hushpath.estimator import registry as estimators
from hushpath.published.quantity import format_value


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [f"n{a},n{b},{w:.3f}" for (a, b), w in zip(grid_ends(5, 6).tolist(), rng.uniform(2, 9, 49), strict=True)]
    (tmp_path / "roads.csv").write_text("source,target,minutes\n" + "\n".join(rows) + "\n")
    return tmp_path


RELEASE = ["release", "roads.csv", "-o", "roads.hush", "--epsilon", "1", "--unit", "1", "--weight", "minutes"]


def test_the_whole_story(folder, capsys):
    code, out, err = call(capsys, "plan", "roads.csv", "--epsilon", 1, "--delta", 1e-6, "--unit", 1, "--max-weight", 30)
    assert (code, err) == (0, "")
    assert "Choice: input" in out
    assert "No weight was read" in out

    code, out, err = call(capsys, *RELEASE, "--delta", "1e-6", "--unit", "1", "--max-weight", "30")
    assert (code, err) == (0, "")
    assert "Differentially private with epsilon = " in out

    code, out, err = call(capsys, "query", "roads.hush", "n0", "n29", "--json")
    answer = json.loads(out)["answers"][0]["distance"]
    assert code == 0
    assert 0 < answer < 200
    code, out, err = call(capsys, "query", "roads.hush", "n0", "n29")
    assert out.strip() == format_value(answer)  # with the digits that mean something
    code, out, err = call(capsys, "query", "roads.hush", "n0", "n29", "--interval", "--json")
    low, high = json.loads(out)["answers"][0]["interval"]
    assert low <= answer <= high

    (folder / "pairs.csv").write_text("source,target\nn0,n29\nn29,n0\nn3,n3\n")
    code, out, err = call(capsys, "query", "roads.hush", "--pairs", "pairs.csv")
    assert out.splitlines()[0] == "source,target,distance"
    assert float(out.splitlines()[1].split(",")[2]) == answer

    code, out, err = call(capsys, "inspect", "roads.hush")
    assert "Protected: any change of the edge weights that adds up to at most 1" in out
    code, out, err = call(capsys, "inspect", "roads.hush", "--json")
    assert json.loads(out)["statement"]["private"] is True

    code, out, err = call(capsys, "evaluate", "roads.csv", "roads.hush", "--weight", "minutes")
    assert out.startswith("NOT PRIVATE")
    code, out, err = call(capsys, "evaluate", "roads.csv", "roads.hush", "--weight", "minutes", "--json")
    assert json.loads(out)["marking"].startswith("NOT PRIVATE")
    assert json.loads(out)["pairs"] == 30 * 29


@pytest.mark.usefixtures("quick")
def test_a_page_and_a_report_of_any_network(folder, capsys):
    assert (
        call(capsys, *RELEASE, "--mechanism", "input", "--quantity", "driving time", "--unit-of-measure", "minutes")[0]
        == 0
    )
    code, out, err = call(capsys, "page", "roads.hush", "-o", "roads.html", "--origin", "n3", "--title", "Roads")
    assert (code, err) == (0, "")
    assert "written to roads.html" in out
    assert (folder / "roads.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    found = json.loads(call(capsys, "page", "roads.hush", "-o", "roads.html", "--json")[1])
    assert found["bytes"] == (folder / "roads.html").stat().st_size
    report = ["report", "roads.csv", "roads.hush", "-o", "report.html", "--weight", "minutes"]
    code, out, err = call(capsys, *report)
    assert (code, err) == (0, "")
    assert "NOT PRIVATE" in out
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "Error against the true data" in text
    assert "released driving time" in text
    found = json.loads(call(capsys, *report, "--json")[1])
    assert found["evaluation"]["pairs"] == 30 * 29
    (folder / "roads.csv").rename(folder / "gone.csv")  # what may be published needs no truth
    (folder / "roads.csv").write_text("source,target\n")
    code, out, err = call(capsys, *report, "--public")
    assert (code, err) == (0, "")
    assert "may be published" in out
    assert "Error against the true data" not in (folder / "report.html").read_text(encoding="utf-8")


def test_a_public_column_helps(folder, capsys, monkeypatch):
    monkeypatch.setattr(estimators, "ESTIMATORS", {"clip": estimators.ESTIMATORS["clip"]})
    rows = (folder / "roads.csv").read_text().splitlines()
    wide = [rows[0] + ",free,secret", *(f"{row},{i % 7 + 1},{i}.125" for i, row in enumerate(rows[1:]))]
    (folder / "roads.csv").write_text("\n".join(wide) + "\n")
    asked = ["plan", "roads.csv", "--epsilon", 1, "--unit", 1, "--max-weight", 30]
    code, out, err = call(capsys, *asked, "--proxy", "free")
    assert (code, err) == (0, "")
    assert "the public column free," in out
    assert json.loads(call(capsys, *asked, "--proxy", "free", "--json")[1])["proxy"] == "free"
    for weight in (["--weight", "minutes"], []):  # with its name, and as `release` would know it
        column = weight[1] if weight else "weight"
        code, out, err = call(capsys, *asked, *weight, "--proxy", column)
        assert (code, out) == (2, "")
        assert f"'{column}' is the private weight" in err
    for proxy, says in (("minutes", "private weight"), ("fre", "no column 'fre'"), ("source", "an end of the")):
        code, out, err = call(capsys, *RELEASE, "--proxy", proxy)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert says in err
    code, out, err = call(capsys, *RELEASE, "--max-weight", "30", "--proxy", "free")
    assert (code, err) == (0, "")
    assert "public column free," in call(capsys, "inspect", "roads.hush")[1]
    assert json.loads(call(capsys, "inspect", "roads.hush", "--json")[1])["statement"]["proxy"] == "free"
    evaluate = ["evaluate", "roads.csv", "roads.hush", "--weight", "minutes"]
    assert "baseline from public data: " in call(capsys, *evaluate)[1]
    found = json.loads(call(capsys, *evaluate, "--json")[1])
    assert found["proxy_error"] > 0 < found["proxy_scaled_error"]
    code, out, err = call(capsys, *RELEASE, "--force", "--option", "proxy=free")
    assert code == 2
    assert "'proxy'" in err


def test_matrices_agree_in_every_format(folder, capsys):
    import pandas as pd

    import hushpath

    assert call(capsys, *RELEASE)[0] == 0
    expected = hushpath.load("roads.hush").frame()
    for name in ("m.npy", "m.csv", "m.parquet"):
        code, out, err = call(capsys, "matrix", "roads.hush", "-o", name)
        assert (code, err) == (0, "")
        assert "30 x 30" in out
    assert np.array_equal(np.load("m.npy"), expected.to_numpy())
    for table in (pd.read_csv("m.csv", index_col="source"), pd.read_parquet("m.parquet").set_index("source")):
        assert np.array_equal(table.to_numpy(), expected.to_numpy())
        assert list(table.index) == list(table.columns) == list(expected.index)
    (folder / "some.txt").write_text("n7\n\nn2\n")
    for name in ("l.csv", "l.parquet"):
        assert call(capsys, "matrix", "roads.hush", "-o", name, "--long", "--sources", "some.txt")[0] == 0
        table = pd.read_csv(name) if name.endswith("csv") else pd.read_parquet(name)
        assert table["source"].tolist() == ["n7"] * 30 + ["n2"] * 30
        assert np.array_equal(table["distance"].to_numpy().reshape(2, 30), expected.loc[["n7", "n2"]].to_numpy())
    code, out, err = call(capsys, "matrix", "roads.hush", "-o", "s.npy", "--targets", "some.txt", "--json")
    assert json.loads(out) == {"file": "s.npy", "rows": 30, "columns": 2, "private": True, "warnings": []}
    assert np.array_equal(np.load("s.npy"), expected[["n7", "n2"]].to_numpy())


@pytest.mark.parametrize("flag", [["--seed", "1"], ["--epsilon", "inf"]])
def test_what_is_not_private_says_so_everywhere(folder, capsys, flag):
    code, out, _ = call(capsys, *RELEASE, *flag)
    assert code == 0
    assert out.startswith("NOT PRIVATE")
    assert call(capsys, "inspect", "roads.hush")[1].startswith("NOT PRIVATE")
    assert call(capsys, "query", "roads.hush", "n0", "n1")[2].startswith("NOT PRIVATE")
    assert json.loads(call(capsys, "query", "roads.hush", "n0", "n1", "--json")[1])["private"] is False
    assert call(capsys, "matrix", "roads.hush", "-o", "m.npy")[2].startswith("NOT PRIVATE")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["release", "absent.csv", "-o", "x.hush", "--epsilon", "1", "--unit", "1"], 2, "absent.csv"),
        (["release", "roads.csv", "-o", "x.hush", "--epsilon", "1"], 2, "--unit"),
        (["release", "roads.csv", "-o", "x.hush", "--epsilon", "1", "--unit", "1"], 2, "no column 'weight'"),
        ([*RELEASE, "--epsilon", "0"], 2, "--epsilon"),
        ([*RELEASE, "--epsilon", "-3"], 2, "--epsilon"),
        ([*RELEASE, "--epsilon", "nan"], 2, "--epsilon"),
        ([*RELEASE, "--delta", "1"], 2, "--delta"),
        ([*RELEASE, "--unit", "0"], 2, "--unit"),
        ([*RELEASE, "--population", "0"], 2, "--population"),
        ([*RELEASE, "--max-weight", "-1"], 2, "--max-weight"),
        ([*RELEASE, "--mechanism", "magic"], 2, "magic"),
        ([*RELEASE, "--noise", "cauchy"], 2, "--noise"),
        ([*RELEASE, "--sampler", "dice"], 2, "--sampler"),
        ([*RELEASE, "--sampler", "opendp", "--seed", "1"], 2, "seed"),
        ([*RELEASE, "--mechanism", "input", "--option", "depth=3"], 2, "no option 'depth'"),
        ([*RELEASE, "--option", "depth"], 2, "NAME=VALUE"),
        ([*RELEASE[:3], "no/such/folder/x.hush", *RELEASE[4:]], 1, "cannot write"),
        (["release", "roads.csv"], 2, "Missing"),
        (["query", "absent.hush", "a", "b"], 2, "absent.hush"),
        (["query", "roads.csv", "a", "b"], 2, "not a hushpath release"),
        (["inspect", "."], 2, "is a folder"),
        (["frobnicate"], 2, "No such command"),
        (["plan", "roads.csv", "--epsilon", "much"], 2, "epsilon"),
        (["plan", "roads.csv", "--epsilon", "1"], 2, "--unit"),
        (["plan", "roads.csv", "--epsilon", "1", "--unit", "1", "--upper", "nosuch"], 2, "no column 'nosuch'"),
    ],
)
def test_mistakes_get_one_line(folder, capsys, arguments, code, says):
    got, out, err = call(capsys, *arguments)
    assert got == code
    assert out == ""
    assert err.startswith("hushpath: ")
    assert err.count("\n") == 1
    assert says in err
    assert "Traceback" not in err


@pytest.mark.filterwarnings("ignore::hushpath.HushpathWarning")
def test_cautions_are_printed_with_plans_and_statements(folder, capsys):
    ask = ["--epsilon", "917", "--delta", "1e-5", "--noise", "gaussian", "--population", "200000"]
    for verb in (["plan", "roads.csv", "--unit", "1"], [*RELEASE, "--force"]):
        code, out, _ = call(capsys, *verb, *ask)
        assert code == 0
        lines = [line for line in out.splitlines() if line.startswith("Caution: ")]
        assert "epsilon = 91" in lines[0]
        assert "practically no protection" in lines[0]
        assert "delta = 1e-5 is too large" in lines[1]
        assert "2 of 200,000 units" in lines[1]
        facts = json.loads(call(capsys, *verb, *ask, "--json")[1])
        facts = facts.get("statement", facts)
        assert [f"Caution: {text}." for text in facts["cautions"]] == lines
        assert facts["unit"]["population"] == 200_000
    assert "Caution: epsilon = " in call(capsys, "inspect", "roads.hush")[1]


def test_mistakes_in_questions(folder, capsys):
    call(capsys, *RELEASE)
    (folder / "bad.csv").write_text("a,b\n1,2\n")
    (folder / "half.csv").write_text("source,target\nn1,\n")
    (folder / "latin.csv").write_bytes(b"source,target\nn1,\xff\n")
    (folder / "empty.txt").write_text("\n")
    for arguments, says in [
        (["query", "roads.hush", "n0", "nowhere"], "unknown node 'nowhere'"),
        (["query", "roads.hush", "n0"], "--pairs"),
        (["query", "roads.hush", "n0", "n1", "--pairs", "bad.csv"], "--pairs"),
        (["query", "roads.hush", "--pairs", "bad.csv"], "columns source, target"),
        (["query", "roads.hush", "--pairs", "half.csv"], "row 1"),
        (["query", "roads.hush", "--pairs", "latin.csv"], "UTF-8"),
        (["query", "roads.hush", "--pairs", "absent.csv"], "absent.csv"),
        (["query", "roads.hush", "n0", "n1", "--interval", "--confidence", "2"], "between 0 and 1"),
        (["matrix", "roads.hush", "-o", "m.xlsx"], ".npy, .csv, .parquet"),
        (["matrix", "roads.hush", "-o", "m.npy", "--sources", "empty.txt"], "empty.txt"),
    ]:
        code, out, err = call(capsys, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), arguments
        assert says in err
    (folder / "other.csv").write_text("source,target,weight\na,b,1\n")
    code, _, err = call(capsys, "evaluate", "other.csv", "roads.hush")
    assert (code, err) == (2, "hushpath: the release was made from another topology than this network\n")


def test_no_error_repeats_a_weight(folder, capsys):
    text = (folder / "roads.csv").read_text().replace("\nn0,n1,", "\nn0,n1,SECRET31337")
    (folder / "roads.csv").write_text(text)
    code, out, err = call(capsys, *RELEASE)
    assert code == 2
    assert "31337" not in out + err
    assert "row 1" in err


def test_a_bug_shows_no_data(folder, capsys, monkeypatch):
    from hushpath.releasing import spec

    def broken(*args, **options):
        raise RuntimeError("secret 31337")

    monkeypatch.setattr(spec, "read_network", broken)
    code, out, err = call(capsys, *RELEASE)
    assert code == 1
    assert err == "hushpath: internal error (RuntimeError); set HUSHPATH_DEBUG=1 to see where\n"


def test_as_a_program(folder):
    done = subprocess.run([sys.executable, "-m", "hushpath", "--version"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("hushpath ")
    done = subprocess.run([sys.executable, "-m", "hushpath", "inspect", "x"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    for verb in ("demo", "plan", "release", "query", "matrix", "page", "export", "inspect", "evaluate", "report"):
        assert run([verb, "--help"]) == 0


def test_releasing_again_is_asked_for(folder, capsys):
    """It spends the budget again, whatever becomes of the first file; other outputs are made from public files."""
    assert call(capsys, *RELEASE, "--mechanism", "input")[0] == 0
    before = (folder / "roads.hush").read_bytes()
    code, out, err = call(capsys, *RELEASE)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "spends the budget again" in err
    assert "--force" in err
    assert (folder / "roads.hush").read_bytes() == before
    assert call(capsys, *RELEASE, "--force", "--mechanism", "input")[0] == 0
    assert (folder / "roads.hush").read_bytes() != before
    for _ in range(2):
        assert call(capsys, "matrix", "roads.hush", "-o", "m.csv")[0] == 0
        assert call(capsys, "index", "roads.hush")[0] == 0
    (folder / "roads.hushx").write_bytes(b"damaged")
    code, _, err = call(capsys, "query", "roads.hush", "n0", "n1")
    assert code == 0
    assert err.startswith("hushpath: warning: roads.hushx is damaged")
    assert call(capsys, "index", "roads.hush")[0] == 0
    assert call(capsys, "query", "roads.hush", "n0", "n1")[0] == 0


def test_a_partition_is_written_once_and_used_again(folder, capsys):
    assert call(capsys, *RELEASE, "--mechanism", "input")[0] == 0
    index = ["index", "roads.hush", "--partition", "roads.hushd"]
    assert call(capsys, *index)[0] == 0
    first, answer = (folder / "roads.hushd").read_bytes(), call(capsys, "query", "roads.hush", "n0", "n1")
    (folder / "roads.hushx").unlink()
    assert call(capsys, *index, "--no-labels")[0] == 0
    assert (folder / "roads.hushd").read_bytes() == first
    assert hushpath.load(folder / "roads.hush").index.labels is None
    assert call(capsys, "query", "roads.hush", "n0", "n1") == answer
    (folder / "other.csv").write_text("source,target,weight\na,b,1\nb,c,2\n")
    other = ["release", "other.csv", "-o", "other.hush", "--epsilon", "1", "--unit", "1", "--mechanism", "input"]
    assert call(capsys, *other)[0] == 0
    code, out, err = call(capsys, "index", "other.hush", "--partition", "roads.hushd")
    assert (code, out) == (2, "")
    assert "roads.hushd" in err


def test_warnings_are_lines_and_json(folder, capsys, monkeypatch):
    import warnings

    from hushpath.releasing import spec

    read = spec.read_network

    def warning(*args, **options):
        for text in ("most rows\nhave their reverse", "3 loops were dropped", "3 loops were dropped"):
            warnings.warn(text, hushpath.HushpathWarning, stacklevel=2)
        return read(*args, **options)

    monkeypatch.setattr(spec, "read_network", warning)
    lines = "hushpath: warning: most rows have their reverse\nhushpath: warning: 3 loops were dropped\n"
    code, out, err = call(capsys, *RELEASE)
    assert (code, err) == (0, lines)
    assert "warning" not in out
    code, out, err = call(capsys, *RELEASE, "--force", "--json")
    assert (code, err) == (0, lines)
    assert json.loads(out)["warnings"] == ["most rows have their reverse", "3 loops were dropped"]
    code, out, err = call(capsys, *RELEASE, "--force", "--json", "--weight", "nosuch")  # before an error, too
    assert (code, len(json.loads(out)["warnings"])) == (2, 2)
    assert err.startswith(lines)
    code, out, err = call(capsys, "inspect", "roads.hush", "--json")  # and forgotten by the next command
    assert (err, json.loads(out)["warnings"]) == ("", [])


def test_exit_codes_are_in_the_help(capsys):
    code, out, _ = call(capsys, "--help")
    assert code == 0
    for words in ("0 done", "1 could not be done", "2 bad input", "130 interrupted"):
        assert words in " ".join(out.split())


def test_an_input_is_never_overwritten(folder, capsys):
    before = (folder / "roads.csv").read_bytes()
    code, _, err = call(capsys, *RELEASE[:3], "roads.csv", *RELEASE[4:])
    assert (code, err.count("\n")) == (2, 1)
    assert "is an input" in err
    assert (folder / "roads.csv").read_bytes() == before


def test_outputs_are_checked_before_the_work(folder, capsys):
    terms = ["--unit", 1, "--epsilon"]
    assert call(capsys, "release", "absent.csv", "-o", "nodir/x.hush", *terms, 1)[0] == 1
    code, _, err = call(capsys, "release", "absent.csv", "-o", ".", *terms, 1)
    assert (code, "is a folder" in err) == (2, True)
    assert "--epsilon" in call(capsys, "release", "absent.csv", "-o", "x.hush", *terms, 0)[2]


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_interrupted_by_a_real_signal(folder, number):
    """Exit code 130, one line, and nothing half-written; the release is slow enough to be caught in the middle."""
    rows = "\n".join(f"{a},{b},1" for a, b in grid_ends(350, 350).tolist())
    (folder / "big.csv").write_text("source,target,weight\n" + rows + "\n")
    command = [sys.executable, "-m", "hushpath", "release", "big.csv", "-o", "big.hush", "--epsilon", "1"]
    command += ["--unit", "1", "--mechanism", "separator"]

    def as_on_a_terminal():  # a test run in the background inherits an ignored SIGINT
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, preexec_fn=as_on_a_terminal) as run_:
        time.sleep(3)
        run_.send_signal(number)
        out, err = run_.communicate(timeout=60)
    assert run_.returncode == 130
    assert err.decode() == "hushpath: interrupted; no half-written file is left\n"
    assert sorted(p.name for p in folder.iterdir()) == ["big.csv", "roads.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_answers_until_it_is_stopped(folder, capsys, number):
    import hushpath

    assert call(capsys, *RELEASE, "--seed", "1")[0] == 0
    command = [sys.executable, "-m", "hushpath", "serve", "roads.hush", "--port", "0", "--no-intervals", "--json"]

    def as_on_a_terminal():
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, preexec_fn=as_on_a_terminal) as run_:
        try:
            said = b""
            while (line := run_.stdout.readline()) and line != b"}\n":
                said += line
            document = json.loads(said + b"}")
            assert document["url"].startswith("http://127.0.0.1:")
            assert document["releases"]["roads"]["marking"].startswith("NOT PRIVATE")
            with urllib.request.urlopen(f"{document['url']}/distance?source=n0&target=n29", timeout=20) as answer:
                assert json.load(answer)["distance"] == hushpath.load("roads.hush").distance("n0", "n29")
            port = document["url"].rpartition(":")[2]
            code, out, err = call(capsys, "serve", "roads.hush", "--port", port)
            assert (code, out) == (1, "")
            assert f"hushpath: cannot listen on 127.0.0.1 port {port}: Address already in use\n" in err
            run_.send_signal(number)
            out, err = run_.communicate(timeout=30)
        finally:
            run_.kill()  # a test that fails in between must not wait for it
    assert run_.returncode == 130
    assert err.decode().splitlines()[-1] == "hushpath: interrupted; no half-written file is left"
    assert "n29" not in err.decode()  # what was asked is not written down


def test_serving_says_which_extra_is_missing(folder, capsys, monkeypatch):
    assert call(capsys, *RELEASE)[0] == 0
    monkeypatch.setattr(hushpath, "serve", None, raising=False)  # put back afterwards, with the modules inside of it
    for name in [name for name in sys.modules if name.startswith(("starlette", "hushpath.serve"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    code, out, err = call(capsys, "serve", "roads.hush", "--port", "0")
    assert (code, out, err) == (1, "", "hushpath: serving needs starlette: pip install 'hushpath[serve]'\n")
