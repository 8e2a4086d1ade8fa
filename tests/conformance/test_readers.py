"""One suite over every reader and constructor: the same network, whichever way it comes in.

Stated difference: scipy has no places.  All else must agree exactly, the order of nodes and edges included.
"""

import gzip
import math
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from hushpath.data.network import Network
from hushpath.data.readers import read_network, read_topology
from hushpath.errors import CannotError, NetworkError, OptionError

# A loop (dropped), a weight of 17 digits, a zero, a huge and a tiny one; the last node is isolated.
EDGES = [(0, 1, 0.1 + 0.2), (1, 2, 0.0), (0, 2, 1e300), (3, 3, 5.0), (2, 3, 5e-324), (4, 0, 7.0)]
LOOP = 3
PLACES = [(0.0, 0.5), (1.0, -1.25), (2.0, 1e-9), (3.0, 0.0), (4.0, 4.0), (5.0, 5.0)]
LABELS = {
    "integers": [10, -3, 0, 7, 2**63 - 1, 5],
    "text": ["NA", "nan", "null", 'né,"x"', "007", "🚲 \u202bשלום"],
}


def frames(labels):
    edges = pd.DataFrame([(labels[a], labels[b], w) for a, b, w in EDGES], columns=["source", "target", "weight"])
    nodes = pd.DataFrame({"node": labels, "x": [x for x, _ in PLACES], "y": [y for _, y in PLACES]})
    return edges.assign(extra="ignored"), nodes


def graph_of(labels, directed):
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    for label, (x, y) in zip(labels, PLACES, strict=True):
        graph.add_node(label, x=x, y=y)
    for a, b, w in EDGES:
        graph.add_edge(labels[a], labels[b], weight=w, extra="ignored")
    return graph


def text(suffix, separator):
    def write(folder, labels, directed):
        edges, nodes = frames(labels)
        edges.to_csv(folder / f"edges{suffix}", sep=separator, index=False)
        nodes.to_csv(folder / f"nodes{suffix}", sep=separator, index=False)
        return folder / f"edges{suffix}", {"directed": directed, "nodes": folder / f"nodes{suffix}"}

    return write


def parquet(folder, labels, directed):
    edges, nodes = frames(labels)
    edges.to_parquet(folder / "edges.parquet")
    nodes.to_parquet(folder / "nodes.parquet")
    return folder / "edges.parquet", {"directed": directed, "nodes": str(folder / "nodes.parquet")}


def graphml(folder, labels, directed):
    nx.write_graphml(graph_of(labels, directed), folder / "graph.graphml")
    return folder / "graph.graphml", {}


FILES = {
    "csv": text(".csv", ","),
    "csv.gz": text(".csv.gz", ","),
    "tsv": text(".tsv", "\t"),
    "txt": text(".txt", "\t"),
    "parquet": parquet,
    "graphml": graphml,
}


def from_file(write):
    def build(folder, labels, directed):
        path, options = write(folder, labels, directed)
        return read_network(path, **options)

    return build


def from_pandas(_, labels, directed):
    edges, nodes = frames(labels)
    return Network.from_pandas(edges, nodes=nodes, directed=directed)


def from_networkx(_, labels, directed):
    return Network.from_networkx(graph_of(labels, directed))


def from_scipy(_, labels, directed):
    tails, heads, weights = zip(*EDGES, strict=True)
    if not directed:
        tails, heads = np.minimum(tails, heads), np.maximum(tails, heads)
    matrix = sparse.coo_array((np.array(weights), (tails, heads)), shape=(len(labels), len(labels)))
    return Network.from_scipy(matrix, labels=labels, directed=directed)


BUILDERS = {
    **{name: from_file(write) for name, write in FILES.items()},
    "pandas": from_pandas,
    "networkx": from_networkx,
    "scipy": from_scipy,
}


def rows(net):
    """Edges as (end, end, weight, lower, upper), in the order of the network."""
    t = net.topology
    columns = (t.tails, t.heads, net.weights.reveal(), t.lower, t.upper)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", BUILDERS)
