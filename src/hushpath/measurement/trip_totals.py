"""Exact totals of trips: what every unit adds, bounded *before* anything is added up.

Private: called by ``private_step`` only.  All arithmetic is on integers, so the result depends on the rows alone, not
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
from ..days import Days
from ..errors import OptionError
from ..noise import Law
from ..trips.tables import fetch_columns, register_arrays
from ..trips.trips import Trips
from ..trips.values import encode_day
from .trip_strategy import SHARE, TripStrategy, TripTerms

PARTS = 2**20  # of the way from the lowest to the highest time of a pass


def trip_totals(strategy: TripStrategy, trips: Trips, secret: str) -> Int:
    """Return A of every edge and period, then B.

    ``secret`` is a key that decides which edges and periods of a unit count where not all do.
    """
    terms, m = strategy.terms, strategy.topology.num_edges
    if not trips.topology.is_same(strategy.topology, bounds=False):
        raise OptionError("the strategy was made for another network than that of the trips")
    if terms.periods != trips.periods:
        raise OptionError("the strategy was made for other periods than those of the trips")
    unit = terms.unit
    keys = ", ".join(trips.keys(unit.protects))
    totals = np.zeros((2, len(terms.periods) * m), np.int64)
    public = {"edge": np.arange(m), "low": terms.low, "high": terms.high, "weight": terms.edge_weights}
    with trips.private_rows(unit.protects, unit.days) as (engine, rows):
        register_arrays(engine, "public_frame", public)
        engine.execute("CREATE TABLE public AS SELECT * FROM public_frame")
        found = fetch_columns(
            engine,
            f"""
            WITH rows AS ({rows}),
            passes AS (
                SELECT {keys}, CAST(period AS BIGINT) * {m} + public.edge AS cell, weight,
                    CAST(floor(greatest(0, least(1, (seconds - low) / (high - low))) * {PARTS}) AS BIGINT) AS part
                FROM rows JOIN public USING (edge)
                WHERE period IS NOT NULL AND {_within(unit.days)}
                    AND {" AND ".join(f"{key} IS NOT NULL" for key in keys.split(", "))}
            ),
            cells AS MATERIALIZED (
                SELECT {keys}, cell, any_value(weight) AS weight, sum(part) // count(*) AS part
                FROM passes GROUP BY {keys}, cell {_chosen(unit.max_edges, keys, secret)}
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


def _within(days: Days | None) -> str:
    """Return SQL for whether a row is of the declared days."""
    if days is None:
        return "true"
    first, last = map(encode_day, days)
    return f"day BETWEEN {first} AND {last}"


def _norm(terms: TripTerms, law: Law) -> str:
    """Return SQL for what the weights of a unit are divided by: never less than their norm."""
    if terms.unit.max_edges is not None:
        return str(terms.unit.max_edges)
    if law is Law.LAPLACE:
        return "CAST(sum(weight) AS BIGINT)"
    # One more than the root: rounding of a float below 2**62 moves it by less.
    return "CAST(ceil(sqrt(CAST(sum(weight * weight) AS DOUBLE))) AS BIGINT) + 1"


def _weight(terms: TripTerms) -> str:
    """Return SQL for the weight of an edge among those of a unit."""
    return "weight" if terms.unit.max_edges is None else "1"


def _chosen(most: int | None, keys: str, secret: str) -> str:
    """Return SQL that keeps at most so many rows of each unit, drawn evenly: the smallest digests with a secret key."""
    if most is None:
        return ""
    digest = f"sha256(concat_ws('|', '{secret}', cell, {keys}))"
    return f"QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY {digest}) <= {most}"
