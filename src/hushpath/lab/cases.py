"""What the laboratory measures: network x weights x noise x mechanism x estimator, each case with an id of its own.

Noise is counted in median weights: at noise r, Laplace input perturbation adds a standard deviation of r to every
weight, so epsilon = sqrt(2) / r for unit 1.  *Every* mechanism gets that epsilon, and the same delta.

Cases that differ in the estimator alone are one measurement, read several times (``measurements``).

*Rates* are cases for Table 1 of the paper: epsilon = 1, as the theorems have it, and a privacy unit so small that
noise is small against distances, whatever n.  (A large epsilon would do the same to Laplace noise; Gaussian noise falls
with the root of a large epsilon only, and the theorems are for epsilon below 1.)

A case's id holds everything its result depends on, a digest of the source included, so that a stored result is never
reused after the code that made it has changed.  (Versions of numpy and the like are not in it.)
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..decode.registry import DECODERS
from ..errors import OptionError
from ..estimate.registry import ESTIMATORS
from ..strategy.registry import MECHANISMS, mechanism_named
from .edge_lists import OwnNetwork
from .networks import CLASSES
from .weights import KINDS, OWN

DELTA = 1e-6
SHOWING = (
    "cli/", "report/", "web/", "lab/findings.py", "lab/page.py", "lab/pictures.py", "lab/rates.py", "lab/table1.py",
    "lab/table1_page.py", "lab/table1_pictures.py", "lab/tables.py", "lab/theorems.py",
)  # fmt: skip
MAIN_WEIGHTS = "uniform"
LONG = ("path", "caterpillar", "ladder", "thin-grid")  # hops grow with n, so large sizes are where it happens
THICK = ("grid", "delaunay", "city")  # many paths between two nodes, so the kind of weights matters
RATES = ("path", "ktree", "grid", "delaunay")  # a class for every family of the theorems
NO_ESTIMATOR = "none"  # where nothing is searched, there is nothing to estimate


@dataclass(frozen=True)
class Case:
    """One measurement to make.

    Attributes:
        network, size: a class of ``networks.CLASSES`` and its size, or the name of a file and its size.
        weights, noise, mechanism: kind of weights, noise in median weights, name in the registry.
        estimator: how edge weights are read, by name; ``NO_ESTIMATOR`` if the mechanism's answers are not searched.
        repeats: how many seeded releases, each with its own weights and noise.
        most: mechanisms that would store more numbers than this are left out.
        seed: of the whole run.
        unit: the privacy unit, in median weights: 1 but for rates.
        code: digest of the source that is to make the result.
        file: the edge list, if the network is the user's.
    """

    network: str
    size: int
    weights: str
    noise: float
    mechanism: str
    estimator: str
    repeats: int
    most: int
    seed: int
    code: str
    unit: float = 1.0
    file: OwnNetwork | None = None

    @property
    def epsilon(self) -> float:
        """The budget of every mechanism at this noise."""
        return math.sqrt(2) * self.unit / self.noise

    @property
    def id(self) -> str:
        """Everything the result depends on."""
        own = f"@{self.file.digest}" if self.file else ""
        return (
            f"{self.network}{own}/{self.size}/{self.weights}/{self.noise:g}/{self.mechanism}/{self.estimator}"
            f"/x{self.repeats}/m{self.most:g}/u{self.unit:g}/s{self.seed}/c{self.code}"
        )

    @property
    def measurement(self) -> Case:
        """What is measured, however it is read."""
        return replace(self, estimator="")

    def seed_for(self, *what: object) -> int:
        """A seed for one purpose; cases that share a network share its shape and its weights."""
        text = "/".join(str(part) for part in (self.network, self.size, self.seed, *what))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Scope:
    """How large a run is."""

    sizes: tuple[int, ...]
    long_sizes: tuple[int, ...]
    noises: tuple[float, ...]
    weights_size: int
    weights_noises: tuple[float, ...]
    repeats: int
    most: int
    rate_sizes: tuple[int, ...] = ()
    rate_units: tuple[float, ...] = (1e-6, 1e-4)


QUICK = Scope((64, 192, 576), (128, 512, 2048), (0.1, 0.5, 2.0), 192, (0.5,), 2, 1_000_000, rate_sizes=(64, 256, 1024))
FULL = Scope(
    (64, 256, 1024, 4096), (256, 1024, 4096, 16384), (0.05, 0.3, 1.0, 3.0), 1024, (0.3, 1.0), 3, 4_000_000,
    rate_sizes=(64, 256, 1024, 4096, 16384),
)  # fmt: skip


def make_cases(
    scope: Scope, *, seed: int, mechanisms: Sequence[str] = (), classes: Sequence[str] = (),
    estimators: Sequence[str] = (), own: Sequence[OwnNetwork] = (),
) -> list[Case]:  # fmt: skip
    """List the cases of a run in the order of the final table."""
    if seed < 0:
        raise OptionError(f"seed must be at least 0, got {seed}")
    names = [mechanism_named(name).name for name in mechanisms] or list(MECHANISMS)
    names = [name for name in MECHANISMS if name in names]  # the registry's order, each once
    for name in classes:
        if name not in CLASSES:
            raise OptionError(f"no network class is called {name[:40]!r}; choose from: {', '.join(CLASSES)}")
    for name in estimators:
        if name not in ESTIMATORS:
            raise OptionError(f"no estimator is called {name[:40]!r}; choose from: {', '.join(ESTIMATORS)}")
    wanted = [name for name in CLASSES if not classes or name in classes]
    blank = Case("", 0, MAIN_WEIGHTS, 1.0, "", "", scope.repeats, scope.most, seed, code_digest())
    every = [*_generated(scope, wanted, blank), *_own(scope, own, blank), *_rates(scope, wanted, blank)]
    return [
        replace(case, mechanism=name, estimator=estimator)
        for case in dict.fromkeys(every)
        for name in names
        if case.unit == 1.0 or not MECHANISMS[name].needs_max_weight  # no bound on weights is tight at tiny units
        for estimator in estimators_for(name, estimators)
    ]


def estimators_for(mechanism: str, wanted: Sequence[str] = ()) -> list[str]:
    """The estimators that may have something to say of a mechanism's releases, in the order of the registry."""
    kinds = MECHANISMS[mechanism].measures
    searched = (decoder.blocks for decoder in DECODERS.values() if decoder.searches)
    if not any(all(any(issubclass(kind, need) for kind in kinds) for need in needs) for needs in searched):
        return [NO_ESTIMATOR]
    return [name for name in ESTIMATORS if not wanted or name in wanted]


