"""What unit tests share."""

import pytest

from hushpath.estimator import registry as estimators


@pytest.fixture
def quick(monkeypatch):
    """Everything is read by ``clip``: for tests that are about something else than estimators."""
    monkeypatch.setattr(estimators, "ESTIMATORS", {"clip": estimators.ESTIMATORS["clip"]})
