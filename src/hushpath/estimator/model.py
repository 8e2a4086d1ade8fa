"""One model of edges, for weights and for times: noisy values, public facts, a smooth field, and own deviations.

The logarithm of a true value is

    location + deviation,     location = effects of public facts + a field that neighbours share

* effects are piecewise linear in each fact (`facts.Design`), with a prior whose variance is learnt per fact;
* the field lives on a hierarchy of groups of edges (`hierarchy.Field`);
* deviations are independent: a mixture of normal distributions, narrow to wide and to either side, plus the chance that
  the value is the lowest there is (an unused pipe).  Each class of edges has its own shares.

Noise has its exact distribution, and values lie within their public bounds (``kernels.residuals``).  `fit` alternates:
what each noisy value tells of its location is summarised by a normal distribution, found around what all *other* edges
say of it (expectation propagation, so that noise never decides its own weight); then coefficients, variances and shares
follow from all of these, each at the maximum of its marginal likelihood.  The priors are such that a release that says
nothing teaches nothing: then effects and field are nearly 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..kernels.paths import in_threads
from ..kernels.residuals import LOWEST_RUNG, RUNG_STEP, Prior, Seen, sample, update
from ..measurement.samples import usage
from ..network.topology import Topology
from ..noise import simulation
from .facts import Design, design_of
from .hierarchy import Field, Hierarchy, edge_hierarchy

# Deviations: centre, width, and the share that each component has before anything is seen.  Last: the lowest value.
COMPONENTS = np.array([
    (0.0, 0.02, 0.08), (0.0, 0.08, 0.15), (0.0, 0.2, 0.3), (0.0, 0.4, 0.3), (0.0, 0.8, 0.13), (0.0, 1.6, 0.03),
    (0.7, 0.4, 0.02), (-0.7, 0.4, 0.02), (1.6, 0.8, 0.01), (-1.6, 0.8, 0.01), (0.0, 0.0, 0.01),
])  # fmt: skip
CENTRES, WIDTHS = (np.ascontiguousarray(COMPONENTS[:-1, k]) for k in (0, 1))
SHARES = COMPONENTS[:, 2] / COMPONENTS[:, 2].sum()
SHARE_WEIGHT, CLASS_WEIGHT, SHARE_ROUNDS = 2.0, 8.0, 20  # pseudo-counts: of SHARES, and of all edges in a class
FINEST, GROWTH, FARTHEST = 0.03, 1.2, 6.0  # cells of residuals grow away from 0
LADDER = np.exp(np.arange(np.log(LOWEST_RUNG), np.log(5.0), RUNG_STEP))  # standard deviations that are told apart

FIRST_SPREAD = 1.5  # variance of locations before anything is known
LEVEL_SD = 2.0  # of the constant: if every value is the lowest, nothing else says where the others would be
STEP_SD, STEP_WEIGHT = 0.03, 2.0  # of the steps of an effect before anything is seen, and how many that counts as
FIRST_STEP_SD = 0.1
DAMPING = 0.8
WEAK = 0.3  # of the expected information: what a value tells at least
ROUNDS, LATER = 14, 5  # rounds in all; the first with usage by the routes of the release
FOLDS = 4
PART_EDGES = 30_000  # of larger networks, a part teaches what there is to learn
PASSES, FEW_FOLDS, FEW_SOURCES = 2, 2, 6  # of what was learnt over all edges; of usage there
PARALLEL_EDGES = 5_000


def _cell_ends() -> Float:
    side, width = [FINEST / 2], FINEST
    while side[-1] < FARTHEST:
        width *= GROWTH
        side.append(side[-1] + width)
    return np.array([*(-x for x in reversed(side)), *side])


_ENDS = _cell_ends()
_MIDDLES, _EXP_ENDS = (_ENDS[1:] + _ENDS[:-1]) / 2, np.exp(_ENDS)


@cache
def _mass() -> Float:
    """Return the probability of each cell, for each component and each standard deviation of the ladder."""
    from scipy.special import ndtr

    return np.stack([np.diff(ndtr((_ENDS - centre) / LADDER[:, None]), axis=1) for centre in CENTRES])


class Sites(NamedTuple):
    """What each noisy value tells, and what follows from it; one entry per edge."""

    precision: Float  # precision, value: a normal distribution of the location in place of the noisy value
    value: Float
    mean: Float  # posterior mean of the true value
    public_mean: Float  # its mean given all other edges
    log_likelihood: Float  # of the noisy value given all other edges
    likelihoods: Float  # (m, components + 1)


@dataclass(frozen=True, eq=False)
class EdgeModel:
    """A fitted model."""

    seen: Seen
    design: Design
    field: Field
    shares: Float  # (classes, components + 1)
    step_variance: Float  # of each group of coefficients
    coefficients: Float
    root: Float  # a square root of the covariance of the coefficients
    # location, spread: (m,): mean and variance of each location by its field given all *other* edges, and by effects,
    # which are fitted to all edges
    location: Float
    spread: Float
    sites: Sites

    @property
    def mean(self) -> Float:
        """The posterior mean of each true value."""
        return self.sites.mean

    @property
    def deviation_variance(self) -> Float:
        """The variance of each deviation, the lowest value left out."""
        shares = self.shares[:, :-1] / self.shares[:, :-1].sum(axis=1, keepdims=True)
        found = shares @ (WIDTHS**2 + CENTRES**2) - (shares @ CENTRES) ** 2
        return np.asarray(found[self.design.classes], np.float64)

    @property
    def measured(self) -> Float:
        """How much of what is known of each value is from its own noisy value, from 0 to 1."""
        prior = self.spread + self.deviation_variance
        relative = self.seen.scales / np.maximum(self.sites.mean + self.seen.offset, 1e-9)
        return np.asarray(prior / (prior + relative**2 * (1 if self.seen.gaussian else 2)), np.float64)

    def posterior_mean(self, values: Float) -> Float:
        """Return what `mean` would be for other noisy values, all else as it is."""
        return self._update(self.seen._replace(values=values)).mean

    def sample(self, rng: np.random.Generator) -> Float:
        """Draw all true values: effects and field together, then each deviation."""
        coefficients = self.coefficients + self.root @ rng.normal(size=len(self.coefficients))
        effects = self.design.columns @ coefficients
        location = effects + self.field.sample(self.sites.precision, self.sites.value - effects, rng)
        return self._sample(self.seen, location, rng)

    def sample_prior(self, rng: np.random.Generator) -> Float:
        """Draw each true value independently by what all other edges say of it."""
        location = self.location + np.sqrt(self.spread) * rng.normal(size=len(self.location))
        wide = 1e6 * (1 + float(np.max(self.seen.high, initial=0)))
        nothing = self.seen._replace(scales=np.full(len(location), wide))
        return self._sample(nothing, location, rng)

    def _sample(self, seen: Seen, location: Float, rng: np.random.Generator) -> Float:
        out, uniform = np.empty(len(location)), rng.random(len(location))
        prior = self._prior
        in_threads(
            lambda part: sample(seen, prior, location, uniform, out, part.start, part.stop), len(out),
            worth_it=len(out) >= PARALLEL_EDGES,
        )  # fmt: skip
        return out

    @property
    def _prior(self) -> Prior:
        return Prior(self.shares, self.design.classes, CENTRES, WIDTHS, _mass(), _MIDDLES, _EXP_ENDS)

    def _update(self, seen: Seen, damping: float = 1.0) -> Sites:
        """Find what each value tells around what all other edges say; mix it with what was found before."""
        m, old = len(self.location), self.sites
        out, likelihoods, prior = np.empty((6, m)), np.empty((m, len(SHARES))), self._prior
        in_threads(
            lambda part: update(seen, prior, self.location, self.spread, out, likelihoods, part.start, part.stop), m,
            worth_it=m >= PARALLEL_EDGES,
        )  # fmt: skip
        mean, variance, true, public, log_likelihood, information = out
        # A posterior can be wider than the prior.  What a weak value tells has its expected precision, so that values
        # whose noise points up count no more than those whose noise points down; the mean is exact in any case.
        precision = np.maximum(1 / variance - 1 / self.spread, WEAK * information)
        precision = np.where(information * self.spread < 1, information, precision)
        shift = mean * (1 / self.spread + precision) - self.location / self.spread
        mixed = damping * precision + (1 - damping) * old.precision
        value = (damping * shift + (1 - damping) * old.precision * old.value) / mixed
        return Sites(mixed, value, true, public, log_likelihood, likelihoods)

    def _next(self, damping: float, learn: bool) -> EdgeModel:
        """One round: sites, shares, coefficients, field, and what all other edges say."""
        sites = self._update(self.seen, damping)
        shares = _fit_shares(self.shares, self.design.classes, sites.likelihoods) if learn else self.shares
        design, field, precision = self.design, self.field, sites.precision
        free, steps = design.groups >= 0, self.step_variance
        columns = design.columns
        own = columns - field.smooth(precision, columns)  # what no field explains
        gram, target = (precision[:, None] * own).T @ columns, (precision[:, None] * own).T @ sites.value
        for _ in range(2 if learn else 1):
            prior = design.prior_precision.copy()
            prior[free] = 1 / np.maximum(steps[design.groups[free]], 1e-7)
            covariance = np.linalg.pinv(gram + np.diag(prior), hermitian=True)
            coefficients = covariance @ (target + prior * design.prior_mean)
            if learn and free.any():
                squares = coefficients**2 + np.diag(covariance)
                total = np.bincount(design.groups[free], squares[free]) + STEP_WEIGHT * STEP_SD**2
                steps = np.clip(total / (np.bincount(design.groups[free]) + STEP_WEIGHT), 1e-6, 1.0)
        effects = columns @ coefficients
        if learn:
            field = field.fit(precision, sites.value - effects)
        around, spread = field.without_own(precision, sites.value - effects)[:2]
        spread = spread + np.einsum("ij,jk,ik->i", own, covariance, own, optimize=True)
        return EdgeModel(
            self.seen, design, field, shares, steps, coefficients, _root(covariance), effects + around,
            np.clip(spread, 1e-6, None), sites,
        )  # fmt: skip

    def _with_design(self, design: Design) -> EdgeModel:
        """Continue with more columns."""
        columns = design.columns.shape[1] - len(self.coefficients)
        groups = int(design.groups.max()) + 1 - len(self.step_variance)
        steps = np.append(self.step_variance, [FIRST_STEP_SD**2] * groups)
        coefficients = np.append(self.coefficients, np.zeros(columns))
        return replace(self, design=design, step_variance=steps, coefficients=coefficients)

    def _part(self, edges: Int) -> EdgeModel:
        """Return the model of some of the edges."""
        seen, old = self.seen, self.sites
        field = replace(self.field, hierarchy=self.field.hierarchy.restricted(edges))
        sites = old._replace(precision=old.precision[edges], value=old.value[edges])  # all else is found anew
        seen = seen._replace(
            values=seen.values[edges], scales=seen.scales[edges], low=seen.low[edges], high=seen.high[edges]
        )
        return replace(
            self, seen=seen, design=self.design.rows(edges), field=field, location=self.location[edges],
            spread=self.spread[edges], sites=sites,
        )  # fmt: skip

    def _with_learnt(self, part: EdgeModel, passes: int) -> EdgeModel:
        """Take over what was learnt on a part of the edges, and find what this says of all."""
        effects = self.design.columns @ part.coefficients
        spread = np.full(len(effects), part.field.variances.sum())
        field = replace(part.field, hierarchy=self.field.hierarchy)
        model = replace(
            self, field=field, shares=part.shares, step_variance=part.step_variance, coefficients=part.coefficients,
            root=part.root, location=effects, spread=np.clip(spread, 1e-6, None),
        )  # fmt: skip
        for turn in range(passes):
            sites = model._update(model.seen, 1.0 if turn == 0 else DAMPING)
            around, spread = field.without_own(sites.precision, sites.value - effects)[:2]
            model = replace(model, sites=sites, location=effects + around, spread=np.clip(spread, 1e-6, None))
        return replace(model, sites=model._update(model.seen))


def _root(covariance: Any) -> Float:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), np.float64)


def _fit_shares(shares: Float, classes: Int, likelihoods: Float) -> Float:
    """Fit the shares of the mixture of each class by EM; classes are drawn to all edges, all edges to `SHARES`."""
    members = [likelihoods[classes == one] for one in range(len(shares))]
    for _ in range(SHARE_ROUNDS):
        counts = [own * (rows.T @ (1 / (rows @ own))) for rows, own in zip(members, shares, strict=True)]
        pooled = np.sum(counts, axis=0) + SHARE_WEIGHT * SHARES
        home = CLASS_WEIGHT * pooled / pooled.sum() if len(counts) > 1 else SHARE_WEIGHT * SHARES
        shares = np.array([count + home for count in counts])
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


def start(seen: Seen, design: Design, hierarchy: Hierarchy) -> EdgeModel:
    """Return the model that expects the mean value of every edge."""
    m = len(seen.values)
    weight = 1 / (seen.scales / np.median(seen.scales)) ** 2
    middle = max(float(np.average(seen.values, weights=weight)), float(np.median(seen.scales)) / 3, 1e-12)
    coefficients = np.zeros(design.columns.shape[1])
    coefficients[0] = np.log(max(middle + seen.offset, 0.1 * middle)) - 0.3
    if design.prior_precision[0] < LEVEL_SD**-2.0:
        design = design.with_level(coefficients[0], LEVEL_SD)
    nothing, unknown = np.full(m, 1e-9), np.full(m, coefficients[0])
    sites = Sites(nothing, unknown, unknown, unknown, unknown, np.empty((0, 0)))
    shares = np.tile(SHARES, (int(design.classes.max(initial=0)) + 1, 1))
    return EdgeModel(
        seen, design, Field.on(hierarchy), shares, np.full(int(design.groups.max()) + 1, FIRST_STEP_SD**2),
        coefficients, np.zeros((len(coefficients), 0)), unknown, np.full(m, FIRST_SPREAD), sites,
    )  # fmt: skip


def fit(topology: Topology, seen: Seen, *, field: bool = True, design: Design | None = None) -> EdgeModel:
    """Fit a model to noisy values of all edges of a network.

    Parameters
    ----------
    topology, seen
        The network, and the noisy values.
    field
        Whether neighbours share a field; without it, edges say nothing of each other.
    design
        The facts that matter, by default all public ones.
    """
    m = topology.num_edges
    alone = Hierarchy(np.full(m, -1), np.zeros(m, np.int64))
    whole = part = start(seen, design or design_of(topology), edge_hierarchy(topology) if field else alone)
    edges = np.arange(m)
    if m > PART_EDGES:
        edges = whole.field.hierarchy.sample(PART_EDGES, simulation(4))
        part = whole._part(edges)
    for turn in range(ROUNDS):
        if turn == LATER and field:
            whole = part if len(edges) == m else whole._with_learnt(part, 1)
            used = _hidden_usage(topology, whole)
            whole = whole._with_design(whole.design.with_steps(np.log(used + 0.5 / topology.num_nodes)))
            part = whole if len(edges) == m else part._with_design(whole.design.rows(edges))
        part = part._next(1.0 if turn == 0 else DAMPING, learn=turn < ROUNDS - 1)
    return replace(part, sites=part._update(seen)) if len(edges) == m else whole._with_learnt(part, PASSES)


def _hidden_usage(topology: Topology, model: EdgeModel) -> Float:
    """Return how much shortest paths use each edge, its own noisy value hidden."""
    m = topology.num_edges
    folds = FOLDS if m <= PART_EDGES else FEW_FOLDS
    fold, used = simulation(3).integers(0, folds, m), np.empty(m)
    middle = max(float(model.mean.mean()), 1e-300)
    for k in range(folds):
        hidden = fold == k
        weights = np.where(hidden, model.sites.public_mean, model.mean) / middle
        used[hidden] = usage(topology, np.maximum(weights, 1e-3), FEW_SOURCES if folds < FOLDS else None)[hidden]
    return used
