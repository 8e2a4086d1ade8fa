"""The order of imports, who may open private data, where noise meets exact numbers, and the public names.

Rules are checked twice: by what every file imports and names (syntax trees, imports resolved to the defining file), and
by who really calls what while releases are planned, made, evaluated and read.  Each check is seen to fail on a planted
violation.
"""

import ast
import inspect
import shutil
import subprocess
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from layers import attributes, backward_imports, cycles, order_of, references, rows
from tracing import calling_file, traced

import hushpath
from hushpath.decoder import simulate
from hushpath.measurement import exact, private_step, trip_totals
from hushpath.network.private_weights import PrivateWeights
from hushpath.noise import make_sampler, samplers
from hushpath.noise.vector import VectorSampler
from hushpath.trips.trips import Trips

PACKAGE = Path(hushpath.__file__).parent
PAGE = (PACKAGE.parent.parent / "docs" / "project" / "architecture.md").read_text(encoding="utf-8")
ORDER = order_of(PAGE)

STEP, TOTALS, EVALUATE = "measurement/private_step.py", "measurement/trip_totals.py", "releasing/evaluate.py"
SIMULATE = "decoder/simulate.py"
# Which files may name these, besides the file that defines them.
MAY_NAME = {
    "measurement.private_step.measure": {"releasing/release.py"},
    "measurement.private_step.measure_trips": {"releasing/release.py"},
    "measurement.exact.exact_numbers": {STEP, SIMULATE},
    "measurement.exact.hierarchy_numbers": set(),
    "measurement.trip_totals.trip_totals": {STEP, EVALUATE},
    "noise.samplers.make_sampler": {"releasing/release.py"},
    "noise.vector.VectorSampler": set(),
    "noise.samplers.OpendpSampler": set(),
    "noise.samplers.simulated_noise": {SIMULATE, "estimator/base.py"},
}
# Which files may use methods of these names: they open private data, or draw secret noise.
MAY_USE = {
    "on_lattice": {STEP}, "reveal": {EVALUATE}, "private_rows": {TOTALS}, "draw": {STEP},
    "_PrivateWeights__values": set(),
}  # fmt: skip
PUBLIC = ("mechanism/", "estimator/", "decoder/", "planning/", "published/", "output/", "serve/")
PRIVATE_TYPES = ("network.network.", "network.private_weights.", "trips.trips.", "trips.rows.", "io.readers.read_")
RANDOM = ("numpy.random", "random", "secrets", "os.urandom", "os.getrandom", "uuid.uuid1", "uuid.uuid4", "scipy.stats")
HARMLESS = {"numpy.random.Generator"}  # the type, in annotations


def violations(package):
    """Every rule that a file breaks by what it imports or names."""
    named, used = references(package), attributes(package)
    found = []
    for target, allowed in MAY_NAME.items():
        home = target.rpartition(".")[0].replace(".", "/") + ".py"
        for file, names in named.items():
            inside = file == home or (home.startswith("noise/") and file.startswith("noise/"))
            module = target.rpartition(".")[0]
            if {target, f"{module}.*"} & names and file not in allowed and not inside:
                found.append(f"{file} names {target}")
    for method, allowed in MAY_USE.items():
        found += [f"{file} uses {method}" for file, names in used.items() if method in names and file not in allowed]
    for file, names in named.items():
        if file.startswith(PUBLIC):
            found += [f"{file} names {name}" for name in names if f"{name}.".startswith(PRIVATE_TYPES)]
        if not file.startswith("noise/"):
            drawn = [n for n in names - HARMLESS if any(f"{n}.".startswith(f"{one}.") for one in RANDOM)]
            found += [f"{file} draws from {name}" for name in drawn if name != "numpy.random"]
    return sorted(found)


