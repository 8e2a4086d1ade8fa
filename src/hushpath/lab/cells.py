"""What the laboratory measures: cells of network x weights x noise x mechanism, each with an id of its own.

Noise is counted in median weights: at noise r, Laplace input perturbation adds a standard deviation of r to every
weight, so epsilon = sqrt(2) / r for unit 1.  *Every* mechanism gets that epsilon, and the same delta.

A cell's id holds everything its result depends on, a digest of the source included, so that a stored result is never
reused after the code that made it has changed.  (Versions of numpy and the like are not in it.)
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import OptionError
from ..strategy.registry import MECHANISMS, mechanism_named
from .files import OwnNetwork
from .networks import CLASSES
from .weights import KINDS, OWN

DELTA = 1e-6
SHOWING = {f"lab/{name}.py" for name in ("canvas", "pages", "phases", "pictures", "report", "tables", "theorems")}
MAIN_WEIGHTS = "uniform"
LONG = ("path", "caterpillar", "ladder", "thin-grid")  # hops grow with n, so large sizes are where it happens
THICK = ("grid", "delaunay", "city")  # many ways between two nodes, so the kind of weights matters


@dataclass(frozen=True)
class Cell:
    """One measurement to make.

    Attributes:
        network, size: a class of ``networks.CLASSES`` and its size, or the name of a file and its size.
        weights, noise, mechanism: kind of weights, noise in median weights, name in the registry.
        repeats: how many seeded releases, each with its own weights and noise.
        most: mechanisms that would store more numbers than this are left out.
        seed: of the whole run.
        code: digest of the source that is to make the result.
        file: the edge list, if the network is the user's.
    """

    network: str
    size: int
    weights: str
    noise: float
    mechanism: str
    repeats: int
    most: int
    seed: int
    code: str
    file: OwnNetwork | None = None

    @property
    def epsilon(self) -> float:
        """The budget of every mechanism at this noise."""
        return math.sqrt(2) / self.noise

    @property
    def id(self) -> str:
        """Everything the result depends on."""
        own = f"@{self.file.digest}" if self.file else ""
        return (
            f"{self.network}{own}/{self.size}/{self.weights}/{self.noise:g}/{self.mechanism}"
            f"/x{self.repeats}/m{self.most:g}/s{self.seed}/c{self.code}"
        )

    def seed_for(self, *what: object) -> int:
        """A seed for one purpose; cells that share a network share its shape and its weights."""
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


QUICK = Scope((64, 192, 576), (128, 512, 2048), (0.1, 0.5, 2.0), 192, (0.5,), 2, 1_000_000)
FULL = Scope((64, 256, 1024, 4096), (256, 1024, 4096, 16384), (0.05, 0.3, 1.0, 3.0), 1024, (0.3, 1.0), 3, 4_000_000)


def make_cells(
    scope: Scope,
    *,
    seed: int,
    mechanisms: Sequence[str] = (),
    classes: Sequence[str] = (),
    own: Sequence[OwnNetwork] = (),
) -> list[Cell]:
    """List the cells of a run in the order of the final table."""
    if seed < 0:
        raise OptionError(f"seed must be at least 0, got {seed}")
    names = [mechanism_named(name).name for name in mechanisms] or list(MECHANISMS)
    names = [name for name in MECHANISMS if name in names]  # the registry's order, each once
    for name in classes:
        if name not in CLASSES:
            raise OptionError(f"no network class is called {name[:40]!r}; choose from: {', '.join(CLASSES)}")
    wanted = [name for name in CLASSES if not classes or name in classes]
    settings = [*_generated(scope, wanted), *_own(scope, own)]
    code = code_digest()
    return [
        Cell(network, size, weights, noise, mechanism, scope.repeats, scope.most, seed, code, file)
        for network, size, weights, noise, file in dict.fromkeys(settings)
        for mechanism in names
    ]


def code_digest(package: Path = Path(__file__).parents[1]) -> str:
    """A digest of every source file of the package but those that only show results."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        where = path.relative_to(package).as_posix()
        if where not in SHOWING and not where.startswith(("cli/", "web/")):
            digest.update(where.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:10]


Setting = tuple[str, int, str, float, OwnNetwork | None]


def _generated(scope: Scope, wanted: Sequence[str]) -> Iterator[Setting]:
    for name in wanted:
        for size in scope.long_sizes if name in LONG else scope.sizes:
            for noise in scope.noises:
                yield name, size, MAIN_WEIGHTS, noise, None
        if name in THICK:
            for weights in KINDS:
                for noise in scope.weights_noises:
                    yield name, scope.weights_size, weights, noise, None


def _own(scope: Scope, own: Sequence[OwnNetwork]) -> Iterator[Setting]:
    for file in own:
        for noise in scope.noises:
            yield file.name, file.nodes, OWN, noise, file
