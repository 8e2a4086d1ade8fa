"""What is raised while weights are read holds none of them: not in its message, and not in any exception behind it.

``raise ... from None`` only hides what came before; the object still carries it as ``__context__``, and a log that
serialises exceptions finds it there.  (Frames of a traceback are another matter: the guarantee page.)
"""

import gzip
import io
import sqlite3
from contextlib import closing

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from hushpath import Network, read_network
from hushpath.errors import HushpathError
from hushpath.network.private_weights import PrivateWeights

SECRET = "7.77.7-secret"
HEAD = f"source,target,weight\na,b,{SECRET}\n"
GRAPH = (
    '<graphml><key id="w" for="edge" attr.name="weight"/><graph edgedefault="directed">'
    f'<edge source="a" target="b"><data key="w">{SECRET}</data></edge></graph></graphml>'
)


NET = (
    '<net><junction id="a" x="0" y="0"/><junction id="b" x="0" y="0"/>'
    '<edge id="e" from="a" to="b"><lane length="1" speed="1"/>'
    f'<param key="weight" value="{SECRET}"/></edge></net>'
)
LINKS = f"<NUMBER OF LINKS> 1\n~ from to weight ;\n1 2 {SECRET} ;\n"


def parquet(**columns):
    out = io.BytesIO()
    pd.DataFrame({"source": ["a"], "target": ["b"], "weight": [SECRET], **columns}).to_parquet(out, compression=None)
    return out.getvalue()


def package(weight=SECRET):
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE nodes (osmid)")
        database.execute("CREATE TABLE edges (u, v, key, weight)")
        database.execute("INSERT INTO edges VALUES ('a', 'b', 0, ?)", (weight,))
        database.commit()
        return database.serialize()


FILES = {
    "csv": (".csv", HEAD.encode()),
    "csv.gz": (".csv.gz", gzip.compress(HEAD.encode())),
    "tsv": (".tsv", HEAD.replace(",", "\t").encode()),
    "graphml": (".graphml", GRAPH.encode()),
    "parquet": (".parquet", parquet()),
    "gpkg": (".gpkg", package()),
    "sumo": (".net.xml", NET.encode()),
    "tntp": (".tntp", LINKS.encode()),
    # The weight is near where something else breaks.
    "csv, not UTF-8": (".csv", HEAD.encode() + b"b,\xff,1\n"),
    "csv, weight not UTF-8": (".csv", HEAD.encode().replace(b"7.77", b"7\xff.77")),
    "csv, open quote": (".csv", HEAD.replace("7.77", '"7.77').encode()),
    "csv, text after a quote": (".csv", HEAD.replace(SECRET, f'"{SECRET}"{SECRET}').encode()),
    "csv, NUL": (".csv", HEAD.replace("7.77", "\0").encode()),
    "csv, long field": (".csv", HEAD.replace("7.77", "7" * 200_000).encode()),
    "csv, ragged": (".csv", HEAD.replace("7.77", "7,77").encode()),
    "csv, no header": (".csv", HEAD.split("\n", 1)[1].encode()),
    "csv.gz, cut": (".csv.gz", gzip.compress(HEAD.encode() * 99)[:-9]),
    "graphml, broken": (".graphml", GRAPH.replace("</data>", "").encode()),
    "graphml, encoding": (".graphml", b"<?xml version='1.0' encoding='ascii'?>" + GRAPH.replace("7.77", "é").encode()),
    "graphml, entity": (".graphml", GRAPH.replace("7.77", "&no;").encode()),
    "gpkg, bytes": (".gpkg", package(SECRET.encode())),
    "gpkg, not UTF-8": (".gpkg", package().replace(b"-secret", b"-secre\xff")),
    "gpkg, cut": (".gpkg", package()[:-9]),
    "sumo, broken": (".net.xml", NET.replace("</edge>", "").encode()),
    "sumo, encoding": (".net.xml", b"<?xml version='1.0' encoding='ascii'?>" + NET.replace("7.77", "é").encode()),
    "tntp, ragged": (".tntp", LINKS.replace("7.77", "7.77 7").encode()),
    "tntp, NUL": (".tntp", LINKS.replace("7.77", "\0").encode()),
    "tntp, not UTF-8": (".tntp", LINKS.encode().replace(b"7.77", b"7\xff.77")),
    "tntp, no semicolon": (".tntp", LINKS.replace(f"{SECRET} ;", SECRET).encode()),
    "tntp, no header": (".tntp", LINKS.replace("~", "").encode()),
    "parquet, labels": (".parquet", parquet(source=[1.5])),
    "parquet, cut": (".parquet", parquet()[:-9]),
    "parquet, damaged": (".parquet", parquet().replace(b"secret", b"secre\xff")),
}


def behind(error):
    """An exception and everything it leads to."""
    seen, todo = [], [error]
    while todo:
        one = todo.pop()
        if one is not None and all(one is not other for other in seen):
            seen.append(one)
            todo += [one.__cause__, one.__context__]
    return seen


def told(error):
    """All an exception says or holds, the bytes of a UnicodeDecodeError and attached notes included."""
    parts = [error.args, vars(error), *(getattr(error, name, "") for name in ("object", "doc", "name", "obj"))]
    return f"{error!s} {error!r} {parts!r}"


def assert_silent(call):
    with pytest.raises(HushpathError) as caught:
        call()
    for error in behind(caught.value):
        text = told(error)
        assert "secre" not in text, type(error)
        assert "7.7" not in text, type(error)


@pytest.mark.parametrize("name", FILES)
def test_no_reader_lets_a_weight_out(tmp_path, name):
    suffix, content = FILES[name]
    path = tmp_path / f"edges{suffix}"
    path.write_bytes(content)
    assert_silent(lambda: read_network(path))


class Unwilling:
    """A weight whose conversion raises something of its own, with the weight in it."""

    def __float__(self):
        raise RuntimeError(SECRET)


class Array:
    def __array__(self, *args, **kwargs):
        raise AttributeError(SECRET)


BAD = {"text": SECRET, "object": Unwilling(), "bytes": SECRET.encode(), "list": [SECRET], "complex": 7.77 + 7j}


@pytest.mark.parametrize("kind", BAD)
def test_no_constructor_lets_a_weight_out(kind):
    bad = BAD[kind]
    column = pd.Series([bad], dtype=object)
    assert_silent(lambda: Network.from_pandas(pd.DataFrame({"source": ["a"], "target": ["b"], "weight": column})))
    assert_silent(lambda: Network.from_networkx(nx.Graph([("a", "b", {"weight": bad})])))
    assert_silent(lambda: Network.build("ab", [0], [1], [bad]))
    assert_silent(lambda: PrivateWeights(np.array([bad, None], object), num_rows=2))


def test_other_containers():
    assert_silent(lambda: PrivateWeights(Array(), num_rows=1))
    assert_silent(lambda: PrivateWeights(np.ma.masked_array([7.77, 1.0], [False, True]), num_rows=2))
    assert_silent(lambda: PrivateWeights(np.array([SECRET]), num_rows=1))


def test_the_walk_sees_what_from_none_hides():
    """Negative control: the usual way to hide an exception does not remove it."""

    def careless():
        try:
            float(SECRET)
        except ValueError:
            raise HushpathError("not a number") from None

    def undecoded():
        try:
            (b"\xff" + SECRET.encode()).decode()
        except UnicodeDecodeError:
            raise HushpathError("not text") from None

    for call in (careless, undecoded):
        with pytest.raises(AssertionError, match="Error"):
            assert_silent(call)
