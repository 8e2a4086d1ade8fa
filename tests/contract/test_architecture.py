"""Import order, the single door to randomness, the single place that touches weights, and the public names."""

import ast
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from layers import backward_imports, order_of, rooms

import hushpath

PACKAGE = Path(hushpath.__file__).parent
PAGE = (PACKAGE.parent.parent / "docs" / "project" / "architecture.md").read_text(encoding="utf-8")
ORDER = order_of(PAGE)


@cache
def sources():
    return {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")}


@cache
def attributes():
    """For every file the names of attributes and methods that it uses."""
    return {
        name: {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
        for name, text in sources().items()
    }


def users_of(attribute):
    """Files that use an attribute or method of this name."""
    return {name for name, used in attributes().items() if attribute in used}


def test_imports_follow_the_data():
    """Except for what notebooks show: methods of releases and plans import it when they are called."""
    shown = ("oracle", "planned", "trip_plan")
    assert set(backward_imports(PACKAGE, ORDER)) == {
        f"publish.{name} imports the later stage report.notebook" for name in shown
    }
    for name in shown:
        top = [
            node.module for node in ast.parse(sources()[f"publish/{name}.py"]).body if isinstance(node, ast.ImportFrom)
        ]
        assert top
        assert "report.notebook" not in top


def test_rooms_are_the_folders_and_their_files():
    listed = rooms(PAGE)
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set(listed) - {"."} == folders
    for room, (files, _) in listed.items():
        inside = PACKAGE if room == "." else PACKAGE / room
        there = {path.stem for path in inside.glob("*.py") if path.stem not in ("__init__", "__main__")}
        there |= {path.parent.name for path in inside.glob("*/__init__.py")} if room != "." else set()
        assert not files or set(files) == there or ("*" in files and set(files) - {"*"} < there), room


def test_the_order_checker_can_fail(tmp_path):
    package = tmp_path / "pkg"
    (package / "query").mkdir(parents=True)
    (package / "graph.py").write_text("from .query import engine\n")
    (package / "query" / "engine.py").write_text("from ..stray import x\nimport pkg.graph\n")
    assert backward_imports(package, ["graph", "query"]) == [
        "graph imports the later stage query.engine",
        "query.engine imports stray, which is not in the declared order",
    ]


def test_weights_are_opened_in_one_private_and_one_owner_only_place():
    assert users_of("on_lattice") == {"measurement/private_step.py"}
    assert users_of("reveal") == {"releasing/evaluate.py"}
    assert users_of("private_rows") == {"measurement/trip_totals.py"}
    assert users_of("_PrivateWeights__values") == set()


def test_exact_numbers_are_computed_in_the_private_step_and_of_stand_ins_only():
    importers = {name for name, text in sources().items() if "exact_numbers" in text}
    assert importers == {"measurement/exact.py", "measurement/private_step.py", "decoder/simulate.py"}


def test_noise_is_drawn_in_measure_only():
    assert users_of("draw") <= {"measurement/private_step.py"}
    makers = {name for name, text in sources().items() if "make_sampler" in text}
    assert makers <= {"noise/__init__.py", "noise/samplers.py", "releasing/release.py"}


def test_plans_simulate_with_noise_that_protects_nobody_on_weights_that_they_made_themselves():
    """Nothing but a release measures private data; simulations have exact arithmetic, but no way to private weights."""
    uses = re.compile(r"import .*\bmeasure\b|\bmeasure\(")
    measurers = {name for name, text in sources().items() if uses.search(_code(text))}
    assert measurers == {"measurement/private_step.py", "releasing/release.py"}
    users = {name for name, text in sources().items() if "simulated_noise" in _code(text)}
    assert users == {"noise/__init__.py", "noise/simulated.py", "estimator/base.py", "decoder/simulate.py"}
    private = re.compile(r"\bNetwork\b|PrivateWeights|\bTrips\b|readers|reveal|on_lattice|private_rows")
    for name in ("decoder/simulate.py", "planning/surrogates.py", "planning/predict.py", "decoder/lifted.py"):
        assert not private.search(_code(sources()[name])), name


@pytest.mark.parametrize(
    "word", ["default_rng", "urandom", "RandomState", "np.random.", "numpy.random", "import random", "import secrets"]
)
def test_one_door_to_randomness(word):
    users = {name for name, text in sources().items() if word in _code(text).replace("np.random.Generator", "")}
    assert all(name.startswith("noise/") for name in users), users


@cache
def _code(text):
    """Source without comments and docstrings."""
    return ast.unparse(_without_docstrings(ast.parse(text)))


def _without_docstrings(tree):
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            body[0] = ast.Pass()
    return tree


def test_the_audited_core_stays_short():
    text = (PACKAGE / "measurement/private_step.py").read_text()
    assert len(text.splitlines()) < 120


def test_nothing_is_pickled_or_evaluated():
    for name, text in sources().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec"), name
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [a.name for a in node.names] + [getattr(node, "module", "") or ""]
                assert "pickle" not in names, name


def test_public_names():
    assert set(hushpath.__all__) == {
        "HushpathError", "HushpathWarning", "Network", "Partition", "Release", "Topology", "Trips", "__version__",
        "evaluate", "load", "mechanisms", "partition", "plan", "read_network", "read_topology", "read_trips", "release",
        "series", "write_matrix",
    }  # fmt: skip
    for name in hushpath.__all__:
        assert getattr(hushpath, name) is not None
        assert name in dir(hushpath)
    with pytest.raises(AttributeError):
        _ = hushpath.nothing_of_this_name


@pytest.mark.parametrize("first", ["release", "plan", "evaluate", "load"])
def test_names_are_functions_whatever_is_imported_first(first):
    code = (
        f"import hushpath; hushpath.{first}; from hushpath.published import evaluate, oracle, plan, release; "
        "assert all(callable(getattr(hushpath, n)) for n in ('plan', 'release', 'evaluate', 'load'))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_promised_signatures():
    assert list(inspect.signature(hushpath.release).parameters)[:6] == [
        "network", "epsilon", "delta", "unit", "max_weight", "mechanism",
    ]  # fmt: skip
    assert list(inspect.signature(hushpath.plan).parameters)[:5] == [
        "topology",
        "epsilon",
        "delta",
        "unit",
        "max_weight",
    ]
    for name in ("distance", "distances", "matrix", "frame", "interval", "save", "statement"):
        assert hasattr(hushpath.Release, name) or name == "statement"


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from hushpath.cli import run; run(['--help']); "
        "heavy = {'numpy', 'numba', 'pandas', 'scipy', 'opendp', 'matplotlib', 'networkx', 'starlette', 'uvicorn'}; "
        "heavy &= set(sys.modules); "
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_no_machine_paths_or_registry_hosts_in_the_project():
    root = PACKAGE.parent.parent
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    words = ["/ro" + "ot/", "/ho" + "me/", "pypi" + ".org", "index" + "-url", "/wo" + "rk/"]
    for name in listed.stdout.splitlines():
        path = root / name
        if path.is_file() and path.suffix in {".py", ".md", ".txt", ".toml", "", ".html", ".yml"}:
            text = path.read_text(encoding="utf-8")
            assert not [word for word in words if word in text], name
