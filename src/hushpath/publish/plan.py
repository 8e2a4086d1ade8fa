"""Which mechanism, and what error to expect: from public facts only.

A plan builds the calibrated strategy of every mechanism that fits, under every law it may use, and predicts the
error of each over pairs of nodes drawn evenly, read as it will be by default.  It reads no weights, so a plan may be
made, printed and published before the data exist.

How errors are predicted: ``decode.predict``.  What is proved about them: ``Decoder.bound``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, partial, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from ..arrays import Float
from ..data.facts import warn_of_bounds
from ..data.periods import Periods
from ..data.topology import Topology
from ..decode.predict import Trials
from ..decode.surrogates import TypicalWeight, make_surrogates, sample_released_weights
from ..errors import CannotError, OptionError, warn
from ..noise import Law
from ..strategy.core import Problem, check_law
from ..strategy.registry import MECHANISMS
from ..strategy.terms import Terms
from ..strategy.trips import trip_strategy
from .candidates import Candidate, named_candidates, ranked
from .oracle import Release
from .planned import Known, Plan, Sweep
from .statement import NOT_PRIVATE
from .target import LARGEST, parsed, smallest_epsilon
from .trip_plan import TripPlan, plan_trips
from .trip_terms import PlannedTrips, declared

MOST_EPSILONS = 50
MOST_ROUNDS = 4  # of a search for epsilon with few stand-in weights
NEAR = 0.94  # of a target error is near enough
Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def by_name(function: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Refuse a second positional argument, and words that nobody knows, in words that help."""

    known = {*signature(function).parameters, *(name for one in MECHANISMS.values() for name in one.options)}

    @wraps(function)
    def asked(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        if len(args) > 1:
            raise OptionError(f"{function.__name__} takes epsilon, unit and the rest by name: epsilon=1.0, unit=3.0")
        for name in sorted(set(kwargs) - known) if kwargs.get("mechanism", "auto") == "auto" else ():
            near = get_close_matches(name, known, 1)
            raise OptionError(f"there is no option {name[:40]!r}" + (f"; did you mean {near[0]}?" if near else ""))
        return function(*args, **kwargs)

    return asked


@dataclass(frozen=True, eq=False)
class Question:
    """Everything that a plan is asked for but epsilon."""

    topology: Topology
    terms: Terms  # with any epsilon
    mechanism: str
    law: Law | None
    typical: TypicalWeight | None
    options: Mapping[str, Any]
    drawn: tuple[Float, ...] = ()  # weights as they may be, by an earlier release

    def like(self, earlier: Any) -> Question:
        """The same, asked of weights like those that an earlier release tells of."""
        if not isinstance(earlier, Release):
            raise OptionError(f"like takes an earlier release, such as load returns, not {type(earlier).__name__}")
        if self.typical is not None:
            raise OptionError("an earlier release tells how large weights are: give like or typical_weight, not both")
        if not earlier.topology.is_same(self.topology, bounds=False):
            raise OptionError("the earlier release is of another topology than this network's")
        drawn = sample_released_weights(earlier.measurements)
        if not earlier.statement.private:
            warn(f"the earlier release is {NOT_PRIVATE}, and so is whatever is chosen by this plan")
        middle = float(np.median(drawn))
        return replace(self, typical=TypicalWeight(middle, middle) if middle > 0 else None, drawn=drawn)

    @cached_property
    def trials(self) -> Trials:
        """Stand-in weights, none of which depends on epsilon."""
        return Trials(make_surrogates(self.topology, self.terms.lattice(self.topology), self.typical, self.drawn))

    @cached_property
    def known(self) -> Known | None:
        """What public facts alone would give."""
        surrogates = self.trials.surrogates
        if not surrogates:
            return None
        moves = [np.abs(one.baseline[one.pairs] - one.true[one.pairs]).mean() for one in surrogates]
        far = [one.true[one.pairs].mean() for one in surrogates]
        source = f"the typical weight {self.typical.middle:.4g} on every edge" if self.typical is not None else ""
        if self.topology.proxy_name:
            source = f"the public column {self.topology.proxy_name}" + (source and ", scaled to the typical weight")
        return Known(source, float(np.mean(moves)), float(np.mean(far)))

    def at(self, epsilon: float) -> Plan:
        """The plan for this epsilon."""
        terms = replace(self.terms, epsilon=epsilon)
        return self._tried(terms, self._candidates(terms, self.mechanism))

    def error(self, mechanism: str, trials: Trials, epsilon: float) -> float:
        """The predicted mean error of one mechanism; infinite where it cannot run."""
        try:
            found = self._candidates(replace(self.terms, epsilon=epsilon), mechanism)
            return ranked(found, trials)[0].mean_error
        except CannotError:
            return math.inf

    def choice(self, anyway: bool) -> Plan:
        """The plan for the declared epsilon, or a refusal; where there is nothing to decide nothing is simulated."""
        found = self._candidates(self.terms, self.mechanism)
        if anyway and sum(candidate.strategy is not None for candidate in found) == 1:
            return Plan(self.terms, ranked(found, Trials()))
        return checked(self._tried(self.terms, found), anyway)

    def _tried(self, terms: Terms, found: Sequence[Candidate]) -> Plan:
        if terms.budget.unlimited:
            return Plan(terms, ranked(found, Trials()))
        return Plan(terms, ranked(found, self.trials), self.known)

    def _candidates(self, terms: Terms, mechanism: str) -> list[Candidate]:
        if self.law is not None:
            check_law(self.law, terms.budget)
        return named_candidates(mechanism, Problem.of(self.topology, terms), self.law, self.options)


@overload
def plan(topology: Topology, *, epsilon: Sequence[float], **asked: Any) -> Sweep: ...
@overload
def plan(topology: Topology, *, epsilon: float | None = None, **asked: Any) -> Plan: ...
@by_name
def plan(
    topology: Topology, *, epsilon: float | Sequence[float] | None = None, delta: float = 1e-6,
    unit: float | None = None, max_weight: float | None = None, mechanism: str = "auto", law: str = "auto",
    granularity: float | None = None, population: int | None = None, proxy: str | None = None,
    typical_weight: float | Sequence[float] | None = None, target_error: float | str | None = None,
    like: Release | None = None, anyway: bool = False, unit_l2: float | None = None,
    unit_edges: tuple[int, float] | None = None, protects: str | None = None, units: float | None = None,
    cells: float | None = None, low: Any = None, high: Any = None, periods: Any = None, neighbours: str = "add-remove",
    max_edges: int | None = None, emphasis: str = "quiet", **options: Any,
) -> Plan | Sweep | TripPlan:  # fmt: skip
    """Build every candidate strategy, predict its error and put the best first.  Reads no weights.

    Arguments as in ``hushpath.release``, and these.  A topology that has a proxy keeps it; ``proxy`` names another
    column.

    Args:
        epsilon: the budget; several, as a list, give a ``Sweep``: the best candidate at each.
        typical_weight: about the median weight, ``25``; or better two weights between which about half of all lie,
            ``(15, 40)``: public, declared, NEVER computed from the private data.  It bounds nothing, decides nothing
            private and is not published; with it (or a proxy) errors are simulated, in relative terms too.
        like: an earlier release of the same network, with edges measured (``input``, ``lines``), by any budget.  The
            weights to come are taken to be like those it tells of.  Instead of ``typical_weight``, and says far more.
        target_error: the mean error to reach, ``2`` or ``"5%"`` of the mean distance: epsilon is solved for.
        anyway: plan even if public facts alone are predicted to be as good as the release.

    With ``protects`` the plan is for a release of people's trips, and a ``TripPlan``; arguments as in ``release``, and:

    Args:
        units: about how many protected units there will be: public, declared, NEVER counted in the data.
        cells: about how many cells (an edge in a period) one of them touches: public, declared.
        periods: the public periods, as for ``read_trips``.
    """
    if protects is not None:
        told: dict[str, Any] = dict(
            unit=unit, max_weight=max_weight, granularity=granularity, typical_weight=typical_weight
        )
        told |= dict(target_error=target_error, like=like, unit_l2=unit_l2, unit_edges=unit_edges, **options)
        if wrong := next((name for name, value in told.items() if value is not None), None):
            raise OptionError(f"a plan for trips takes no {wrong} (docs/TRIPS.md)")
        terms_of = declared(
            PlannedTrips(_checked_topology(topology), Periods.declared(periods)), epsilon=epsilon, delta=delta,  # type: ignore[arg-type]
            protects=protects, low=low, high=high, proxy=proxy, neighbours=neighbours, days=None, max_edges=max_edges,
            population=population, emphasis=emphasis,
        )  # fmt: skip
        return plan_trips(trip_strategy(*terms_of, law), units, cells, anyway)
    if units is not None or cells is not None:
        raise OptionError("units and cells declare a day of trips: say what is protected, too (protects)")
    several = isinstance(epsilon, (list, tuple, np.ndarray))
    if target_error is not None and epsilon is not None:
        raise OptionError("target_error is solved for epsilon: give one of the two")
    wanted = None if target_error is None else parsed(target_error)
    first: Any = 1.0 if wanted is not None else _listed(epsilon)[0] if several else epsilon
    terms = Terms.declared(first, delta, unit, max_weight, granularity, population, unit_l2, unit_edges)
    question = ask(topology, terms, mechanism, law, proxy, typical_weight, options)
    if like is not None:
        question = question.like(like)
    if several:
        return Sweep(tuple(question.at(one) for one in _listed(epsilon)))
    return checked(question.at(terms.epsilon) if wanted is None else _solved(question, *wanted), anyway)


def ask(
    topology: Any, terms: Terms, mechanism: str, law: str, proxy: Any, typical: Any, options: Mapping[str, Any]
) -> Question:
    """What is asked for, once it is known to make sense."""
    _checked_topology(topology)
    topology = topology if proxy is None else topology.with_proxy(column_name(proxy))
    terms.lattice(topology)
    warn_of_bounds(topology, terms.max_weight)
    if law not in ("auto", *Law):
        raise OptionError(f"law must be auto, laplace or gaussian, got {str(law)[:40]!r}")
    return Question(topology, terms, mechanism, None if law == "auto" else Law(law), checked_typical(typical), options)


def _checked_topology(topology: Any) -> Topology:
    if not isinstance(topology, Topology):
        raise OptionError(f"plan takes a topology, such as net.topology, not {type(topology).__name__}")
    return topology


def checked(made: Plan, anyway: bool) -> Plan:
    """Refuse a plan for what public facts alone give as well, unless somebody insists."""
    if not (made.worth_it or anyway):
        assert made.known is not None
        raise CannotError(
            f"{made.known.compared(made.choice.mean_error)} (off by {made.choice.mean_error:.4g}); "
            "use a larger epsilon or a smaller unit, or insist with anyway=True (--anyway)"
        )
    return made


def _solved(question: Question, target: float, relative: bool) -> Plan:
    """The plan with the smallest epsilon that is predicted to reach a mean error."""
    if relative:
        if question.known is None or question.known.distance <= 0:
            raise OptionError("a relative target_error needs typical_weight or a proxy: how long are distances?")
        target *= question.known.distance
    made = question.at(1.0)
    for _ in range(MOST_ROUNDS):  # another mechanism may be the best at the epsilon that was found for one
        best = made.choice.mechanism
        made = question.at(smallest_epsilon(_near(question, made), target, made.terms.epsilon))
        if made.choice.mechanism == best and NEAR * target <= made.choice.mean_error <= target:
            break
    else:
        error_at = partial(question.error, made.choice.mechanism, question.trials)
        made = question.at(smallest_epsilon(error_at, target, made.terms.epsilon))
    return replace(made, target_error=target)


def _near(question: Question, made: Plan) -> Callable[[float], float]:
    """The error of a plan's choice at other epsilons: the closer to the plan's own, the better.

    One kind of stand-in weights tells how the error changes with epsilon; all of them told how large it is.
    """
    every, choice = question.trials, made.choice
    if not choice.expected.simulated or choice.mean_error <= 0:
        return partial(question.error, choice.mechanism, every)
    which, error = every.middle(made.strategy)

    def error_at(epsilon: float) -> float:
        if epsilon >= LARGEST:  # whether a target can be reached at all is for all of them to say
            return question.error(choice.mechanism, every, epsilon)
        return question.error(choice.mechanism, every.only(which), epsilon) * choice.mean_error / error

    return error_at


def _listed(epsilon: Any) -> list[float]:
    """Several epsilons: numbers, each once, the smallest first."""
    try:
        numbers = sorted({float(one) for one in epsilon})
    except (TypeError, ValueError):
        raise OptionError("several epsilons are given as a list of numbers, such as [0.5, 1, 2]") from None
    if not 1 <= len(numbers) <= MOST_EPSILONS:
        raise OptionError(f"a sweep takes 1 to {MOST_EPSILONS} epsilons, got {len(numbers)}")
    return numbers


def checked_typical(weight: Any) -> TypicalWeight | None:
    """A typical weight is a positive number or a pair of them, the smaller first; or it is not declared."""
    if weight is None:
        return None
    pair = isinstance(weight, (list, tuple, np.ndarray)) and len(weight) == 2
    low, high = ends = tuple(weight) if pair else (weight, weight)
    plain = all(isinstance(one, (int, float, np.integer, np.floating)) and not isinstance(one, bool) for one in ends)
    if not plain or not 0 < low <= high < math.inf or (pair and low == high):
        raise OptionError(
            "typical_weight must be a positive finite number, or two between which half of the weights lie, the "
            f"smaller first, got {str(weight)[:40]!r}"
        )
    return TypicalWeight(float(low), float(high))


def column_name(proxy: Any) -> str:
    """A proxy is asked for by name."""
    if not isinstance(proxy, str):
        raise OptionError(
            f"proxy names a public column, and {type(proxy).__name__} is no name; declare an array by with_proxy"
        )
    return proxy
