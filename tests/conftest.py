"""Helper modules for every test folder, a cache folder of each run's own, repeatable noise, statistics printed.

Tests do not fail by chance: noise that would be fresh is drawn from a key that the name of the test gives, as if the
operating system had returned it.  Only tests marked ``noise(rate=...)`` draw fresh noise; each may fail by chance with
at most that probability, and ``test_noise_marks.py`` adds the rates up.  (Commands in processes of their own always
draw fresh noise; their tests must assert only what holds for every draw.)
"""

import hashlib
import os
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import Phase, settings
from xdist.scheduler import LoadScopeScheduling

from hushpath.extras import installed
from hushpath.noise import vector

sys.path.insert(0, str(Path(__file__).parent))
# For `make mutants`: that a test fails is enough there, nobody needs the smallest example.
# No deadline: the first call of a kernel compiles it.
settings.register_profile("no-deadline", deadline=None)
settings.register_profile("first-failure", phases=(Phase.explicit, Phase.generate), deadline=None)
settings.load_profile("no-deadline")

TOGETHER = (  # what their tests share takes long to make
    "conformance/test_lab.py",
    "conformance/test_reading.py",
    "contract/test_site.py",
    "browser/test_in_browser.py",
)


class Together(LoadScopeScheduling):
    """Workers fetch whole files that are ``TOGETHER`` first, then one test at a time, so that both end at once."""

    def _split_scope(self, nodeid):
        file = nodeid.split("::")[0]
        return file if file.endswith(TOGETHER) else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Together(config, log)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """No test remembers anything in the user's own cache folder."""
    monkeypatch.setenv("HUSHPATH_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


class NamedKeys:
    """Keys for noise: from the operating system, or the first, second, ... of a name."""

    def __init__(self):
        self.name, self.count = None, 0

    def urandom(self, count):
        if self.name is None:
            return os.urandom(count)
        self.count += 1
        return hashlib.sha256(f"{self.name} {self.count}".encode()).digest()[:count]

    @contextmanager
    def named(self, name):
        before = self.name, self.count
        self.name, self.count = name, 0
        yield
        self.name, self.count = before


KEYS = NamedKeys()
vector.os = SimpleNamespace(urandom=KEYS.urandom, getpid=os.getpid)
if installed("opendp"):
    from hushpath.noise.samplers import OpendpSampler

    OPENDP_DRAW = OpendpSampler.draw

    def _draw(self, law, scales):
        if KEYS.name is None:
            return OPENDP_DRAW(self, law, scales)
        return vector.VectorSampler(vector.Keystream()).draw(law, scales)  # OpenDP takes no key; the laws are the same

    OpendpSampler.draw = _draw


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    with KEYS.named(None if item.get_closest_marker("noise") else item.nodeid):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef):
    """What several tests share is drawn from a name of its own, whichever test comes first."""
    with KEYS.named(KEYS.name if fixturedef.scope == "function" else f"{fixturedef.baseid}::{fixturedef.argname}"):
        yield


RATES = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Keep what marks say of noise; of tests marked ``quick(every=n)`` most cases but one in n or so are slow."""
    seen = set()
    for item in items:
        mark, function = item.get_closest_marker("quick"), item.nodeid.partition("[")[0]
        # The digest of a name mixes all parameters; the first case of every test is always quick.
        if mark is not None and function in seen and zlib.crc32(item.nodeid.encode()) % mark.kwargs["every"]:
            item.add_marker("slow")
        seen.add(function)
    config.stash[RATES] = {
        item.nodeid: mark.kwargs for item in items if (mark := item.get_closest_marker("noise")) is not None
    }


@pytest.fixture
def keys():
    return KEYS


@pytest.fixture
def noise_rates(request):
    """The arguments of every mark ``noise``, by test, of all tests that were collected."""
    return request.config.stash[RATES]


def pytest_configure(config):
    """Test networks have loops, parallel edges and much noise by design; what is said of that has tests of its own."""
    said = "(self-loops|parallel edges|both directions|isolated nodes|max_weight .* declared|this is mostly noise)"
    config.addinivalue_line("filterwarnings", f"ignore:{said}:hushpath.errors.HushpathWarning")


def pytest_terminal_summary(terminalreporter):
    """Print every ``record_property("statistics", text)``: also those of worker processes."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == "statistics":
                terminalreporter.write_line(value)