def measurements(cases: Sequence[Case]) -> list[list[Case]]:
    """The same cases in groups that need one measurement only, in order of appearance."""
    groups: dict[Case, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.measurement, []).append(case)
    return list(groups.values())


def code_digest(package: Path = Path(__file__).parents[1]) -> str:
    """A digest of every source file of the package but those that only show results."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        where = path.relative_to(package).as_posix()
        if not where.startswith(SHOWING):
            digest.update(where.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:10]


def _generated(scope: Scope, wanted: Sequence[str], blank: Case) -> Iterator[Case]:
    for name in wanted:
        for size in scope.long_sizes if name in LONG else scope.sizes:
            for noise in scope.noises:
                yield replace(blank, network=name, size=size, noise=noise)
        if name in THICK:
            for weights in KINDS:
                for noise in scope.weights_noises:
                    yield replace(blank, network=name, size=scope.weights_size, weights=weights, noise=noise)


def _rates(scope: Scope, wanted: Sequence[str], blank: Case) -> Iterator[Case]:
    for name in RATES:
        for size in scope.rate_sizes if name in wanted else ():
            for unit in scope.rate_units:
                yield replace(blank, network=name, size=size, noise=math.sqrt(2) * unit, unit=unit)


def _own(scope: Scope, own: Sequence[OwnNetwork], blank: Case) -> Iterator[Case]:
    for file in own:
        for noise in scope.noises:
            yield replace(blank, network=file.name, size=file.nodes, weights=OWN, noise=noise, file=file)
