"""What error to expect from a strategy, read as it will be by default: from public facts only.

Two ways.  From noise alone: decoders predict spread and bias for a sample of pairs (``Decoder.predict``); the factor
between standard deviation and mean absolute error is that of a Gaussian, sqrt(2/pi).  By trying, where it is known how
large weights are (``simulate``): the mean over several kinds of stand-in weights, and how far apart these are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..blocks.samples import few_hops, sampled_hops
from ..estimate.core import measured_singly
from ..estimate.registry import quick_estimator
from ..strategy.core import Strategy
from .core import Bound
from .registry import default_decoder
from .simulate import Outcome, is_slow, simulated
from .surrogates import Scene

MEAN_OF_STD = math.sqrt(2 / math.pi)
FEW_EDGES, FEW_SCENES = 3000, 2


@dataclass(frozen=True)
class Expected:
    """Errors to expect over pairs of connected nodes, in units of weight.

    Attributes:
        mean, p95: of the absolute error: its mean, and what 95 % of the pairs stay below.
        bias: the mean of the signed error; ``None`` if it was not simulated.
        least, most: the mean error under the kindest and the worst kind of stand-in weights.
    """

    mean: float
    p95: float
    bias: float | None = None
    least: float = 0.0
    most: float = math.inf

    @property
    def simulated(self) -> bool:
        """Whether it was tried, not only worked out from the noise."""
        return self.bias is not None


def from_noise(strategy: Strategy) -> tuple[Expected, float]:
    """What the size of the noise tells, and a mean error that leaves out what minima over noisy paths may add."""
    if len(strategy.scales) == 0:
        return Expected(0.0, 0.0), 0.0
    expected, step = default_decoder(strategy).predict(strategy, sampled_hops), strategy.lattice.granularity
    if len(expected.spread) == 0:
        return Expected(0.0, 0.0), 0.0
    # A random pair's error is a mixture of normals; its mean absolute value and 95 % point by their usual factors.
    spread, bias = expected.spread, np.asarray(expected.moved + expected.minima)
    mean = expected.mean(np.hypot(MEAN_OF_STD * spread, bias)) * step
    p95 = math.sqrt(expected.mean((1.96 * spread) ** 2 + bias**2)) * step
    return Expected(mean, p95), expected.mean(np.hypot(MEAN_OF_STD * spread, expected.moved)) * step


@dataclass(frozen=True, eq=False)
class Trials:
    """Stand-in weights, and how candidates fared on them: nothing is simulated twice.

    For the strategies of one plan, which differ by mechanism, law and budget alone.
    """

    scenes: tuple[Scene, ...] = ()
    seen: dict[Any, Outcome] = field(default_factory=dict)

    def only(self, which: int) -> Trials:
        """The same with one kind of stand-in weights."""
        return Trials(self.scenes[which : which + 1], self.seen)

    def expected(self, strategy: Strategy, estimator: str = "auto") -> Expected:
        """The mean over scenes of simulated errors.

        On larger networks slow estimators are tried on the first ``FEW_SCENES``; the others are taken to gain as much.
        """
        few = FEW_SCENES if strategy.topology.num_edges > FEW_EDGES and is_slow(strategy, estimator) else None
        outcomes = [self._outcome(strategy, scene, estimator) for scene in self.scenes[:few]]
        if len(outcomes) < len(self.scenes):
            quick = [self._outcome(strategy, scene, quick_estimator(strategy).name) for scene in self.scenes]
            before, after = Outcome.mean_of(quick[:few]), Outcome.mean_of(outcomes)
            outcomes += [one.changed(before, after) for one in quick[few:]]
        found = np.array(outcomes)
        mean, p95, bias = found.mean(axis=0).tolist()
        return Expected(mean, p95, bias, float(found[:, 0].min()), float(found[:, 0].max()))

    def _outcome(self, strategy: Strategy, scene: Scene, estimator: str) -> Outcome:
        # Mechanisms that measure single edges with the same noise are one.
        what = hash(strategy.scales.tobytes()) if measured_singly(strategy) else strategy.mechanism
        key = what, strategy.law, strategy.budget, scene.seed, estimator
        if key not in self.seen:
            self.seen[key] = simulated(strategy, scene, estimator)
        return self.seen[key]

    def middle(self, strategy: Strategy) -> tuple[int, float]:
        """Which scene comes nearest to the mean of all, and its error."""
        errors = np.array([self.only(which).expected(strategy).mean for which in range(len(self.scenes))])
        nearest = int(np.argmin(np.abs(errors - errors.mean())))
        return nearest, float(errors[nearest])


def expected_error(strategy: Strategy) -> float:
    """How far a typical answer is off, from few pairs: quick enough for every load of a file.

    Without the bias of minima, which a plan from noise alone counts in full though little of it shows.
    """
    if len(strategy.scales) == 0:
        return 0.0
    expected = default_decoder(strategy).predict(strategy, few_hops)
    error = np.hypot(MEAN_OF_STD * expected.spread, expected.moved)
    return expected.mean(error) * strategy.lattice.granularity if len(error) else 0.0


def error_bound(strategy: Strategy, gamma: float) -> Bound:
    """What is proved for the default way to read a strategy, for all pairs at once, with probability 1 - gamma."""
    return default_decoder(strategy).bound(strategy, gamma)
