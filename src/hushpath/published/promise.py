"""What a release promises, in plain words: the one text that page, report, ``inspect``, server and statement show.

Everything is worked out from the certificate and from what the publisher declared, and rounded against the publisher:
upper ends up, lower ends down.

*Belief.*  If an observer gives a yes/no question the probability ``p`` and its two answers are neighbouring data, pure
epsilon multiplies the odds ``p / (1 - p)`` by at most ``e^epsilon``, up or down.

*Several units.*  ``k`` units are ``k`` neighbours apart.  Laplace noise costs ``k epsilon``.  Gaussian noise costs
``k^2 rho`` of zCDP (Bun and Steinke 2016), converted at the same delta; adding up certificates would
multiply delta by ``(e^(k epsilon) - 1) / (e^epsilon - 1)`` instead.  Where neighbours are "add-remove", two versions of
one unit are two neighbours apart: one is taken out, the other put in.  What trips add is never negative, so in L2 norm
the versions are at most ``sqrt(2)`` apart, not 2 (docs/proofs/trips.md): Gaussian noise costs ``2 rho``.

*Delta.*  What (epsilon, delta) allows is exactly what a device allows that reveals the answer with probability delta
and otherwise keeps to epsilon (Kairouz, Oh and Viswanath 2015).  That is how delta is explained everywhere.

*Words.*  ``LEVELS`` name the protection by epsilon; a bad delta lowers it (``_level_of_delta``). The guarantee page has
both tables.

Guarantees (tests/unit/test_promise_words.py): no number is better than the certificate; no word is better than the
numbers; every place that shows a promise shows this one.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

from ..noise import Law
from ..privacy.accounting import zcdp_epsilon
from ..privacy.units import Unit
from .quantity import Quantity, format_table

# Up to this epsilon a belief of 50 % becomes at most: 52.5 %, 73.2 %, 95.3 %, 99.996 %.
LEVELS = ((0.1, "very strong"), (1.0, "strong"), (3.0, "moderate"), (10.0, "weak"), (math.inf, "practically none"))
WEAK, NONE = 3, 4  # places in LEVELS
LARGE_DELTA, VOID_DELTA = 1e-4, 0.01
BELIEFS = (1, 50)  # percent, before anything was published
_DIGITS = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-999_999, Emax=999_999)
_BEYOND = 700.0  # where e^epsilon is left out: far below a billionth of a percent remains
_SMALLEST = Decimal("1e-9")  # percent; ends closer to 0 % or 100 % are rounded to them


@dataclass(frozen=True)
class Risk:
    """What one kind of question about protected units can reveal."""

    question: str  # the question, in words
    units: int  # how many neighbours apart its two answers are
    epsilon: float  # epsilon, delta: what the release certifies for that many, epsilon rounded up
    delta: float
    level: int  # place in ``LEVELS``

    @property
    def protection(self) -> str:
        """The level in words."""
        return LEVELS[self.level][1]

    def row(self) -> tuple[str, ...]:
        """Return the cells below ``Promise.columns``."""
        after = (" to ".join(belief_after(percent, self.epsilon)).replace(" % to", " to") for percent in BELIEFS)
        return self.question, format_up(self.epsilon), *after, self.protection


class Promise(NamedTuple):
    """One promise as text: ``facts``, then ``verdict``, then a table of ``risks``, then ``paragraphs``.

    ``marking`` stands before all of them and is empty unless the release is NOT PRIVATE; then nothing else is promised.
    """

    marking: str
    facts: dict[str, str]
    verdict: str
    risks: tuple[Risk, ...]
    paragraphs: tuple[str, ...]

    @property
    def is_void(self) -> bool:
        """Whether even one unit has practically no protection, so that programs show the verdict as an alarm."""
        return not self.risks or self.risks[0].level == NONE

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings of the table of risks."""
        return "question", "epsilon", *(f"belief of {percent} % becomes" for percent in BELIEFS), "protection"

    @property
    def sentences(self) -> list[str]:
        """Every piece of text, in order: what all places that show the promise have in common."""
        cells = [cell for risk in self.risks for cell in risk.row()]
        marking = [self.marking] if self.marking else []
        return [*marking, *self.facts.values(), self.verdict, *cells, *self.paragraphs]

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values."""
        table = {"columns": list(self.columns), "rows": [list(risk.row()) for risk in self.risks]}
        risks = [{**asdict(risk), "protection": risk.protection} for risk in self.risks]
        return {
            **({"marking": self.marking} if self.marking else {}),
            "facts": dict(self.facts), "verdict": self.verdict, "void": self.is_void,
            "risks": risks, "table": table, "paragraphs": list(self.paragraphs),
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.marking}. For tests only; do not publish."] if self.marking else []
        lines += [f"{name}: {text}." for name, text in self.facts.items()]
        lines.append(self.verdict)
        if self.risks:
            rows = format_table([self.columns, *(risk.row() for risk in self.risks)])
            lines += [f"  {line}" for line in rows]
        return "\n".join([*lines, *self.paragraphs])


def make_promise(
    *, marking: str, epsilon: float, delta: float, law: str, spent: float, unit: Unit, quantity: Quantity
) -> Promise:
    """Make the promise of a release.

    ``marking``, ``epsilon``, ``delta``, ``law`` and ``spent`` are those of its statement; ``unit`` and ``quantity`` are
    what its publisher declared.
    """
    population, days = unit.population, unit.covered_days if unit.days is not None else ""
    publisher = f"{quantity.publisher}, as the file says; only a signature proves it"
    units = "not declared" if population is None else f"about {population:,} {unit.population_noun}, as declared"
    facts = {
        "Protected": "nobody" if marking else unit.description,
        "Days covered": days or quantity.date or unit.covered_days or "not declared",
        "Published by": publisher if quantity.publisher else "not declared",
        "Number of protected units": units,
    }
    if marking:
        return Promise(marking, facts, "This release protects nobody.", (), ())
    floor = _level_of_delta(delta, population)

    def risk(question: str, units: int, versions: bool) -> Risk:
        needed = epsilon if units == 1 else group_epsilon(units, law, spent, delta, versions=versions)
        return Risk(question, units, needed, delta, max(find_level(needed), floor))

    risks = tuple(risk(*question) for question in unit.questions())
    one, several = risks[0], risks[-1] if unit.several else None
    because = ", because of delta" if floor > find_level(epsilon) else ""
    stated = f"epsilon = {format_up(epsilon)}, delta = {format_up(delta, 3)}"
    verdict = f"Protection of {unit.noun}: {one.protection}{because} ({stated})"
    verdict += f"; of {unit.several_noun}: {several.protection}." if several else "."
    low, high = belief_after(50, epsilon)
    beliefs = (
        "Suppose an observer knows everything else, and is undecided about the first question: a belief of 50 %. "
        f"After everything published here that belief lies between {low} and {high}: its odds have changed by a "
        f"factor of at most {odds_factor(epsilon)}."
    )
    paragraphs = [beliefs, explain_delta(delta, population), LIMITS]
    if several:
        paragraphs.insert(1, (
            f"{unit.several_reason} epsilon is {format_up(several.epsilon)}, the protection {several.protection}, "
            f"and a belief of 50 % may become {belief_after(50, several.epsilon)[1]}."
        ))  # fmt: skip
    return Promise(marking, facts, verdict, risks, tuple(paragraphs))


DEVICE = "a device that reveals the truth about a protected unit with probability delta"
LIMITS = (
    "The promise holds for every answer computed from the release, for ever, whatever an observer knows already. "
    "Not protected: the network, the declared bounds and the method, which are public; what is true of many people at "
    "once. The accuracy of an answer is not promised. Other releases of the same data add to this epsilon and delta."
)


def explain_delta(delta: float, population: int | None) -> str:
    """Explain delta."""
    if not delta:
        return "Delta is 0: the table holds without exception."
    text = (
        f"The table has exceptions, delta = {format_up(delta, 3)}: an observer learns no more than from {DEVICE}, "
        "and otherwise keeps to the table."
    )
    if delta >= VOID_DELTA:
        text += " That is practically no protection."
    if population is None:
        return f"{text} Delta should be far below 1 / the number of protected units, which was not declared."
    revealed = format_up(_revealed(delta, population), 2)
    text += f" Of the {population:,} declared units such a device reveals {revealed} on average"
    return f"{text}: delta should be far below 1 / {population:,}." if _too_large(delta, population) else f"{text}."


def find_weaknesses(epsilon: float, delta: float, population: int | None) -> list[str]:
    """Return what makes a promise weak or empty, one line each."""
    found = []
    if find_level(epsilon) == NONE:
        found.append(
            f"epsilon = {format_up(epsilon)} is practically no protection: an observer's belief of 50 % about a "
            f"protected unit may become {belief_after(50, epsilon)[1]}, its odds {odds_factor(epsilon)} times as large"
        )
    if level := _level_of_delta(delta, population):
        kind = "practically no protection" if level == NONE else "too large"
        most, revealed = "the number of protected units (declare it as population)", ""
        if population is not None:
            most = f"{population:,}"
            revealed = f": {format_up(_revealed(delta, population), 2)} of {most} units on average"
        found.append(
            f"delta = {format_up(delta, 3)} is {kind}: it allows {DEVICE}{revealed}; use a delta far below 1 / {most}"
        )
    return found


def group_epsilon(units: int, law: str, spent: float, delta: float, *, versions: bool = False) -> float:
    """Return the epsilon of so many protected ``units`` together, at the same ``delta``, rounded up.

    One of them costs ``spent`` under this ``law``.  ``versions`` are two of one unit of trips: what either adds is not
    negative.
    """
    if law == Law.LAPLACE:
        return _rounded_up(units * Fraction(spent))
    return zcdp_epsilon(_rounded_up((2 if versions else units * units) * Fraction(spent)), delta)


def find_level(epsilon: float) -> int:
    """Return the place of an epsilon in ``LEVELS``."""
    return next(place for place, (most, _) in enumerate(LEVELS) if epsilon <= most)


def belief_after(percent: int, epsilon: float) -> tuple[str, str]:
    """Return the least and the largest belief after the release, rounded outwards.

    >>> belief_after(50, 1.0), belief_after(50, 20.0), belief_after(1, 0.1)
    (('26.8 %', '73.2 %'), ('0.0000002 %', '99.9999998 %'), ('0.90 %', '1.2 %'))
    >>> belief_after(50, 1000.0)
    ('0 %', '100 %')
    """
    if epsilon > _BEYOND:
        return "0 %", "100 %"
    with localcontext(_DIGITS):
        factor, yes, no = Decimal(epsilon).exp(), Decimal(percent), Decimal(100 - percent)
        least, below = 100 * yes / (yes + no * factor), 100 * no / (no + yes * factor)
        return f"{_percent(least)} %", f"{_percent(100 - below, below)} %"


def odds_factor(epsilon: float) -> str:
    """Return e^epsilon rounded up, as a number.

    >>> odds_factor(0.1), odds_factor(1.0), odds_factor(10.0), odds_factor(20.0), odds_factor(1e9)
    ('1.11', '2.72', '23,000', '4.9e8', 'more than 1e304')
    """
    if epsilon > _BEYOND:
        return "more than 1e304"
    with localcontext(_DIGITS):
        factor = Decimal(epsilon).exp()
        return format_up(factor, 3 if factor < 1000 else 2)


def format_up(value: float | Decimal, digits: int = 4) -> str:
    """Format a number that is not negative, rounded up to so many significant digits.

    >>> [format_up(number) for number in (0.9999999, 2.00001, 1e-6, 0.0, 123456.0, 1e7)]
    ['1', '2.001', '1e-6', '0', '123,500', '1e7']
    """
    if value == 0 or value == math.inf:
        return "0" if value == 0 else "infinite"
    with localcontext(_DIGITS):
        exact = Decimal(str(value))  # as it was written: 0.02 is a hair above 0.02
        near = exact.quantize(Decimal(1).scaleb(exact.adjusted() + 1 - digits), ROUND_CEILING).normalize()
        power = near.adjusted()
        if -4 <= power < 6:
            return f"{near:,f}"
        return f"{near.scaleb(-power):f}e{power}"


def _percent(value: Decimal, rest: Decimal | None = None) -> str:
    """Format a percentage, rounded down, or up if ``rest`` (what lacks to 100) is given; small ends keep one digit."""
    small = value if rest is None else min(value, rest)
    if small < _SMALLEST:
        return "0" if rest is None or value < 50 else "100"
    places = max(1, -small.adjusted() + (small >= Decimal("0.01")))
    rounding = ROUND_FLOOR if rest is None else ROUND_CEILING
    shown = value.quantize(Decimal(1).scaleb(-places), rounding)
    return f"{shown:f}" if shown < 100 else "100"


def _rounded_up(exact: Fraction) -> float:
    try:
        near = float(exact)
    except OverflowError:
        return math.inf
    return near if near >= exact else math.nextafter(near, math.inf)


def _revealed(delta: float, population: int) -> Decimal:
    """Return how many units the device of delta reveals on average."""
    with localcontext(_DIGITS):
        return Decimal(str(delta)) * population


def _level_of_delta(delta: float, population: int | None) -> int:
    """The best level that such a delta allows."""
    if delta >= VOID_DELTA:
        return NONE
    return WEAK if _too_large(delta, population) else 0


def _too_large(delta: float, population: int | None) -> bool:
    """Return whether a whole unit may be revealed; without a declared number, above ``LARGE_DELTA``."""
    return delta > LARGE_DELTA if population is None else _revealed(delta, population) >= 1
