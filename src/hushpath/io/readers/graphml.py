"""GraphML, read in one pass with the parser of the standard library.

networkx is not used: it converts every attribute, weights included, quotes values in messages, and expands entities.

| in the file | treatment |
|---|---|
| ``edgedefault`` | required; an edge of the other kind is an error |
| nodes | the node table, with ``x`` and ``y`` if every node has them |
| ``<default>`` of a key | used where an edge or node has no value of its own |
| other attributes and elements | skipped |
| DOCTYPE, hyperedges, nested or several graphs | an error (entities of a DOCTYPE can expand without limit) |
"""

from __future__ import annotations

from typing import IO
from xml.etree.ElementTree import Element

from ...errors import NetworkError
from ...network.network import Columns, Table
from ...network.public_rows import WantedColumns, choose_public_columns
from .base import Reader, read_elements

NAMES = {"directed": True, "undirected": False}
SAYS = {"true": True, "1": True, "false": False, "0": False}


WANTED = {(2, "key"), (2, "graph"), (3, "node"), (3, "edge"), (3, "hyperedge")}


def _read(raw: IO[bytes], wanted: WantedColumns) -> Table:
    source, target, *public = wanted.needed
    document = _Document(source, target, public)
    read_elements(raw, "the GraphML file", "graphml", WANTED, document.take)
    if document.directed is None:
        raise NetworkError("the file has no GraphML <graph>")
    nodes, edges = document.tables["node"], document.tables["edge"]
    if edges[source]:
        names = sorted(set(document.names["edge"].values()))
        choose_public_columns(names, WantedColumns("the GraphML file", public))
    if not nodes["node"] or None in nodes["x"] or None in nodes["y"]:
        del nodes["x"], nodes["y"]
    return Table(edges, nodes, document.directed, names_edges=True)


class _Document:
    """The nodes, edges and wanted attributes of one GraphML document."""

    def __init__(self, source: str, target: str, public: list[str]) -> None:
        # Of nodes and of edges: columns from attributes of the element, from data, names of keys by id, their defaults.
        self.own = {"node": {"node": "id"}, "edge": {source: "source", target: "target"}}
        self.data = {"node": ["x", "y"], "edge": list(dict.fromkeys(public))}
        self.tables: dict[str, Columns] = {k: {name: [] for name in (*self.own[k], *self.data[k])} for k in self.own}
        self.names: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self.defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self.directed: bool | None = None

    def take(self, element: Element, around: list[Element]) -> None:
        """Add an element that ended."""
        if element.tag == "key":
            self._declare(element)
        elif element.tag == "graph":
            if self.directed is not None:
                raise NetworkError("the GraphML file has several or nested graphs; give one")
            self.directed = _is_directed(element)
        elif element.tag == "hyperedge":
            raise NetworkError("the GraphML file has hyperedges; an edge has two ends")
        elif around[-1].tag == "graph":
            self._add_row(element, _is_directed(around[-1]))

    def _declare(self, key: Element) -> None:
        name = key.get("attr.name", key.get("id", ""))
        for kind in self.tables:
            if key.get("for", "all") in (kind, "all"):
                self.names[kind][key.get("id", "")] = name
                for default in key.iterfind("default"):
                    self.defaults[kind][name] = default.text or ""

    def _add_row(self, element: Element, directed: bool) -> None:
        kind = element.tag
        for column, attribute in self.own[kind].items():
            values = self.tables[kind][column]
            if attribute not in element.attrib:
                raise NetworkError(f"{kind} {len(values) + 1} of the GraphML file has no {attribute!r}")
            values.append(element.attrib[attribute])
        if kind == "edge" and SAYS.get(element.get("directed", str(directed).lower())) is not directed:
            raise NetworkError("the GraphML file mixes directed and undirected edges")
        if element.find("graph") is not None:
            raise NetworkError("the GraphML file has several or nested graphs; give one")
        found = dict(self.defaults[kind])
        for data in element.iterfind("data"):
            if (name := self.names[kind].get(data.get("key", ""))) is not None:
                found[name] = data.text or ""
        for name in self.data[kind]:
            self.tables[kind][name].append(found.get(name))


def _is_directed(graph: Element) -> bool:
    directed = NAMES.get(graph.get("edgedefault", ""))
    if directed is None:
        raise NetworkError('the GraphML file must say edgedefault="directed" or "undirected"')
    return directed


GRAPHML = Reader("graphml", "GraphML", (".graphml",), _read, whole=True)
