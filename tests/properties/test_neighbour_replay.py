"""With the noise frozen, neighbouring weights move the measurements by no more than the certificate says.

Three families of neighbours: one edge takes the whole unit (the extreme points of the L1 ball), a random point on its
surface, and weights just beside a lattice line, where rounding moves every edge at once.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_graphs import fitted, named, random_network

from hushpath import Network
from hushpath.exact import exact_numbers
from hushpath.noise import Law
from hushpath.planning import plan
from hushpath.privacy.accounting import zcdp_rho
from hushpath.strategy.registry import MECHANISMS

UNIT = 1.0


@pytest.fixture(autouse=True)
def remember_rho(monkeypatch):
    """One budget, hundreds of plans: compute its rho once (20 ms each)."""
    monkeypatch.setattr("hushpath.privacy.certificate.zcdp_rho", lru_cache(zcdp_rho))


def loads(strategy, first, second):
    """Cost in the certificate's currency of telling two weight vectors apart by exact measurements."""
    topology, lattice = strategy.topology, strategy.lattice
    a, b = (
        np.concatenate([
            exact_numbers(block, topology, lattice, weights.on_lattice(lattice)) for block in strategy.blocks
        ])
        for weights in (first, second)
    )  # fmt: skip
    move = np.abs(a - b) / np.repeat(strategy.scales, strategy.group_sizes)
    return move.sum() if strategy.law is Law.LAPLACE else (move**2).sum() / 2


def with_weights(net, weights):
    topology = net.topology
    return Network.build(
        topology.labels, topology.tails, topology.heads, weights, directed=topology.directed
    ).weights  # fmt: skip


def neighbour(rng, weights):
    m = len(weights)
    kind = rng.integers(3)
    if kind == 0:
        change = np.zeros(m)
        change[rng.integers(m)] = UNIT * rng.choice([-1.0, 1.0])
    elif kind == 1:
        change = rng.dirichlet(np.ones(m)) * rng.choice([-1.0, 1.0], m) * UNIT
    else:
        change = np.full(m, -UNIT / m * rng.random())
    return np.maximum(weights + change, 0.0)


def strategies_for(net, law, mechanism, rng):
    granularity = None if rng.random() < 0.5 else float(2.0 ** rng.integers(-6, 1))
    return plan(
        net.topology, epsilon=1.0, unit=UNIT, max_weight=50.0, mechanism=mechanism, law=law, granularity=granularity
    ).strategy  # fmt: skip


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_neighbour_costs_more_than_the_certificate(mechanism, law):
    @settings(max_examples=400, deadline=None, derandomize=True)
    @given(st.integers(0, 2**32 - 1))
    def replay(seed):
        rng = np.random.default_rng(seed)
        net = random_network(rng, directed=None if MECHANISMS[mechanism].directed else False)
        if net.topology.num_edges == 0:
            return
        net = fitted(net, mechanism)
        strategy = strategies_for(net, law, mechanism, rng)
        spent = strategy.certificate().spent
        for _ in range(3):
            weights = np.round(net.weights.reveal() * 4) / 4 if rng.random() < 0.5 else net.weights.reveal()
            other = neighbour(rng, weights)
            cost = loads(strategy, with_weights(net, weights), with_weights(net, other))
            assert cost <= spent * (1 + 1e-12)

    replay()


def worst_single_edge(net, strategy):
    """The largest cost any single edge taking the whole unit really has."""
    weights = net.weights.reveal()
    costs = []
    for edge in range(net.topology.num_edges):
        other = weights.copy()
        other[edge] += UNIT
        costs.append(loads(strategy, with_weights(net, weights), with_weights(net, other)))
    return max(costs)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_certificate_is_attained_within_a_factor_of_two_somewhere(mechanism, law):
    # On a path each edge is a bridge, so every pair across it moves: the cut lemma is tight there.
    net = named("path")
    strategy = plan(net.topology, epsilon=1.0, unit=1.0, max_weight=50.0, mechanism=mechanism, law=law).strategy
    spent = strategy.certificate().spent
    assert spent / 2 <= worst_single_edge(net, strategy) <= spent * (1 + 1e-12)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_half_the_noise_would_be_caught(mechanism):
    """Negative control: with scales halved behind its back, the same replay exceeds the certificate."""
    net = named("path")
    strategy = plan(net.topology, epsilon=1.0, unit=1.0, max_weight=50.0, mechanism=mechanism, law="laplace").strategy
    broken = replace(strategy, scales=strategy.scales // 2)
    assert worst_single_edge(net, broken) > strategy.certificate().spent
