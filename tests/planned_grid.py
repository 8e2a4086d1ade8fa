"""What tests of plans share: a grid with lognormal weights, what is asked of it, and stand-ins for its weights."""

import numpy as np
from named_graphs import build, grid_ends

from hushpath.measurement.strategy import WeightTerms
from hushpath.planning.surrogates import TypicalWeight, make_surrogates
from hushpath.privacy.accounting import Budget
from hushpath.privacy.units import WeightUnit

ENDS = grid_ends(20, 20)
PLACES = np.stack(np.divmod(np.arange(400), 20), axis=1).astype(float)


def lognormal_grid(seed=0, rows=20):
    """Twenty columns; fewer rows where it is about the steps of a plan and not about its figures."""
    ends, places = grid_ends(rows, 20), PLACES[: 20 * rows]
    weights = 5 * np.exp(0.6 * np.random.default_rng(seed).normal(size=len(ends)))
    return build(len(places), ends, weights, coordinates=places)


def asked(**more):
    return dict(epsilon=1.0, unit=1.5, typical_weight=5.0) | more


def stand_ins(topology, typical=5.0, high=None, max_weight=None):
    declared = typical and TypicalWeight(typical, high or typical)
    return make_surrogates(
        topology, WeightTerms(Budget(1.0, 1e-6), WeightUnit(1.0), max_weight).lattice(topology), declared
    )
