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

from ...errors import NetworkError
from ...network.network import Columns, Table
from ...network.public_rows import WantedColumns, choose_public_columns
from .base import Reader, parse_xml

NAMES = {"directed": True, "undirected": False}
SAYS = {"true": True, "1": True, "false": False, "0": False}


def _read(raw: IO[bytes], wanted: WantedColumns) -> Table:
    source, target, *public = wanted.needed
    document = _Document(source, target, public)
    parse_xml(raw, "the GraphML file", document.start, document.end, document.characters)
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
    """The nodes, edges and wanted attributes of one GraphML document, as its elements start and end."""

    def __init__(self, source: str, target: str, public: list[str]) -> None:
        # Of nodes and of edges: columns from attributes of the element, from data, names of keys by id, their defaults.
        self.own = {"node": {"node": "id"}, "edge": {source: "source", target: "target"}}
        self.data = {"node": ["x", "y"], "edge": list(dict.fromkeys(public))}
        self.tables: dict[str, Columns] = {k: {name: [] for name in (*self.own[k], *self.data[k])} for k in self.own}
        self.names: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self.defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self.directed: bool | None = None
        self.open: list[str] = []  # the elements we are in
        self.key: tuple[str, list[str]] = "", []  # the key being declared: its name, and the kinds it is for
        self.values: dict[str, str] = {}  # of the node or edge we are in
        self.into: str | None = None  # the name whose text we are collecting
        self.text: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rsplit(" ", 1)[-1]
        inside = self.open[-1] if self.open else ""
        if inside in ("data", "default", "?"):
            tag = "?"  # foreign elements inside a value, or inside something unknown
        self.open.append(tag)
        if inside == "" and tag != "graphml":
            raise NetworkError("the file is XML but not GraphML")
        if tag == "key":
            kinds = [kind for kind in self.tables if attributes.get("for", "all") in (kind, "all")]
            self.key = attributes.get("attr.name", attributes.get("id", "")), kinds
            for kind in kinds:
                self.names[kind][attributes.get("id", "")] = self.key[0]
        elif tag == "graph":
            if self.directed is not None:
                raise NetworkError("the GraphML file has several or nested graphs; give one")
            self.directed = NAMES.get(attributes.get("edgedefault", ""))
            if self.directed is None:
                raise NetworkError('the GraphML file must say edgedefault="directed" or "undirected"')
        elif tag in self.tables:
            self.values = {}
            for column, attribute in self.own[tag].items():
                values = self.tables[tag][column]
                if attribute not in attributes:
                    raise NetworkError(f"{tag} {len(values) + 1} of the GraphML file has no {attribute!r}")
                values.append(attributes[attribute])
            if tag == "edge" and SAYS.get(attributes.get("directed", str(self.directed).lower())) is not self.directed:
                raise NetworkError("the GraphML file mixes directed and undirected edges")
        elif tag == "hyperedge":
            raise NetworkError("the GraphML file has hyperedges; an edge has two ends")
        elif tag == "data" and inside in self.names:
            self.into = self.names[inside].get(attributes.get("key", ""))
        elif tag == "default" and inside == "key":
            self.into = self.key[0]
        elif tag not in ("graphml", "data", "default"):
            self.open[-1] = "?"

    def characters(self, text: str) -> None:
        if self.into is not None and self.open[-1] in ("data", "default"):
            self.text.append(text)

    def end(self, _: str) -> None:
        tag = self.open.pop()
        if tag in ("data", "default"):
            for values in [self.values] if tag == "data" else [self.defaults[kind] for kind in self.key[1]]:
                if self.into is not None:
                    values[self.into] = "".join(self.text)
            self.into, self.text = None, []
        elif tag in self.tables:
            for name in self.data[tag]:
                self.tables[tag][name].append(self.values.get(name, self.defaults[tag].get(name)))


GRAPHML = Reader("graphml", "GraphML", (".graphml",), _read, whole=True)
