"""The closed form is the maximum, it bounds the true max cut, and it is reached."""

import itertools

import numpy as np
import pytest
from named_graphs import build, exact_distances

from hushpath import HushpathError
from hushpath.privacy.sensitivity import hub_cut


@pytest.mark.parametrize("p", range(13))
@pytest.mark.parametrize("q", range(9))
def test_closed_form_is_the_maximum_over_i(p, q):
    assert hub_cut(p, q, directed=False) == max(i * (p - i) + q * max(i, p - i) for i in range(p + 1))


@pytest.mark.parametrize(("p", "q"), [(p, q) for p in range(6) for q in range(6 - p)])
def test_it_is_the_true_max_cut_of_the_measured_pairs(p, q):
    pairs = [(i, j) for i in range(p) for j in range(p + q) if i < j]
    cuts = [
        sum(side[i] != side[j] for i, j in pairs) for side in itertools.product([0, 1], repeat=p + q)
    ]  # fmt: skip
    assert hub_cut(p, q, directed=False) == max(cuts)
    assert hub_cut(p, q, directed=False) <= len(pairs)


def test_it_is_reached_on_a_path():
    net = build(8, [(i, i + 1) for i in range(7)], np.ones(7))
    grown = np.ones(7)
    grown[3] += 1
    moved = exact_distances(net.topology, grown) - exact_distances(net.topology, np.ones(7))
    assert np.abs(moved)[np.triu_indices(8, 1)].sum() == hub_cut(8, directed=False) == 16


def test_directed_groups_count_every_ordered_pair():
    assert hub_cut(4, 3, directed=True) == 4 * 3 + 2 * 4 * 3


def test_directed_sides_really_overlap():
    """Why the cut lemma is for undirected graphs: on a directed cycle one arc moves more than a quarter of p^2."""
    n = 9
    net = build(n, [(i, (i + 1) % n) for i in range(n)], np.ones(n), directed=True)
    grown = np.ones(n)
    grown[0] += 1
    moved = exact_distances(net.topology, grown) - exact_distances(net.topology, np.ones(n))
    assert hub_cut(n, directed=False) < moved.sum() <= hub_cut(n, directed=True)


def test_negative_sizes_are_refused():
    with pytest.raises(HushpathError, match="negative"):
        hub_cut(-1, directed=False)
