"""Which mechanism, and what error to expect: from public facts only.

A plan builds the calibrated strategy of every mechanism that fits, under every noise law it may use, and predicts the
error of each over pairs of nodes drawn evenly, decoded as by default.  It reads no weights, so a plan may be
made, printed and published before the data exist.

How errors are predicted: ``planning.predict``.  What is proved about them: ``Decoder.bound``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context
from functools import cached_property, partial
from inspect import signature
from typing import Any, TypedDict, overload

import numpy as np

from .._validate import check_type, is_real, shorten
from ..arrays import Float
from ..errors import CannotError, OptionError, warn
from ..measurement.strategy import WeightTerms, check_law
from ..mechanism.base import Problem
from ..network.topology import Topology, warn_of_bounds
from ..noise import Law, Noise
from ..privacy.accounting import Budget
from ..privacy.units import WeightUnit
from ..published.release import Release
from ..published.statement import NOT_PRIVATE
from .predict import Candidate, Trials, check_option_names, list_candidates, rank_candidates
from .result import Plan, PublicBaseline, Sweep
from .surrogates import TypicalWeight, declared_by, make_surrogates, sample_released_weights

MOST_EPSILONS = 50
SMALLEST, LARGEST = 1e-3, 1e3  # epsilons that a target error is solved for
MOST_ROUNDS, MOST_TRIES = 4, 10  # searches with few stand-in weights; epsilons tried in each
NEAR, CLOSE = 0.94, 0.97  # shares of a target error that are near enough: of a plan, of one search
THREE_DIGITS = Context(prec=3, rounding=ROUND_CEILING)


class MechanismOptions(TypedDict, total=False):
    """Options of the mechanisms; each takes some of them (``hushpath.mechanisms``)."""

    family: str
    constants: str
    levels: str
    leaves: str
    depth: int | None
    leaf_size: int | None
    hops: int | None
    hubs: int | None
    hub_seed: int
    branch: int | None
    width: int


@dataclass(frozen=True, eq=False)
class PlanRequest:
    """Everything that a plan is made for; ``terms`` hold any epsilon."""

    topology: Topology
    terms: WeightTerms
    mechanism: str
    law: Law | None
    typical: TypicalWeight | None
    options: Mapping[str, Any]
    drawn: tuple[Float, ...] = ()  # weights drawn from what an earlier release says of them

    def with_previous(self, previous: Any) -> PlanRequest:
        """Return the same request for weights like those of an earlier release."""
        check_type(previous, Release, "`previous_release` must be a Release, such as load returns")
        if self.typical is not None:
            raise OptionError("pass `previous_release` or `typical_weight`, not both: each says how large weights are")
        if not previous.topology.is_same(self.topology, bounds=False):
            raise OptionError("`previous_release` has another topology than this network")
        drawn = sample_released_weights(previous.measurements)
        if not previous.statement.private:
            warn(f"the previous release is {NOT_PRIVATE}, and so is every choice of this plan")
        middle = float(np.median(drawn))
        return replace(self, typical=TypicalWeight(middle, middle) if middle > 0 else None, drawn=drawn)

    @cached_property
    def trials(self) -> Trials:
        """Stand-in weights, none of which depends on epsilon."""
        lattice = self.terms.lattice(self.topology)
        surrogates = make_surrogates(self.topology, lattice, self.typical, self.drawn)
        return Trials(surrogates, declared_by(self.topology, self.typical, self.drawn))

    @cached_property
    def baseline(self) -> PublicBaseline | None:
        """What public data alone would give."""
        surrogates = self.trials.usual
        if not surrogates:
            return None
        errors = [np.abs(one.baseline[one.pairs] - one.true[one.pairs]).mean() for one in surrogates]
        distances = [one.true[one.pairs].mean() for one in surrogates]
        source = f"the typical weight {self.typical.middle:.4g} on every edge" if self.typical is not None else ""
        if self.topology.proxy_name:
            source = f"the public column {self.topology.proxy_name}" + (source and ", scaled to the typical weight")
        return PublicBaseline(source, float(np.mean(errors)), float(np.mean(distances)))

    def with_epsilon(self, epsilon: float) -> Plan:
        """Return the plan for this epsilon."""
        terms = replace(self.terms, budget=replace(self.terms.budget, epsilon=epsilon))
        found = self._candidates(terms, self.mechanism)
        if terms.budget.unlimited:
            return Plan(terms, rank_candidates(found, Trials()))
        return Plan(terms, rank_candidates(found, self.trials), self.baseline, trials=self.trials)

    def error(self, mechanism: str, trials: Trials, epsilon: float) -> float:
        """Return the predicted mean error of one mechanism; infinite where it cannot run."""
        terms = replace(self.terms, budget=replace(self.terms.budget, epsilon=epsilon))
        try:
            return rank_candidates(self._candidates(terms, mechanism), trials)[0].mean_error
        except CannotError:
            return math.inf

    def _candidates(self, terms: WeightTerms, mechanism: str) -> list[Candidate]:
        if self.law is not None:
            check_law(self.law, terms.budget)
        return list_candidates(mechanism, Problem.of(self.topology, terms), self.law, self.options)


@overload
def plan(topology: Topology, *, epsilon: Sequence[float], **more: Any) -> Sweep: ...
@overload
def plan(topology: Topology, *, epsilon: float | None = None, **more: Any) -> Plan: ...
def plan(
    topology: Topology, *, epsilon: float | Sequence[float] | None = None, delta: float = 1e-6,
    unit: float | WeightUnit | None = None, max_weight: float | None = None, mechanism: str = "auto",
    noise: str | Noise = "auto", typical_weight: float | Sequence[float] | None = None,
    previous_release: Release | None = None, target_error: float | str | None = None, ignore_baseline: bool = False,
    **mechanism_options: Any,
) -> Plan | Sweep:  # fmt: skip
    """Build every candidate strategy, predict its error and put the best first.  Reads no weights.

    Parameters
    ----------
    topology
        The public network, for example ``net.topology``; its proxy, if it has one, is used.
    epsilon
        The privacy budget.  A list gives a ``Sweep``: the best candidate at each epsilon.
    delta
        The probability of a larger loss; 0 for pure differential privacy.
    unit
        How far one protected unit can change the weights: a number (L1) or a ``WeightUnit``.
    max_weight
        A public bound on every weight; larger weights are clipped to it.
    mechanism
        A name from ``hushpath.mechanisms()``, or "auto" for the smallest predicted error.
    noise
        "auto", "laplace" or "gaussian", or a ``Noise``.
    typical_weight
        About the median weight, ``25``; or two weights that half of all lie between, ``(15, 40)``.  A public guess,
        NEVER computed from the private data; with it (or a proxy) errors are simulated.
    previous_release
        An earlier release of the same network with edges measured: weights are expected to be like those.
    target_error
        The mean error to reach, ``2`` or ``"5%"`` of the mean distance: epsilon is solved for.
    ignore_baseline
        Plan even if public data alone are predicted to be as good as the release.
    **mechanism_options
        Options of the named mechanism.

    Returns
    -------
    Plan or Sweep
        The candidates with their predicted errors, and an ``optimistic`` and a ``pessimistic`` error of the choice;
        pass a plan on to ``release(net, plan=plan)``.

    Raises
    ------
    CannotError
        If no mechanism fits, or if public data alone are predicted to be as good (see ``ignore_baseline``).

    Examples
    --------
    >>> import hushpath
    >>> net = hushpath.Network.build(range(4), [0, 1, 2], [1, 2, 3], [5.0, 7.0, 6.0])
    >>> hushpath.plan(net.topology, epsilon=1.0, unit=1.0, mechanism="input").choice.mechanism
    'input'
    """
    check_type(topology, Topology, "plan takes a topology, such as net.topology")
    check_option_names(mechanism, mechanism_options, signature(plan).parameters)
    several = isinstance(epsilon, (list, tuple, np.ndarray))
    if target_error is not None and epsilon is not None:
        raise OptionError("`target_error` is solved for epsilon: pass one of the two")
    wanted = None if target_error is None else parse_target(target_error)
    first: Any = 1.0 if wanted is not None else _parse_epsilons(epsilon)[0] if several else epsilon
    terms = WeightTerms(Budget(first, delta), WeightUnit.of(unit), max_weight)
    terms.lattice(topology)
    warn_of_bounds(topology, max_weight)
    typical = _check_typical(typical_weight)
    request = PlanRequest(topology, terms, mechanism, Noise.of(noise).fixed, typical, mechanism_options)
    if previous_release is not None:
        request = request.with_previous(previous_release)
    if several:
        return Sweep(tuple(request.with_epsilon(one) for one in _parse_epsilons(epsilon)))
    made = request.with_epsilon(terms.budget.epsilon) if wanted is None else _solve_for_target(request, *wanted)
    if not (made.worth_it or ignore_baseline):
        assert made.baseline is not None
        raise CannotError(
            f"{made.baseline.compared(made.choice.mean_error)} (mean error {made.choice.mean_error:.4g}); "
            "use a larger epsilon or a smaller unit, or pass ignore_baseline=True (--ignore-baseline)"
        )
    return made


def _solve_for_target(request: PlanRequest, target: float, relative: bool) -> Plan:
    """Return the plan with the smallest epsilon that is predicted to reach a mean error."""
    if relative:
        if request.baseline is None or request.baseline.distance <= 0:
            raise OptionError("a relative `target_error` needs `typical_weight` or a proxy: how long are distances?")
        target *= request.baseline.distance
    made = request.with_epsilon(1.0)
    for _ in range(MOST_ROUNDS):  # another mechanism may be the best at the epsilon that was found for one
        best, epsilon = made.choice.mechanism, made.terms.budget.epsilon
        made = request.with_epsilon(smallest_epsilon(_error_nearby(request, made), target, epsilon))
        if made.choice.mechanism == best and NEAR * target <= made.choice.mean_error <= target:
            break
    else:
        error_at = partial(request.error, made.choice.mechanism, request.trials)
        made = request.with_epsilon(smallest_epsilon(error_at, target, made.terms.budget.epsilon))
    return replace(made, target_error=target)


def _error_nearby(request: PlanRequest, made: Plan) -> Callable[[float], float]:
    """Return the error of a plan's choice at other epsilons, from one kind of stand-in weights, scaled to all kinds."""
    every, choice = request.trials, made.choice
    if not choice.expected.simulated or choice.mean_error <= 0:
        return partial(request.error, choice.mechanism, every)
    which, error = every.middle(made.strategy)

    def error_at(epsilon: float) -> float:
        if epsilon >= LARGEST:  # whether a target can be reached at all is decided by all of them
            return request.error(choice.mechanism, every, epsilon)
        return request.error(choice.mechanism, every.only(which), epsilon) * choice.mean_error / error

    return error_at


