"""What shows the truth can be read by its owner alone, and says first of all that it must not be published."""

import json
import os
import stat
from pathlib import Path

import pytest
from noisy_grid import grid
from typer.testing import CliRunner

import hushpath
from hushpath.cli.app import app_for
from hushpath.io.container import replacing
from hushpath.output.report.html import write_file
from hushpath.releasing.evaluate import evaluate

pytestmark = [pytest.mark.skipif(os.name != "posix", reason="no modes"), pytest.mark.usefixtures("quick_module")]


def mode(path):
    return stat.S_IMODE(Path(path).stat().st_mode)


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("owner")
    net, rows = grid(4), []
    labels, topology = net.topology.labels, net.topology
    for tail, head in zip(topology.tails, topology.heads, strict=True):
        rows.append(f"{labels[tail]},{labels[head]},{3 + (tail + head) % 5}")
    (made / "roads.csv").write_text("\n".join(["source,target,weight", *rows, ""]), encoding="utf-8")
    owned = hushpath.read_network(made / "roads.csv")
    asked = {"epsilon": 2.0, "unit": 1.0, "max_weight": 20.0, "mechanism": "input"}
    hushpath.release(owned, **asked).save(made / "roads.hush")
    hushpath.release(owned, **asked, seed=1).save(made / "seeded.hush")
    return made


def run(*arguments):
    done = CliRunner().invoke(app_for([]), [str(one) for one in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("before", [None, 0o644, 0o666])
def test_a_report_with_the_truth_is_for_its_owner(folder, tmp_path, before):
    out = tmp_path / "report.html"
    if before is not None:
        out.write_text("an older one")
        out.chmod(before)
    run("report", folder / "roads.csv", folder / "roads.hush", "-o", out)
    assert mode(out) == 0o600
    run("report", folder / "roads.csv", folder / "roads.hush", "-o", out, "--public")
    assert mode(out) == 0o644


def test_it_is_closed_before_anything_is_written(tmp_path):
    """Also to those who look at the unfinished file, and with any umask."""
    os.umask(0)
    with replacing(tmp_path / "x", owner_only=True) as temporary:
        assert mode(temporary) == 0o600
    assert mode(tmp_path / "x") == 0o600
    write_file(tmp_path / "y", b"")
    assert mode(tmp_path / "y") == 0o666


def first(text):
    return next(iter(json.loads(text).items()))


def test_json_says_first_whether_it_may_be_published(folder, tmp_path):
    asked = ("report", folder / "roads.csv", folder / "roads.hush", "-o", tmp_path / "r.html", "--json")
    for text in (run(*asked), run("evaluate", folder / "roads.csv", folder / "roads.hush", "--json")):
        assert first(text) == ("publishable", False)
        assert json.loads(text)["marking"].startswith("NOT PRIVATE")
        assert "private" not in json.loads(text)
    assert json.loads(run(*asked))["release"] == {"private": True}
    assert json.loads(run(*asked))["evaluation"]["publishable"] is False
    public = run(*asked, "--public")
    assert first(public) == ("publishable", True)
    assert json.loads(public)["evaluation"] == {}
    assert "marking" not in json.loads(public)


def test_what_is_not_private_is_not_publishable_without_the_truth_either(folder, tmp_path):
    found = run("report", folder / "roads.csv", folder / "seeded.hush", "-o", tmp_path / "r.html", "--json", "--public")
    assert first(found) == ("publishable", False)
    assert json.loads(found)["release"]["private"] is False
    assert json.loads(found)["marking"]


def test_evaluations_say_so_too(folder):
    found = evaluate(hushpath.read_network(folder / "roads.csv"), hushpath.load(folder / "roads.hush")).as_dict()
    assert next(iter(found.items())) == ("publishable", False)
