"""The candidates of a plan, and their predicted errors, from public facts only.

A candidate is a mechanism that fits, under a noise law that it may use, with its default decoder and estimator.  Errors
are first predicted from noise alone.  If the size of weights is known, candidates are then simulated on stand-in
weights, the most promising first, except those far behind the best so far.

*From noise alone*: decoders predict standard deviation and bias for a sample of pairs
(``Decoder.predict``); the mean absolute error is sqrt(2 / pi) standard deviations, as for normal errors.  *By
simulation*, if it is known how large weights are: releases of stand-in weights (``surrogates``) are simulated
(``simulate``) and decoded.  The prediction is the mean over the usual stand-ins.  The same stand-ins and seeds serve
every candidate and every budget, which makes comparisons fair.  The choice is then tried on all kinds of stand-in: from
the least and the most that single releases are off, widened by what such predictions were wrong by on networks whose
weights are known (`MODEL_ERROR`), comes the range that a plan gives (`Trials.range_of`).

The mean error of one release varies by chance (on networks of some hundred edges by a quarter or more), so quick
estimators see several draws of the noise.  Costly ones see the first only, and change the mean over all by the ratio of
the two: chance affects both alike.  Beyond `WHOLE_EDGES` edges that takes too long, and the ratio is found
on a part of the network: there the bias per hop and the variance per hop are fitted, and extrapolated to the hop counts
of the whole.  Where sums along lines were measured, parts say nothing, and the quick estimator stands for both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Float
from ..decoder.base import MEAN_OF_STD, Bound, Decoder
from ..decoder.registry import choose_decoder, default_decoder
from ..decoder.simulate import draw_noise, exact_values, simulate_release
from ..errors import CannotError, HushpathError, OptionError
from ..estimator.base import NoisyEdges, WeightEstimator, measures_single_edges
from ..estimator.registry import quick_estimator
from ..measurement.samples import distance_rows, sampled_hops
from ..measurement.strategy import Strategy
from ..mechanism.base import Mechanism, Problem, build_strategy
from ..mechanism.registry import MECHANISMS, mechanism_named
from ..noise import Law, simulation, std
from ..progress import steps
from .surrogates import MAX_DRAWS, MAX_VISITED, MODEL_ERROR, Surrogate

SMALL_NETWORK, FEW_SURROGATES = 3000, 2  # edges; beyond, costly estimators are tried on fewer stand-ins
WHOLE_EDGES = 15_000
NOISE_SEED, MAX_SURROGATES = 1000, 8  # one seed of noise for each stand-in and draw
FEW_DRAWS = 4  # where reading takes longer than a search over edges
RANGE = (0.05, 0.95)  # quantiles over kinds and draws that a plan calls optimistic and pessimistic
GAMMA = 0.05  # the chance that proved bounds are given away
FAR_BEHIND = 2.0  # times the best: estimators may halve an error predicted from noise alone
CLOSE_BEHIND = 1.1  # times the best with the same decoder: costly estimators are tried on no others
MOST_NUMBERS = 4_000_000  # a strategy that measures more takes too long to try
FOR_COMPARISON = "for comparison only; name it"


@dataclass(frozen=True)
class Expected:
    """Expected errors over pairs of connected nodes, in units of weight."""

    mean: float  # mean, p95: mean and 95th percentile of the absolute error
    p95: float
    bias: float | None = None  # the mean of the signed error; None if it was not simulated

    @property
    def simulated(self) -> bool:
        """Whether it was simulated, not only computed from the noise."""
        return self.bias is not None


class Scenario(NamedTuple):
    """An end of the range of a plan: a mean error, and the kind of stand-in that comes nearest to it."""

    error: float
    kind: str

    def __str__(self) -> str:
        return f"{self.error:.4g} ({self.kind})"


class Outcome(NamedTuple):
    """Mean and 95th percentile of absolute errors, and the mean of signed errors, in units of weight."""

    mean: float
    p95: float
    bias: float
    draws: tuple[float, ...] = ()  # the mean errors of single releases

    @classmethod
    def of(cls, errors: Float) -> Outcome:
        """Summarise signed errors."""
        size = np.abs(errors)
        mean = float(size.mean())
        return cls(mean, float(np.quantile(size, 0.95)), float(errors.mean()), (mean,))

    @classmethod
    def mean_of(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """Average over several releases."""
        mean, p95, bias = np.mean([one[:3] for one in outcomes], axis=0).tolist()
        return cls(mean, p95, bias, tuple(draw for one in outcomes for draw in one.draws))

    def scaled(self, ratio: float, bias: float) -> Outcome:
        """Return errors in proportion, with another bias as far as the mean error allows."""
        mean = self.mean * ratio
        return Outcome(mean, self.p95 * ratio, float(np.clip(bias, -mean, mean)), tuple(ratio * x for x in self.draws))

    def changed(self, before: Outcome, after: Outcome) -> Outcome:
        """Change these mean errors as those of a single release change: by the ratio of sizes."""
        if before.mean <= 0 or before.p95 <= 0:
            return after
        found = self.scaled(after.mean / before.mean, self.bias + (after.bias - before.bias))
        return found._replace(p95=self.p95 * after.p95 / before.p95)


class PerHop(NamedTuple):
    """How errors grow with the number of hops: bias and variance in proportion."""

    bias: float
    variance: float

    @classmethod
    def fit(cls, hops: Float, errors: Float) -> PerHop:
        """Fit to signed errors; the bias is that of the farther half, because short routes show little of it."""
        far = hops >= np.median(hops)
        bias = float(errors[far].sum() / hops[far].sum())
        return cls(bias, float(((errors - bias * hops) ** 2).sum() / hops.sum()))

    def mean_error(self, hops: Float, share: Float) -> float:
        """Return the mean of ``|N(bias h, variance h)|`` over hop counts h with these shares."""
        from scipy.special import erf

        middle, sd = self.bias * hops, np.sqrt(self.variance * hops) + 1e-300
        ratio = np.clip(middle / sd, -1e100, 1e100)
        size = sd * np.sqrt(2 / np.pi) * np.exp(-np.minimum(ratio**2 / 2, 700.0)) + middle * erf(ratio / np.sqrt(2))
        return float(size @ share)


def uses_costly_estimator(strategy: Strategy, estimator: str = "auto") -> bool:
    """Return whether a strategy is decoded with a costly estimator."""
    decoder, chosen = choose_decoder(strategy, estimator=estimator)
    return decoder.searches and chosen.costly


def simulate_errors(strategy: Strategy, surrogate: Surrogate, estimator: str = "auto") -> Outcome:
    """Simulate releases of stand-in weights, and return their errors."""
    decoder, chosen = choose_decoder(strategy, estimator=estimator)
    costly = decoder.searches and chosen.costly
    quick = quick_estimator(strategy) if costly else chosen
    most = MAX_DRAWS if measures_single_edges(strategy) else FEW_DRAWS
    draws = max(1, min(most, MAX_VISITED // max(strategy.num_values, surrogate.true.size)))
    exact = exact_values(strategy, strategy.lattice.to_steps(surrogate.weights))
    first, *others = (
        decoder(simulate_release(strategy, exact, draw_noise(strategy, simulation(seed))), quick)
        for seed in range(NOISE_SEED + surrogate.seed, NOISE_SEED + MAX_SURROGATES * draws, MAX_SURROGATES)
    )
    once = _outcome(first, surrogate)
    found = Outcome.mean_of([once, *(_outcome(one, surrogate) for one in others)])
    if not costly:
        return found
    if len(surrogate.weights) <= WHOLE_EDGES:
        return found.changed(once, _outcome(decoder(first.measurements, chosen), surrogate))
    if not first.noisy.independent or not isinstance(chosen, WeightEstimator):
        return found
    return _extrapolate(found, surrogate, first.noisy, chosen)


def _outcome(decoder: Decoder, surrogate: Surrogate) -> Outcome:
    rows = np.empty_like(surrogate.true)
    decoder.rows(surrogate.sources, rows)
    return Outcome.of(rows[surrogate.pairs] - surrogate.true[surrogate.pairs])


def _extrapolate(clipped: Outcome, surrogate: Surrogate, noisy: NoisyEdges, estimator: WeightEstimator) -> Outcome:
    """Extrapolate the errors of an ``estimator`` from those of ``clip``, by their ratio on a part of the network.

    ``clipped`` are the errors on the whole of a ``surrogate``, ``noisy`` a simulated release of its weights.
    """
    part, count = surrogate.part, len(surrogate.weights)
    if len(noisy.edges) < count or not part.pairs.any():
        return clipped
    inside = noisy.restricted(part.topology, part.edges)
    sample = sampled_hops(surrogate.topology)
    hops, share = sample.hops, sample.share
    found = []
    for weights in (np.clip(inside.values, *inside.bounds), estimator.weights(inside)):
        rows = distance_rows(part.topology, inside.lattice.floats(weights), part.sources)
        found.append(PerHop.fit(part.hops[part.pairs], rows[part.pairs] - part.true[part.pairs]))
    plain, better = found
    ratio = better.mean_error(hops, share) / max(plain.mean_error(hops, share), 1e-300)
    return clipped.scaled(ratio, better.bias * float(hops @ share))


def predict_from_noise(strategy: Strategy) -> tuple[Expected, float]:
    """Predict from the noise alone, and return a mean error without the bias of minima over noisy paths as well."""
    if len(strategy.scales) == 0:
        return Expected(0.0, 0.0), 0.0
    expected, step = default_decoder(strategy).predict(strategy, sampled_hops), strategy.lattice.granularity
    if len(expected.spread) == 0:
        return Expected(0.0, 0.0), 0.0
    # The error of a random pair is a mixture of normals: mean absolute value and 95 % point by their usual factors.
    spread, bias = expected.spread, np.asarray(expected.moved + expected.minima)
    mean = expected.mean(np.hypot(MEAN_OF_STD * spread, bias)) * step
    p95 = math.sqrt(expected.mean((1.96 * spread) ** 2 + bias**2)) * step
    return Expected(mean, p95), expected.mean(np.hypot(MEAN_OF_STD * spread, expected.moved)) * step


@dataclass(frozen=True, eq=False)
class Trials:
    """Stand-in weights, and the errors of candidates on them: nothing is simulated twice.

    For the strategies of one plan, which differ by mechanism, noise distribution and budget only.
    """

    surrogates: tuple[Surrogate, ...] = ()
    declared: str = "median"  # what stand-ins were made from: a key of MODEL_ERROR
    cache: dict[Any, Outcome] = field(default_factory=dict)

    @property
    def usual(self) -> tuple[Surrogate, ...]:
        """The stand-ins that count for the expected error."""
        return tuple(one for one in self.surrogates if one.usual)

    def only(self, which: int) -> Trials:
        """Return the same with one of the usual kinds of stand-in weights."""
        return Trials(self.usual[which : which + 1], self.declared, self.cache)

    def expected(self, strategy: Strategy, estimator: str = "auto") -> Expected:
        """Return the mean over the usual stand-ins of simulated errors.

        On larger networks costly estimators are tried on the first `FEW_SURROGATES`; on the others they are taken to
        change errors by the same ratio.
        """
        usual, many = self.usual, strategy.topology.num_edges > SMALL_NETWORK
        few = FEW_SURROGATES if many and uses_costly_estimator(strategy, estimator) else None
        outcomes = [self._outcome(strategy, one, estimator) for one in usual[:few]]
        if len(outcomes) < len(usual):
            quick = [self._outcome(strategy, one, quick_estimator(strategy).name) for one in usual]
            before, after = Outcome.mean_of(quick[:few]), Outcome.mean_of(outcomes)
            outcomes += [one.changed(before, after) for one in quick[few:]]
        found = Outcome.mean_of(outcomes)
        return Expected(found.mean, found.p95, found.bias)

    def range_of(self, strategy: Strategy) -> tuple[Scenario, Scenario]:
        """Return the optimistic and the pessimistic mean error of one release, over all kinds and draws of noise."""
        tried = [(self._outcome(strategy, one, "auto"), one.kind) for one in steps(self.surrogates, "trying")]
        ends = np.quantile(np.concatenate([one.draws for one, _ in tried]), RANGE)
        factor = MODEL_ERROR[self.declared]
        least, most = (pick(tried, key=lambda one: one[0].mean)[1] for pick in (min, max))
        return Scenario(float(ends[0]) / factor, least), Scenario(float(ends[1]) * factor, most)

    def _outcome(self, strategy: Strategy, surrogate: Surrogate, estimator: str) -> Outcome:
        # Mechanisms that measure single edges with the same noise are the same.
        what = hash(strategy.scales.tobytes()) if measures_single_edges(strategy) else strategy.mechanism
        key = what, strategy.law, strategy.budget, surrogate.seed, estimator
        if key not in self.cache:
            self.cache[key] = simulate_errors(strategy, surrogate, estimator)
        return self.cache[key]

    def middle(self, strategy: Strategy) -> tuple[int, float]:
        """Return the usual stand-in whose error is nearest to the mean of all, and its error."""
        errors = np.array([self.only(which).expected(strategy).mean for which in range(len(self.usual))])
        nearest = int(np.argmin(np.abs(errors - errors.mean())))
        return nearest, float(errors[nearest])


def error_bound(strategy: Strategy, gamma: float) -> Bound:
    """Return the proved bound of the default decoder, for all pairs at once, with probability ``1 - gamma``."""
    return default_decoder(strategy).bound(strategy, gamma)


@dataclass(frozen=True, eq=False)
class Candidate:
    """One mechanism under one law, with its predicted error, or the public reason why it is out."""

    mechanism: str
    law: Law | None = None
    expected: Expected = Expected(math.inf, math.inf)  # mean, 95th percentile and bias of the error
    bound: float = math.inf  # no answer is off by more, with probability ``1 - GAMMA``: proved
    noise_std: float = math.inf  # standard deviation of the noisiest number
    numbers: int = 0  # how many are measured
    strategy: Strategy | None = None
    reason: str = ""
    read_as: str = ""  # decoder and, where paths are searched, estimator that a release is read with by default
    relative: float | None = None  # the mean error as a share of the mean distance, where that can be guessed
    error_without_bias: float = math.inf  # the mean error if minima over noisy paths did no harm

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
        """Return plain values for JSON."""
        names = ("mean_error", "p95_error", "bias", "relative", "bound", "noise_std")
        figures = {name: getattr(self, name) if self.strategy else None for name in names}
        return {
            "mechanism": self.mechanism, "noise": self.law and str(self.law), "decoder": self.read_as or None,
            **figures, "numbers": self.numbers, "reason": self.reason,
        }  # fmt: skip


def list_candidates(mechanism: str, problem: Problem, asked: Law | None, options: Mapping[str, Any]) -> list[Candidate]:
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
    possible = sorted((c for c in candidates if c.strategy is not None), key=lambda c: c.error_without_bias)
    if not possible:
        raise CannotError(f"no mechanism fits; {candidates[0].mechanism}: {candidates[0].reason}")
    if trials.surrogates:
        possible = _simulate_candidates(possible, trials)
    # Of equals the simulated first, then the order of the registry: a figure that was tried is better known.
    possible.sort(key=lambda c: (c.mean_error, not c.expected.simulated))
    return (*possible, *(c for c in candidates if c.strategy is None))


def _simulate_candidates(possible: Sequence[Candidate], trials: Trials) -> list[Candidate]:
    """Put simulated errors in place of those from noise alone, except where it would be a waste of time."""
    distance = float(np.mean([scene.true[scene.pairs].mean() for scene in trials.usual]))
    found, best = list(possible), math.inf
    for i, candidate in enumerate(possible):  # quick estimators in place of slow ones
        strategy = candidate.strategy
        assert strategy is not None
        if strategy.num_values <= MOST_NUMBERS and candidate.error_without_bias <= FAR_BEHIND * best:
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
    expected, error_without_bias = predict_from_noise(strategy)
    scales = strategy.scales
    return Candidate(
        mechanism=mechanism.name, law=law, expected=expected, bound=error_bound(strategy, GAMMA).total,
        noise_std=std(law, int(scales.max())) * problem.lattice.granularity if len(scales) else 0.0,
        numbers=strategy.num_values, strategy=strategy, error_without_bias=error_without_bias,
        read_as=str(choose_decoder(strategy)),
    )  # fmt: skip
