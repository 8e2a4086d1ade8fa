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
from datetime import date, datetime
from enum import StrEnum

import numpy as np

from ..errors import OptionError
from ..noise import Law
from .accounting import SMALLEST_DELTA, zcdp_epsilon
from .certificate import Certificate
from .gaussian import is_possible

_ROUNDING = 1e-9  # above what another platform's logarithms may change in a certificate

Days = tuple[date, date] | None  # the first and the last day, both included; None: all days


class Protects(StrEnum):
    """The kinds of unit, closed on purpose: which days one touches is part of the proof."""

    PERSON = "person"
    PERSON_DAY = "person-day"
    TRIP = "trip"
    DECLARED = "declared"

    @classmethod
    def of(cls, name: str) -> Protects:
        """The kind of this name."""
        try:
            return cls(name)
        except ValueError:
            raise OptionError(f"what is protected is {', '.join(cls)}; got {str(name)[:40]!r}") from None

    @property
    def has_a_day(self) -> bool:
        """Whether one unit lies within one day, so that releases of other days do not touch it."""
        return self in (Protects.PERSON_DAY, Protects.TRIP)


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
        try:
            object.__setattr__(self, "law", Law(self.law))
        except ValueError:
            raise OptionError(f"a noise law is {' or '.join(Law)}, got {str(self.law)[:40]!r}") from None
        for name in ("spent", "epsilon", "delta"):
            value = getattr(self, name)
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
                raise OptionError(f"{name} of a release must be a number, got {str(value)[:40]!r}")
            if not 0 <= value < math.inf:
                raise OptionError(f"{name} of a release must be finite and at least 0, got {value:g}: NOT PRIVATE")
            object.__setattr__(self, name, float(value))
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


def checked_days(days: Days) -> Days:
    """Days as given, if they are two dates in order."""
    if days is None:
        return None
    if (
        not isinstance(days, tuple)
        or len(days) != 2
        or not all(isinstance(day, date) and not isinstance(day, datetime) for day in days)
        or days[0] > days[1]
    ):
        raise OptionError(f"days are the first and the last date, in this order, or None; got {str(days)[:60]!r}")
    return days


def days_text(days: Days) -> str:
    """Days for people."""
    if days is None or days == (date.min, date.max):
        return "all days"
    first, last = (day.isoformat() for day in days)
    if days[0] == date.min:
        return f"until {last}"
    return f"from {first}" if days[1] == date.max else first if first == last else f"{first} to {last}"
