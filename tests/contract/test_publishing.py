"""What leads to a published version: the workflow and who may sign, notes from the changelog, archives, the paper."""

import re
import runpy
import tomllib
from datetime import datetime
from pathlib import Path

import pytest
import yaml

from hushpath import __version__

ROOT = Path(__file__).parents[2]
WHEEL = ROOT / "tests" / "wheel"
RELEASE = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
JOBS = RELEASE["jobs"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PAPER = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
BIB = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")
FRONT, BODY = PAPER.split("---\n", 2)[1:]
notes = runpy.run_path(str(WHEEL / "notes.py"))
check = runpy.run_path(str(WHEEL / "check.py"))
install = runpy.run_path(str(WHEEL / "install.py"))


def uses(job):
    return [step["uses"] for step in JOBS[job]["steps"] if "uses" in step]


def commands(job):
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def behind(job):
    """Every job that must have passed before this one."""
    needed = JOBS[job].get("needs", [])
    return set(needed).union(*(behind(one) for one in needed)) if needed else set()


def publishing():
    return [job for job in JOBS if any("publish" in one for one in uses(job))]


def test_only_a_version_tag_releases():
    on = RELEASE[True]  # YAML 1.1 takes the word "on" for true
    assert on == {"push": {"tags": ["v[0-9]*"]}}


def test_nothing_is_published_that_was_not_tested_built_and_attested():
    assert publishing() == ["publish"]
    assert {"test", "build", "attest"} <= behind("publish")
    assert behind("notes") > {"publish"}
    assert commands("test") == ["make test"]
    assert JOBS["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    assert "make test-dist" in commands("build")
    builders = [job for job in JOBS for one in commands(job) if "dist" in one and one.startswith("make")]
    assert builders == ["build"]  # once: what was attested is what is published
    assert any(one.startswith("actions/attest-build-provenance@") for one in uses("attest"))
    (step,) = [step for step in JOBS["publish"]["steps"] if step["uses"].startswith("pypa/")]
    assert step["with"]["attestations"] is True
    assert JOBS["publish"]["environment"] == "release"


def test_permissions_are_the_least():
    assert RELEASE["permissions"] == {"contents": "read"}
    own = {job: JOBS[job]["permissions"] for job in JOBS if "permissions" in JOBS[job]}
    assert own == {
        "attest": {"id-token": "write", "attestations": "write"},
        "publish": {"id-token": "write"},
        "notes": {"contents": "write"},
    }
    for job in ("attest", "publish"):  # who may sign runs no code but that of the actions
        assert commands(job) == []
    others = [path for path in (ROOT / ".github/workflows").glob("*.yml") if path.name != "release.yml"]
    assert others
    assert not [path for path in others if "id-token" in path.read_text(encoding="utf-8")]


def test_actions_are_pinned_by_major_and_take_no_secret():
    for job in JOBS:
        for one in uses(job):
            assert re.fullmatch(r"actions/[a-z-]+@v\d+|pypa/gh-action-pypi-publish@release/v1", one)
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "password" not in re.sub(r"#.*", "", text)


@pytest.mark.parametrize("job", JOBS)
def test_text_that_strangers_choose_is_no_part_of_a_command(job):
    assert not [one for one in commands(job) if "${{" in one]


def test_the_changelog_begins_with_the_version_and_says_what_changed_in_privacy():
    assert re.findall(r"^## (\S+)", CHANGELOG, re.M)[0] == __version__
    when, text = notes["section"](CHANGELOG, __version__)
    assert when == "unreleased" or re.fullmatch(notes["DATED"], when)
    assert "### Privacy\n" in text


def test_notes_are_the_section_of_the_tag():
    changelog = "# C\n\n## 1.1 (2026-01-02)\n\n### Privacy\n- nothing\n\n## 1.0 (2025-01-01)\n- old\n"
    assert notes["notes"]("v1.1", "1.1", changelog) == "### Privacy\n- nothing\n"
    for tag, version, text, said in (
        ("v1.2", "1.1", changelog, "the tag is v1.2"),
        ("v1.0", "1.0", changelog, "no heading Privacy"),
        ("v1.2", "1.2", changelog, "no section 1.2"),
        ("v1.1", "1.1", changelog.replace("2026-01-02", "unreleased"), "put the date"),
    ):
        with pytest.raises(SystemExit, match=re.escape(said)):
            notes["notes"](tag, version, text)


def test_a_date_of_release_is_told_once_it_is_true():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    when, _ = notes["section"](CHANGELOG, __version__)
    assert str(citation.get("date-released", "unreleased")) == when
    assert citation["cff-version"] == "1.2.0"
    assert {"name"} == set().union(*citation["authors"])  # an entity
    assert all(one["authors"] and one["title"] and one["type"] for one in citation["references"])


WHEEL_NAMES = [f"hushpath/{one.replace('*', 'x')}" for one in check["PACKAGE"]]
WHEEL_NAMES += ["hushpath-1.dist-info/licenses/LICENSE"]
WHEEL_TEXTS = {
    "entry_points.txt": "[console_scripts]\nhushpath = hushpath.cli:main\n",
    "METADATA": "License-Expression: Apache-2.0\nClassifier: Typing :: Typed\n",
}
SDIST_NAMES = [one.replace("*", "x") for one in check["SOURCE"]]


def test_a_sound_wheel_and_sdist_are_let_pass():
    assert check["problems_of_wheel"](WHEEL_NAMES, WHEEL_TEXTS) == []
    assert check["problems_of_sdist"](SDIST_NAMES) == []


@pytest.mark.parametrize(
    "stray",
    ["tests/x.py", "hushpath/__pycache__/a.cpython-311.pyc", "hushpath/a.hush", "hushpath/my.pem", "hushpath/k.nbi"],
)
def test_what_must_not_be_in_a_wheel_is_found(stray):
    assert check["problems_of_wheel"]([*WHEEL_NAMES, stray], WHEEL_TEXTS)


@pytest.mark.parametrize("stray", ["demo-out/trips.parquet", "city.hush", "docs/x.hushx", "a.ledger", ".venv/x.py"])
def test_what_must_not_be_in_an_sdist_is_found(stray):
    assert check["problems_of_sdist"]([*SDIST_NAMES, stray])


def test_what_is_missing_from_archives_is_found():
    for gone in WHEEL_NAMES:
        assert check["problems_of_wheel"]([name for name in WHEEL_NAMES if name != gone], WHEEL_TEXTS), gone
    for text in WHEEL_TEXTS:
        assert check["problems_of_wheel"](WHEEL_NAMES, {**WHEEL_TEXTS, text: ""}), text
    for gone in SDIST_NAMES:
        assert check["problems_of_sdist"]([name for name in SDIST_NAMES if name != gone]), gone


def test_every_extra_is_tried_by_itself_and_its_size_is_told():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"all", "dev", "docs", "fuzz"}
    assert set(install["SMOKE"]) == extras | {"none"}
    page = (ROOT / "docs" / "INSTALL.md").read_text(encoding="utf-8")
    assert extras == set(re.findall(r"^\| `([a-z]+)` \| [\d,]+ \|", page, re.M))


@pytest.mark.parametrize("path", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.name)
def test_forms_for_issues_can_be_filled_in(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.name == "config.yml":
        assert form == {"blank_issues_enabled": False}
        return
    assert {"name", "description", "body"} <= form.keys()
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert asked
    assert len({part["id"] for part in asked}) == len(asked)
    if path.name == "privacy.yml":
        assert {part["type"] for part in asked} == {"checkboxes"}  # no room to write what must not be public


def test_the_front_of_the_paper_is_what_the_journal_asks_for():
    front = yaml.safe_load(FRONT)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= front.keys()
    assert (ROOT / "paper" / front["bibliography"]).is_file()
    datetime.strptime(front["date"], "%d %B %Y")
    listed = {str(one["index"]) for one in front["affiliations"]}
    assert {str(author["affiliation"]) for author in front["authors"]} == listed


def test_the_paper_has_its_sections_and_its_length():
    assert re.findall(r"^# (.+)$", BODY, re.M) == [
        "Summary", "Statement of need", "State of the field", "Software design", "Research impact statement",
        "References",
    ]  # fmt: skip
    assert 750 <= len(BODY.split()) <= 1750


def test_what_the_paper_cites_is_in_its_list_and_the_other_way_round():
    cited = set(re.findall(r"@([a-z]+\d{4})", BODY))
    listed = re.findall(r"^@[a-z]+\{([a-z]+\d{4}),$", BIB, re.M)
    assert len(set(listed)) == len(listed) == BIB.count("\n}")
    assert cited == set(listed)
    for entry in re.split(r"^@", BIB, flags=re.M)[1:]:
        assert {"author", "title", "year"} <= set(re.findall(r"^  (\w+) +=", entry, re.M)), entry.splitlines()[0]
        assert re.search(r"(\d{4})", entry)[1] in re.search(r"year *= \{(\d{4})\}", entry)[1]  # the key has its year
