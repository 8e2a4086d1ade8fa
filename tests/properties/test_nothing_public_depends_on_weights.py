"""Control flow, shapes, messages and plans are the same whatever the weights are.

The trace of every line executed between reading weights and drawing noise is compared for weight vectors that have
nothing in common.  (Inside compiled kernels Dijkstra's branches do depend on weights: timing is not promised, see
the guarantee page.)
"""

import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from named_graphs import build, fitted, grid_ends

import hushpath
from hushpath.measurement.private_step import measure
from hushpath.mechanism.registry import MECHANISMS
from hushpath.network.private_weights import PrivateWeights
from hushpath.noise import make_sampler
from hushpath.planning.plan import plan
from hushpath.published.statement import list_release_cautions

PACKAGE = str(Path(hushpath.__file__).parent)
ENDS = grid_ends(5, 5)
M = len(ENDS)
WEIGHTS = {
    "zeros": np.zeros(M),
    "huge": np.full(M, 1e300),
    "negative": np.full(M, -5.0),
    "tiny": np.full(M, 5e-324),
    "mixed": np.random.default_rng(0).lognormal(0, 5, M),
}


def lines_executed(function):
    trace = []

    def watch(frame, event, arg):
        if not frame.f_code.co_filename.startswith(PACKAGE):  # not what merely lies in a folder of that name
            return None
        if event == "line":
            trace.append((frame.f_code.co_filename, frame.f_lineno))
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        result = function()
    finally:
        sys.settrace(before)
    return trace, result


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_the_same_lines_run_and_the_same_shapes_come_out(mechanism, law):
    topology = fitted(build(25, ENDS, WEIGHTS["zeros"]), mechanism).topology
    strategy = plan(topology, epsilon=1.0, unit=1.0, mechanism=mechanism, max_weight=100.0, noise=law).strategy
    m = topology.num_edges
    first, *others = (
        lines_executed(
            lambda weights=weights: measure(
                strategy, PrivateWeights(weights[:m], num_rows=m), make_sampler(seed=1, size=strategy.num_values)
            )
        )
        for weights in WEIGHTS.values()
        for _ in range(2)  # the first of all runs may import and compile
    )
    reference, result = others[0]
    assert len(reference) > 10
    for trace, other in others[1:]:
        assert trace == reference
        assert other.values.shape == result.values.shape
        measured = vars(other.strategy)
        assert all(measured[field.name] is getattr(strategy, field.name) for field in fields(strategy))


@pytest.mark.parametrize("mechanism", [*MECHANISMS, "auto"])
def test_statements_are_the_same_for_all_weights(mechanism):
    nets = [build(25, ENDS, w) for w in WEIGHTS.values()]
    releases = [
        hushpath.release(net, epsilon=1.0, unit=1.0, mechanism=mechanism, max_weight=100.0)
        for net in (nets if mechanism == "auto" else [fitted(net, mechanism) for net in nets])
    ]
    assert len({str(replace(rel.statement, measured=None)) for rel in releases}) == 1
    for rel in releases:  # a caution may depend on the released numbers, and on nothing else
        assert rel.statement.cautions == list_release_cautions(rel.measurements)


def test_clipping_is_silent(recwarn, capfd):
    said = []
    for weights in WEIGHTS.values():
        said += hushpath.release(build(25, ENDS, weights), epsilon=1.0, unit=1.0, max_weight=3.0).statement.cautions
    assert {str(warning.message) for warning in recwarn.list} == set(said)  # of released numbers, not of weights
    assert all(text.startswith("this is mostly noise") for text in said)
    assert capfd.readouterr() == ("", "")


def test_clipping_clips():
    net = build(25, ENDS, WEIGHTS["huge"], lower=1.0)
    rel = hushpath.release(net, epsilon=np.inf, unit=1.0, max_weight=3.0)
    assert rel.matrix([0]).max() == 8 * 3.0
    low = hushpath.release(build(25, ENDS, WEIGHTS["negative"], lower=1.0), epsilon=np.inf, unit=1.0)
    assert low.matrix([0]).max() == 8 * 1.0
