"""The field's audited sampler, behind the same two words: draw(law, scales).

OpenDP's discrete Laplace and Gaussian measurements, applied to zeros, are exact samplers of
our two laws.  They cost 6 to 16 µs a value, so they serve small releases where OpenDP is installed; the vector
sampler, tested against the same laws at the same scales, serves all others.

Three things OpenDP would let us get wrong are settled here: the carrier is ``i64`` (its ``int`` is i32); data
are integers (its float path inflates the sensitivity); and a scale is a float there, exact for our integers
because none exceeds 2**52.
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
    import opendp.prelude as dp  # 0.16 s: only those who use it pay

    vectors = dp.vector_domain(dp.atom_domain(T="i64"))
    with _contrib():
        if law is Law.LAPLACE:
            return dp.m.make_laplace(vectors, dp.l1_distance(T="i64"), scale=float(scale))
        return dp.m.make_gaussian(vectors, dp.l2_distance(T="i64"), scale=float(scale))


@contextmanager
def _contrib() -> Iterator[None]:
    """Enable OpenDP's "contrib" for one constructor and put the global setting back as it was.

    Both constructors sit behind that flag, as everything does that has not passed OpenDP's full vetting.  We
    accept that here; whether the rest of the caller's program does is not ours to decide.
    """
    from opendp.mod import GLOBAL_FEATURES, disable_features, enable_features

    with _FEATURES:  # another thread of ours must not switch it off in the middle
        before = "contrib" in GLOBAL_FEATURES
        enable_features("contrib")
        try:
            yield
        finally:
            if not before:
                disable_features("contrib")
