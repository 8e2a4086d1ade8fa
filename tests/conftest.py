"""Makes ``named_graphs`` importable from every test folder; small networks are mostly noise, and that is no error."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "ignore:this is mostly noise:hushpath.errors.HushpathWarning")
