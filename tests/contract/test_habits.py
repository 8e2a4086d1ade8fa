"""What the project says about itself agrees with itself: floors, pins, workflows, hooks, citation."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from hushpath import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NO_FLOOR = {"docs", "dev", "fuzz"}  # tools: pinned, but nobody else's environment has to bear them
EXTRAS = [text for extra, texts in PROJECT["optional-dependencies"].items() if extra not in NO_FLOOR for text in texts]
RUNTIME = [wanted for wanted in map(Requirement, PROJECT["dependencies"] + EXTRAS) if wanted.name != "hushpath"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
READING = [path for path in WORKFLOWS if path.name != "release.yml"]  # what that one may do: test_publishing.py


def pins(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    rows = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in rows}


def loaded(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_every_dependency_has_a_floor_that_is_tested_and_that_the_pins_keep():
    floors, pinned = pins("constraints-lowest.txt"), pins("constraints.txt")
    assert set(floors) == {requirement.name for requirement in RUNTIME}
    for requirement in RUNTIME:
        assert str(requirement.specifier) == f">={floors[requirement.name]}"
        assert requirement.specifier.contains(pinned[requirement.name]), requirement


def test_every_tool_is_pinned():
    extras = PROJECT["optional-dependencies"]
    tools = {canonicalize_name(Requirement(text).name) for text in extras["dev"] + extras["docs"] + extras["fuzz"]}
    assert tools - {"hushpath"} <= pins("constraints.txt").keys()


@pytest.mark.parametrize("path", READING, ids=lambda path: path.name)
def test_workflows_may_only_read_and_run_make_targets_that_exist(path):
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert "permissions" not in job
        wanted = job["strategy"]["matrix"].get("target", [])
        commands = [step["run"] for step in job["steps"] if "run" in step]
        for command in commands:
            assert re.fullmatch(r"make ([a-z-]+|\$\{\{ matrix\.target \}\})", command)
            named = command.removeprefix("make ")
            assert set(wanted if "matrix" in named else [named]) <= TARGETS
        assert commands
        assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_say_how_long_they_may_take(path):
    assert all(0 < job["timeout-minutes"] <= 90 for job in loaded(path)["jobs"].values())


def test_workflows_test_every_python_that_is_promised():
    versions = loaded(ROOT / ".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert f">={versions[0]}" == PROJECT["requires-python"]
    assert versions == ["3.11", "3.12", "3.13"]


def test_hooks_are_our_own_make_targets():
    for source in loaded(ROOT / ".pre-commit-config.yaml")["repos"]:
        assert source["repo"] == "local"
        for hook in source["hooks"]:
            assert hook["entry"].removeprefix("make ") in TARGETS


def test_one_version_everywhere():
    citation = loaded(ROOT / "CITATION.cff")
    assert citation["version"] == PROJECT["version"] == __version__
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()  # what the format requires
    assert citation["license"] == PROJECT["license"]
