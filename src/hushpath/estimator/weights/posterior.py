"""Joint posterior samples of all weights, for the distribution of distances.

The interval of a distance comes from distances over such samples.  Sampling edge by edge would be overconfident: errors
that edges share do not average out along a route.  So each sample contains

* the uncertainty of the regression coefficients and of the bias correction (``regression``),
* the uncertainty of each weight, with fields that neighbours share (``fields.ErrorFields``);

what routes share beyond that (``accuracy``) is returned beside the samples.

A parametric bootstrap (``accuracy``) shows how far to trust the samples: each replicate is estimated again from
scratch by the estimator that answers, and its true distances are known.  The truths of replicates are sampled with
coefficients and correction at their point estimates: they are what the fitted model describes, and the fit of a
replicate makes the errors of fitting again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from ...arrays import Float, Int
from ...network.topology import Topology
from ...noise import simulation
from ...progress import steps
from ..accuracy import replicate, shared_variance
from ..base import NoisyEdges
from ..fields import RANGES, ErrorFields
from .regression import BiasCorrection, Observed, Regression, square_root
from .shrink import fit_regression

SAMPLES = 24
QUANTILES = 16  # of the posterior of a weight, for its standard deviation
BINS, EDGES_PER_BIN = 24, 40
REPLICATE_SAMPLES = 12
REPLICATES = ((5_000, 3), (20_000, 2))  # up to so many edges; beyond 1: in small networks routes share too much
MAX_SHARED_SD, SIGN_FLIPS = 1.0, 8
SIGNIFICANCE = 2.0  # standard deviations

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PosteriorModel:
    """A model of all weights given a release, in units of noise."""

    fitted: Regression
    correction: BiasCorrection
    mean: Float  # (m,): posterior means, corrected
    # (m,): the typical posterior standard deviation of edges with a similar location, whatever their own noise
    sd: Float

    @classmethod
    def fit(cls, topology: Topology, observed: Observed, additive: float | None = None) -> PosteriorModel:
        """Fit the model; ``additive`` as in `shrink.shrink_once`."""
        fitted = fit_regression(topology, observed, additive)
        correction = BiasCorrection.fit(topology, fitted)
        location = fitted.location
        levels = np.tile((np.arange(QUANTILES)[:, None] + 0.5) / QUANTILES, (1, len(location)))
        found = observed.posterior(location, fitted.residuals, fitted.classes, levels)
        parts = int(np.clip(len(location) // EDGES_PER_BIN, 2, BINS))
        bins = np.searchsorted(np.quantile(location, np.linspace(0, 1, parts + 1)[1:-1]), location)
        variance = np.bincount(bins, found.samples.var(axis=0)) / np.maximum(np.bincount(bins), 1)
        mean = found.mean + correction.added(found.mean)
        return cls(fitted, correction, mean, np.maximum(np.sqrt(variance[bins]), 1e-3))

    @property
    def residuals(self) -> Float:
        """Noisy weights less estimated ones."""
        return self.fitted.observed.values - self.mean

    def shared_variance(self, topology: Topology, errors: Float) -> Float:
        """Return the variance that rows of errors share along routes, relative to the squared length of routes."""
        return shared_variance(topology, self.fitted.posterior().prior_mean, np.maximum(self.mean, 0.0), errors)

    def with_point_estimates(self) -> PosteriorModel:
        """Return the same model without uncertainty about coefficients and correction."""
        fitted = replace(self.fitted, covariance=np.zeros_like(self.fitted.covariance))
        correction = replace(self.correction, root=np.zeros_like(self.correction.root))
        return replace(self, fitted=fitted, correction=correction)

    def sample(self, fields: ErrorFields, shares: Float, count: int, seed: int) -> Float:
        """Sample all weights ``count`` times; ``shares`` of the error variance follow ``fields`` drawn by ``seed``."""
        from scipy.special import ndtr

        rng, fitted, observed = simulation(seed), self.fitted, self.fitted.observed
        root = square_root(fitted.covariance)
        out = np.empty((count, len(self.mean)))
        for row in out:
            coefficients = fitted.coefficients + root @ rng.normal(size=len(root))
            location = replace(fitted, coefficients=coefficients).location
            levels = ndtr(fields.sample(shares, rng))[None]
            found = observed.posterior(location, fitted.residuals, fitted.classes, levels)
            moved = found.samples[0] + self.correction.added(found.mean, rng.normal(size=len(self.correction.root)))
            row[:] = np.clip(moved, observed.low, observed.high)
        return out


class EstimatedReplicate(NamedTuple):
    """A bootstrap replicate: its true weights, the estimated weights, and posterior samples, in units of noise."""

    truth: Float
    estimate: Float
    samples: Float


@dataclass(frozen=True, eq=False)
class PosteriorSamples:
    """Samples of all weights, in units of noise, and what is needed to calibrate them."""

    weights: Float  # (count, m)
    replicates: tuple[EstimatedReplicate, ...]
    shared_sd: float  # standard deviation of a further error that routes share, relative to their length


def sample_posterior(
    noisy: NoisyEdges, estimate: Callable[[NoisyEdges], Int], count: int = SAMPLES
) -> PosteriorSamples:
    """Sample the weights given a release; the same release gives the same samples."""
    topology, unit = noisy.topology, noisy.unit
    model, fields = PosteriorModel.fit(topology, Observed.from_edges(noisy)), ErrorFields(topology)
    replicates = next((times for most, times in REPLICATES if topology.num_edges <= most), 1)
    shares, found, corrections = np.zeros(len(RANGES)), [], []
    for turn in steps(range(replicates + 1), "bootstrapping"):
        sample = model.with_point_estimates().sample(fields, shares, 1, 400 + turn)[0]
        truth, measured = replicate(noisy, sample * unit, simulation(300 + turn))
        truth = truth / unit
        again = PosteriorModel.fit(topology, Observed.from_edges(measured), model.fitted.residuals.additive)
        error = truth - again.mean
        of_errors, of_residuals = again.shared_variance(topology, np.stack([error, again.residuals]))
        corrections.append(float(of_errors - of_residuals))  # the noise of an edge is in its neighbours' estimates
        if turn == 0:
            correction = fields.products(error / again.sd) - fields.products(again.residuals / again.sd)
            shares = fields.shares(model.residuals, model.sd, correction)
        else:
            samples = again.sample(fields, shares, REPLICATE_SAMPLES, 200 + turn)
            found.append(EstimatedReplicate(truth, estimate(measured) / unit, samples))
    weights = model.sample(fields, shares, count, 100)
    return PosteriorSamples(weights, tuple(found), _shared_sd(topology, model, weights, np.array(corrections)))


def _shared_sd(topology: Topology, model: PosteriorModel, samples: Float, corrections: Float) -> float:
    """Return the error that routes of ``topology`` share beyond that of the ``samples``, as far as it is significant.

    ``corrections`` (one per replicate) remove from the residuals of the ``model`` what estimates owe to noise.
    """
    flipped = model.residuals * simulation(600).choice([-1.0, 1.0], (SIGN_FLIPS, len(model.mean)))
    found = model.shared_variance(topology, np.vstack([model.residuals, flipped, samples - samples.mean(axis=0)]))
    seen, chance, sampled = found[0], found[1 : SIGN_FLIPS + 1], found[SIGN_FLIPS + 1 :]
    sd = np.sqrt(np.mean(chance**2) + corrections.var(ddof=1) * (1 + 1 / len(corrections)))
    excess = float(seen + corrections.mean() - np.mean(sampled) - SIGNIFICANCE * sd)
    return min(float(np.sqrt(max(excess, 0.0))), MAX_SHARED_SD)


def try_fit(fit: Callable[[], T]) -> T | None:
    """Call a function that fits a model, and return its result; ``None`` if the data are too extreme for a fit."""
    try:
        with np.errstate(all="ignore"):
            return fit()
    except np.linalg.LinAlgError:
        return None
