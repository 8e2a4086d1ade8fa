"""Results as tables in Markdown: what was asked and found, growth of ours, and rivals beside it."""

from __future__ import annotations

GB = 2**30
MILLION = "road_like 1000000"
CCH = "rival routingkit-cch"


def found(rows, network, job, key):
    """A number, or ``None`` if it was not measured."""
    return rows.get(network, {}).get(job, {}).get(key)


def ratio(above, below):
    return None if above is None or below is None else above / below


def by_processor(key):
    """The name of the same figure in processor time."""
    return key.replace("_over", "_cpu_over") if key.endswith("_over") else key.replace("_s", "_cpu_s")


def asked(rows):
    """Every figure that was promised: in words, the bound, what was found, and whether it is met.

    Times are by the clock on the wall; processor time (of all threads) is told beside it, as other work on the machine
    does not change it.
    """

    def at(network, job, key, per=1.0):
        return [ratio(found(rows, network, job, name), per) for name in (key, by_processor(key))]

    def times(above, below):
        return [ratio(*both) for both in zip(above, below, strict=True)]

    city = "osm_like 231000"
    lines = [
        ("city of 231 000: cutting, times faster than unfolded", ">=", 4.0, "",
         times(at(city, "then", "cut_s"), at(city, "cut", "cut_s"))),
        ("city of 231 000: index, times smaller", ">=", 3.0, "",
         times(at(city, "then", "index_bytes"), at(city, "weigh labels", "index_bytes"))),
        ("10^6: cutting", "<", 60.0, "s", at(MILLION, "cut", "cut_s")),
        ("10^6: `input` release", "<", 15.0, "s", at(MILLION, "release", "release_s")),
        ("10^6: `input` release to the file, by default", "", None, "s", at(MILLION, "default", "default_s")),
        *(
            line
            for kind in ("tables", "labels")
            for line in (
                (f"10^6: index, {kind}", "<", 2.0, "GB", at(MILLION, f"weigh {kind}", "index_bytes", per=GB)),
                (f"10^6: peak while weighing, {kind}", "<", 4.0, "GB", at(MILLION, f"weigh {kind}", "peak_gb")),
                (f"10^6: weighing, {kind}", "<", 5.0, "s", at(MILLION, f"weigh {kind}", "weigh_s")),
                (f"10^6: a point query, {kind}", "<", 50.0, "us", at(MILLION, f"weigh {kind}", "point_us")),
                (f"10^6: 1000 x 1000, {kind}", "<", 1.0, "s", at(MILLION, f"weigh {kind}", "block_s")),
            )
        ),
        *(
            line
            for nodes, name in (("road_like 100000", "10^5"), (MILLION, "10^6"))
            for line in (
                (f"{name}: weighing, tables, over routingkit-cch", "<", 5.0, "", at(nodes, CCH, "weigh_tables_over")),
                (f"{name}: weighing, labels, over routingkit-cch", "<", 5.0, "", at(nodes, CCH, "weigh_labels_over")),
                (f"{name}: a point query over routingkit-cch", "<", 1.0, "", at(nodes, CCH, "point_over")),
                (f"{name}: 1000 x 1000 over routingkit-cch", "<", 1.0, "", at(nodes, CCH, "block_over")),
            )
        ),
        *(
            (f"all pairs of 10 000 ({kind}, {number}) over a copy", "<", 3.0, "",
             at(f"{kind} 10000", "all_pairs", f"copy_{number}_over"))
            for kind in ("road_like", "delaunay")
            for number in ("float64", "float32")
        ),
        ("`plan` at 30 000", "<", 2.0, "s", at("road_like 30000", "plan", "plan_s")),
        ("`plan` at 10^6", "<", 10.0, "s", at(MILLION, "plan", "plan_s")),
        ("`hushpath query`, cold, 10^4", "<", 0.4, "s", at("road_like 10000", "query", "query_s")),
        ("`hushpath query`, cold, 10^6", "<", 0.4, "s", at(MILLION, "query", "query_s")),
        ("10^7 edges read and released: peak", "", None, "GB", at("tiled 7250000", "read", "peak_gb")),
    ]  # fmt: skip
    return [
        {"what": what, "asked": f"{sign} {bound:g} {unit}".strip() if sign else "", "found": value, "unit": unit,
         "by processor": None if cpu == value else cpu,
         "met": None if value is None or not sign else bool(value >= bound if sign == ">=" else value < bound)}
        for what, sign, bound, unit, (value, cpu) in lines
    ]  # fmt: skip


def number(value, unit=""):
    return "-" if value is None else f"{value:.3g} {unit}".strip()


def markdown(head, lines):
    return "\n".join(["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines)])


def sizes(rows):
    """Sizes of the networks that grow, smallest first."""
    return sorted(int(name.split()[1]) for name in rows if name.startswith("road_like ") and "cut" in rows[name])


def tables(rows):
    marks = {True: "yes", False: "no", None: ""}
    promised = [
        [
            line["what"],
            line["asked"],
            number(line["found"], line["unit"]),
            number(line["by processor"]),
            marks[line["met"]],
        ]
        for line in asked(rows)
        if line["found"] is not None
    ]
    parts = [markdown(["", "asked", "found", "processor time", "met"], promised)] if promised else []
    columns = (
        ("cutting, s", "cut", "cut_s", 1), ("weighing tables, s", "weigh tables", "weigh_s", 1),
        ("and labels, s", "weigh labels", "weigh_s", 1), ("tables, MB", "weigh tables", "index_bytes", 2**20),
        ("and labels, MB", "weigh labels", "index_bytes", 2**20), ("peak, GB", "weigh labels", "peak_gb", 1),
        ("point, us", "weigh labels", "point_us", 1), ("in a batch, us", "weigh labels", "pair_us", 1),
        ("1000 x 1000, s", "weigh labels", "block_s", 1),
    )  # fmt: skip
    grown = sizes(rows)
    if grown:
        lines = [
            [f"{n:,}", *(number(ratio(found(rows, f"road_like {n}", job, key), per)) for _, job, key, per in columns)]
            for n in grown
        ]
        parts.append(markdown(["nodes", *(column[0] for column in columns)], lines))
    beside = [
        [
            f"{n:,}", job.removeprefix("rival "), *(number(row.get(key)) for key in ("prepare_s", "weigh_s")),
            *(f"{number(row.get(key))} ({number(row.get(over))})"
              for key, over in (("point_us", "point_over"), ("block_s", "block_over"))), number(row.get("peak_gb")),
        ]
        for n in grown
        for job, row in rows[f"road_like {n}"].items()
        if job.startswith("rival ")
    ]  # fmt: skip
    if beside:
        head = ["nodes", "", "prepares, s", "weighs, s", "point, us (ours over it)", "1000 x 1000, s (ours over it)"]
        parts.append(markdown([*head, "peak, GB"], beside))
    whole = [
        [name, what.removesuffix("_over"), number(row[what.replace("_over", "_theirs_s")]), number(row[what])]
        for name in rows
        for row in [rows[name].get("all_pairs", {})]
        for what in row
        if what.endswith("_over") and not what.endswith("_cpu_over")
    ]
    if whole:
        parts.append(markdown(["all pairs", "against", "s (a row, or all for a copy)", "ours over it"], whole))
    return "\n\n".join(parts)
