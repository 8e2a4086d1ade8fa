"""Makes ``named_graphs`` importable from every test folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure(config):
    """Random networks have loops and parallel edges by design; what is said about such rows is tested in test_facts."""
    said = "(self-loops|parallel edges|both directions|max_weight .* declared upper bound)"
    config.addinivalue_line("filterwarnings", f"ignore:{said}:hushpath.errors.HushpathWarning")
