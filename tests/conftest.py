"""Makes the helper modules importable from every test folder, and gives each run a cache folder of its own."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """No test remembers anything in the user's own cache folder."""
    monkeypatch.setenv("HUSHPATH_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def pytest_configure(config):
    """Random networks have loops and parallel edges by design; what is said about such rows is tested in test_facts."""
    said = "(self-loops|parallel edges|both directions|max_weight .* declared upper bound)"
    config.addinivalue_line("filterwarnings", f"ignore:{said}:hushpath.errors.HushpathWarning")
