"""Helper modules for every test folder, a cache folder of each run's own, repeatable noise, statistics printed.

Tests do not fail by chance: noise that would be fresh is drawn from a key that the name of the test gives, as if the
operating system had returned it.  Only tests marked ``noise(rate=...)`` draw fresh noise; each may fail by chance with
at most that probability, and ``test_noise_marks.py`` adds the rates up.  Processes that tests start draw fresh noise,
unless ``keyed_noise.py`` starts them; ``test_noise_marks.py`` lists them with what their noise could make fail.
"""

import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from xdist.scheduler import LoadScopeScheduling

sys.path.insert(0, str(Path(__file__).parent))
import keyed_noise

from hushpath.estimator import registry as estimators
from hushpath.estimator.base import WeightEstimator

# For `make mutants`: that a test fails is enough there, nobody needs the smallest example.
# No deadline: the first call of a kernel compiles it.
settings.register_profile("no-deadline", deadline=None)
settings.register_profile("first-failure", phases=(Phase.explicit, Phase.generate), deadline=None)
settings.load_profile("no-deadline")

TOGETHER = (  # what their tests share takes long to make
    "conformance/test_lab.py",
    "conformance/test_reading.py",
    "contract/test_site.py",
    "contract/test_docs.py",
    "contract/test_full_disk.py",
    "browser/test_in_browser.py",
    "unit/test_demo.py",
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


KEYS = keyed_noise.install()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    with KEYS.named(None if item.get_closest_marker("noise") else item.nodeid):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef):
    """What several tests share is drawn from a name of its own, whichever test comes first."""
    with KEYS.named(KEYS.name if fixturedef.scope == "function" else f"{fixturedef.baseid}::{fixturedef.argname}"):
        yield


RATES, QUICK = pytest.StashKey(), pytest.StashKey()


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
    config.stash[QUICK] = {item.nodeid: item.get_closest_marker("slow") is None for item in items}
    config.stash[RATES] = {
        item.nodeid: mark.kwargs for item in items if (mark := item.get_closest_marker("noise")) is not None
    }


def _read_weights_by_clip(patch):
    fast = {n: one for n, one in estimators.ESTIMATORS.items() if n == "clip" or not isinstance(one, WeightEstimator)}
    patch.setattr(estimators, "ESTIMATORS", fast)


@pytest.fixture
def quick(monkeypatch):
    """Weights are read by ``clip``: for tests that are about something else than estimators."""
    _read_weights_by_clip(monkeypatch)


@pytest.fixture(scope="module")
def quick_module():
    """The same for a whole module and what its tests share."""
    with pytest.MonkeyPatch.context() as patch:
        _read_weights_by_clip(patch)
        yield


@pytest.fixture
def keys():
    return KEYS


@pytest.fixture
def is_quick(request):
    """Whether `make test` runs it, by test, of all tests that were collected."""
    return request.config.stash[QUICK]


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
