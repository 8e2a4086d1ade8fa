"""The candidates of a plan: every mechanism that fits, under every noise law it may use, with its predicted error.

From public facts only.  Errors are first predicted from noise alone.  If the size of weights is known, candidates are
then simulated on stand-in weights, the most promising first, except those far behind the best so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..decoder.registry import choose_decoder
from ..errors import CannotError, HushpathError, OptionError
from ..estimator.registry import quick_estimator
from ..measurement.strategy import Strategy
from ..mechanism.base import Mechanism, Problem, build_strategy
from ..mechanism.registry import MECHANISMS, mechanism_named
from ..noise import Law, std
from ..progress import steps
from .predict import Expected, Trials, error_bound, predict_from_noise, uses_costly_estimator

GAMMA = 0.05  # the chance that proved bounds are given away
FAR_BEHIND = 2.0  # times the best: estimators may halve an error predicted from noise alone
CLOSE_BEHIND = 1.1  # times the best with the same decoder: costly estimators are tried on no others
MOST_NUMBERS = 4_000_000  # a strategy that measures more takes too long to try
FOR_COMPARISON = "for comparison only; name it"
IMPOSSIBLE = Expected(float("inf"), float("inf"))


@dataclass(frozen=True, eq=False)
class Candidate:
    """One mechanism under one law, with its predicted error, or the public reason why it is out."""

    mechanism: str
    law: Law | None = None
    expected: Expected = IMPOSSIBLE  # predicted mean, 95 % point and bias of the error, and how sure the mean is
    bound: float = float("inf")  # no answer is off by more, with probability ``1 - GAMMA``: proved
    noise_std: float = float("inf")  # standard deviation of the noisiest number
    numbers: int = 0  # how many are measured
    strategy: Strategy | None = None
    reason: str = ""
    read_as: str = ""  # decoder and, where paths are searched, estimator that a release is read with by default
    relative: float | None = None  # the mean error as a share of the mean distance, where that can be guessed
    hopeful: float = float("inf")  # the mean error if minima over noisy paths did no harm

    @property
    def mean_error(self) -> float:
        """Predicted mean of the absolute error."""
        return self.expected.mean

    @property
    def p95_error(self) -> float:
        """What 95 % of the absolute errors are predicted to stay below."""
        return self.expected.p95

    @property
    def bias(self) -> float | None:
        """Predicted mean of the signed error; ``None`` if it was not simulated."""
        return self.expected.bias

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("mean_error", "p95_error", "bias", "relative", "bound", "noise_std")
        figures = {name: getattr(self, name) if self.strategy else None for name in names}
        law, expected = self.law and str(self.law), self.expected
        between = [expected.least, expected.most] if expected.simulated else None
        return {
            "mechanism": self.mechanism, "noise": law, "decoder": self.read_as or None, **figures,
            "mean_error_between": between, "numbers": self.numbers, "reason": self.reason,
        }  # fmt: skip


def list_candidates(
    mechanism: str, problem: Problem, asked: Law | None, options: Mapping[str, Any]
) -> list[Candidate]:
    """Return the candidates of one ``mechanism``, or of all with reasons why some are out; from noise alone.

    ``problem``: the public facts; ``asked``: the noise law, if it is fixed; ``options``: of a named mechanism.
    """
    if mechanism != "auto":
        return _build_candidates(mechanism_named(mechanism), problem, asked, options)
    return [
        candidate
        for name in steps(list(MECHANISMS), "planning")
        for candidate in _candidates_or_reason(MECHANISMS[name], problem, asked)
    ]


def check_option_names(mechanism: str, options: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse options of mechanisms without a named mechanism, and names close to those of ``known`` parameters."""
    for name in sorted(options):
        takers = [one.name for one in MECHANISMS.values() if name in one.options]
        if not takers and (near := get_close_matches(name, known, 1)):
            raise OptionError(f"unknown option {name!r}; did you mean {near[0]!r}?")
        if mechanism == "auto":
            needs = f"needs a mechanism by name: {', '.join(takers)}" if takers else "is unknown"
            raise OptionError(f"option {name!r} {needs}")


