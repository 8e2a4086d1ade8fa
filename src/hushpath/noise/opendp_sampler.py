"""OpenDP's discrete Laplace and Gaussian measurements, applied to zeros: exact samplers of the two laws.

They take 6 to 16 µs a value, so only small releases use them.  The carrier is ``i64`` (OpenDP's ``int`` is i32), data
are integers (its float path inflates the sensitivity), and scales, floats there, are exact up to 2**52.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .laws import Law, checked_scales

_FEATURES = threading.Lock()


class OpendpSampler:
    """Exact noise from OpenDP, whose randomness comes from the operating system and takes no seed."""

    name = "opendp"
    private = True

    def draw(self, law: Law, scales: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one independent draw per entry of ``scales``, in its shape."""
        law, scales = Law(law), checked_scales(scales)
        flat = scales.reshape(-1)
        out = np.zeros(flat.size, dtype=np.int64)
        # One call per distinct scale: a call costs more than the values it makes.
        order = np.argsort(flat, kind="stable")
        distinct, starts = np.unique(flat[order], return_index=True)
        for scale, entries in zip(distinct, np.split(order, starts)[1:], strict=True):
            if scale > 0:
                noise = _measurement(law, int(scale))(np.zeros(entries.size, dtype=np.int64))
                out[entries] = np.asarray(noise, dtype=np.int64)
        return out.reshape(scales.shape)


def _measurement(law: Law, scale: int) -> Any:
    """Return the OpenDP Measurement that adds noise of this law and scale to a vector of i64."""
    import opendp.prelude as dp  # takes 0.16 s

    vectors = dp.vector_domain(dp.atom_domain(T="i64"))
    with _contrib():
        if law is Law.LAPLACE:
            return dp.m.make_laplace(vectors, dp.l1_distance(T="i64"), scale=float(scale))
        return dp.m.make_gaussian(vectors, dp.l2_distance(T="i64"), scale=float(scale))


@contextmanager
def _contrib() -> Iterator[None]:
    """Enable OpenDP's "contrib" flag, which both constructors need, and restore the caller's setting after."""
    from opendp.mod import GLOBAL_FEATURES, disable_features, enable_features

    with _FEATURES:  # another thread must not switch it off in between
        before = "contrib" in GLOBAL_FEATURES
        enable_features("contrib")
        try:
            yield
        finally:
            if not before:
                disable_features("contrib")
