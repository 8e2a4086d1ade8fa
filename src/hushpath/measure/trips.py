"""Exact totals of trips: what every unit adds, bounded *before* anything is added up.

Private: called by ``measure`` only.  All arithmetic is on whole numbers, so the result depends on the rows alone, not
on their order, on threads or on rounding.  For one unit, whatever its rows are (docs/proofs/trips.md):

    passes    the time of each pass, clipped to its public bounds, as ``part`` in 0 .. PARTS
    cells     several passes over one cell become one: their mean part, rounded down
    shares    the weight of each cell, rounded down: SHARE g / norm, so that the L2 norm (Laplace: the L1 norm) of all
              weights of the unit is at most SHARE
    totals    each cell adds above = share * part / PARTS, rounded down, to A, and share - above to B

Since ``above`` and ``share - above`` are not negative and add up to ``share``, the unit's vector in (A, B) has at most
the norm of its shares.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Int
from ..data.trip_files import fetched, register_arrays
from ..data.trip_values import day_number
from ..data.trips import Trips
from ..errors import OptionError
from ..noise import Law
from ..strategy.core import Strategy
from ..strategy.trips import SHARE, TripTerms

PARTS = 2**20  # of the way from the lowest to the highest time of a pass


def trip_totals(strategy: Strategy, trips: Trips, coin: str) -> Int:
    """A of every cell, then B; ``coin`` is a secret text that decides which cells count where not all do."""
    terms, m = strategy.terms, strategy.topology.num_edges
    if not isinstance(terms, TripTerms) or not trips.topology.is_same(strategy.topology, bounds=False):
        raise OptionError("the strategy was made for other data than these trips")
    if terms.periods != trips.periods:
        raise OptionError("the strategy was made for other periods than those of the trips")
    keys = ", ".join(trips.keys(terms.protects))
    totals = np.zeros((2, len(terms.periods) * m), np.int64)
    public = {"edge": np.arange(m), "low": terms.low, "high": terms.high, "emphasis": terms.emphasis}
    with trips.private_rows(terms.protects, terms.days) as (engine, rows):
        register_arrays(engine, "public_frame", public)
        engine.execute("CREATE TABLE public AS SELECT * FROM public_frame")
        found = fetched(
            engine,
            f"""
            WITH rows AS ({rows}),
            passes AS (
                SELECT {keys}, CAST(period AS BIGINT) * {m} + public.edge AS cell, emphasis,
                    CAST(floor(greatest(0, least(1, (seconds - low) / (high - low))) * {PARTS}) AS BIGINT) AS part
                FROM rows JOIN public USING (edge)
                WHERE period IS NOT NULL AND {_within(terms)}
                    AND {" AND ".join(f"{key} IS NOT NULL" for key in keys.split(", "))}
            ),
            cells AS MATERIALIZED (
                SELECT {keys}, cell, any_value(emphasis) AS emphasis, sum(part) // count(*) AS part
                FROM passes GROUP BY {keys}, cell {_chosen(terms, keys, coin)}
            ),
            norms AS (SELECT {keys}, {_norm(terms, strategy.law)} AS norm FROM cells GROUP BY {keys}),
            shares AS (
                SELECT cell, part, CAST({SHARE} * {_weight(terms)} AS BIGINT) // norm AS share
                FROM cells JOIN norms USING ({keys})
            ),
            added AS (SELECT cell, share, CAST(share * part // {PARTS} AS BIGINT) AS above FROM shares)
            SELECT cell, CAST(sum(above) AS BIGINT) AS above, CAST(sum(share - above) AS BIGINT) AS below
            FROM added GROUP BY cell
            """,
        )
    cell = np.asarray(found["cell"], np.int64)
    totals[0, cell], totals[1, cell] = found["above"], found["below"]
    return totals.ravel()


def _within(terms: TripTerms) -> str:
    """Whether a row is of the declared days."""
    if terms.days is None:
        return "true"
    first, last = map(day_number, terms.days)
    return f"day BETWEEN {first} AND {last}"


def _norm(terms: TripTerms, law: Law) -> str:
    """What the weights of a unit's cells are divided by: never less than their norm."""
    if terms.max_edges is not None:
        return str(terms.max_edges)
    if law is Law.LAPLACE:
        return "CAST(sum(emphasis) AS BIGINT)"
    # One more than the root: rounding of a float below 2**62 moves it by less.
    return "CAST(ceil(sqrt(CAST(sum(emphasis * emphasis) AS DOUBLE))) AS BIGINT) + 1"


def _weight(terms: TripTerms) -> str:
    return "1" if terms.max_edges is not None else "emphasis"


def _chosen(terms: TripTerms, keys: str, coin: str) -> str:
    """At most so many cells of each unit, drawn evenly: those with the smallest digests under a secret key."""
    if terms.max_edges is None:
        return ""
    drawn = f"sha256(concat_ws('|', '{coin}', cell, {keys}))"
    return f"QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY {drawn}) <= {terms.max_edges}"
