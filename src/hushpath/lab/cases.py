"""What the lab measures: network x weights x noise x mechanism, each case with a unique id.

Noise is measured in median weights: at noise r, Laplace input perturbation adds a standard deviation of r to every
weight, so epsilon = sqrt(2) / r for unit 1.  Every mechanism gets that epsilon and the same delta.

*Rates* are cases for Table 1 of the paper: epsilon = 1, as in the theorems, and a privacy unit so small that noise is
small against distances for every n.  (A large epsilon would do the same for Laplace noise, but Gaussian noise decreases
with the root of a large epsilon only, and the theorems are for epsilon below 1.)

The id of a case contains everything its result depends on, including a digest of the source, so that a stored result
is not reused after the code has changed.  (Versions of other packages are not part of it.)
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .._validate import integer, one_of
from ..decoder.registry import DECODERS
from ..estimator.registry import ESTIMATORS
from ..mechanism.registry import MECHANISMS, mechanism_named
from .networks import CLASSES, KINDS, OWN, OwnNetwork, WeightedNetwork, generate_network, load_own

DELTA = 1e-6
PRESENTATION = (
    "cli/", "output/", "serve/", "lab/pictures.py", "lab/report.py", "lab/table1.py", "lab/tables.py",
)  # fmt: skip
MAIN_WEIGHTS = "uniform"
LONG = ("path", "caterpillar", "ladder", "thin-grid")  # hops grow with n, so large sizes matter
THICK = ("grid", "delaunay", "city")  # many paths between two nodes, so the kind of weights matters
RATES = ("path", "ktree", "grid", "delaunay")  # one class per family of the theorems
NO_ESTIMATOR = "none"  # for mechanisms whose decoder searches no weights


@dataclass(frozen=True)
class Case:
    """One measurement, decoded by every estimator that applies."""

    network: str  # a class of ``networks.CLASSES``, or the name of a file
    size: int  # approximate number of nodes
    weights: str
    noise: float  # in median weights
    mechanism: str
    estimators: tuple[str, ...]  # or NO_ESTIMATOR
    repeats: int  # seeded releases, each with its own weights and noise
    max_numbers: int  # mechanisms that store more numbers than this are skipped
    seed: int  # of the whole run
    code: str  # digest of the source
    unit: float = 1.0  # the privacy unit in median weights: 1 except for rates
    file: OwnNetwork | None = None  # the edge list of the user

    @property
    def epsilon(self) -> float:
        """The epsilon of every mechanism at this noise."""
        return math.sqrt(2) * self.unit / self.noise

    @property
    def id(self) -> str:
        """Everything the result depends on."""
        own = f"@{self.file.digest}" if self.file else ""
        return (
            f"{self.network}{own}/{self.size}/{self.weights}/{self.noise:g}/{self.mechanism}/{'+'.join(self.estimators)}"
            f"/x{self.repeats}/m{self.max_numbers:g}/u{self.unit:g}/s{self.seed}/c{self.code}"
        )

    def seed_for(self, *what: object) -> int:
        """Return a seed for one purpose; cases with the same network share its shape and its weights."""
        text = "/".join(str(part) for part in (self.network, self.size, self.seed, *what))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")

    def load(self, repeat: int) -> WeightedNetwork:
        """Return the network with the weights of one repeat."""
        if self.file is not None:
            return load_own(self.file)
        seeds = self.seed_for("shape"), self.seed_for("weights", self.weights, repeat)
        return generate_network(self.network, self.size, self.weights, seeds)


@dataclass(frozen=True)
class Scope:
    """The sizes, noises and repeats of a run."""

    sizes: tuple[int, ...]
    long_sizes: tuple[int, ...]
    noises: tuple[float, ...]
    weights_size: int
    weights_noises: tuple[float, ...]
    repeats: int
    max_numbers: int
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
    """List the cases of a run in the order of the final table.

    ``scope`` has the sizes and noises, ``seed`` is that of the run; ``mechanisms``, ``classes`` and ``estimators``
    restrict it (empty: all), and ``own`` adds edge lists of the user.
    """
    integer(seed, "seed", 0)
    names = [mechanism_named(name).name for name in mechanisms] or list(MECHANISMS)
    for name in classes:
        one_of(name, "class", CLASSES)
    for name in estimators:
        one_of(name, "estimator", ESTIMATORS)
    wanted = [name for name in CLASSES if not classes or name in classes]
    blank = Case("", 0, MAIN_WEIGHTS, 1.0, "", (), scope.repeats, scope.max_numbers, seed, code_digest())
    return [
        replace(case, mechanism=name, estimators=estimators_for(name, estimators))
        for case in dict.fromkeys(_settings(scope, wanted, own, blank))
        for name in MECHANISMS
        if name in names
        if case.unit == 1.0 or not MECHANISMS[name].needs_max_weight  # at tiny units no bound on weights is tight
    ]


def _settings(scope: Scope, wanted: Sequence[str], own: Sequence[OwnNetwork], blank: Case) -> Iterator[Case]:
    """Yield cases without mechanisms: ``blank`` with the sizes and noises of ``scope``.

    First the ``wanted`` classes, then the user's ``own`` networks, then rates.
    """
    for name in wanted:
        for size in scope.long_sizes if name in LONG else scope.sizes:
            for noise in scope.noises:
                yield replace(blank, network=name, size=size, noise=noise)
        for weights in KINDS if name in THICK else ():
            for noise in scope.weights_noises:
                yield replace(blank, network=name, size=scope.weights_size, weights=weights, noise=noise)
    for file in own:
        for noise in scope.noises:
            yield replace(blank, network=file.name, size=file.nodes, weights=OWN, noise=noise, file=file)
    for name in RATES:
        for size in scope.rate_sizes if name in wanted else ():
            for unit in scope.rate_units:
                yield replace(blank, network=name, size=size, noise=math.sqrt(2) * unit, unit=unit)


def estimators_for(mechanism: str, wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the estimators that apply to a mechanism, in the order of the registry."""
    kinds = MECHANISMS[mechanism].measures
    searched = (decoder.blocks for decoder in DECODERS.values() if decoder.searches)
    if not any(all(any(issubclass(kind, need) for kind in kinds) for need in needs) for needs in searched):
        return (NO_ESTIMATOR,)
    return tuple(name for name in ESTIMATORS if not wanted or name in wanted)


def code_digest(package: Path = Path(__file__).parents[1]) -> str:
    """Return a digest of all source files of the package, except those that only present results."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        where = path.relative_to(package).as_posix()
        if not where.startswith(PRESENTATION):
            digest.update(where.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:10]
