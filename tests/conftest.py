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
    """Test networks have loops, parallel edges and much noise by design; what is said of that has tests of its own."""
    said = "(self-loops|parallel edges|both directions|max_weight .* declared upper bound|this is mostly noise)"
    config.addinivalue_line("filterwarnings", f"ignore:{said}:hushpath.errors.HushpathWarning")
