"""An adversary who looks before each choice: what it can reach is computed, not simulated, and stays within delta.

It takes small Gaussian releases one by one, watches its own privacy loss, and stops when it likes to spend what is left
on randomised response, the worst pure release.  Backward induction over a grid of losses finds the best adversary of
this kind: ``V(t, loss)`` is the larger of stopping and going on.  Its delta is the mean of 1 - e^(epsilon - loss),
where that is positive.

The control is a rule that looks as sound, and is, for releases fixed in advance: after Gaussian releases of rho, allow
epsilon - zcdp_epsilon(rho, delta) of pure ones.  There the order is chosen afterwards, and the adversary wins.
"""

import math

import numpy as np
import pytest

from hushpath.privacy.accounting import Budget, zcdp_epsilon, zcdp_rho
from hushpath.privacy.composition import Spending, accountants, compose, remaining_budget
from hushpath.privacy.gaussian import gaussian_delta, gaussian_epsilon

CASES = [(1.0, 1e-6), (3.0, 1e-6), (10.0, 1e-6), (3.0, 0.05)]
STEPS = 80


def reached(epsilon, step, pure):
    """The delta of the best adversary; ``pure[t]`` is what it may add after ``t`` Gaussian releases of rho ``step``."""
    width = math.sqrt(2 * step)  # of the loss of one release, which is normal with mean rho
    grid = width / 12
    start = math.ceil(4 * epsilon / grid)
    loss = np.arange(-start, 2 * start) * grid  # 0 is one of them: the excess has a corner
    reach = math.ceil(8 * width / grid)
    around = np.arange(-reach, reach + 1) * grid
    chance = np.exp(-((around - step) ** 2) / (2 * width**2))
    chance /= chance.sum()

    def excess(total):
        return -np.expm1(np.minimum(0.0, epsilon - total))

    def stopped(more):
        return (excess(loss + more) + math.exp(-more) * excess(loss - more)) / (1 + math.exp(-more))

    value = stopped(pure[-1])
    for more in pure[-2::-1]:
        onward = np.convolve(np.pad(value, reach, mode="edge"), chance[::-1], "valid")
        value = np.maximum(stopped(more), onward)
    return float(value[start])


def allowed(left):
    """What ``left`` allows after 0, 1, 2, ... releases, as long as it allows them at all."""
    found = []
    while (more := left(len(found))) is not None:
        found.append(more)
    return found


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_no_choice_along_the_way_exceeds_delta(epsilon, delta):
    budget, step = Budget(epsilon, delta), zcdp_rho(epsilon, delta) / STEPS
    tiny = max(delta * 1e-6, 1e-300)
    one = Spending("person", "gaussian", step, gaussian_epsilon(math.sqrt(2 * step), tiny), tiny)

    def left(count):
        charges = [one] * count
        return remaining_budget(charges, budget, 0.0).epsilon if compose(charges, budget).epsilon <= epsilon else None

    pure = allowed(left)
    assert len(pure) > STEPS / 2
    assert reached(epsilon, step, pure) <= delta
    assert len(accountants(budget, [one])) == 5  # delta is shared, so this adversary has all ways open


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_an_order_chosen_afterwards_would_not_do(epsilon, delta):
    step = zcdp_rho(epsilon, delta) / STEPS

    def left(count):
        spent = zcdp_epsilon(count * step, delta)
        return epsilon - spent if spent <= epsilon else None

    assert reached(epsilon, step, allowed(left)) > 1.2 * delta


def test_not_even_with_a_third_of_delta():
    epsilon, delta = 10.0, 1e-6
    step = zcdp_rho(epsilon, delta) / 300

    def left(count):
        spent = zcdp_epsilon(count * step, delta / 3)
        return epsilon - spent if spent <= epsilon else None

    assert reached(epsilon, step, allowed(left)) > 1.1 * delta


@pytest.mark.parametrize("delta", [1e-6, 0.05])
def test_without_choices_the_grid_tells_the_truth(delta):
    """Control of the computation: all Gaussian releases and nothing else have a delta that is known exactly."""
    epsilon, rho = 3.0, zcdp_rho(3.0, delta)
    found = reached(epsilon, rho / STEPS, [0.0] * (STEPS + 1))
    assert found == pytest.approx(float(gaussian_delta(epsilon, math.sqrt(2 * rho))), rel=0.02)
