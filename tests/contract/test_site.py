"""The site: built without a warning, links lead somewhere, nothing is loaded, nothing is shown that is not there."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer.main

from hushpath.cli.app import app_for
from hushpath.releasing.spec_text import KEYS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
from site_checks import faults

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = re.compile(r"^```text\n(.*?)^```$|`([^`\n]+)`", re.M | re.S)


def shown(page):
    """Lines that are shown and not run: in fences of text, and between backticks."""
    found = CODE.findall(page.read_text(encoding="utf-8"))
    return [line.strip() for fence, code in found for line in (fence or code).splitlines()]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run([sys.executable, ROOT / "docs" / "site.py", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_the_site_is_built_and_can_be_searched(site):
    home = (site / "index.html").read_text(encoding="utf-8")
    for page in ("tutorials/analyst", "how-to/matrix", "explanation/theory", "reference/python-api"):
        assert f'href="{page}.html"' in home
    assert "certificate" in (site / "searchindex.js").read_text(encoding="utf-8")
    assert "<math" in (site / "explanation" / "theory.html").read_text(encoding="utf-8")


def test_the_api_has_every_public_name(site):
    import hushpath

    text = (site / "reference" / "python-api.html").read_text(encoding="utf-8")
    for name in set(hushpath.__all__) - {"__version__"}:
        assert re.search(rf'id="hushpath\.(\w+\.)*{name}"', text), name


def test_the_command_line_has_every_verb_and_option(site):
    text = (site / "reference" / "command-line.html").read_text(encoding="utf-8")
    for name, options in verbs().items():
        assert f">hushpath {name}<" in text, name
        for option in options:
            assert f">{option}<" in text, (name, option)


def test_the_guide_to_the_specification_has_every_key(site):
    text = (site / "how-to" / "specification.html").read_text(encoding="utf-8")
    for path in KEYS:
        section, _, key = path.partition(".")
        assert f"[{section}]" in text
        assert f">{key}<" in text, path


@pytest.mark.parametrize(("body", "fault"), [
    ('<a href="gone.html">x</a>', "no such file"),
    ('<a href="index.html#gone">x</a>', "no such heading"),
    ('<script src="https://elsewhere.example/a.js"></script>', "loads"),
    ('<img src="//elsewhere.example/a.png">', "loads"),
])  # fmt: skip
def test_faults_of_a_site_are_found(body, fault, tmp_path):
    sound = '<h1 id="here">x</h1><a href="#here">x</a><a href="https://elsewhere.example">x</a>'
    (tmp_path / "index.html").write_text(sound)
    assert faults(tmp_path) == []
    (tmp_path / "other.html").write_text(body)
    (found,) = faults(tmp_path)
    assert fault in found
    assert "other.html" in found


def verbs():
    """The options of every verb."""

    def told(command, name=""):
        if inner := getattr(command, "commands", None):
            return {k: v for word, one in inner.items() for k, v in told(one, f"{name} {word}".strip()).items()}
        names = [name for one in command.params for name in (*one.opts, *one.secondary_opts)]
        return {name: [one for one in names if one.startswith("--") and one != "--help"]}

    return told(typer.main.get_command(app_for([])))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_that_are_shown_exist(page):
    known = verbs()
    for line in shown(page):
        for command in re.findall(r"\bhushpath ((?:ledger )?[a-z]+(?:-[a-z]+)*)\b((?:(?!hushpath ).)*)", line):
            verb, rest = command
            if verb in known:
                for option in re.findall(r"(?<!\S)(--[a-z][\w-]*)", rest):
                    assert option in [*known[verb], "--help"], line
            else:
                assert not rest.strip().startswith("--"), line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_extras_and_targets_that_are_shown_exist(page):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    for line in shown(page):
        for names in re.findall(r"(?:hushpath|\.)\[([\w,-]+)\]", line):
            assert set(names.split(",")) <= set(extras), line
        for target in re.findall(r"^make ([a-z][\w-]*)", line):
            assert target in targets, line
