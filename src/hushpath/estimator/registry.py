"""All estimators, in order of preference: the first that suits a release is its default."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import OptionError
from ..extras import with_plugins
from ..measurement.strategy import Strategy
from .base import Estimator
from .trips.times import RATIO, TIMES
from .weights.bounds import CLIP, SUMS
from .weights.shrink import SHRINK
from .weights.sums_prior import SUMS_PRIOR

_ALL: tuple[Estimator, ...] = (TIMES, RATIO, SUMS_PRIOR, SUMS, SHRINK, CLIP)
ESTIMATORS = with_plugins("hushpath.estimators", _ALL, lambda found: isinstance(found, Estimator))


def estimators_for(strategy: Strategy) -> Iterator[Estimator]:
    """Return the estimators of the kind that a strategy needs: of trips, or of weights."""
    return (one for one in ESTIMATORS.values() if one.unit_kind == strategy.terms.unit.kind)


def quick_estimator(strategy: Strategy) -> Estimator:
    """Return the first estimator that suits a strategy and is not costly."""
    return next(one for one in estimators_for(strategy) if one.suits(strategy) and not one.costly)


def find_estimator(name: str, strategy: Strategy) -> Estimator:
    """Return the estimator of this name; for "auto", the first that suits the strategy."""
    if name == "auto":
        return next(one for one in estimators_for(strategy) if one.suits(strategy))
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise OptionError(f"unknown estimator {str(name)[:40]!r}; choose from: {', '.join(ESTIMATORS)}, auto")
    if ESTIMATORS[name] not in (able := list(estimators_for(strategy))):
        kind, names = strategy.terms.unit.kind, ", ".join(one.name for one in able)
        raise OptionError(f"estimator {name!r} does not apply to a release of {kind}; choose from: {names}, auto")
    return ESTIMATORS[name]
