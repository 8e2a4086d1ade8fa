"""The statement of a release: its certificate, how it was made, the promise that follows (``promise``), and cautions.

It is made once, from the certificate and the sampler, and stored in the file.  NOT PRIVATE always comes first.

Cautions are warnings about a promise or a release, from public facts.  They stop nothing: the owner decides.  They are
emitted at release time, stand in the statement, and are computed again from the file by each reader.

"Mostly noise": the expected error exceeds half of a typical distance.  Before the release a typical distance follows
from the declared bounds, with weights half of their bounds; afterwards it is estimated from the released numbers.
Where a network has many cycles, shortest paths prefer edges whose noise is negative; then noise of twice the mean
weight is as bad (on the city of the demo answers are wrong by 60 %).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from .._version import __version__
from ..decoder.base import number_noise
from ..decoder.registry import expected_error
from ..measurement.blocks import EdgeBlock, TripBlock
from ..measurement.private_step import Measurements
from ..measurement.samples import few_hops
from ..measurement.strategy import Strategy
from ..noise import Law, std
from ..privacy.accounting import zcdp_epsilon
from ..privacy.units import Unit
from .promise import Promise, find_weaknesses, make_promise
from .quantity import UNNAMED, Quantity

NOT_PRIVATE = "NOT PRIVATE"
OWNER_ONLY = f"{NOT_PRIVATE}: holds private truth, for the data owner only; do not publish"
MOSTLY = 0.5  # of a typical distance
MANY_CYCLES = 1.1  # edges per node
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
    # the certificate before conversion: epsilon (laplace) or rho of zCDP (gaussian), for composition
    spent: float
    worst_edge: int  # public id of an edge where the cost is highest
    noise: tuple[float, float]  # standard deviation of the least and the most noisy number, in units of the weights
    granularity: float  # length of one lattice step
    largest_weight: float  # weights above this were clipped to it
    numbers: int  # how many noisy numbers were measured
    sampler: str  # which exact sampler drew the noise
    details: Mapping[str, Any]  # public facts of the mechanism (sizes, levels), for people only
    version: str  # of hushpath
    periods: tuple[str, ...] = ()  # the public periods that answers are about
    measured: Measurements | None = field(default=None, repr=False, compare=False)  # for cautions
    # the public column that helps to decode, if declared; no part of the promise
    proxy: str = ""
    # decoder and, if it searches paths, estimator; no part of the promise
    read_as: str = ""
    quantity: Quantity = UNNAMED  # what the numbers are and who publishes them, as declared; not certified
    # the specification file, if there was one; checked against the promise
    specification: str = ""
    hours: tuple[tuple[float, float], ...] = ()  # of the periods, if a clock tells them

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
            hours=strategy.terms.periods.hours,
            measured=measurements,
            proxy=strategy.topology.proxy_name,
        )

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Warnings, computed again by every reader."""
        return () if self.measured is None else list_release_cautions(self.measured)

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
        return {**marking, **{key: as_json(value) for key, value in facts.items() if key != "measured"}}

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
            *([f"Decoder: {self.read_as}; another decoder costs no privacy."] if self.read_as else []),
            *([explain_proxy(self.proxy, bounds=not self.unit.measures_edges)] if self.proxy else []),
            *(f"Caution: {caution}." for caution in self.cautions),
        ]
        return lines


def explain_proxy(name: str, *, bounds: bool = False) -> str:
    """Say in one line what a proxy is for; with ``bounds``, it also bounds what counts."""
    return (
        f"Decoded with the public column {name}, which the owner declared: "
        f"it costs no privacy{'' if bounds else ' and bounds nothing'}."
    )


def as_json(value: Any) -> Any:
    """Replace infinity and tuples, which JSON lacks."""
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    if isinstance(value, (tuple, list)):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    return value


def list_promise_cautions(strategy: Strategy) -> list[str]:
    """Return cautions about the promise."""
    if strategy.budget.unlimited:
        return []  # NOT PRIVATE, and marked so everywhere
    certificate = strategy.certificate
    return find_weaknesses(certificate.epsilon, certificate.delta, strategy.terms.unit.population)


def list_plan_cautions(strategy: Strategy) -> list[str]:
    """Return the cautions that can be known before any weight is read."""
    found, lattice = list_promise_cautions(strategy), strategy.lattice
    declared = strategy.terms.bound_every_weight(strategy.topology)
    if not declared or strategy.budget.unlimited or strategy.topology.num_edges == 0:
        return found
    typical = float(lattice.high.mean()) / 2 * lattice.granularity * few_hops(strategy.topology).mean
    error = expected_error(strategy)
    if error > MOSTLY * typical:
        found.append(
            f"expect mostly noise: a mean error of about {error:.3g}, where a typical distance is about "
            f"{typical:.3g} if weights are half of their bounds on average"
        )
    return found


def list_release_cautions(measurements: Measurements) -> tuple[str, ...]:
    """Return the cautions of a release; none if it is NOT PRIVATE, which says enough."""
    if not measurements.private:
        return ()
    strategy, found = measurements.strategy, list_promise_cautions(measurements.strategy)
    if not strategy.topology.num_edges:
        return tuple(found)
    if strategy.terms.unit.measures_edges:
        error, typical = expected_error(strategy), typical_distance(measurements)
        if error > MOSTLY * typical or _lost_in_noise(measurements):
            found.append(
                f"this is mostly noise: a mean error of about {error:.3g}, where a typical "
                f"distance, by the released numbers, is about {max(typical, 0.0):.3g}"
            )
    else:
        counts = measurements.of(TripBlock).reshape(2, -1).sum(axis=0)
        if float(counts.mean()) < math.sqrt(2) * float(number_noise(strategy).max()):
            found.append(
                "this is mostly noise: by the released counts an average edge was passed less often than its noise, so "
                "released times are little more than scaled free-flow times"
            )
    return tuple(found)


def typical_distance(measurements: Measurements) -> float:
    """Estimate a typical distance from the numbers of the first block; it may be negative under much noise."""
    strategy = measurements.strategy
    first = strategy.blocks[0]
    return first.typical(measurements.of(type(first))) * strategy.lattice.granularity


def _lost_in_noise(measurements: Measurements) -> bool:
    """Return whether shortest paths over noisy edges follow the noise rather than the weights."""
    strategy, topology = measurements.strategy, measurements.strategy.topology
    if {type(block) for block in strategy.blocks} != {EdgeBlock}:
        return False
    if topology.num_edges < MANY_CYCLES * topology.num_nodes:
        return False
    return float(number_noise(strategy).max()) > 2 * float(measurements.values.mean())
