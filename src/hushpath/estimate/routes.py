"""What errors of estimated weights share along routes (``blocks.routes``); weights are in units of noise."""

from __future__ import annotations

import numpy as np

from ..arrays import Float
from ..blocks.routes import routes
from ..data.topology import Topology
from ..kernels.routes import add_usage, pair_products
from ..noise import simulation

SIGN_FLIPS = 16
SURELY = 3.0  # standard deviations: products of few busy edges have long tails


def shared_error(topology: Topology, weights: Float, estimates: Float, left: Float, usual: float) -> float:
    """How far estimates are off together along a route, relative to its length.

    ``left`` is what noisy weights leave over of the estimates.  Products of what is left on two different edges of a
    route: their noise is independent and averages out, so what remains is error that the edges share.  The routes must
    be chosen without the noise: ``weights`` are those that public facts make one expect.

    What random signs give shows what is chance; an error as large as ``usual`` is believed as far as it would show
    beside that, a larger one where it is surely more.
    """
    signs = simulation(6).choice([-1.0, 1.0], (SIGN_FLIPS, len(left)))
    products, flipped, squares = 0.0, np.zeros(SIGN_FLIPS), 1e-100  # whose square is above 0 too
    for found in routes(topology, weights):
        tree = found.order, found.parent, found.edge
        products += pair_products(*tree, left)
        flipped += [pair_products(*tree, left * sign) for sign in signs]
        count = np.zeros(len(left))
        add_usage(*tree, count)
        squares += pair_products(*tree, estimates) + float(count @ estimates**2)
    shown, chance = max(products, 0.0) / squares, float(np.mean(flipped**2)) / squares**2
    likely = usual**4 + max(shown**2 - SURELY**2 * chance, 0.0)
    return float(np.sqrt(shown * likely / max(likely + chance, 1e-300)))
