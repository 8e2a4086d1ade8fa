"""A minimal install does what it promises, and says of every other thing which extra brings it."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from forging import forged
from named_graphs import named
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import hushpath
from hushpath.extras import imported, installed, library

ROOT = Path(__file__).parents[2]
PACKAGE = Path(hushpath.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = {Requirement(text).name for text in PROJECT["dependencies"]}
COMES_WITH = {"geopandas": {"shapely", "pyproj"}, "typer": {"click", "pydantic"}}
NO_USE = {"docs", "dev", "fuzz", "all"}  # extras for those who work on hushpath, and the sum of the others
EXTRAS = set(PROJECT["optional-dependencies"]) - NO_USE
ROAD = """
import hushpath, numpy as np
from hushpath.network.network import Network
road = Network.build(["a", "b", "c"], np.array([0, 1]), np.array([1, 2]), np.array([3.0, 4.0]), upper=9.0,
                     coordinates=[(0.0, 0.0), (1.0, 0.0), (2.0, 1.0)])
rel = hushpath.release(road, epsilon=9.0, unit=0.1, max_weight=9.0, mechanism="input").with_decoder(estimator="clip")
"""


def brought_by(extra):
    """The packages of an extra, and those of the extras it takes in."""
    found = set()
    for requirement in map(Requirement, PROJECT["optional-dependencies"][extra]):
        if requirement.name == "hushpath":
            found = found.union(*map(brought_by, requirement.extras))
        else:
            found |= {requirement.name, *COMES_WITH.get(requirement.name, ())}
    return found


HIDDEN = {"tables", "PIL", *brought_by("all")} - CORE - COMES_WITH["typer"]


def bare(program, *arguments):
    """A fresh Python that has the dependencies and no extra."""
    hide = (
        f"import sys\nsys.modules.update(dict.fromkeys({sorted(HIDDEN - {'pandas'})!r}))\n"
        # pyarrow looks for pandas in a way that takes None for the module.
        "class Absent:\n    def find_spec(self, name, *_):\n        if name.partition('.')[0] == 'pandas':\n"
        "            raise ModuleNotFoundError(name, name=name)\nsys.meta_path.insert(0, Absent())\n"
        f"sys.path.append({str(ROOT / 'tests')!r})\nimport keyed_noise\nkeyed_noise.install('bare')\n"
    )
    command = [sys.executable, "-W", "error", "-c", hide + program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=500)


def imports(tree):
    """Third-party packages, and whether each is imported along with the module."""
    late = (scope for scope in ast.walk(tree) if isinstance(scope, (ast.FunctionDef, ast.If)))
    inner = {node for scope in late for node in ast.walk(scope)}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        for name in names:
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names and top != "hushpath":
                yield top, node not in inner


SOURCES = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}


def test_what_is_imported_is_declared_and_extras_are_imported_late():
    used = set()
    for name, tree in SOURCES.items():
        for package, at_once in imports(tree):
            used.add(package)
            suite = {"pytest"} if name.startswith("testing/") else set()  # whoever inherits a suite has it
            assert package in CORE | HIDDEN | COMES_WITH["typer"] | suite, (name, package)
            if at_once and not name.startswith("serve/"):  # that room is the extra
                assert package in CORE | COMES_WITH["typer"], (name, package)
    assert used >= CORE  # nobody installs what nobody uses


def test_what_is_said_to_be_missing_is_brought_by_the_extra_that_is_named():
    told = set()
    for name, tree in SOURCES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("library", "absent"):
                module, extra = node.args[:2]
                assert isinstance(extra, ast.Constant) or name == "extras.py", name
                if isinstance(module, ast.Constant) and isinstance(extra, ast.Constant):
                    assert module.value.partition(".")[0] in brought_by(extra.value), (name, module.value, extra.value)
                    told.add(extra.value)
    assert told | {"serve"} == EXTRAS
    copies = [name for name, tree in SOURCES.items() if "pip install" in ast.unparse(tree) and name != "extras.py"]
    assert copies == []


def pins(name):
    rows = [line.split("==") for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    return {canonicalize_name(name): version for name, version in rows}


def test_every_dependency_has_a_floor_that_is_tested_and_that_the_pins_satisfy():
    floors, pinned = pins("constraints-lowest.txt"), pins("constraints.txt")
    lists = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][one] for one in EXTRAS)]
    runtime = [Requirement(text) for texts in lists for text in texts]
    assert set(floors) == {wanted.name for wanted in runtime}
    for wanted in runtime:
        assert str(wanted.specifier) == f">={floors[wanted.name]}"
        assert wanted.specifier.contains(pinned[wanted.name]), wanted
    assert PROJECT["version"] == hushpath.__version__


def test_a_library_that_is_there_is_given_and_one_that_is_not_is_not(monkeypatch):
    assert library("pandas", "pandas", "a table") is sys.modules["pandas"] is imported("pandas")
    assert installed("pandas")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert not installed("pandas")
    assert imported("pandas") is None
    with pytest.raises(hushpath.HushpathError, match=r"^a table needs pandas: pip install 'hushpath\[pandas\]'$"):
        library("pandas", "pandas", "a table")


def test_a_minimal_install_tells_the_story(tmp_path):
    """Trips, plan, release, query, page: without pandas, OpenDP, matplotlib and networkx."""
    told = bare(
        "from pathlib import Path\nfrom hushpath.demo.story import run_demo\n"
        "run_demo(Path(sys.argv[1]), size=160, people=3000)",
        tmp_path,
    )
    assert told.returncode == 0, told.stderr
    (line,) = [line for line in told.stdout.splitlines() if line.startswith("8. ")]
    assert "needs matplotlib: pip install 'hushpath[pictures]'" in line
    assert "report.html" not in told.stdout.replace(" ", "\n").split("\n")
    assert {path.name for path in tmp_path.iterdir()} == {
        "city.html", "city.hush", "city.nodes.csv", "release.toml", "report-public.html", "streets.csv",
        "trips.parquet", "weights.csv",
    }  # fmt: skip
    rel = hushpath.load(tmp_path / "city.hush")
    assert (rel.statement.private, rel.statement.sampler) == (True, "vector")


COMMANDS = (
    ("inspect", "R"), ("query", "R", "a", "c", "--interval"), ("matrix", "R", "-o", "m.csv"),
    ("matrix", "R", "-o", "m.npy"), ("page", "R", "-o", "p.html"), ("index", "R"), ("--help",),
    ("plan", "E", "--epsilon", "1", "--unit", "1", "--max-weight", "9"),
    ("release", "E", "--epsilon", "1", "--unit", "1", "--max-weight", "9", "-o", "again.hush"),
    ("export", "R", "--to", "geojson", "-o", "x.geojson"),
)  # fmt: skip


def test_a_minimal_install_runs_the_commands(tmp_path):
    """In one process; a small release is private there too, by the sampler that needs no extra."""
    (tmp_path / "roads.csv").write_text("source,target,weight\na,b,3\nb,c,4\n", encoding="utf-8")
    program = ROAD + (
        "from hushpath.cli import run\nimport os\nos.chdir(sys.argv[1])\nrel.save('roads.hush')\n"
        "assert (rel.statement.private, rel.statement.sampler) == (True, 'vector')\n"
        f"for command in {COMMANDS!r}:\n"
        "    command = [{'R': 'roads.hush', 'E': 'roads.csv'}.get(word, word) for word in command]\n"
        "    assert run(command) == 0, command\n"
    )
    told = bare(program, tmp_path)
    assert told.returncode == 0, told.stderr
    assert (tmp_path / "m.csv").read_text(encoding="utf-8").startswith("source,")
    assert hushpath.load(tmp_path / "again.hush").statement.sampler == "vector"


NEEDS = [
    ("pandas", "rel.frame()"),
    ("networkx", "rel.to_networkx()"),
    ("geo", "rel.to_geopandas(crs='EPSG:4326')"),
    ("opendp", "hushpath.release(road, epsilon=1.0, unit=1.0, noise=hushpath.Noise(sampler='opendp'))"),
    ("pictures", "__import__('hushpath.output.report.pictures', fromlist='x').blank(3, 3)"),
    ("pictures", "__import__('hushpath.output.isochrones', fromlist='x').isochrones(rel, 'a', [5.0])"),
]


def test_what_needs_an_extra_says_which_in_one_line(tmp_path):
    """In one process: starting is what takes time."""
    caught = "except hushpath.HushpathError as error:\n    print(type(error).__name__, error)\n"
    told = bare(ROAD + "".join(f"try:\n    {wanted}\n{caught}" for _, wanted in NEEDS), tmp_path)
    assert told.returncode == 0, told.stderr
    lines = told.stdout.splitlines()
    assert len(lines) == len(NEEDS)
    for line, (extra, wanted) in zip(lines, NEEDS, strict=True):
        assert re.fullmatch(rf"CannotError .+ needs [a-z]+: pip install 'hushpath\[{extra}\]'", line), wanted


def test_releases_drawn_by_opendp_are_read_without_it(tmp_path):
    def drawn_by_opendp(header, arrays):
        header["sampler"] = header["statement"]["sampler"] = "opendp"

    hushpath.release(named("grid"), epsilon=1.0, unit=1.0).save(tmp_path / "x.hush")
    files = [forged(tmp_path / "x.hush", drawn_by_opendp)]
    told = bare(
        "import hushpath\nfor name in sys.argv[1:]:\n    rel = hushpath.load(name)\n"
        "    print(rel.statement.sampler, rel.matrix().shape[0] > 1)",
        *files,
    )
    assert told.returncode == 0, told.stderr
    assert "opendp True" in told.stdout
    assert len(told.stdout.splitlines()) == len(files) > 0
