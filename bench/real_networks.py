"""Families and pools of real networks by name.  The files are not part of the project (``pools.py``)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Real:
    family: str
    pool: str
    relative: str = ""  # a family of the other pool that resembles this one
    directed: bool = False


D, T = "development", "test"

# By name, or by the beginning of a name with a star; a family is in one pool only.
KNOWN = {
    "water_net3_flow": Real("water", D), "water_ky4_flow": Real("water", D), "wntr_*": Real("water", D),
    "zoo_*": Real("topology-zoo", D), "sndlib_*": Real("sndlib", D),
    "london_tube_time": Real("london-tube", D),
    "power_ieee_lv_len": Real("power", D), "power_gb_mw": Real("power", D), "pp_*": Real("power", D),
    "river_lower_colorado_len": Real("river", D), "luxembourg_time": Real("country-roads", D),
    "classic_*": Real("classic-graphs", D), "rail_*": Real("railway-timetables", D),
    # The other pool.  Relatives are not of one origin, but of one kind: figures of these tell less.
    "paris_metro_s": Real("paris-metro", T, relative="london-tube"),
    "rocketfuel_3257": Real("rocketfuel", T, relative="topology-zoo"),
    "water_modena_flow": Real("water-modena", T, relative="water"),
    "power_pegase_mw": Real("power-pegase", T, relative="power"),
    "hersfeld_sumo_s": Real("sumo", T), "sumo_*": Real("sumo", T),
    "tntp_*_directed": Real("tntp", T, directed=True), "tntp_*": Real("tntp", T),
    "sensors_*": Real("sensors", T), "bus_*": Real("bus-timetables", T, relative="railway-timetables"),
    "caida_*": Real("caida", T, relative="topology-zoo"),
}  # fmt: skip


def known(name: str, pool: str) -> Real:
    """Return what the table says of a name; an unknown one is a family of its own, in the given pool."""
    for pattern, it in KNOWN.items():
        start, star, end = pattern.partition("*")
        if name == pattern or (star and name.startswith(start) and name.endswith(end)):
            return it
    return Real(name, pool, directed=name.endswith("_directed"))
