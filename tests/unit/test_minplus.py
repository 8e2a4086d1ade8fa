"""Min-plus kernels against their slow twins, and that the compiler packed them."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels_reference import closed_reference, panel_reference
from numba import njit

from hushpath.kernels.minplus import FAST, INFINITE, LANES, close_over_pivots, copy_row, least_sum, multiply_panel
from hushpath.network.lattice import LARGEST_DISTANCE


def some(rng, *shape):
    """Small integers and infinities: ties and missing ways occur."""
    return np.where(rng.random(shape) < 0.2, np.inf, rng.integers(-3, 30, shape).astype(float))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(0, 13))
def test_panels(seed, rows, width):
    rng = np.random.default_rng(seed)
    table, x, y = some(rng, 200), some(rng, width, LANES), some(rng, rows, LANES)
    starts = rng.integers(0, 200 - width, rows)
    expected = panel_reference(table, starts, rows, width, x, y)
    multiply_panel(table, starts, rows, width, x, y)
    assert np.array_equal(y, expected)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_closures_over_some_pivots(seed, n):
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((n, n)) < 0.4, np.inf, rng.integers(0, 30, (n, n)).astype(float))
    np.fill_diagonal(table, 0.0)
    pivots = int(rng.integers(0, n + 1))
    expected = closed_reference(table, pivots)
    whole = np.where(np.isinf(table), INFINITE, table).astype(np.int64)
    close_over_pivots(table, pivots, np.inf)
    assert np.array_equal(table, expected)
    close_over_pivots(whole, pivots, INFINITE)
    assert np.array_equal(whole, np.where(np.isinf(expected), INFINITE, expected))


def test_the_largest_distances_do_not_overflow():
    """Up to ``LARGEST_DISTANCE`` a sum with "not connected" stays in 64 bits, and is still not connected."""
    far = LARGEST_DISTANCE - 1
    table = np.full((4, 4), INFINITE, np.int64)
    np.fill_diagonal(table, 0)
    table[0, 1] = table[1, 0] = far
    table[1, 2] = table[2, 1] = 1
    close_over_pivots(table, 4, INFINITE)
    assert table[0, 2] == table[2, 0] == LARGEST_DISTANCE
    assert (table[3, :3] == INFINITE).all()
    assert (table[:3, 3] == INFINITE).all()


@pytest.mark.parametrize("length", [0, 1, 3, 4, 17, 1000])
def test_least_sums(length):
    rng = np.random.default_rng(length)
    a, b = some(rng, length), some(rng, length)
    assert least_sum(a, b, np.inf) == (a + b).min(initial=np.inf)


def test_rows_are_copied():
    rng = np.random.default_rng(0)
    x, y = some(rng, 3, LANES), some(rng, 4, LANES)
    before = y.copy()
    copy_row(x, 2, y, 1)
    assert np.array_equal(y[1], x[2])
    assert np.array_equal(y[[0, 2, 3]], before[[0, 2, 3]])


def test_minima_are_packed():
    """Scalar minima are four times slower; numpy, which packs but does not fuse, is the yardstick of the same run."""
    rng = np.random.default_rng(0)
    m = 128
    table, x, y = rng.random(m * m), rng.random((m, LANES)), np.full((m, LANES), np.inf)
    starts = m * np.arange(m)
    multiply_panel(table, starts, m, m, x, y)
    ours, theirs = [], []
    for _ in range(7):
        start = time.perf_counter()
        multiply_panel(table, starts, m, m, x, y)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        for k in range(m):
            np.minimum(y, table[starts + k][:, None] + x[k], out=y)
        theirs.append(time.perf_counter() - start)
    assert min(ours) < min(theirs)
    fresh = njit(nogil=True, fastmath=FAST)(multiply_panel.py_func)  # code from the cache cannot be inspected
    fresh(table, starts, m, m, x, y)
    assembly = "".join(fresh.inspect_asm().values())
    if "ymm" in assembly:  # other processors name their packed minima otherwise
        assert "vminpd" in assembly
