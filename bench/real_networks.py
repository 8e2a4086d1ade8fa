"""Families and pools of real networks by name.  The files are not part of the project (``pools.py``)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Real:
    family: str
    pool: str
    relative: str = ""  # a family of the other pool that resembles this one


D, T = "development", "test"

# By name, or by its beginning with a star; a family is in one pool only.
KNOWN = {
    "water_net3_flow": Real("water", D), "water_ky4_flow": Real("water", D), "wntr_*": Real("water", D),
    "power_ieee_lv_len": Real("power", D), "power_gb_mw": Real("power", D), "pp_*": Real("power", D),
    "zoo_*": Real("topology-zoo", D), "sndlib_*": Real("sndlib", D), "topobackbone_*": Real("topohub-backbone", D),
    "london_tube_time": Real("london-tube", D), "rail_*": Real("railway-timetables", D),
    "river_lower_colorado_len": Real("river", D), "classic_*": Real("classic-graphs", D),
    "luxembourg_time": Real("country-roads", D), "california_roads_*": Real("country-roads", D),
    # The other pool.  A relative is of one kind, not of one origin; where there is one, a figure tells less.
    "tntp_*": Real("tntp", T, "zero-connectors"), "sensors_*": Real("sensors", T),
    "openflights_*": Real("openflights", T),
    "paris_metro_s": Real("paris-metro", T, "london-tube"), "bus_*": Real("bus-timetables", T, "railway-timetables"),
    "rocketfuel_*": Real("rocketfuel", T, "topology-zoo"), "caida_*": Real("caida", T, "sndlib"),
    "water_modena_flow": Real("water-modena", T, "water"), "power_pegase_mw": Real("power-pegase", T, "power"),
    "hersfeld_sumo_s": Real("sumo", T, "country-roads"), "sumo_*": Real("sumo", T, "country-roads"),
}  # fmt: skip


def known(name: str, pool: str) -> Real:
    """Return what the table says of a name; an unknown one is a family of its own, in the given pool."""
    for pattern, it in KNOWN.items():
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
            return it
    return Real(name, pool)
