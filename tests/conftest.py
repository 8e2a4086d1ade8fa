"""Makes ``named_graphs`` importable from every test folder, and prints what tests measured."""

import sys
from pathlib import Path

from hypothesis import Phase, settings

sys.path.insert(0, str(Path(__file__).parent))
# For `make mutants`: that a test fails is enough there, nobody needs the smallest example.
settings.register_profile("first-failure", phases=(Phase.explicit, Phase.generate))


def pytest_terminal_summary(terminalreporter):
    """Print every ``record_property("statistics", text)``: also those of worker processes."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == "statistics":
                terminalreporter.write_line(value)
