"""The estimators by name: one line each, and the first that suits a release is its default."""

from __future__ import annotations

from importlib import import_module

from ..blocks import TripBlock
from ..errors import OptionError
from ..strategy.core import Strategy
from .core import Estimator

FILES = (
    "times",
    "ratio",
    "lean",
    "sums",
    "shrink",
    "clip",
)
_made: list[Estimator] = [import_module(f"{__package__}.{file}").ESTIMATOR for file in FILES]
ESTIMATORS = {estimator.name: estimator for estimator in _made}


def quick_estimator(strategy: Strategy) -> Estimator:
    """The first that suits what was measured and does not take long."""
    return next(estimator for estimator in _made if estimator.suits(strategy) and not estimator.costly)


def estimator_named(name: str, strategy: Strategy) -> Estimator:
    """Return an estimator; "auto": the first that suits what was measured."""
    if name == "auto":
        return next(estimator for estimator in _made if estimator.suits(strategy))
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise OptionError(f"no estimator is called {str(name)[:40]!r}; choose from: {', '.join(ESTIMATORS)}, auto")
    trips = strategy.has(TripBlock)
    if (ESTIMATORS[name].times is not None) != trips:
        able = ", ".join(one.name for one in _made if (one.times is not None) == trips)
        raise OptionError(
            f"estimator {name!r} cannot read a release of {'trips' if trips else 'weights'}; these can: {able}"
        )
    return ESTIMATORS[name]