def rank_candidates(candidates: Sequence[Candidate], trials: Trials) -> tuple[Candidate, ...]:
    """Sort the possible candidates by predicted mean error, then the others; raise if none is possible."""
    possible = sorted((c for c in candidates if c.strategy is not None), key=lambda c: c.hopeful)
    if not possible:
        raise CannotError(f"no mechanism fits; {candidates[0].mechanism}: {candidates[0].reason}")
    if trials.surrogates:
        possible = _simulate_candidates(possible, trials)
    # Of equals the simulated first, then the order of the registry: a figure that was tried is better known.
    possible.sort(key=lambda c: (c.mean_error, not c.expected.simulated))
    return (*possible, *(c for c in candidates if c.strategy is None))


def _simulate_candidates(possible: Sequence[Candidate], trials: Trials) -> list[Candidate]:
    """Put simulated errors in place of those from noise alone, except where it would be a waste of time."""
    distance = float(np.mean([scene.true[scene.pairs].mean() for scene in trials.surrogates]))
    found, best = list(possible), float("inf")
    for i, candidate in enumerate(possible):  # quick estimators in place of slow ones
        strategy = candidate.strategy
        assert strategy is not None
        if strategy.num_values <= MOST_NUMBERS and candidate.hopeful <= FAR_BEHIND * best:
            estimator = quick_estimator(strategy).name if uses_costly_estimator(strategy) else "auto"
            expected = trials.expected(strategy, estimator)
            found[i], best = replace(candidate, expected=expected), min(best, expected.mean)
    # Slow estimators gain more or less than one another, up to several times, so quick ones do not decide.
    ahead = {c.read_as: min(d.mean_error for d in found if d.read_as == c.read_as) for c in found}
    for i, candidate in steps(list(enumerate(found)), "trying"):
        strategy = candidate.strategy
        assert strategy is not None
        if candidate.expected.simulated and uses_costly_estimator(strategy):
            close = candidate.mean_error <= CLOSE_BEHIND * ahead[candidate.read_as]
            expected = trials.expected(strategy) if close else Expected(candidate.mean_error, candidate.p95_error)
            found[i] = replace(candidate, expected=expected)
    share = 1 / distance if distance > 0 else None
    return [replace(candidate, relative=share and share * candidate.mean_error) for candidate in found]


def _build_candidates(
    mechanism: Mechanism, problem: Problem, asked: Law | None, options: Mapping[str, Any]
) -> list[Candidate]:
    """Return a ``mechanism`` with ``options`` for this ``problem``, under the law ``asked`` for or each it may use."""
    laws = [asked] if asked is not None else mechanism.laws(problem.budget, options)
    made: list[Candidate] = []
    refusal: HushpathError | None = None
    for law in laws:
        try:
            made.append(_build_candidate(mechanism, problem, law, options))
        except (OptionError, CannotError) as error:
            refusal = refusal or error
    if refusal is not None and not made:
        raise refusal
    return made


def _candidates_or_reason(mechanism: Mechanism, problem: Problem, asked: Law | None) -> list[Candidate]:
    """Return the candidates of one mechanism, or one with the reason why it is out."""
    if mechanism.comparison:
        return [Candidate(mechanism.name, reason=FOR_COMPARISON)]
    if reason := mechanism.unpromising(problem.topology):
        return [Candidate(mechanism.name, reason=f"not tried by auto {reason}; name it")]
    try:
        return _build_candidates(mechanism, problem, asked, {})
    except (OptionError, CannotError) as error:
        return [Candidate(mechanism.name, reason=str(error))]


def _build_candidate(mechanism: Mechanism, problem: Problem, law: Law, options: Mapping[str, Any]) -> Candidate:
    """Build and predict the strategy of a ``mechanism`` with ``options`` for a ``problem`` under a ``law``."""
    strategy = build_strategy(mechanism, problem, law, options)
    expected, hopeful = predict_from_noise(strategy)
    scales = strategy.scales
    return Candidate(
        mechanism=mechanism.name, law=law, expected=expected, bound=error_bound(strategy, GAMMA).total,
        noise_std=std(law, int(scales.max())) * problem.lattice.granularity if len(scales) else 0.0,
        numbers=strategy.num_values, strategy=strategy, hopeful=hopeful,
        read_as=str(choose_decoder(strategy)),
    )  # fmt: skip
