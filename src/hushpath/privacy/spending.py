"""What one release asks of a budget: whom it protects, and its certificate.

A ledger is of one kind of unit and takes releases of that kind alone.  A release that hides a whole *person* does not
hide each *person-day* at the same price: to take one day from a person is to replace the person's rows by others, which
moves more than to leave the person out (docs/proofs/ledger.md, section 5).

Guarantees (tests/unit/test_composition.py): a ``Spending`` holds finite numbers that are not negative; Laplace noise
has no delta, and its epsilon is what it spends; Gaussian noise has a delta, and its rho and epsilon agree: neither can
be understated while the other is true.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._validate import as_float, one_of
from ..errors import OptionError
from ..noise import Law
from .accounting import SMALLEST_DELTA, zcdp_epsilon
from .certificate import Certificate
from .gaussian import is_possible
from .units import Protects

_ROUNDING = 1e-9  # above what another platform's logarithms may change in a certificate


@dataclass(frozen=True)
class Spending:
    """What one release spends.

    Attributes:
        protects: the kind of unit that the certificate is about.
        law: the noise law.
        spent: pure epsilon (Laplace) or rho of zCDP (Gaussian).
        epsilon, delta: the certified differential privacy; delta is 0 for Laplace.
    """

    protects: Protects
    law: Law
    spent: float
    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what no certificate says, above all a cost below zero: it would pay for others."""
        object.__setattr__(self, "protects", Protects.of(self.protects))
        object.__setattr__(self, "law", Law(one_of(self.law, "law", Law)))
        for name in ("spent", "epsilon", "delta"):
            value = as_float(getattr(self, name), name)
            if not 0 <= value < math.inf:
                raise OptionError(f"`{name}` of a release must be finite and at least 0, got {value:g}: NOT PRIVATE")
            object.__setattr__(self, name, value)
        if self.law is Law.LAPLACE and (self.delta != 0 or self.epsilon != self.spent):
            raise OptionError("a release with Laplace noise has delta 0, and spends its epsilon")
        if self.law is Law.GAUSSIAN and not SMALLEST_DELTA <= self.delta <= 0.5:
            raise OptionError(f"a release with Gaussian noise has a delta of at most 0.5, got {self.delta:g}")
        if self.law is Law.GAUSSIAN:
            self._check_consistency()

    def _check_consistency(self) -> None:
        """Refuse rho, epsilon and delta that no certificate states together: one of them would be too small."""
        numbers = f"rho {self.spent:g}, epsilon {self.epsilon:g}, delta {self.delta:g} of Gaussian noise do not agree"
        if not is_possible(self.spent, self.epsilon, self.delta):
            raise OptionError(f"{numbers}: epsilon is too small. Use Spending.of(certificate, protects)")
        if not self.epsilon <= zcdp_epsilon(self.spent, self.delta) * (1 + _ROUNDING) + _ROUNDING:
            raise OptionError(f"{numbers}: rho is too small. Use Spending.of(certificate, protects)")

    @classmethod
    def of(cls, certificate: Certificate, protects: str) -> Spending:
        """What a release with this certificate spends."""
        return cls(
            Protects.of(protects), certificate.law, certificate.spent, certificate.epsilon, certificate.delta
        )  # fmt: skip

    def is_paid_by(self, charged: Spending) -> bool:
        """Whether a charge covers this in every book: the same law and unit, and no number larger."""
        same_promise = self.law is charged.law and self.protects is charged.protects
        return same_promise and all(
            getattr(self, name) <= getattr(charged, name) for name in ("spent", "epsilon", "delta")
        )

    def __str__(self) -> str:
        more = f", delta {self.delta:g}" if self.delta else ""
        return f"epsilon {self.epsilon:.6g}{more} ({self.law} noise, {self.protects})"