def test_every_file_keeps_the_rules():
    assert violations(PACKAGE) == []


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The sources, to plant something in."""
    there = tmp_path_factory.mktemp("planted") / "hushpath"
    shutil.copytree(PACKAGE, there, ignore=shutil.ignore_patterns("__pycache__", "*.js", "*.css"))
    return there


@pytest.mark.parametrize(("file", "code", "rule"), [
    ("planning/predict.py", "from ..measurement.private_step import measure as m", "private_step.measure"),
    ("decoder/edges.py", "from ..measurement import private_step\nprivate_step.measure_trips", "measure_trips"),
    ("published/release.py", "from ..measurement.exact import exact_numbers", "exact.exact_numbers"),
    ("releasing/release.py", "import hushpath.measurement.exact as e\ne.exact_numbers", "exact.exact_numbers"),
    ("planning/trips.py", "from ..measurement.trip_totals import trip_totals", "trip_totals"),
    ("planning/plan.py", "from ..noise import make_sampler", "make_sampler"),
    ("lab/measure.py", "import hushpath\nhushpath.noise.vector.VectorSampler", "VectorSampler"),
    ("planning/plan.py", "from ..noise.vector import *", "VectorSampler"),
    ("planning/plan.py", "def f(net): return net.weights.on_lattice(None)", "on_lattice"),
    ("output/matrix.py", "def f(w): return getattr(w, 'reveal')()", "reveal"),
    ("releasing/release.py", "def f(trips): return trips.private_rows('trip')", "private_rows"),
    ("decoder/simulate.py", "def f(sampler): return sampler.draw(None, None)", "draw"),
    ("cli/releasing.py", "def f(w): return w._PrivateWeights__values", "__values"),
    ("planning/surrogates.py", "from .. import Network", "network.network.Network"),
    ("decoder/hierarchy.py", "from ..trips.trips import Trips", "trips.trips.Trips"),
    ("estimator/base.py", "from ..io.readers import read_network", "read_network"),
    ("lab/networks.py", "import numpy as np\nnp.random.default_rng(3)", "numpy.random.default_rng"),
    ("demo/city.py", "from numpy.random import default_rng as d", "numpy.random.default_rng"),
    ("index/index.py", "import numpy.random as r\nr.normal()", "numpy.random.normal"),
    ("cli/reading.py", "import random", "random"),
    ("io/signing.py", "import os\nos.urandom(3)", "os.urandom"),
])  # fmt: skip
def test_a_planted_violation_is_found(copy, file, code, rule):
    text = (copy / file).read_text()
    (copy / file).write_text(f"{text}\n{code}\n")
    found = violations(copy)
    (copy / file).write_text(text)
    assert found
    assert all(line.startswith(file) and rule in line for line in found)


# --- who calls what, while it happens ---------------------------------------------------------------------------------

WATCHED = {
    PrivateWeights.on_lattice: {STEP},
    PrivateWeights.reveal: {EVALUATE},
    Trips.private_rows: {TOTALS},
    trip_totals.trip_totals: {STEP, EVALUATE},
    VectorSampler.draw: {STEP},
    samplers.make_sampler: {"releasing/release.py"},
    private_step.measure: {"releasing/release.py"},
    private_step.measure_trips: {"releasing/release.py"},
    simulate.exact_values: {SIMULATE, "planning/predict.py", "decoder/hierarchy.py"},
    **{function: {STEP, SIMULATE} for function in exact.exact_numbers.registry.values()},
}


class Calls:
    """Which files call the watched functions, while inside ``with``."""

    def __init__(self):
        self.callers = defaultdict(set)
        self.watched = {inspect.unwrap(function).__code__: function for function in WATCHED}

    def note(self, code, frame):
        if code in self.watched and (file := calling_file(frame)) is not None:
            self.callers[self.watched[code]].add(file)

    def __enter__(self):
        self.tracing = traced(self.note)
        self.tracing.__enter__()
        return self

    def __exit__(self, *error):
        self.tracing.__exit__(*error)

    @property
    def forbidden(self):
        return sorted(
            f"{file} calls {function.__qualname__}"
            for function, files in self.callers.items()
            for file in files - WATCHED[function]
        )


def network():
    ends = np.array([(i, i + 1) for i in range(11)] + [(0, 4), (3, 9)])
    return hushpath.Network.build(range(12), *ends.T, np.linspace(1, 9, len(ends)), upper=20.0, proxy=np.full(13, 4.0))


def trips():
    topology = network().topology
    ends = topology.tails, topology.heads
    frame = pd.DataFrame({
        "who": np.arange(130) % 7, "day": np.arange(130) % 3, "from": np.tile(ends[0], 10), "to": np.tile(ends[1], 10),
        "seconds": 5.0,
    })  # fmt: skip
    return hushpath.read_trips(frame, topology, person="who", day="day", edge=("from", "to"), seconds="seconds")


def test_only_the_private_step_joins_exact_numbers_and_secret_noise(tmp_path):
    net, people = network(), trips()
    with warnings.catch_warnings(), Calls() as calls:
        warnings.simplefilter("ignore")
        for mechanism in ("input", "separator", "hubs", "lines"):
            hushpath.plan(net.topology, epsilon=1.0, unit=1.0, mechanism=mechanism, ignore_baseline=True)
            rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism=mechanism, noise="laplace", seed=1)
            rel.matrix()
            rel.interval(0, 11)
        hushpath.plan(net.topology, epsilon=1.0, unit=1.0, typical_weight=(1, 9), ignore_baseline=True)
        hushpath.evaluate(net, rel)
        rel.save(tmp_path / "x.hush", index=True)
        hushpath.load(tmp_path / "x.hush").matrix()
        hushpath.plan_trips(
            people.topology, epsilon=1.0, protects="person-day", low=0.5, high=6, expected_units=1000, edges_per_unit=9,
            ignore_baseline=True,
        )  # fmt: skip
        hushpath.release_trips(people, epsilon=1.0, protects="person-day", low=0.5, high=6, seed=1).matrix()
    assert calls.forbidden == []
    for needed in (PrivateWeights.on_lattice, PrivateWeights.reveal, Trips.private_rows, VectorSampler.draw):
        assert calls.callers[needed] == WATCHED[needed], needed.__qualname__  # it was really called, and seen
    assert any(SIMULATE in files for files in calls.callers.values())


PLANTED = {
    "on_lattice": lambda net, lattice: net.weights.on_lattice(lattice),
    "reveal": lambda net, lattice: net.weights.reveal(),
    "draw": lambda net, lattice: make_sampler("vector", seed=1, size=1).draw("laplace", np.array([1])),
}


@pytest.mark.parametrize("method", PLANTED)
def test_a_planted_call_is_seen(method):
    """A call from a file of planning, as it would be if its source held it."""
    net = network()
    lattice = hushpath.plan(net.topology, epsilon=1.0, unit=1.0, mechanism="input").strategy.lattice
    space = {"planted": PLANTED[method], "net": net, "lattice": lattice}
    code = compile("planted(net, lattice)", str(PACKAGE / "planning" / "plan.py"), "exec")
    with Calls() as calls:
        exec(code, space)
    assert any(line.startswith("planning/plan.py calls ") and method in line for line in calls.forbidden)


def test_the_private_step_stays_short():
    assert len((PACKAGE / STEP).read_text().splitlines()) < 120


# --- the order of packages --------------------------------------------------------------------------------------------


def test_imports_follow_the_data():
    """Except for what notebooks show: methods of releases and plans import it when they are called."""
    shown = {
        "planning.result": "output.report.release", "planning.trips": "output.report.release",
        "published.release": "output.report.release",
    }  # fmt: skip
    late = {f"{name} imports the later stage {other}" for name, other in shown.items()}
    assert set(backward_imports(PACKAGE, ORDER)) == late
    assert cycles(PACKAGE) == []
    for name in shown:
        tree = ast.parse((PACKAGE / f"{name.replace('.', '/')}.py").read_text())
        assert not [n for n in tree.body if isinstance(n, ast.ImportFrom) and "report" in (n.module or "")]


def test_the_table_lists_the_folders_and_their_files():
    listed = rows(PAGE)
    assert {name for name, _ in listed} - {"."} == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    for package in {name for name, files in listed if files}:
        inside = PACKAGE if package == "." else PACKAGE / package
        files = [file for name, some in listed if name == package for file in some]
        assert sorted(files) == sorted(
            path.stem for path in inside.glob("*.py") if path.stem not in ("__init__", "__main__")
        ), package


def test_the_order_checkers_can_fail(tmp_path):
    package = tmp_path / "pkg"
    (package / "query").mkdir(parents=True)
    (package / "graph.py").write_text("from .query import engine\n")
    (package / "query" / "engine.py").write_text("from ..stray import x\nimport pkg.graph\nfrom . import other\n")
    (package / "query" / "other.py").write_text("from .engine import y\n")
    (package / "stray.py").write_text("")
    found = backward_imports(package, ["graph", "query"])
    assert "graph imports the later stage query.engine" in found
    assert "query.engine imports stray, which is not in the declared order" in found
    (cycle,) = cycles(package)
    assert "engine" in cycle
    assert "other" in cycle


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_nothing_is_pickled_or_evaluated():
    for file, names in references(PACKAGE).items():
        assert not [name for name in names if name.partition(".")[0] in ("pickle", "marshal", "shelve")], file
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec", "__import__"), path


def test_public_names():
    assert set(hushpath.__all__) == {
        "Budget", "BudgetError", "Candidate", "CannotError", "Evaluation", "FileFormatError", "HushpathError",
        "HushpathWarning", "InputError", "Ledger", "Network", "NetworkError", "Noise", "OptionError", "Partition",
        "Plan", "Quantity", "Release", "ReleaseSpec", "Route", "Schedule", "SeriesRun", "Spending", "Statement",
        "Sweep", "Topology", "TripPlan", "TripUnit", "Trips", "WeightUnit", "__version__", "evaluate", "export",
        "isochrones", "load", "make_app", "make_keys", "mechanisms", "partition", "plan", "plan_trips",
        "read_network", "read_spec", "read_topology", "read_trips", "release", "release_trips", "series",
        "write_explorer", "write_matrix",
    }  # fmt: skip
    for name in hushpath.__all__:
        assert getattr(hushpath, name) is not None
        assert name in dir(hushpath)
    with pytest.raises(AttributeError):
        _ = hushpath.nothing_of_this_name
    modules = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    assert not modules & set(hushpath.__all__)  # importing a module must not hide a function


@pytest.mark.parametrize("name", ["release", "release_trips", "plan", "plan_trips", "series", "evaluate"])
def test_main_functions_have_few_parameters(name):
    assert len(inspect.signature(getattr(hushpath, name)).parameters) <= 13


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
