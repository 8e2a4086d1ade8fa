"""From a network to a release in one call: plan, certify, measure, state."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..data.network import Network
from ..data.trips import Trips
from ..data.weights import PrivateWeights
from ..decode.registry import choose_decoder
from ..errors import OptionError, warn
from ..measure import measure
from ..noise import make_sampler
from ..strategy.core import Strategy
from ..strategy.registry import MECHANISMS
from ..strategy.terms import Terms
from ..strategy.trips import trip_strategy
from .charging import Charging
from .oracle import Release
from .plan import ask, by_name
from .planned import Plan
from .quantity import Quantity, checked_dataset
from .statement import Statement
from .trip_terms import declared


@by_name
def release(
    network: Network | Trips, *, epsilon: float | None = None, delta: float | None = None, unit: float | None = None,
    max_weight: float | None = None, mechanism: str = "auto", law: str = "auto", sampler: str = "auto",
    seed: int | None = None, granularity: float | None = None, population: int | None = None,
    plan: Plan | None = None, proxy: str | None = None, typical_weight: float | Sequence[float] | None = None,
    anyway: bool = False, estimator: str = "auto", unit_l2: float | None = None,
    unit_edges: tuple[int, float] | None = None, protects: str | None = None, low: Any = None, high: Any = None,
    neighbours: str | None = None, days: Any = None, max_edges: int | None = None, emphasis: str | None = None,
    ledger: str | os.PathLike[str] | None = None, dataset: str | None = None, file: str = "",
    quantity: str | None = None, measured_in: str | None = None, date: str | None = None,
    publisher: str | None = None, **options: Any,
) -> Release:  # fmt: skip
    """Measure a network once, with differential privacy, and return what may be published.

    Args:
        network: public topology and private weights; or people's trips, such as ``read_trips`` gives.
        epsilon, delta: the budget; delta is 1e-6 if not given.  ``delta=0`` asks for pure privacy; ``epsilon=inf`` adds
            no noise: NOT PRIVATE.
        unit: how far one protected unit can move all weights together (L1), in their own measure; yours to declare.
        max_weight: a public bound on every weight; larger weights are clipped to it, silently.
        mechanism: a name from ``hushpath.mechanisms()``, or "auto" for the smallest predicted error.
        law: "auto", "laplace" or "gaussian".
        sampler: "auto", "opendp" or "vector"; the statement says which was used.
        seed: makes a release reproducible, for tests: NOT PRIVATE.
        granularity: length of a lattice step, a power of two; chosen from public facts when not given.
        population: about how many protected units there are: public, declared, never counted in the data.
        plan: what ``hushpath.plan`` made for this network: its choice is measured as it stands.  It holds everything
            above but ``sampler`` and ``seed``, so none of that may be given with it.  Coordinates and proxy are the
            plan's.
        proxy: the name of a public column that resembles the weights, such as free-flow times; estimators begin with
            it.  It is published, costs no privacy and bounds nothing.  IT MUST BE PUBLIC: a column computed from the
            private data breaks the promise (``Topology.with_proxy``).  A network that has a proxy keeps it.
        estimator: how edge weights are estimated where paths are searched over them; free, and each reader may choose
            another (``Release.read``).  "auto" takes what suits the release; "clip" is the quick and simple one.
        typical_weight: about the median weight, or two between which half of all lie, for the plan: public, declared,
            NEVER computed from the private data.
        anyway: release even if the plan predicts that public facts alone are as good.
        unit_l2: how far one protected unit can move all weights in L2 norm, if that is less: the root of the sum of
            squared changes.  Gaussian noise on edges is then in proportion to it.
        unit_edges: instead of both, ``(k, c)``: one protected unit moves at most k weights by at most c each.
        ledger: a ledger file (docs/LEDGER.md): what the release spends is charged there, on the disk, before noise is
            drawn; if it does not fit, nothing is measured.
        dataset: the name of the data: published, and with a ledger the one that is charged.  It may be left out if the
            ledger has one data set only, and then that one's name is published.
        file: the name of the file to come, for the ledger.
        quantity, measured_in: what the numbers are, as everything made of them says: "travel time", "seconds".  Public,
            and published.
        date: the reporting period, free text, for example "2026-03".  Public, and published; readers of a signed file
            can demand it (``load``).
        publisher: who publishes the release, as its promise says.  Public, and published; only a signature proves it.
        options: what the mechanism takes.

    For trips, instead of ``unit``, ``max_weight``, ``mechanism`` and what goes with them (docs/TRIPS.md):

    Args:
        protects: what one protected unit is: "person", "person-day" or "trip"; yours to declare.
        low, high: public bounds of one pass over an edge; times beyond are clipped, silently.  A number is a multiple
            of the public free-flow time (``proxy``), a text the name of a public column of the network.
        proxy: the public column of free-flow times; estimates begin with it.
        neighbours: "add-remove" (the default: a unit's data are there or not) or "replace" (they are exchanged).
        days: the first and the last day that count, ``("2026-10-01", "2026-10-31")``; rows of others are left out.
        max_edges: with Laplace noise, at most so many cells of a unit count, drawn evenly; by default all do.
        emphasis: "quiet" (the default: edges that public routes use little count more) or "even".

    What deserves a second look (``statement.cautions``) is also emitted as ``HushpathWarning``.
    """
    of_trips = dict(
        protects=protects, low=low, high=high, neighbours=neighbours, days=days, max_edges=max_edges, emphasis=emphasis
    )
    said = Quantity.declared(quantity, measured_in, date, publisher, trips=isinstance(network, Trips))
    if isinstance(network, Trips):
        others = dict(
            unit=unit, max_weight=max_weight, granularity=granularity, plan=plan, typical_weight=typical_weight,
            unit_l2=unit_l2, unit_edges=unit_edges, mechanism=None if mechanism == "auto" else mechanism, **options,
        )  # fmt: skip
        if wrong := next((name for name, value in others.items() if value is not None), None):
            raise OptionError(
                f"a release of trips takes no {wrong}: who is protected is said by protects (docs/TRIPS.md)"
            )
        of_trips["neighbours"], of_trips["emphasis"] = neighbours or "add-remove", emphasis or "quiet"
        topology, terms = declared(
            network, epsilon=epsilon, delta=delta, proxy=proxy, population=population, **of_trips,
        )  # fmt: skip
        strategy = trip_strategy(topology, terms, law)
        charging, named = Charging.of(ledger, dataset, file, strategy), checked_dataset(dataset)
        return measured(strategy, network, sampler, seed, estimator, charging, said, named)
    if not isinstance(network, Network):
        raise OptionError(f"release takes a Network, such as read_network returns, not {type(network).__name__}")
    if wrong := next((name for name, value in of_trips.items() if value is not None), None):
        raise OptionError(f"{wrong} is said of trips (read_trips), and this is a network with weights: say unit")
    given = (epsilon, delta, unit, max_weight, granularity, population, proxy, typical_weight, unit_l2, unit_edges)
    if isinstance(epsilon, (list, tuple)):
        raise OptionError("a release has one epsilon; several are compared by hushpath.plan")
    if plan is None:
        public = max_weight, granularity, population, unit_l2, unit_edges
        about = Terms.declared(epsilon, 1e-6 if delta is None else delta, unit, *public)
        plan = ask(network.topology, about, mechanism, law, proxy, typical_weight, options).choice(anyway)
    elif not isinstance(plan, Plan):
        raise OptionError(f"plan takes what hushpath.plan returns, not {type(plan).__name__}")
    elif any(term is not None for term in given) or (mechanism, law) != ("auto", "auto") or options:
        raise OptionError("a plan holds epsilon, unit and the rest: give it alone, with sampler or seed at most")
    elif not plan.topology.is_same(network.topology):
        raise OptionError("the plan was made for another topology than this network's")
    network.topology.columns.check_public(plan.topology.proxy_name)  # a plan may not know which column is private
    charging, named = Charging.of(ledger, dataset, file, plan.strategy), checked_dataset(dataset)
    return measured(plan.strategy, network.weights, sampler, seed, estimator, charging, said, named)


def measured(
    strategy: Strategy, owned: PrivateWeights | Trips, sampler: str, seed: int | None, estimator: str,
    charging: Charging | None, quantity: Quantity, dataset: str = "", keep: Callable[[Release], None] | None = None,
) -> Release:  # fmt: skip
    """Through the private door, once everything public is known to be right and paid for.

    ``keep`` may write the release to the disk before the ledger notes it as made.
    """
    choose_decoder(strategy, estimator=estimator)  # before anything is measured and paid for
    if charging is not None and seed is not None:
        raise OptionError("a release with a seed is NOT PRIVATE, and no ledger counts it: leave one of the two out")
    source = make_sampler(sampler, seed=seed, size=strategy.num_values)  # type: ignore[arg-type]
    number = None if charging is None else charging.paid()
    numbers = measure(strategy, owned, source)
    named = dataset if charging is None else charging.dataset or dataset
    made = Release(numbers, replace(Statement.of(numbers), quantity=quantity, dataset=named), estimator=estimator)
    if keep is not None:
        keep(made)
    if charging is not None and number is not None:
        charging.ledger.released(number, made.fingerprint)
    for caution in made.statement.cautions:
        warn(caution)
    return made


def mechanisms() -> dict[str, str]:
    """Return the mechanisms by name with one line each."""
    listed = {name: mechanism.summary for name, mechanism in MECHANISMS.items()}
    return {**listed, "auto": "the mechanism and law with the smallest predicted error, from public facts"}
