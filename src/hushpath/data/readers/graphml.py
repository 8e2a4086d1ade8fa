"""GraphML, read in one pass with the parser of the standard library.

networkx could read GraphML too, but it converts every attribute (so the public half could not be read without looking
at weights), quotes values in its messages, and trusts entities.  Here attributes stay text and are called as columns
of a table are; what they mean is decided in ``columns``.

| in the file | treatment |
|---|---|
| ``edgedefault`` | required; an edge that says otherwise is refused |
| ids and places of nodes | the node table, with ``x`` and ``y`` if every node has them |
| ``<default>`` of a key | used where an edge or node has no value of its own |
| attributes nobody asked for, foreign elements | skipped |
| DOCTYPE, hyperedges, nested or several graphs | refused (a DOCTYPE is how a small file becomes a huge one) |
"""

from __future__ import annotations

from typing import IO
from xml.parsers import expat

from ...errors import NetworkError
from ..columns import Columns, Table, choose_columns
from .core import Reader

NAMES = {"directed": True, "undirected": False}
SAYS = {"true": True, "1": True, "false": False, "0": False}


def _read(raw: IO[bytes], _: str, needed: list[str], __: tuple[str, ...]) -> Table:
    document = _Document(*needed)
    document.read(raw)
    return Table(document.edges, document.nodes, document.directed)


class _Document:
    """The nodes, edges and wanted attributes of one GraphML document."""

    def __init__(self, source: str, target: str, *wanted: str) -> None:
        self.nodes: Columns = {"node": [], "x": [], "y": []}
        self.edges: Columns = {name: [] for name in (source, target, *wanted)}
        self.directed = False
        self._ends, self._wanted = (source, target), list(dict.fromkeys(wanted))
        self._graphs = 0
        # Of each kind of element: the name of a key by its id, and the default value of a name.
        self._names: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self._defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self._open: list[str] = []  # the elements we are in
        self._key: tuple[str, list[str]] = "", []  # the key being declared: its name, and the kinds it is for
        self._values: dict[str, str] = {}  # of the node or edge we are in
        self._into: str | None = None  # the name whose text we are collecting
        self._text: list[str] = []

    def read(self, raw: IO[bytes]) -> None:
        """Fill the columns from a file."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        broken = False
        try:
            parser.ParseFile(raw)
        except (expat.ExpatError, LookupError, ValueError):  # the latter two: an unknown encoding is declared
            broken = True
        if broken:
            raise NetworkError(f"the GraphML file is not well-formed XML near line {parser.ErrorLineNumber}")
        if not self._graphs:
            raise NetworkError("the file has no GraphML <graph>")
        if self.edges[self._ends[0]]:
            choose_columns(sorted(set(self._names["edge"].values())), "the GraphML file", self._wanted)
        if None in self.nodes["x"] or None in self.nodes["y"]:
            del self.nodes["x"], self.nodes["y"]

    def _doctype(self, *_: object) -> None:
        raise NetworkError("the GraphML file has a DOCTYPE, which is refused: entities can blow it up")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rsplit(" ", 1)[-1]
        inside = self._open[-1] if self._open else ""
        if inside in ("data", "default", "?"):
            tag = "?"  # foreign elements inside a value, or inside something unknown
        self._open.append(tag)
        if inside == "" and tag != "graphml":
            raise NetworkError("the file is XML but not GraphML")
        if tag == "key":
            what = attributes.get("for", "all")
            kinds = [kind for kind in ("node", "edge") if what in (kind, "all")]
            self._key = attributes.get("attr.name", attributes.get("id", "")), kinds
            for kind in kinds:
                self._names[kind][attributes.get("id", "")] = self._key[0]
        elif tag == "graph":
            self._graphs += 1
            if self._graphs > 1:
                raise NetworkError("the GraphML file has several or nested graphs; give one")
            if attributes.get("edgedefault") not in NAMES:
                raise NetworkError('the GraphML file must say edgedefault="directed" or "undirected"')
            self.directed = NAMES[attributes["edgedefault"]]
        elif tag == "node":
            self.nodes["node"].append(self._needed(attributes, "node", "id"))
            self._values = {}
        elif tag == "edge":
            for column, end in zip(self._ends, ("source", "target"), strict=True):
                self.edges[column].append(self._needed(attributes, "edge", end))
            if SAYS.get(attributes.get("directed", str(self.directed).lower())) is not self.directed:
                raise NetworkError("the GraphML file mixes directed and undirected edges")
            self._values = {}
        elif tag == "hyperedge":
            raise NetworkError("the GraphML file has hyperedges; an edge has two ends")
        elif tag == "data" and inside in self._names:
            self._into = self._names[inside].get(attributes.get("key", ""))
        elif tag == "default" and inside == "key":
            self._into = self._key[0]
        elif tag not in ("graphml", "data", "default"):
            self._open[-1] = "?"

    def _needed(self, attributes: dict[str, str], kind: str, name: str) -> str:
        if name not in attributes:
            count = len(self.nodes["node"] if kind == "node" else self.edges[self._ends[1]]) + 1
            raise NetworkError(f"{kind} {count} of the GraphML file has no {name!r}")
        return attributes[name]

    def _characters(self, text: str) -> None:
        if self._into is not None and self._open[-1] in ("data", "default"):
            self._text.append(text)

    def _end(self, _: str) -> None:
        tag = self._open.pop()
        if tag in ("data", "default"):
            value = "".join(self._text)
            if self._into is not None and tag == "data":
                self._values[self._into] = value
            elif self._into is not None:
                for kind in self._key[1]:
                    self._defaults[kind][self._into] = value
            self._into, self._text = None, []
        elif tag == "node":
            for name in ("x", "y"):
                self.nodes[name].append(self._values.get(name, self._defaults["node"].get(name)))
        elif tag == "edge":
            for name in self._wanted:
                self.edges[name].append(self._values.get(name, self._defaults["edge"].get(name)))


READER = Reader("graphml", "GraphML", (".graphml",), _read, whole=True)
