"""What helps to expect congestion: public facts about edges, how many pass, how many would if times were as guessed.

Crowded edges are slow, so the count tells about the time.  And the other way round: an edge that lies on many shortest
paths and yet hardly anybody takes is slower than guessed.  That matters most where counts are low and times are hardly
measured, for such edges look like short cuts.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Float
from ..blocks.routes import usage
from .congestion import Columns
from .line_graph import LineGraph
from .trip_totals import Linear, TripTotals

HINGE = 2.0  # counts below that many noises are not told apart
SURE = 8.0  # counts above that many are as measured
LITTLE = 0.07  # of the mean use: less is not told apart
LEVEL_RIDGE, RIDGE, FIRM = 4.0, 3.0, 1e6  # precisions; the second times that of what is left to an edge
TURNS, GRID = 5, 33


def shared_facts(totals: TripTotals) -> Float:
    """Standardised facts that hold in all periods, a row each."""
    topology, size = totals.topology, np.log(totals.free_flow)
    tails, heads, n = topology.tails, topology.heads, topology.num_nodes
    if topology.directed:
        degrees = np.bincount(tails, minlength=n)[heads], np.bincount(heads, minlength=n)[tails]
    else:
        degree = np.bincount(np.concatenate([tails, heads]), minlength=n)
        degrees = np.minimum(degree[tails], degree[heads]), np.maximum(degree[tails], degree[heads])
    used = np.log(_used(totals, totals.free_flow) + 0.1)
    rows = [size, size**2, *(np.log(degree + 1.0) for degree in degrees), used, used**2]
    if topology.coordinates is not None:
        way = topology.coordinates[heads] - topology.coordinates[tails]
        length = np.hypot(way[:, 0], way[:, 1])
        known = np.isfinite(length) & (length > 0)
        speed = np.log(np.where(known, length, 1.0) / totals.free_flow)
        speed = np.where(known, speed, np.median(speed[known]) if known.any() else 0.0)
        rows += [speed, speed**2]
    facts = np.stack(rows)
    spread = facts.std(axis=1, keepdims=True)
    return np.asarray((facts - facts.mean(axis=1, keepdims=True)) / np.where(spread > 1e-9, spread, np.inf), np.float64)


def _used(totals: TripTotals, seconds: Float) -> Float:
    """How many shortest paths use each edge, beside the mean."""
    used = usage(totals.topology, seconds / seconds.mean())
    return np.asarray(used / max(float(used.mean()), 1e-300), np.float64)


def shunned(totals: TripTotals, guess: Float, counts: Float) -> Float:
    """By how much more each edge would be used, if times were as guessed, than it is: a logarithm."""
    used = np.stack([_used(totals, totals.free_flow * np.exp(row)) for row in guess])
    passed = counts / totals.emphasis
    passed = passed / max(float(passed.mean()), 1e-300)
    return np.asarray(np.log(used + LITTLE) - np.log(passed + LITTLE), np.float64)


def columns(shared: Float, totals: TripTotals, counts: Float, avoided: Float, tau: Float) -> Columns:
    """All facts, with a ridge that fits the spread of what they leave."""
    crowd = np.log(np.maximum(counts, HINGE * totals.noise))
    own = np.stack([crowd - crowd.mean(), avoided - avoided.mean()])
    ridge = np.full(len(counts) + len(shared) + len(own), RIDGE / float(np.mean(tau**2)))
    ridge[: len(counts)] = LEVEL_RIDGE
    return Columns(shared, own, ridge)


def no_columns(shape: tuple[int, int]) -> Columns:
    """No facts, and levels that stay where they are."""
    return Columns(np.zeros((0, shape[1])), np.zeros((0, *shape)), np.full(shape[0], FIRM))


def expected_counts(totals: TripTotals, around: Linear, graph: LineGraph) -> tuple[Float, Float]:
    """Mean and variance of each true count, given the noisy one.

    Few edges are passed often and most rarely, and what flows into a crossing flows out of it: so the logarithm of a
    count is expected from those of its neighbours and of other periods, with a spread that is learnt.
    """
    flow, unit = around.passes / totals.emphasis, around.passes_noise / totals.emphasis
    close = np.maximum(np.asarray(graph.near.sum(axis=1)).ravel(), 1e-9)
    nearby = (graph.near @ flow.T).T / close
    mean, variance = around.passes.copy(), around.passes_noise**2
    steps = np.linspace(-3.0, 3.0, GRID)[:, None]
    for q in range(len(flow)):
        hints = [np.maximum(nearby[q], unit[q] / 2)]
        if len(flow) > 1:
            hints.append(np.maximum((flow.sum(axis=0) - flow[q]) / (len(flow) - 1), unit[q] / 2))
        logs = [np.log(hint * totals.emphasis) for hint in hints]
        facts = np.stack(
            [np.ones(flow.shape[1]), np.log(totals.free_flow), np.log(totals.emphasis), *logs, *(x**2 for x in logs)]
        )
        seen, noise = around.passes[q], around.passes_noise[q]
        middle, left, spread = np.log(np.maximum(seen, noise)), np.full(len(seen), 0.3), 1.0
        gram = facts @ facts.T + 1e-4 * facts.shape[1] * np.eye(len(facts))
        for _ in range(TURNS):
            guess = facts.T @ np.linalg.solve(gram, facts @ middle)
            spread = float(np.clip(np.sqrt(np.mean((middle - guess) ** 2 + left)), 0.2, 2.5))
            grid = np.clip(guess, -30.0, 30.0) + spread * steps
            chance = -0.5 * ((seen - np.exp(grid)) / noise) ** 2 - 0.5 * steps**2
            chance = np.exp(chance - chance.max(axis=0))
            chance /= chance.sum(axis=0)
            middle = (chance * grid).sum(axis=0)
            left = (chance * grid**2).sum(axis=0) - middle**2
        unsure, numbers = seen < SURE * noise, np.exp(grid)
        average = (chance * numbers).sum(axis=0)
        mean[q, unsure] = average[unsure]
        variance[q, unsure] = ((chance * numbers**2).sum(axis=0) - average**2)[unsure]
    return np.maximum(mean, 1e-3 * around.passes_noise), np.maximum(variance, 0.0)