def test_the_same_network_whichever_way_it_comes_in(tmp_path, name, kind, directed):
    labels = LABELS[kind]
    net = BUILDERS[name](tmp_path, labels, directed)
    topology = net.topology
    assert topology.labels == tuple(sorted(labels))
    assert {type(label) for label in topology.labels} == {type(labels[0])}
    assert topology.directed is directed
    assert topology.dropped_loops == 1
    kept = [edge for i, edge in enumerate(EDGES) if i != LOOP]
    at = [sorted(labels).index(label) for label in labels]
    ends = [((at[a], at[b]) if directed else tuple(sorted((at[a], at[b])))) for a, b, _ in kept]
    assert rows(net) == sorted((*pair, w, 0.0, math.inf) for pair, (_, _, w) in zip(ends, kept, strict=True))
    if name != "scipy":
        assert topology.coordinates[at].tolist() == [list(place) for place in PLACES]


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", FILES)
def test_the_public_half_is_the_same_and_needs_no_weights(tmp_path, name, kind):
    path, options = FILES[name](tmp_path, LABELS[kind], False)
    whole = read_network(path, **options).topology
    public = read_topology(path, **options)
    without = tmp_path / f"without.{name}"
    if name == "graphml":
        graph = graph_of(LABELS[kind], False)
        for _, _, attributes in graph.edges(data=True):
            del attributes["weight"]
        nx.write_graphml(graph, without)
    elif name == "parquet":
        pd.read_parquet(path).drop(columns="weight").to_parquet(without)
    else:
        separator = "," if "csv" in name else "\t"
        table = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
        table.drop(columns="weight").to_csv(without, sep=separator, index=False)
    for topology in (public, read_topology(without, **options)):
        assert topology.labels == whole.labels
        assert topology.tails.tolist() == whole.tails.tolist()
        assert topology.heads.tolist() == whole.heads.tolist()
        assert topology.coordinates.tolist() == whole.coordinates.tolist()
    with pytest.raises(NetworkError, match=r"has no column 'weight'; it has: .*'extra'"):
        read_network(without, **options)


@pytest.mark.parametrize("name", FILES)
def test_the_public_half_does_not_look_at_weights(tmp_path, name):
    """A weight that no reader could accept does not disturb it."""
    path, options = FILES[name](tmp_path, LABELS["text"], False)
    if name == "parquet":
        pd.read_parquet(path).astype({"weight": str}).assign(weight="secret").to_parquet(path)
    else:
        raw = gzip.decompress(path.read_bytes()) if name == "csv.gz" else path.read_bytes()
        assert raw.count(b"7.0") == 1
        raw = raw.replace(b"7.0", b"secret")
        path.write_bytes(gzip.compress(raw) if name == "csv.gz" else raw)
    assert read_topology(path, **options).num_edges == 5
    with pytest.raises(NetworkError, match=r"column 'weight': row [0-9] is missing or not a finite number$"):
        read_network(path, **options)


# --- text files -------------------------------------------------------------------------------------------


def csv(folder, content, name="edges.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(match, path, kind=NetworkError, **options):
    with pytest.raises(kind, match=match) as caught:
        read_network(path, **options)
    assert "\n" not in str(caught.value)
    assert "98765" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert kind is CannotError or caught.value.__context__ is None


def test_header_and_labels_are_stripped_and_a_byte_order_mark_is_no_letter(tmp_path):
    path = csv(tmp_path, "\ufeff source ,target,\tweight\r\n a , b c ,1\r\n\r\nb c,a, 2 \r\n")
    net = read_network(path)
    assert net.topology.labels == ("a", "b c")
    assert net.weights.reveal().tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "2", " 3 "], (1, 2, 3)),
        (["1", "2", "03"], ("1", "2", "03")),
        (["1", "-0", "3"], ("1", "-0", "3")),
        (["1", "1.0", "3"], ("1", "1.0", "3")),
        (["1", str(2**63), "3"], ("1", str(2**63), "3")),
        (["1", str(-(2**63)), "3"], (1, -(2**63), 3)),
    ],
)
def test_labels_are_integers_only_if_every_one_is(tmp_path, labels, expected):
    a, b, c = labels
    assert read_topology(csv(tmp_path, f"source,target\n{a},{b}\n{b},{c}\n")).labels == tuple(sorted(expected))


def test_the_node_table_has_a_say_in_what_labels_are(tmp_path):
    edges = csv(tmp_path, "source,target\n1,2\n")
    assert read_topology(edges, nodes=csv(tmp_path, "node\n3\n", "n.csv")).labels == (1, 2, 3)
    assert read_topology(edges, nodes=csv(tmp_path, "node\n03\n", "n.csv")).labels == ("03", "1", "2")
    typed = tmp_path / "n.parquet"
    for values, expected in [([3], (1, 2, 3)), (["3"], ("1", "2", "3"))]:
        pd.DataFrame({"node": values}).to_parquet(typed)
        assert read_topology(edges, nodes=typed).labels == expected
    integers = tmp_path / "edges.parquet"
    pd.DataFrame({"source": [1], "target": [2]}).to_parquet(integers)
    assert read_topology(integers, nodes=csv(tmp_path, "node\n3\n", "n.csv")).labels == (1, 2, 3)
    assert read_topology(integers, nodes=csv(tmp_path, "node\nx\n", "n.csv")).labels == ("1", "2", "x")


