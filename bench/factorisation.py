"""Sums along a path: today's `lines` against the square-root factorisation, which was not built (accuracy page).

    .venv/bin/python bench/factorisation.py                     2^16 edges: predicted, and as released and read
    .venv/bin/python bench/factorisation.py 16 20 --repeats 0   predicted only

A distance on a path is a difference of two prefix sums.  The matrix of prefix sums is the square of a lower triangular
Toeplitz matrix C whose coefficients are binom(2j, j) / 4^j (Henzinger, Upadhyay and Upadhyay 2023).  Measured is C w
with Gaussian noise, in proportion to the norm of a column of C, calibrated by the same trade-off as certificates are;
prefix sums are C times that.  Pure privacy (delta 0) has no such mechanism.

    predicted    mean |error| over random pairs from exact variances, without any estimator
    read         mean |error| of releases, over weights as in ``accuracy``.  `lines` is read by `sums-prior`, the
                 default up to 100 000 edges.  The factorisation is read plainly, and with a prior: the best linear
                 estimate given the *true* mean and variance of the weights, which no reader knows.

Scales are in units of the Laplace noise that `input` would put on an edge.  NOT PRIVATE: noise is simulated.
"""

from __future__ import annotations

import argparse
import warnings

import accuracy
import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.sparse.linalg import LinearOperator, cg

import hushpath
from hushpath.planning.predict import predict_from_noise
from hushpath.privacy.gaussian import gaussian_mu

DELTA = 1e-6
PAIRS = 400


def coefficients(count):
    """The first column of C."""
    j = np.arange(1, count)
    return np.concatenate([[1.0], np.cumprod(1 - 0.5 / j)])


class Factor:
    """The matrix C on a path of so many edges."""

    def __init__(self, count):
        self.count, self.size = count, next_fast_len(2 * count, real=True)
        self.column = coefficients(count)
        self.spectrum = rfft(self.column, self.size)

    def times(self, values):
        return irfft(self.spectrum * rfft(values, self.size), self.size)[: self.count]

    def transposed_times(self, values):
        return self.times(values[::-1])[::-1]

    def scale(self, epsilon):
        """Of the noise, if one edge may move by 1."""
        return float(np.sqrt((self.column**2).sum()) / gaussian_mu(epsilon, DELTA))

    def spread(self, first, last):
        """The standard deviation of the sum of the edges first .. last - 1, for noise of scale 1."""
        longer, shorter = self.column[:last], self.column[:first]
        return float(np.sqrt((longer**2).sum() + (shorter**2).sum() - 2 * (shorter @ longer[last - first :])))

    def leaning(self, numbers, scale, mean, variance):
        """The best linear estimate of independent weights with this mean and variance."""
        ridge, size, shape = scale**2 / variance, next_fast_len(self.count, real=True), (self.count, self.count)
        power = np.abs(rfft(self.column, size)) ** 2 + ridge  # a circulant near it makes the solver quick
        left = LinearOperator(shape, matvec=lambda w: self.transposed_times(self.times(w)) + ridge * w)
        near = LinearOperator(shape, matvec=lambda w: irfft(rfft(w, size) / power, size)[: self.count])
        right = self.transposed_times(numbers - mean * self.times(np.ones(self.count)))
        return mean + cg(left, right, rtol=1e-6, M=near, maxiter=2000)[0]


def pairs_of(count, rng, many=PAIRS):
    ends = np.sort(rng.integers(0, count + 1, (many, 2)), axis=1)
    return ends[ends[:, 0] < ends[:, 1]]


def strategy(count, law):
    topology = accuracy.built(np.c_[np.arange(count), np.arange(1, count + 1)], np.ones(count)).topology
    return hushpath.plan(topology, epsilon=1.0, delta=DELTA, unit=1.0, mechanism="lines", noise=law).strategy


def predicted(count):
    """Mean errors, as multiples of the Laplace scale of an edge, and of `input`."""
    factor, pairs, mean = Factor(count), pairs_of(count, np.random.default_rng(0)), np.sqrt(2 / np.pi)
    found = {law: predict_from_noise(strategy(count, law))[0].mean for law in ("laplace", "gaussian")}
    found["square root"] = mean * factor.scale(1.0) * float(np.mean([factor.spread(*pair) for pair in pairs]))
    plain = mean * np.sqrt(2) * float(np.sqrt(np.diff(pairs, axis=1)).mean())
    each = "   ".join(f"{name} {value:.1f} ({value / plain:.4f})" for name, value in found.items())
    print(f"{count:8} edges, predicted: {each}", flush=True)


def read(count, kind, ratio, repeats):
    """Mean errors of releases, as multiples of the Laplace scale of an edge, and of the better `lines`."""
    net = accuracy.network(f"path-{count + 1}-{kind}")
    weights, factor = net.weights.reveal(), Factor(count)
    unit, scale = ratio * float(np.median(weights)), ratio * float(np.median(weights)) * factor.scale(1.0)
    found = {"laplace": 0.0, "gaussian": 0.0, "square root": 0.0, "leaning": 0.0}
    for seed in range(1, repeats + 1):
        for law in ("laplace", "gaussian"):
            made = hushpath.release(
                net,
                plan=hushpath.plan(
                    net.topology,
                    mechanism="lines",
                    epsilon=1.0,
                    delta=DELTA,
                    unit=unit,
                    max_weight=float(weights.max()),
                    noise=law,
                    ignore_baseline=True,
                ),
                seed=seed,
            ).with_decoder(estimator="sums-prior")
            found[law] += hushpath.evaluate(net, made, sources=accuracy.SOURCES).mean_error / repeats
        noise = np.random.default_rng(seed).normal(0, scale, count)
        leaning = factor.leaning(factor.times(weights) + noise, scale, weights.mean(), weights.var()) - weights
        pairs = pairs_of(count, np.random.default_rng(1), 200_000)
        for name, off in (("square root", factor.times(noise)), ("leaning", np.cumsum(leaning))):
            so_far = np.concatenate([[0.0], off])
            found[name] += float(np.abs(so_far[pairs[:, 1]] - so_far[pairs[:, 0]]).mean()) / repeats
    best = min(found["laplace"], found["gaussian"])
    each = "   ".join(f"{name} {value / unit:.1f} ({value / best:.2f})" for name, value in found.items())
    print(f"{count:8} edges, {kind}, noise {ratio}: {each}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("powers", nargs="*", type=int, default=[16], help="paths of 2^power - 1 edges")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("epsilon 1, delta 1e-6; in units of the Laplace noise of an edge")
    for power in asked.powers:
        count = 2**power - 1
        predicted(count)
        for kind in ("uniform", "lognormal") if asked.repeats else ():
            for ratio in accuracy.RATIOS:
                read(count, kind, ratio, asked.repeats)


if __name__ == "__main__":
    main()
