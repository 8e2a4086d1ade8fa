"""``python -O`` removes asserts: nothing that privacy or memory rests on is one."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import hushpath

PACKAGE = Path(hushpath.__file__).parent
CRITICAL = [
    "network/lattice.py",
    "network/private_weights.py",
    "privacy",
    "noise",
    "measurement",
    "mechanism",
    "kernels",
    "separators",
]


def asserts_in(text):
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assert)]


def files():
    for name in CRITICAL:
        path = PACKAGE / name
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def test_no_assert_where_privacy_or_memory_rests_on_it():
    seen = [path.relative_to(PACKAGE).as_posix() for path in files()]
    assert len(seen) > 40
    found = [name for name in seen if asserts_in((PACKAGE / name).read_text(encoding="utf-8"))]
    assert found == []


def test_other_asserts_only_tell_a_type():
    """Without them the next line fails as well, with an AttributeError: they are there for readers and mypy."""
    for path in (one for one in PACKAGE.rglob("*.py") if one.parent.name != "testing"):  # suites for pytest
        for node in asserts_in(path.read_text(encoding="utf-8")):
            told = ast.unparse(node.test)
            assert told.startswith("isinstance(") or told.endswith(" is not None"), f"{path.name}: {told}"


def test_the_search_finds_an_assert():
    assert asserts_in("def f(x):\n    if x:\n        assert x == 1\n")


CASES = {
    "one noise for all numbers": """
        class Short:
            name, private = "vector", True
            def draw(self, law, scales):
                return np.zeros(1, np.int64)
        refused(lambda: measure(strategy, net.weights, Short()), RuntimeError)
    """,
    "floating-point noise": """
        class Floating:
            name, private = "vector", True
            def draw(self, law, scales):
                return np.zeros(len(scales))
        refused(lambda: measure(strategy, net.weights, Floating()), RuntimeError)
    """,
    "a separator that does not separate": """
        class Wrong:
            def split(self, graph):
                side = np.full(graph.num_nodes, LEFT, np.int8)
                side[::2] = RIGHT
                return Split(side)
        refused(lambda: build_hierarchy(net.topology, Wrong(), leaf_size=4), RuntimeError)
    """,
    "negative scales": """
        refused(lambda: replace(strategy, scales=-strategy.scales).certificate, OptionError)
        refused(lambda: measure(replace(strategy, scales=-strategy.scales), net.weights, sampler), OptionError)
    """,
    "less noise than the budget needs": """
        refused(lambda: measure(replace(strategy, scales=strategy.scales // 2), net.weights, sampler), BudgetError)
    """,
    "a group out of range": """
        exposure = strategy.exposure
        refused(lambda: replace(exposure, group=exposure.group + 1), OptionError)
    """,
    "nothing, as a control": """
        assert False, "asserts are on"
        measure(strategy, net.weights, sampler)
    """,
}
PRELUDE = """
from dataclasses import replace
import numpy as np
from hushpath import Network
from hushpath.separators.build import build_hierarchy
from hushpath.separators.graph import LEFT, RIGHT, Split
from hushpath.errors import BudgetError, OptionError
from hushpath.measurement.private_step import measure
from hushpath.noise import make_sampler
from hushpath.planning.plan import plan

def refused(action, error):
    try:
        action()
    except error:
        return
    raise SystemExit("was not refused")

net = Network.build(range(12), range(11), range(1, 12), np.ones(11))
strategy = plan(net.topology, epsilon=1.0, unit=1.0, mechanism="input", noise="laplace").strategy
sampler = make_sampler(size=strategy.num_values)
"""


@pytest.mark.parametrize("optimise", [True, False])
def test_what_is_broken_is_refused_with_and_without_asserts(optimise):
    """One process for all cases: starting is what takes time."""
    bodies = [body for name, body in CASES.items() if optimise or "control" not in name]
    code = PRELUDE + "\n".join("if True:" + body for body in bodies)
    run = subprocess.run(
        [sys.executable, *(["-O"] if optimise else []), "-c", code], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert run.returncode == 0, run.stderr + run.stdout