def test_quotes_newlines_and_repeated_quotes_in_labels(tmp_path):
    path = csv(tmp_path, 'source,target,weight\n"a,b","c\nd",1\n"say ""hi""",x"y,2\n')
    assert read_network(path).topology.labels == ("a,b", "c\nd", 'say "hi"', 'x"y')


def test_column_names_bounds_and_format_are_options(tmp_path):
    path = csv(tmp_path, "from;to\tlow\thigh\tmin\na;b\t1\tinf\t3\n".replace(";", "\t"), "roads.dat")
    options = {"source": "from", "target": "to", "lower": "low", "upper": "high", "format": "tsv"}
    net = read_network(path, weight="min", **options)
    assert rows(net) == [(0, 1, 3.0, 1.0, math.inf)]
    assert read_topology(str(path), **options).lower.tolist() == [1.0]
    refused("private weight", path, weight="min", **{**options, "upper": "min"})
    refused("different columns", path, OptionError, weight="from", **options)
    refused("format 'xls' is unknown; there are: csv, graphml, parquet, tsv", path, OptionError, format="xls")


def test_a_network_without_edges_needs_a_node_table(tmp_path):
    edges = csv(tmp_path, "source,target,weight\n")
    refused("^the edge list is empty$", edges)
    net = read_network(edges, nodes=csv(tmp_path, "node\na\nb\n", "nodes.csv"))
    assert (net.topology.labels, net.topology.num_edges) == (("a", "b"), 0)


HEAD = "source,target,weight\na,b,98765.25\n"


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "is an empty file"),
        ("\ufeff", "is an empty file"),
        ("\n\n", "is an empty file"),
        ("source,target\na,b\n", "no column 'weight'; it has: 'source', 'target'; source, .* name columns$"),
        ("source;target;weight\na;b;98765\n", "no column 'source'; it has: 'source;target;weight' - save it with"),
        ("a,b,98765.25\nb,c,1\n", "does its first line name the columns"),
        ("source,target,weight,weight\na,b,1,98765\n", "two columns called 'weight'"),
        (HEAD + "b,c,1,5\n", "row 2 of the edge list has 4 fields, its header 3"),
        (HEAD + "b,c\n", "row 2 of the edge list has 2 fields, its header 3"),
        (HEAD + '"b,c,1\n', "not well-formed near line 3"),
        (HEAD + '"b"x,c,1\n', "not well-formed near line 3"),
        (HEAD + "b,c\0,1\n", "not well-formed near line"),
        (HEAD + "x" * 200_000 + ",c,1\n", "not well-formed near line 3"),
        (HEAD + "x" * 2000 + ",c,1\n", "1 to 1000 characters, one has 2000"),
        (HEAD + " ,c,1\n", "row 2 of the edge list has an empty node label"),
        (HEAD.encode("utf-16"), "is not UTF-8 text"),
        (HEAD.encode() + b"\xff,c,1\n", "is not UTF-8 text"),
        *[
            (HEAD + f"b,c,{bad}\n", "column 'weight': row 2 is missing or not a finite number$")
            for bad in [
                '"98765,5"',
                "",
                " ",
                "x98765",
                "inf",
                "-inf",
                "nan",
                "NA",
                "1_0",
                "0x9",
                "1e999",
                "True",
            ]
        ],
    ],
)
def test_what_is_wrong_in_a_text_file_is_one_line_that_quotes_no_weight(tmp_path, content, match):
    refused(match, csv(tmp_path, content))


def test_node_tables_are_checked_the_same_way(tmp_path):
    edges = csv(tmp_path, "source,target,weight\na,b,1\n")
    for content, match in [
        ("id\na\n", "the node table has no column 'node'"),
        ("node\na\nb,c\n", "row 2 of the node table has 2 fields"),
        ("node\na\na\n", "names 'a' twice"),
        ("node,x,y\na,0,0\n", "node 'b' is in the edge list but not in the node table"),
        ("node,x,y\na,0,0\nb,1,\n", "column 'y' of the node table: row 2"),
        ("", "the node table is an empty file"),
    ]:
        refused(match, edges, nodes=csv(tmp_path, content, "nodes.csv"))
    refused("cannot be GraphML", edges, nodes=csv(tmp_path, "<graphml/>", "nodes.graphml"))
    refused("No such file", edges, nodes=tmp_path / "none.csv")
    assert read_topology(edges, nodes=csv(tmp_path, "node,x\na,?\n", "nodes.csv")).coordinates is None


