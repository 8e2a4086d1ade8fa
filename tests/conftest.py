"""Helper modules for every test folder, a cache folder of each run's own, and statistics of tests printed."""

import sys
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from xdist.scheduler import LoadScopeScheduling

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
