"""What it takes to add a mechanism, a decoder, an estimator: one file and an entry, and the tests come along.

The toys stand in the guide to extending.  Each is added to a copy of the package; what was touched is counted, and the
conformance tests of their kinds run on a copy with all of them, without being told about any.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hushpath

ROOT = Path(__file__).parents[2]
TOYS = dict(re.findall(r"```python (\S+\.py)\n(.*?)```", (ROOT / "docs" / "EXTENDING.md").read_text(), re.S))
CONFORMANCE = {
    "strategy/uneven.py": (
        ("mechanism/registry.py", {'    "input",\n': '    "uneven",\n'}),
        ["uneven"],
        ["conformance/test_mechanisms.py", "conformance/test_options.py", "properties/test_neighbour_replay.py",
         "properties/test_nothing_public_depends_on_weights.py", "audit/test_sound.py", "unit/test_statement.py"],
    ),
    "decode/by_hops.py": (
        ("decoder/registry.py", {
            "from .anchors import AnchorDecoder\n": "from .by_hops import HopDecoder\n",
            "    CoverDecoder,\n": "    HopDecoder,\n",
        }),
        ["by-hops"],
        ["conformance/test_reading.py"],
    ),
    "estimate/weights/towards_mean.py": (
        ("estimator/registry.py", {
            "from .weights.sums_prior import SUMS_PRIOR\n": "from .weights.towards_mean import TOWARDS_MEAN\n",
            "    CLIP,\n": "    TOWARDS_MEAN,\n",
        }),
        ["towards-mean"],
        ["conformance/test_reading.py"],
    ),
}  # fmt: skip


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.py")}


def run_on(package, *arguments):
    """A run of tests on that copy of the package."""
    alone = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    env = {**os.environ, "PYTHONPATH": str(package.parent)}
    return subprocess.run(alone, capture_output=True, text=True, cwd=ROOT, env=env)


def copy_of_package(folder):
    """A copy of the package; compiled kernels come along, so that nothing is compiled again."""
    package = folder / "src" / "hushpath"
    shutil.copytree(Path(hushpath.__file__).parent, package)
    shutil.copytree(ROOT / "docs", folder / "docs")
    return package


def add(toy, package):
    """Add a toy to a copy; returns the files that were touched."""
    before = contents(package)
    registry, lines = CONFORMANCE[toy][0]
    (package / toy).write_text(TOYS[toy])
    text = (package / registry).read_text()
    for after_line, new in lines.items():
        assert text.count(after_line) == 1
        text = text.replace(after_line, after_line + new)
    (package / registry).write_text(text)
    after = contents(package)
    return {str(path) for path in after if after[path] != before.get(path)}


def test_one_file_and_its_entry(tmp_path):
    """One copy and one run for all toys: what the tests of several kinds share is made once."""
    package = copy_of_package(tmp_path)
    for toy, ((registry, lines), _, _) in CONFORMANCE.items():
        assert add(toy, package) == {toy, registry}
        assert len(lines) <= 2  # at most an import and an entry
    words = " or ".join(name for _, names, _ in CONFORMANCE.values() for name in names)
    every = dict.fromkeys(str(ROOT / "tests" / test) for _, _, tests in CONFORMANCE.values() for test in tests)
    done = run_on(package, "-k", words, "-vv", "--no-header", *every)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    house = run_on(package, str(ROOT / "tests/contract/test_architecture.py"), "-k", "imports or rooms or story")
    assert house.returncode == 0, house.stdout[-3000:]
    for _, (name,), tests in CONFORMANCE.values():
        for test in tests:  # each suite really ran on the newcomer
            assert re.search(rf"{re.escape(Path(test).name)}\S*\[\S*{name}\S*\] PASSED", done.stdout), (name, test)


def test_every_toy_on_the_page_is_tried():
    assert set(TOYS) == set(CONFORMANCE)


@pytest.mark.slow
def test_a_wrong_toy_is_noticed(tmp_path):
    """The inherited tests can fail: a decoder that forgets a hop breaks the symmetry that all of them keep."""
    package = copy_of_package(tmp_path)
    add("decode/by_hops.py", package)
    wrong = (package / "decode/by_hops.py").read_text()
    assert wrong.count("hops * mean)") == 1
    (package / "decode/by_hops.py").write_text(wrong.replace("hops * mean)", "(hops + (sources[:, None] > 3)) * mean)"))
    done = run_on(package, "-k", "metric and by-hops", str(ROOT / "tests/conformance/test_reading.py"))
    assert done.returncode == 1, done.stdout[-2000:]
