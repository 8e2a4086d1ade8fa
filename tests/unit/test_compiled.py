"""Kernels are compiled when they are called, by one thread or several, and run as plain Python where that is asked."""

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hushpath.compiled import Kernel, njit, uncompiled
from hushpath.kernels.search import hops_from


@njit(cache=False, nogil=True)
def doubled(x):
    return 2 * x


@njit(cache=False, nogil=True)
def doubled_sum(values):
    total = 0
    for x in values:
        total += doubled(x)
    return total


def alone(program, **settings):
    """What a fresh Python prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **settings}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_a_kernel_may_call_another_and_looks_like_its_function():
    assert doubled_sum(np.arange(5)) == 20
    assert len(doubled_sum.signatures) == 1
    assert (doubled_sum.__name__, doubled_sum.__module__) == ("doubled_sum", __name__)
    assert doubled_sum.py_func is doubled_sum.__wrapped__


def test_a_kernel_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(hops_from)) is hops_from


def test_private_names_are_not_passed_on():
    with pytest.raises(AttributeError):
        _ = hops_from._nothing_of_the_kind


def test_threads_that_come_first_together_get_one_function():
    fresh = Kernel(doubled.__wrapped__, {"nogil": True})
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: fresh._compiled, range(64)))
    assert all(one is made[0] for one in made)
    assert fresh(4) == 8


PATH = """
import json, sys
import numpy as np
from hushpath.compiled import uncompiled
from hushpath.kernels.search import hops_from
start, heads = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])
with uncompiled({little}):
    hops = hops_from(start, heads, 0).tolist()
print(json.dumps([hops, "numba" in sys.modules]))
"""


@pytest.mark.parametrize(("little", "settings"), [(True, {}), (False, {}), (False, {"NUMBA_DISABLE_JIT": "1"})])
def test_a_little_work_needs_no_numba_and_gives_the_same(little, settings):
    assert alone(PATH.format(little=little), **settings) == [[0, 1, 2], not little]


def test_plain_python_ends_where_it_was_asked_for():
    with pytest.raises(ZeroDivisionError), uncompiled():
        raise ZeroDivisionError
    fresh = Kernel(doubled.__wrapped__, {"nogil": True})
    assert fresh(3) == 6
    assert fresh.signatures
