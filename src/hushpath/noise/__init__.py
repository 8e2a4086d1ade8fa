"""The only source of randomness: exact discrete Laplace and Gaussian noise on the integers.

Reading order: ``laws`` (the two distributions), ``samplers`` (which sampler is used; OpenDP's; noise for plans),
``exact`` (how our own draws, with proofs), ``vector`` (our own).
"""

from .laws import MAX_SCALE, Law, pmf, quantile, std, stds
from .samplers import SAMPLERS, SECRET_SAMPLERS, Noise, Sampler, make_sampler, simulated_noise, simulation

__all__ = [
    "MAX_SCALE", "SAMPLERS", "SECRET_SAMPLERS", "Law", "Noise", "Sampler", "make_sampler", "pmf", "quantile",
    "simulated_noise", "simulation", "std", "stds",
]  # fmt: skip