def parse_target(target: Any) -> tuple[float, bool]:
    """Parse a target error, ``2``, ``"2"`` or ``"5%"``: the number, and whether it is relative to the mean distance."""
    text = target.strip() if isinstance(target, str) else target
    relative = isinstance(text, str) and text.endswith("%")
    try:
        number = float(text[:-1] if relative else text) if not isinstance(text, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise OptionError(f"`target_error` must be a positive number or a share such as '5%', got {shorten(target)}")
    return (number / 100, True) if relative else (number, False)


def smallest_epsilon(error_at: Callable[[float], float], target: float, first: float = 1.0) -> float:
    """Return the smallest epsilon, to three digits and rounded up, whose predicted error is at most ``target``.

    ``error_at`` falls with epsilon, roughly like a power of it; so the search interpolates logarithms.  It begins at
    ``first``.
    """
    low, high = SMALLEST, LARGEST
    worst, best = math.inf, 0.0  # errors at low and high, where known
    guess, found, aim = first, math.inf, math.sqrt(CLOSE) * target
    for _ in range(MOST_TRIES):
        error = error_at(guess)
        if error <= target:
            high, best, found = guess, error, guess
            if error >= CLOSE * target or guess <= SMALLEST:
                break
        else:
            low, worst = guess, error
            if guess >= LARGEST:
                raise CannotError(
                    f"no epsilon up to {LARGEST:g} is predicted to bring the mean error down to {target:.4g}; "
                    f"at {LARGEST:g} it is {error:.4g}"
                )
        if math.isfinite(worst) and best > 0:
            share = math.log(worst / aim) / math.log(worst / best) if worst > best else 0.5
            guess = low * (high / low) ** min(max(share, 0.1), 0.9)
        elif math.isinf(error):
            guess = math.sqrt(low * high)
        else:  # as if errors were in proportion to noise
            guess = min(max(guess * (error / aim) ** 1.2 if error > 0 else SMALLEST, low), high)
        guess = round_up(guess)
        if guess >= found:
            break
    if not math.isfinite(found):
        raise CannotError(f"no epsilon was found whose predicted mean error is {target:.4g}")
    return round_up(found)


def round_up(value: float) -> float:
    """Round up to three digits.

    >>> round_up(0.123401), round_up(2.0), round_up(7.119)
    (0.124, 2.0, 7.12)
    """
    return float(THREE_DIGITS.create_decimal(repr(value)))


def _parse_epsilons(epsilon: Any) -> list[float]:
    """Return several epsilons: numbers, each once, the smallest first."""
    try:
        numbers = sorted({float(one) for one in epsilon})
    except (TypeError, ValueError):
        raise OptionError("several epsilons must be a list of numbers, such as [0.5, 1, 2]") from None
    if not 1 <= len(numbers) <= MOST_EPSILONS:
        raise OptionError(f"a sweep takes 1 to {MOST_EPSILONS} epsilons, got {len(numbers)}")
    return numbers


def _check_typical(weight: Any) -> TypicalWeight | None:
    """Return a typical weight: a positive number, or two, the smaller first; None if none is declared."""
    if weight is None:
        return None
    pair = isinstance(weight, (list, tuple, np.ndarray)) and len(weight) == 2
    low, high = ends = tuple(weight) if pair else (weight, weight)
    if not all(map(is_real, ends)) or not 0 < low <= high < math.inf or (pair and low == high):
        raise OptionError(
            "`typical_weight` must be a positive finite number, or two that half of the weights lie between, the "
            f"smaller first, got {shorten(weight)}"
        )
    return TypicalWeight(float(low), float(high))
