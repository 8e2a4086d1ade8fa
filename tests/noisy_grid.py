"""What tests of estimators share: a grid whose streets are alike nearby, and its noisy weights."""

from functools import lru_cache

import numpy as np

import hushpath
from hushpath import Network
from hushpath.estimator.base import NoisyEdges


def grid(side, weights=None, directed=False, **public):
    i = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([i[:, :-1].ravel(), i[:-1].ravel()])
    heads = np.concatenate([i[:, 1:].ravel(), i[1:].ravel()])
    if directed:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    places = np.c_[np.arange(side * side) // side, np.arange(side * side) % side].astype(float)
    if weights is None:
        middle = (places[tails] + places[heads]) / 2
        weights = 5 * np.exp(np.sin(middle[:, 0] / 3) + np.cos(middle[:, 1] / 4))
    return Network.build(range(side * side), tails, heads, weights, directed=directed, coordinates=places, **public)


@lru_cache(maxsize=8)
def _plan(topology, scale, law):
    terms = dict(epsilon=1.0, unit=scale, max_weight=100.0, mechanism="input", noise=law, ignore_baseline=True)
    return hushpath.plan(topology, **terms)


def noisy_edges(net, scale=2.0, law="laplace", seed=1):
    made = hushpath.release(net, plan=_plan(net.topology, scale, law), seed=seed)
    return NoisyEdges.from_measurements(made.measurements)