def test_paths_that_cannot_be_read(tmp_path):
    refused("No such file", tmp_path / "missing.csv")
    (tmp_path / "folder.csv").mkdir()
    refused("Is a directory", tmp_path / "folder.csv")
    refused("has none of the suffixes .csv, .tsv, .txt, .parquet, .graphml", tmp_path / "roads.xls")
    refused("has none of the suffixes", "roads")
    refused("has none of the suffixes", "")
    refused("not a usable name", "a\0b.csv")
    refused("not a usable name|No such file", "a\ud800\n.csv")
    refused("too long", "a" * 5000 + ".csv")
    refused("not by int", 7)
    refused("not by bytes", b"a.csv", format="csv")
    refused("is it whole", csv(tmp_path, "no gzip", "edges.csv.gz"))
    whole = gzip.compress(HEAD.encode())
    refused("is it whole", csv(tmp_path, whole[: len(whole) // 2], "half.csv.gz"))


def test_a_suffix_in_capitals_is_the_same_suffix(tmp_path):
    assert read_network(csv(tmp_path, HEAD, "ROADS.CSV")).topology.labels == ("a", "b")


# --- Parquet ----------------------------------------------------------------------------------------------


def test_parquet_without_pyarrow_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = csv(tmp_path, b"PAR1", "edges.parquet")
    refused(r"^reading Parquet needs pyarrow: pip install 'hushpath\[parquet\]'$", path, CannotError)


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"source": [1.0], "target": [2.0], "weight": [98765]}, "not float"),
        ({"source": [True], "target": [False], "weight": [98765]}, "not bool"),
        ({"source": [[1]], "target": [[2]], "weight": [98765]}, "not list"),
        (
            {"source": ["a", None], "target": ["b", "c"], "weight": [98765, 1]},
            "row 2 of the edge list has an empty",
        ),
        ({"source": [1, 2], "target": [2, 3], "weight": [98765, None]}, "row 2 is missing"),
        ({"source": [1], "target": [2], "weight": [math.nan]}, "row 1 is missing"),
        ({"source": [1], "target": [2], "weight": [True]}, "row 1 is missing"),
        ({"source": [1], "target": [2], "weight": pd.to_timedelta([98765], unit="s")}, "row 1 is missing"),
        (
            {"source": [1], "target": [2], "cost": [98765]},
            "no column 'weight'; it has: 'source', 'target', 'cost'",
        ),
        ({"source": [], "target": [], "weight": []}, "^the edge list is empty$"),
    ],
)
def test_what_is_wrong_in_a_parquet_file(tmp_path, columns, match):
    path = tmp_path / "edges.parquet"
    pd.DataFrame(columns).to_parquet(path)
    refused(match, path)


def test_parquet_text_and_categories_stay_as_they_stand(tmp_path):
    path = tmp_path / "edges.parquet"
    table = pd.DataFrame({"source": ["1", " 1"], "target": ["2", "2"], "weight": ["1.5", "2"]})
    table.astype({"source": "category"}).to_parquet(path)
    net = read_network(path)
    assert net.topology.labels == (" 1", "1", "2")
    assert net.weights.reveal().tolist() == [2.0, 1.5]


def test_parquet_weights_of_other_types_are_numbers_or_refused_and_never_no_edge(tmp_path):
    path = tmp_path / "edges.parquet"
    ends = {"source": pa.array([1, 2, 3]), "target": pa.array([2, 3, 4])}
    numbers = pa.array([0.0, 7.0, 0.0])
    for column in (numbers.dictionary_encode(), numbers.cast(pa.float16()), numbers.cast(pa.decimal128(9, 2))):
        pq.write_table(pa.table({**ends, "weight": column}), path)
        assert read_network(path).weights.reveal().tolist() == [0.0, 7.0, 0.0]
    for column in (
        pa.array([0.0, None, 98765.0]).dictionary_encode(),
        pa.array([[0.0], [98765.0], []]),
        pa.array([{"value": 98765.0}, None, {"value": 0.0}]),
        pa.nulls(3),
        pa.array([b"98765", b"0", b""]),
        pa.array([98765, 0, 1], pa.duration("s")),
    ):
        pq.write_table(pa.table({**ends, "weight": column}), path)
        refused(r"^column 'weight': row [123] is missing or not a finite number$", path)


