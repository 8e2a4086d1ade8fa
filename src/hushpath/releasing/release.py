"""From private data to a release in one call: plan, certify, charge, measure, state.

``release`` is for edge weights, ``release_trips`` for people's trips.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Unpack, cast

import numpy as np

from .._validate import check_type, shorten
from ..days import DateRange, as_dates
from ..decoder.registry import choose_decoder
from ..errors import OptionError, warn
from ..measurement.private_step import measure, measure_trips
from ..measurement.strategy import Strategy
from ..measurement.trip_strategy import TripStrategy, make_trip_terms, trip_strategy
from ..mechanism.registry import MECHANISMS
from ..network.network import Network
from ..noise import Noise, make_sampler
from ..planning.plan import MechanismOptions
from ..planning.plan import plan as make_plan
from ..planning.result import Plan
from ..privacy.accounting import Budget
from ..privacy.composition import Spending
from ..privacy.ledger import Ledger
from ..privacy.units import TripUnit, WeightUnit
from ..published.quantity import UNNAMED, Quantity
from ..published.release import Release
from ..published.statement import Statement
from ..trips.trips import Trips

LedgerPath = str | os.PathLike[str] | Ledger


def release(
    network: Network, *, epsilon: float | None = None, delta: float | None = None,
    unit: float | WeightUnit | None = None, max_weight: float | None = None, mechanism: str = "auto",
    noise: str | Noise = "auto", seed: int | None = None, ledger: LedgerPath | None = None, plan: Plan | None = None,
    quantity: Quantity = UNNAMED, **mechanism_options: Unpack[MechanismOptions],
) -> Release:  # fmt: skip
    """Measure the edge weights of a network once, with differential privacy, and return what may be published.

    Parameters
    ----------
    network
        Public topology and private weights, such as ``read_network`` returns.
    epsilon, delta
        The privacy budget; delta is 1e-6 if not given.  ``delta=0`` asks for pure differential privacy;
        ``epsilon=inf`` adds no noise: NOT PRIVATE.
    unit
        How far one protected unit can change the weights: a number (the sum of absolute changes over all edges) or a
        ``WeightUnit``.  Required; no default exists.
    max_weight
        A public bound on every weight; larger weights are clipped to it, silently.
    mechanism
        A name from ``hushpath.mechanisms()``, or "auto" for the smallest predicted error.
    noise
        "auto", "laplace" or "gaussian", or a ``Noise`` that also names the sampler.
    seed
        Makes a release reproducible, for tests: NOT PRIVATE.
    ledger
        A ledger file or a ``Ledger``: the release is charged there, on the disk, before noise is drawn; if it does
        not fit the budget, nothing is measured.
    plan
        What ``hushpath.plan`` returned for this network: its choice is measured.  A plan holds the budget, the unit
        and the mechanism, so none of these may be passed with it.
    quantity
        What the numbers are and who publishes them, as everything made from the release says.
    **mechanism_options
        Options of the named mechanism.

    Returns
    -------
    Release
        The noisy measurements with their statement; ask it for any distance.  What deserves a second look
        (``statement.cautions``) is also emitted as ``HushpathWarning``.

    Raises
    ------
    OptionError
        If an argument is missing, invalid or contradicts another.
    CannotError
        If no mechanism fits, or if public data alone are predicted to be as good; pass
        ``plan=hushpath.plan(..., ignore_baseline=True)`` to release all the same.
    BudgetError
        If the ledger has too little budget left.

    Examples
    --------
    >>> import hushpath
    >>> net = hushpath.Network.build(range(4), [0, 1, 2], [1, 2, 3], [5.0, 7.0, 6.0])
    >>> rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input")
    >>> rel.distance(0, 0)
    0.0
    """
    check_type(network, Network, "release takes a Network, such as read_network returns (use release_trips for trips)")
    if isinstance(epsilon, (list, tuple, np.ndarray)):
        raise OptionError("a release has one epsilon; hushpath.plan compares several")
    check_type(plan, Plan | None, "`plan` must be what hushpath.plan returns")
    choice = Noise.of(noise)
    if plan is None:
        plan = make_plan(
            network.topology, epsilon=epsilon, delta=1e-6 if delta is None else delta, unit=unit, max_weight=max_weight,
            mechanism=mechanism, noise=choice, **mechanism_options,
        )  # fmt: skip
    elif (epsilon, delta, unit, max_weight, mechanism, choice.law, mechanism_options) != (
        None, None, None, None, "auto", "auto", {},
    ):  # fmt: skip
        raise OptionError("a plan holds the budget, the unit and the mechanism: pass it without them")
    elif not plan.topology.is_same(network.topology):
        raise OptionError("the plan was made for another topology than this network's")
    if network.weight_name and plan.topology.proxy_name == network.weight_name:  # a plan cannot know what is private
        raise OptionError(f"{shorten(network.weight_name)} is the private weight, so it cannot be a public proxy")
    return publish(plan.strategy, network, choice, seed=seed, ledger=ledger, quantity=quantity)


def release_trips(
    trips: Trips, *, epsilon: float | None = None, delta: float = 1e-6, protects: str | TripUnit | None = None,
    low: Any = None, high: Any = None, days: Any = None, noise: str | Noise = "auto", seed: int | None = None,
    ledger: LedgerPath | None = None, quantity: Quantity = UNNAMED, edge_weighting: str = "inverse-traffic",
) -> Release:  # fmt: skip
    """Measure people's trips once, with differential privacy, and return what may be published.

    Parameters
    ----------
    trips
        The trips of people on a public network, such as ``read_trips`` returns.
    epsilon, delta
        The privacy budget.  ``delta=0`` asks for pure differential privacy; ``epsilon=inf`` adds no noise:
        NOT PRIVATE.
    protects
        What one protected unit is: "person", "person-day" or "trip", or a ``TripUnit``.  Required.
    low, high
        Public bounds of one pass over an edge; times beyond are clipped, silently.  A number is a multiple of the
        public free-flow time (the network's proxy), a text the name of a public column of the network.
    days
        The first and the last day that count, ``("2026-10-01", "2026-10-31")``; rows of other days are left out.
    noise
        "auto", "laplace" or "gaussian", or a ``Noise`` that also names the sampler.  "auto" is Gaussian unless
        ``delta=0`` or ``max_edges`` is set; to follow a plan pass ``plan.noise``.
    seed
        Makes a release reproducible, for tests: NOT PRIVATE.
    ledger
        A ledger file or a ``Ledger``: the release is charged there before noise is drawn.
    quantity
        What the numbers are and who publishes them; travel times in seconds if not named otherwise.
    edge_weighting
        "inverse-traffic": edges that public routes use little count more; "even": all edges count the same.

    Returns
    -------
    Release
        The noisy totals with their statement; ask it for any travel time, ``rel.for_period("am")`` in one period.
    """
    check_type(trips, Trips, "release_trips takes Trips, such as read_trips returns (use release for weights)")
    choice = Noise.of(noise)
    strategy = strategy_for(
        trips, Budget(epsilon, delta), TripUnit.of(protects, days), low=low, high=high, noise=choice.law,  # type: ignore[arg-type]
        edge_weighting=edge_weighting,
    )  # fmt: skip
    return publish(strategy, trips, choice, seed=seed, ledger=ledger, quantity=quantity)


def strategy_for(
    trips: Trips, budget: Budget, unit: TripUnit, *, low: Any, high: Any, noise: str, edge_weighting: str,
    edges_per_unit: float | None = None,
) -> TripStrategy:  # fmt: skip
    """Return the strategy that measures ``trips``; refuse a ``unit`` that their table cannot tell apart.

    ``budget``, ``low``, ``high``, ``noise`` and ``edge_weighting`` are as for ``release_trips``; ``edges_per_unit`` is
    the public guess of ``plan_trips``, by which "auto" chooses the noise.
    """
    trips.check_unit(unit.protects, unit.days)
    terms = make_trip_terms(
        trips.topology, budget, unit, low=low, high=high, periods=trips.periods, edge_weighting=edge_weighting
    )  # fmt: skip
    return trip_strategy(trips.topology, terms, noise, edges_per_unit)


def publish(
    strategy: Strategy, data: Network | Trips, noise: Noise, *, quantity: Quantity, seed: int | None = None,
    ledger: LedgerPath | None = None, file: str = "", keep: Callable[[Release], None] | None = None,
    specification: str = "", estimator: str = "auto",
) -> Release:  # fmt: skip
    """Charge, measure and state a release, once everything public is checked.

    ``data`` are opened by the private step, once, after ``strategy`` was charged to ``ledger`` for the ``file``.
    ``noise`` names the sampler, which ``seed`` replaces.  ``keep`` gets the release before the ledger notes it as made,
    for example to write it to the disk.  ``quantity`` and ``specification`` are stated; ``estimator`` is the one that
    the file saves for its readers.
    """
    choose_decoder(strategy, estimator=estimator)  # refuse before the charge what could not be decoded
    if not strategy.terms.unit.measures_edges:
        quantity = quantity.of_trips()
    if ledger is not None and seed is not None:
        raise OptionError("a release with a seed is NOT PRIVATE and cannot be charged to a ledger: pass one of the two")
    if ledger is not None and strategy.budget.unlimited:
        raise OptionError("a release without noise cannot be charged to a ledger: omit `ledger`")
    opened = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger.open(ledger)
    if opened is not None:
        quantity = replace(quantity, dataset=opened.dataset(quantity.dataset or None).name)
    sampler = make_sampler(noise.sampler, seed=seed, size=strategy.num_values)
    number = 0
    if opened is not None:
        asked, days = spending_of(strategy)
        number = opened.charge(asked, dataset=quantity.dataset, days=days, file=file)
    if isinstance(data, Network):
        numbers = measure(strategy, data.weights, sampler)
    else:
        numbers = measure_trips(cast("TripStrategy", strategy), data, sampler)
    statement = replace(Statement.of(numbers), quantity=quantity, specification=specification)
    made = Release(numbers, statement, estimator=estimator)
    if keep is not None:
        keep(made)
    if opened is not None:
        opened.released(number, made.fingerprint)
    for caution in made.statement.cautions:
        warn(caution)
    return made


def spending_of(strategy: Strategy) -> tuple[Spending, DateRange | None]:
    """Return what a release of this strategy spends, and the days it covers; day numbers count as all days."""
    unit = strategy.terms.unit
    return Spending.of(strategy.certificate, unit.protects), as_dates(unit.days)


def mechanisms() -> dict[str, str]:
    """Return the names of the mechanisms with one line each.

    >>> import hushpath
    >>> hushpath.mechanisms()["input"]
    'noise on every edge weight, answers by shortest paths over the noisy weights (Sealfon 2016)'
    """
    listed = {name: mechanism.summary for name, mechanism in MECHANISMS.items()}
    return {**listed, "auto": "the mechanism and noise law with the smallest predicted error, from public facts"}
