"""The estimators by name: one line each, and the first that suits a release is its default."""

from __future__ import annotations

from ..errors import OptionError
from ..strategy.core import Strategy
from . import clip
from .core import Estimator

ESTIMATORS: dict[str, Estimator] = {
    module.ESTIMATOR.name: module.ESTIMATOR
    for module in (
        clip,
    )
}  # fmt: skip


def estimator_named(name: str, strategy: Strategy) -> Estimator:
    """Return an estimator; "auto": the first that suits what was measured."""
    if name == "auto":
        return next(estimator for estimator in ESTIMATORS.values() if estimator.suits(strategy))
    if name not in ESTIMATORS:
        raise OptionError(f"no estimator is called {str(name)[:40]!r}; choose from: {', '.join(ESTIMATORS)}, auto")
    return ESTIMATORS[name]
