"""Which sampler draws the noise of a release, OpenDP's sampler, and noise for simulations.

No default seed and no global state exist: a sampler is made for one release and passed on.

    choice    seed    size        OpenDP installed    sampler          private
    auto      none    <= 20 000   yes                 opendp           yes
    auto      none    <= 20 000   no                  vector           yes
    auto      none    >  20 000   -                   vector           yes
    opendp    none    any         yes                 opendp           yes
    opendp    none    any         no                  refused: names the extra to install
    vector    none    any         -                   vector           yes
    auto      given   any         -                   vector-seeded    no
    vector    given   any         -                   vector-seeded    no
    opendp    given   -           -                   refused: OpenDP takes no seed

Both draw the same laws exactly (docs/proofs/noise.md), so the guarantee is the same.  The choice depends on public
facts: the number of values and what is installed.  ``name`` and ``private`` go into the privacy statement; no option
sets ``private``.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from .._validate import one_of
from ..errors import OptionError
from ..extras import absent, installed
from .laws import Law, check_scales

Choice = Literal["auto", "opendp", "vector"]

# A release whose noise any other sampler drew is marked NOT PRIVATE.
SECRET_SAMPLERS = ("opendp", "vector")
SAMPLERS = (*SECRET_SAMPLERS, "vector-seeded")

# OpenDP takes about 0.2 s for so many values.
OPENDP_LIMIT = 20_000
_FEATURES = threading.Lock()  # of OpenDP, switched on for a moment


class Sampler(Protocol):
    """Draws exact noise on the integers."""

    @property
    def name(self) -> str:
        """The name in the privacy statement: "opendp", "vector" or "vector-seeded"."""

    @property
    def private(self) -> bool:
        """Whether the noise is secret; False if it can be reproduced."""

    def draw(self, law: Law, scales: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one independent draw per entry of ``scales`` (lattice steps, 0 = no noise)."""


@dataclass(frozen=True)
class Noise:
    """Which noise protects a release.

    Parameters
    ----------
    law
        "laplace", "gaussian", or "auto": the better one by public facts.
    sampler
        "opendp", "vector", or "auto".  Both draw the same laws exactly; the statement says which was used.
    """

    law: str = "auto"
    sampler: Choice = "auto"

    def __post_init__(self) -> None:
        one_of(self.law, "noise", ("auto", *Law))
        one_of(self.sampler, "sampler", get_args(Choice))

    @classmethod
    def of(cls, noise: Noise | str) -> Noise:
        """Return a choice of noise from the name of its law or as it is."""
        return noise if isinstance(noise, Noise) else cls(noise)

    @property
    def fixed(self) -> Law | None:
        """The law, unless it is "auto"."""
        return None if self.law == "auto" else Law(self.law)


def make_sampler(choice: Choice = "auto", *, seed: int | None = None, size: int) -> Sampler:
    """Return the sampler for a release of ``size`` values.

    >>> make_sampler("vector", size=100).name, make_sampler(size=10**6).name
    ('vector', 'vector')
    >>> tester = make_sampler(seed=7, size=3)
    >>> tester.name, tester.private, tester.draw(Law.LAPLACE, np.array([0, 0, 0])).tolist()
    ('vector-seeded', False, [0, 0, 0])
    """
    one_of(choice, "sampler", get_args(Choice))
    if size < 0:
        raise OptionError(f"`size` must be at least 0, got {size}")
    if choice == "opendp" and seed is not None:
        raise OptionError("the opendp sampler takes no `seed`; use sampler='vector'")
    there = installed("opendp")
    if choice == "opendp" and not there:
        raise absent("opendp", "opendp", "sampler='opendp'")
    if choice == "opendp" or (choice == "auto" and seed is None and size <= OPENDP_LIMIT and there):
        return OpendpSampler()
    from .vector import Keystream, VectorSampler  # imports numba, 0.45 s

    return VectorSampler(Keystream(seed=seed))


class OpendpSampler:
    """OpenDP's discrete Laplace and Gaussian measurements, applied to zeros: exact noise that takes no seed.

    They take 6 to 16 µs a value, so only small releases use them.  The carrier is ``i64`` (OpenDP's ``int`` is i32),
    data are integers (its float path inflates the sensitivity), and scales, floats there, are exact up to 2**52.
    """

    name = "opendp"
    private = True

    def draw(self, law: Law, scales: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one independent draw per entry of ``scales``, in its shape."""
        law, scales = Law(law), check_scales(scales)
        flat = scales.reshape(-1)
        out = np.zeros(flat.size, dtype=np.int64)
        # One call per distinct scale: a call costs more than the values it makes.
        order = np.argsort(flat, kind="stable")
        distinct, starts = np.unique(flat[order], return_index=True)
        for scale, entries in zip(distinct, np.split(order, starts)[1:], strict=True):
            if scale > 0:
                noise = _make_measurement(law, int(scale))(np.zeros(entries.size, dtype=np.int64))
                out[entries] = np.asarray(noise, dtype=np.int64)
        return out.reshape(scales.shape)


def _make_measurement(law: Law, scale: int) -> Any:
    """Return the OpenDP Measurement that adds noise of this law and scale to a vector of i64."""
    import opendp.prelude as dp  # takes 0.16 s
    from opendp.mod import GLOBAL_FEATURES, disable_features, enable_features

    vectors = dp.vector_domain(dp.atom_domain(T="i64"))
    with _FEATURES:  # another thread must not switch the flag off in between
        before = "contrib" in GLOBAL_FEATURES
        enable_features("contrib")  # both constructors need it; the caller's setting is restored
        try:
            if law is Law.LAPLACE:
                return dp.m.make_laplace(vectors, dp.l1_distance(T="i64"), scale=float(scale))
            return dp.m.make_gaussian(vectors, dp.l2_distance(T="i64"), scale=float(scale))
        finally:
            if not before:
                disable_features("contrib")


def simulation(seed: int) -> np.random.Generator:
    """Return numpy's generator for public simulations; never add its numbers to private values: it is predictable."""
    if seed is None:  # numpy would seed itself from the system
        raise OptionError("a simulation needs a `seed`, so that it can be repeated")
    return np.random.default_rng(seed)


def simulated_noise(rng: np.random.Generator, law: Law, scales: NDArray[np.int64]) -> NDArray[np.float64]:
    """Draw one continuous number of noise per entry of ``scales``, for simulations on public weights: NOT PRIVATE.

    It is proportional to its scale: the same generator state gives twice the noise at twice the scale, so that errors
    simulated under different budgets can be compared.
    """
    plain = rng.laplace(size=len(scales)) if law is Law.LAPLACE else rng.normal(size=len(scales))
    return np.asarray(plain * scales, np.float64)
