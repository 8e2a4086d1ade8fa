"""Files of every registered format, written from one pair of tables: what a reader needs to inherit the suites.

A writer takes a path, an edge table (``source``, ``target`` and any other columns), a node table (``node``, ``x``,
``y``) and whether the network is directed; it returns the options to read the file with.
"""

import gzip
import sqlite3
from contextlib import closing
from xml.sax.saxutils import quoteattr

import networkx as nx
import pytest

from hushpath.errors import NetworkError
from hushpath.io.readers import READERS, read_network

DIRECTED = {"sumo", "tntp"}  # formats whose every network is directed
UNSPACED = {"tntp"}  # formats whose labels have no blanks in them
FILES = [
    name + suffix + packed
    for name in READERS
    for suffix in READERS[name].suffixes for packed in ("", ".gz")
]  # fmt: skip


def delimited(separator):
    def write(path, edges, nodes, directed):
        table = path.with_name(f"nodes-{path.name}")
        edges.to_csv(path, sep=separator, index=False)
        nodes.to_csv(table, sep=separator, index=False)
        return {"directed": directed, "nodes": table}

    return write


def parquet(path, edges, nodes, directed):
    table = path.with_name(f"nodes-{path.name}")
    edges.to_parquet(path)
    nodes.to_parquet(table)
    return {"directed": directed, "nodes": str(table)}


def graphml(path, edges, nodes, directed):
    nx.write_graphml(graph_of(edges, nodes, directed), path)
    return {}


def gpkg(path, edges, nodes, directed):
    """The tables of osmnx, without those that other programs need (``test_readers_osmnx`` has real ones)."""
    edges = edges.rename(columns={"source": "u", "target": "v"}).assign(key=0)
    edges = edges if directed else edges.assign(**{"from": edges["u"], "to": edges["v"]})
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        edges.to_sql("edges", database, index=False)
        nodes.rename(columns={"node": "osmid"}).to_sql("nodes", database, index=False)
        database.commit()
    return {}


def sumo(path, edges, nodes, directed):
    """Columns are parameters of the edges; weights of SUMO itself are in another file (``test_readers_sumo``)."""
    out = [f"<junction id={quoteattr(str(n))} x='{x}' y='{y}'/>" for n, x, y in nodes.itertuples(index=False)]
    for i, row in enumerate(edges.to_dict("records")):
        ends = f"from={quoteattr(str(row.pop('source')))} to={quoteattr(str(row.pop('target')))}"
        params = [f"<param key={quoteattr(name)} value={quoteattr(str(value))}/>" for name, value in row.items()]
        out.append(f"<edge id='e{i}' {ends}><lane index='0' speed='10' length='{i + 1}'/>{''.join(params)}</edge>")
    path.write_text(f"<net>{''.join(out)}</net>", encoding="utf-8")
    return {}


def tntp(path, edges, nodes, directed):
    table = path.with_name(f"nodes-{path.name}")
    for file, rows, names in [(path, edges, ["~", *edges]), (table, nodes, ["Node", "X", "Y"])]:
        lines = ["\t".join([*map(str, row), ";"]) for row in [names, *rows.itertuples(index=False)]]
        head = f"<NUMBER OF LINKS> {len(edges)}\n<END OF METADATA>\n" if rows is edges else ""
        file.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    return {"nodes": table}


WRITERS = {
    "csv": delimited(","), "tsv": delimited("\t"), "parquet": parquet, "graphml": graphml, "gpkg": gpkg, "sumo": sumo,
    "tntp": tntp,
}  # fmt: skip


def graph_of(edges, nodes, directed):
    """The same tables as a networkx graph, isolated nodes and parallel edges included."""
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    for row in nodes.to_dict("records"):
        graph.add_node(row.pop("node"), **row)
    for row in edges.to_dict("records"):
        graph.add_edge(row.pop("source"), row.pop("target"), **row)
    return graph


def written(folder, name, edges, nodes, directed=False):
    """Write one of ``FILES``; return its path and the options to read it with."""
    kind, _, ending = name.partition(".")
    if kind not in WRITERS:
        pytest.fail(f"the reader {kind!r} is registered, but WRITERS in tests/edge_files.py cannot write its files")
    path = folder / f"edges.{ending.removesuffix('.gz')}"
    options = WRITERS[kind](path, edges, nodes, directed)
    if name.endswith(".gz"):
        packed = path.with_name(path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
    return path, options


def refused(match, path, kind=NetworkError, **options):
    """Reading fails in one line that holds no weight (those of the tests are 98765), nor does what lies behind it."""
    with pytest.raises(kind, match=match) as caught:
        read_network(path, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert "98765" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
