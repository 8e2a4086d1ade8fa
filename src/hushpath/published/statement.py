"""The statement of a release: its certificate, how it was made, and the promise that follows (``promise``).

It is made once, from the certificate and the sampler, and stored in the file.  NOT PRIVATE always comes first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from .._version import __version__
from ..measurement.private_step import Measurements
from ..noise import Law, std
from ..privacy.accounting import zcdp_epsilon
from ..privacy.units import Unit
from .cautions import of_release
from .promise import Promise, make_promise
from .quantity import UNNAMED, Quantity

NOT_PRIVATE = "NOT PRIVATE"
OWNER_ONLY = f"{NOT_PRIVATE}: holds private truth, for the data owner only; do not publish"
NO_PROMISE = ("proxy", "read_as", "quantity", "specification")


@dataclass(frozen=True)
class Statement:
    """What one release certifies, and how it was made."""

    private: bool  # whether anything is promised at all
    reasons: tuple[str, ...]  # why not (no noise, known seed); empty if private
    # epsilon, delta: certified differential privacy, rounded up; never above the budget (``conversion`` says how)
    epsilon: float
    delta: float
    budget_epsilon: float  # budget_epsilon, budget_delta: what the owner allowed
    budget_delta: float
    unit: Unit  # the protected unit; this defines neighbours
    mechanism: str  # mechanism, law: what was measured, and under which noise
    law: str
    # the certificate in its own currency: epsilon (laplace) or rho of zCDP (gaussian), for those who compose
    spent: float
    worst_edge: int  # public id of an edge where the cost is highest
    noise: tuple[float, float]  # standard deviation of the least and the most noisy number, in units of the weights
    granularity: float  # length of one lattice step
    largest_weight: float  # weights above this were clipped to it
    numbers: int  # how many noisy numbers were measured
    sampler: str  # which exact sampler drew the noise
    details: Mapping[str, Any]  # public facts a mechanism adds (sizes, levels, parameters chosen)
    version: str  # the hushpath that made it
    periods: tuple[str, ...] = ()  # the public periods that answers are about
    measured: Measurements | None = field(default=None, repr=False, compare=False)  # what cautions are worked out from
    # the public column that helps to read the release, if the owner declared one; no part of the promise
    proxy: str = ""
    # the decoder, and the estimator of weights if it searches paths; free to choose, no part of the promise
    read_as: str = ""
    quantity: Quantity = UNNAMED  # what the numbers are and who publishes them, as declared; nothing that is certified
    # the specification file that the release was made by, if it was; checked against the promise
    specification: str = ""

    @classmethod
    def of(cls, measurements: Measurements) -> Statement:
        """Return the statement of these measurements."""
        strategy, certificate = measurements.strategy, measurements.strategy.certificate
        reasons = []
        if strategy.budget.unlimited:
            reasons.append("epsilon is infinite, so no noise was added")
        elif not measurements.private:
            reasons.append("the noise was drawn from a known seed")
        lattice, scales = strategy.lattice, strategy.scales
        step = strategy.terms.measured_step(lattice)
        ends = (int(scales.min()), int(scales.max())) if len(scales) else (0, 0)
        return cls(
            private=measurements.private,
            reasons=tuple(reasons),
            epsilon=certificate.epsilon,
            delta=certificate.delta,
            budget_epsilon=strategy.budget.epsilon,
            budget_delta=strategy.budget.delta,
            unit=strategy.terms.unit,
            mechanism=strategy.mechanism,
            law=str(strategy.law),
            spent=certificate.spent,
            worst_edge=certificate.worst_edge,
            noise=(std(strategy.law, ends[0]) * step, std(strategy.law, ends[1]) * step),
            granularity=lattice.granularity,
            largest_weight=lattice.largest_weight,
            numbers=strategy.num_values,
            sampler=measurements.sampler,
            details=dict(strategy.details),
            version=__version__,
            periods=strategy.terms.periods.names,
            measured=measurements,
            proxy=strategy.topology.proxy_name,
        )

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Warnings, computed again by every reader."""
        return () if self.measured is None else of_release(self.measured)

    @property
    def marking(self) -> str:
        """NOT PRIVATE and why, for everything made from this release; empty if it is private."""
        return "" if self.private else f"{NOT_PRIVATE}: {'; '.join(self.reasons)}"

    @cached_property
    def promise(self) -> Promise:
        """The promise in plain words: the one text that every program shows."""
        return make_promise(
            marking=self.marking, epsilon=self.epsilon, delta=self.delta, law=self.law, spent=self.spent,
            unit=self.unit, quantity=self.quantity,
        )  # fmt: skip

    @property
    def conversion(self) -> str:
        """The proof that gives epsilon at this delta, in words; empty for Laplace noise."""
        if self.law == Law.LAPLACE or not 0 < self.epsilon < math.inf:
            return ""
        by_rho = zcdp_epsilon(self.spent, self.delta) <= self.epsilon
        return "the conversion of rho" if by_rho else "the exact trade-off of Gaussian noise"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; infinity is the text "inf".  A marking comes first."""
        return {**self._facts(), "cautions": list(self.cautions)}

    @property
    def certified(self) -> dict[str, Any]:
        """The same without what is not certified: cautions and help for decoding.  The file holds this."""
        return {key: value for key, value in self._facts().items() if key not in NO_PROMISE}

    def _facts(self) -> dict[str, Any]:
        marking = {"marking": self.marking} if self.marking else {}
        unit = {"kind": self.unit.kind, **self.unit.as_dict()}
        facts = {**asdict(replace(self, measured=None)), "unit": unit, "quantity": self.quantity.as_dict()}
        return {**marking, **{key: _plain(value) for key, value in facts.items() if key != "measured"}}

    def __str__(self) -> str:
        return "\n".join([str(self.promise), *self.technical])

    @property
    def technical(self) -> list[str]:
        """The certificate and how the release was made, for specialists."""
        lines = []
        if self.private:
            certified = f"epsilon = {self.epsilon:.6g}"
            certified += f", delta = {self.delta:.3g}" if self.delta else " (pure, delta = 0)"
            lines.append(f"Differentially private with {certified}.")
        if self.quantity.dataset:
            lines.append(f"Data set: {self.quantity.dataset}.")
        if str(self.quantity):
            lines.append(f"Numbers: {self.quantity}.")
        low, high = self.noise
        spread = f"{low:.4g}" if math.isclose(low, high, rel_tol=1e-9) else f"{low:.4g} to {high:.4g}"
        currency = "epsilon" if self.law == Law.LAPLACE else "rho (zCDP)"
        where = f", highest at edge {self.worst_edge}" if self.unit.measures_edges else ""
        proof = f"epsilon by {self.conversion}; " if self.conversion else ""
        lines += [
            f"Mechanism {self.mechanism}: {self.numbers} numbers with exact discrete {self.law.capitalize()} noise, "
            f"standard deviation {spread}.",
            f"Certificate: {currency} = {self.spent:.6g}{where}; {proof}"
            f"budget epsilon = {self.budget_epsilon:g}, delta = {self.budget_delta:g}.",
            f"Each {self.unit.clipped_noun} was clipped to its public bounds (at most {self.largest_weight:g}) and "
            f"rounded down to steps of {self.unit.rounding(self.granularity)}; sampler: {self.sampler}.",
            *([f"Decoded by {self.read_as}; another decoder costs no privacy."] if self.read_as else []),
            *([proxy_words(self.proxy, bounds=not self.unit.measures_edges)] if self.proxy else []),
            *(f"Caution: {caution}." for caution in self.cautions),
        ]
        return lines


def proxy_words(name: str, *, bounds: bool = False) -> str:
    """Say in one line what a proxy is for; with ``bounds``, it also bounds what counts."""
    return (
        f"Decoded with the public column {name}, which the owner declared: "
        f"it costs no privacy{'' if bounds else ' and bounds nothing'}."
    )


def _plain(value: Any) -> Any:
    """Replace infinity and tuples, which JSON lacks."""
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
