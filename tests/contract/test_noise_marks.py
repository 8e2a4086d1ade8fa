"""Tests that may fail by chance say how rarely, and together they do so at most once in a thousand runs."""

import numpy as np
import pytest

from hushpath.noise import Law, make_sampler

SCALES = np.full(20, 10**9)
MOST = 1e-3


def draws(choice):
    return make_sampler(choice, size=20).draw(Law.LAPLACE, SCALES).tolist()


def test_false_alarms_are_rarer_than_one_run_in_a_thousand(noise_rates):
    for test, mark in noise_rates.items():
        assert set(mark) <= {"rate", "reason"}, test
        assert 0 <= mark["rate"] <= 1e-4, test
        assert mark["rate"] > 0 or mark.get("reason"), f"{test}: say why no draw of noise makes it fail"
    assert sum(mark["rate"] for mark in noise_rates.values()) <= MOST


@pytest.mark.parametrize("choice", ["vector", "auto"])
def test_noise_is_repeated_without_the_mark(choice, keys, request):
    assert keys.name == request.node.nodeid
    with keys.named("the same"):
        one = draws(choice)
    with keys.named("the same"):
        assert draws(choice) == one
        assert draws(choice) != one  # the next key
    assert draws(choice) != one


@pytest.mark.noise(rate=1e-9)  # twenty draws of scale 10**9 are the same again with probability below (10**-9)**20
@pytest.mark.parametrize("choice", ["vector", "auto"])
def test_noise_is_fresh_with_the_mark(choice, keys):
    assert keys.name is None
    assert draws(choice) != draws(choice)
