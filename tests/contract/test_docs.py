"""What is shown is run: every python and bash fence of README and docs, in order, story by story.

A fence ``toml NAME`` is the file NAME that the commands after it read.
"""

import ast
import re
import shlex
import warnings
from pathlib import Path
from shutil import copytree

import pytest

from hushpath.cli import run
from hushpath.demo.story import PEOPLE, SIZE, run_demo
from hushpath.mechanism.registry import MECHANISMS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.M | re.S)
SHOWN = ("text", "json", "")  # what other programs print or read


DEMO = "hushpath demo --out demo-out"  # every story begins with it, and some pages tell several
PART = 16


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What ``DEMO`` leaves in the folder where it is run, for a part of its city: that is quicker."""
    folder = tmp_path_factory.mktemp("demo")
    run_demo(folder / "demo-out", size=SIZE // PART, people=PEOPLE // PART)
    return folder


def stories(page):
    """The fences of a page; those from one ``DEMO`` to the next need nothing of the others."""
    told = [[]]
    for language, body in FENCE.findall(page.read_text()):
        if told[-1] and body.startswith(DEMO):
            told.append([])
        told[-1].append((language, body))
    return told


TOLD = {
    f"{page.relative_to(ROOT).as_posix().removeprefix('docs/')}-{number}": (page, story)
    for page in PAGES for number, story in enumerate(stories(page)) if story
}  # fmt: skip
# Many plans, or many intervals; read by one estimator here, by all of them in `make test-slow`.
LONG = ["how-to/plan.md-0", "how-to/plan.md-1", "how-to/epsilon-and-unit.md-0", "how-to/matrix.md-0"]
STORIES = [
    pytest.param(*told, id=name, marks=[pytest.mark.slow] * (name in LONG)) for name, told in TOLD.items()
]  # fmt: skip


@pytest.mark.parametrize(("page", "story"), STORIES)
def test_fences_run(page, story, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    tell(page, story, request)


@pytest.mark.parametrize("name", LONG)
def test_fences_of_long_stories_run(name, demo, quick, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    tell(*TOLD[name], request)


@pytest.fixture(autouse=True)
def _as_they_were(monkeypatch):
    """A story may register a mechanism, and silence warnings."""
    before = dict(MECHANISMS)
    with warnings.catch_warnings():
        yield
    MECHANISMS.clear()
    MECHANISMS.update(before)


def tell(page, story, request):
    names = {"__name__": "docs"}
    for language, body in story:
        if language == "python":
            exec(compile(body, page.name, "exec"), names)
        elif language == "bash":
            for line in body.replace("\\\n", " ").splitlines():
                if line.strip() == DEMO:
                    copytree(request.getfixturevalue("demo"), Path.cwd(), dirs_exist_ok=True)
                    continue
                command, *arguments = shlex.split(line, comments=True) or [""]
                assert command in ("hushpath", ""), f"only hushpath commands can be run here: {line}"
                assert not command or run(arguments) == 0, line
        elif language.startswith("toml "):
            Path(language.removeprefix("toml ")).write_text(body, encoding="utf-8")
        elif not language.startswith(("{", "python ")):  # directives of the site; toys, which test_extending.py runs
            assert language in SHOWN, f"{page.name}: fence {language!r} is neither run nor marked as text"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_are_there(page):
    for name in re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)+\.py)`", page.read_text()):
        assert (ROOT / name).exists() or (ROOT / "src" / "hushpath" / name).exists(), name


def test_messages_name_pages_and_no_paths_of_the_sources():
    """A package from pip has no folder docs; comments and docstrings may name proofs."""
    for path in (ROOT / "src").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                assert not re.search(r"\bdocs/|\.md\b", node.value), f"{path.name}: {node.value}"