# --- GraphML ----------------------------------------------------------------------------------------------

KEY = '<key id="d0" for="edge" attr.name="weight" attr.type="double"/>'
BODY = '<node id="a"/><node id="b"/><edge source="a" target="b"><data key="d0">98765.25</data></edge>'


def document(body=BODY, keys=KEY, default='edgedefault="undirected"', head=""):
    root = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    return f"{head}{root}{keys}<graph {default}>{body}</graph></graphml>"


def test_graphml_decides_whether_it_is_directed(tmp_path):
    one = csv(tmp_path, document(default='edgedefault="directed"'), "one.graphml")
    two = csv(tmp_path, document(), "two.graphml")
    assert read_network(one).topology.directed
    assert read_network(one, directed=True).topology.directed
    assert not read_network(two).topology.directed
    refused("undirected; directed=True does not fit", two, directed=True)


def test_graphml_defaults_several_keys_of_one_name_and_foreign_elements(tmp_path):
    keys = (
        '<key id="w1" for="edge" attr.name="weight"><default> 4 </default></key>'
        '<key id="w2" for="edge" attr.name="weight"/><key id="g" for="all"/>'
    )
    body = (
        '<desc>text<node id="ghost"/></desc>'
        '<node id="1"><data key="g"><y:box xmlns:y="urn:y">7<edge/></y:box></data></node>'
        '<edge source="1" target="2"/><edge source="2" target="3"><data key="w2">5</data></edge>'
    )
    net = read_network(csv(tmp_path, document(body, keys), "a.graphml"))
    assert net.topology.labels == (1, 2, 3)
    assert net.weights.reveal().tolist() == [4.0, 5.0]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "not well-formed XML near line 1"),
        ("<graphml>", "not well-formed XML near line 1"),
        (document()[:-30], "not well-formed XML"),
        ("<html/>", "XML but not GraphML"),
        ("<graphml/>", "no GraphML <graph>"),
        (document(default=""), "must say edgedefault"),
        (document("<node/>"), "node 1 of the GraphML file has no 'id'"),
        (document('<edge source="a"/>'), "edge 1 of the GraphML file has no 'target'"),
        (document(BODY + '<edge source="b" target="a" directed="true"/>'), "mixes directed and undirected"),
        (document("<hyperedge/>"), "hyperedges"),
        (document('<node id="a"><graph edgedefault="directed"/></node>'), "several or nested graphs"),
        (document(BODY + '<node id="a"/>'), "names 'a' twice"),
        (document(BODY + '<edge source="b" target="a"/>'), "row 2 is missing or not a finite number"),
        (document(keys=""), "has no column 'weight'; it has: none"),
        (document(""), "no nodes"),
        (document(head="<!DOCTYPE graphml>"), "DOCTYPE"),
        (document(head='<!DOCTYPE g [<!ENTITY a "98765"><!ENTITY b "&a;&a;">]>'), "DOCTYPE"),
        (document(head='<?xml version="1.0" encoding="no-such"?>'), "not well-formed XML"),
        (document(head='<?xml version="1.0" encoding="utf-7"?>'), "not well-formed XML|DOCTYPE"),
    ],
)
def test_what_is_wrong_in_a_graphml_file(tmp_path, content, match):
    refused(match, csv(tmp_path, content, "a.graphml"))


def test_a_doctype_does_not_hide_in_another_encoding(tmp_path):
    content = document(head='<?xml version="1.0" encoding="utf-16"?><!DOCTYPE g [<!ENTITY a "98765">]>')
    refused("DOCTYPE", csv(tmp_path, content.encode("utf-16"), "a.graphml"))


def test_graphml_holds_its_own_nodes(tmp_path):
    path = csv(tmp_path, document(), "a.graphml")
    refused("holds its own nodes", path, OptionError, nodes=path)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_foreign_separator_is_named(tmp_path, separator):
    path = tmp_path / "excel.csv"
    path.write_text(separator.join(["source", "target", "weight"]) + "\n" + separator.join(["a", "b", "1,5"]) + "\n")
    with pytest.raises(NetworkError, match="commas between columns") as caught:
        read_network(path)
    assert "1,5" not in str(caught.value)
