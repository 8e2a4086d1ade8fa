"""A package with a mechanism, a decoder and an estimator of its own: registered by entry points, nothing else touched.

The package and its tests are those of the guide to extending.  It is installed as pip does it, in a folder on the path:
the modules and a .dist-info that names the entry points.
"""

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hushpath
from hushpath import extras
from hushpath.measurement.blocks import CliqueBlock
from hushpath.mechanism.registry import MECHANISMS
from hushpath.testing import MechanismSuite

ROOT = Path(__file__).parents[2]
PAGE = next(path for path in (ROOT / "docs").rglob("*.md") if path.name.lower() == "extending.md")
FILES = dict(re.findall(r"```(?:python|toml) (\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S))
STORY = """
import sys, hushpath, hushpath.testing
assert "pytest" not in sys.modules
net = hushpath.Network.build(range(6), range(5), range(1, 6), [3.0, 5.0, 2.0, 8.0, 4.0], upper=20.0)
assert "uneven" in hushpath.mechanisms()
plan = hushpath.plan(net.topology, epsilon=1.0, unit=1.0, mechanism="uneven", ignore_baseline=True)
hushpath.release(net, plan=plan, seed=1).save(sys.argv[1])
rel = hushpath.load(sys.argv[1])
assert rel.statement.mechanism == "uneven"
read = rel.with_decoder(decoder="by-hops", estimator="towards-mean")
hop = read.distance(0, 1)
assert hop > 0 and read.distance(0, 5) == 5 * hop
"""


def install(folder, files, entry_points):
    """Put a package into a folder as pip would."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    info = folder / "hushpath_toys-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hushpath-toys\nVersion: 1\n")
    lines = [
        f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in named.items()) for group, named in entry_points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return folder


def python(site, *arguments):
    folders = [site, Path(hushpath.__file__).parents[1], ROOT / "tests"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=site, env=env)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    points = tomllib.loads(FILES["pyproject.toml"])["project"]["entry-points"]
    assert len(points) == 3
    return install(tmp_path_factory.mktemp("site"), {"hushpath_toys/__init__.py": "", **FILES}, points)


def test_planned_released_saved_loaded(site, tmp_path):
    done = python(site, "-W", "error", "-c", STORY, str(tmp_path / "x.hush"))
    assert done.returncode == 0, done.stderr[-2000:]
    with pytest.raises(hushpath.HushpathError):  # here the plugin is not installed
        hushpath.load(tmp_path / "x.hush")


PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "keyed_noise"]


def test_the_suites_are_inherited(site):
    done = python(site, *PYTEST, "-rA", "tests/test_toys.py")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    for name, count in (("TestUneven", 40), ("TestByHops", 5), ("TestTowardsMean", 4)):
        assert done.stdout.count(f"PASSED tests/test_toys.py::{name}::") >= count, done.stdout[-3000:]


@pytest.mark.slow
def test_a_wrong_decoder_is_noticed(site):
    """The inherited tests can fail: this decoder breaks the symmetry that all of them keep."""
    file = site / "hushpath_toys" / "by_hops.py"
    right = file.read_text()
    assert right.count("hops * mean)") == 1
    file.write_text(right.replace("hops * mean)", "(hops + (sources[:, None] > 3) * (hops > 0)) * mean)"))
    try:
        done = python(site, *PYTEST, "-k", "metric", "tests")
        assert done.returncode == 1, done.stdout[-2000:]
        assert "test_answers_are_a_metric" in done.stdout
    finally:
        file.write_text(right)


def test_a_certificate_that_claims_too_little_is_noticed(monkeypatch):
    """The inherited replay can fail: this block says that an edge moves fewer of its numbers than it does."""

    class TestAllPairs(MechanismSuite):
        mechanism = MECHANISMS["all-pairs"]

    replay = TestAllPairs().test_certificate_holds_for_neighbours
    replay("path", "laplace")
    true = CliqueBlock.exposure.func

    def exposure(self):
        whole = true(self)
        return replace(whole, cut=np.maximum(whole.cut // 2, 1))

    monkeypatch.setattr(CliqueBlock, "exposure", property(exposure))
    with pytest.raises(AssertionError):
        replay("path", "laplace")


GROUPS = ("hushpath.mechanisms", "hushpath.decoders", "hushpath.estimators")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("raise RuntimeError", "broken:ONE"),
        ("", "broken:MISSING"),
        ("ONE = 1", "broken:ONE"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_left_out_with_a_warning(text, value, tmp_path):
    folder = install(tmp_path, {"broken.py": text}, {group: {"x": value} for group in GROUPS})
    code = "import warnings\nwarnings.simplefilter('always')\nimport hushpath.decoder.registry as d\n"
    code += "from hushpath.mechanism.registry import MECHANISMS as m\nprint(len(m), len(d.DECODERS))\n"
    done, clean = python(folder, "-c", code), python(ROOT, "-c", code)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == clean.stdout
    assert done.stderr.count("HushpathWarning") == 3
    assert clean.stderr == ""


def test_names_that_are_taken_stay_what_they_are(monkeypatch):
    class Point:
        value = "other:ONE"

        @staticmethod
        def load():
            return Named("input", 2)

    class Named:
        def __init__(self, name, number):
            self.name, self.number = name, number

    monkeypatch.setattr(extras, "entry_points", lambda group: [Point])
    with pytest.warns(hushpath.HushpathWarning):
        found = extras.with_plugins("hushpath.mechanisms", [Named("input", 1)], lambda _: True)
    assert [one.number for one in found.values()] == [1]
