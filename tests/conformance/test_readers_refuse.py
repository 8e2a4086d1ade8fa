"""What readers refuse: one line that says what is wrong and where, and quotes no weight (good: ``test_readers``)."""

import gzip
import math

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushpath.errors import CannotError, NetworkError, OptionError
from hushpath.io.readers import READERS, read_network, read_topology


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


# --- text files -------------------------------------------------------------------------------------------


def test_column_names_that_do_not_fit(tmp_path):
    file = csv(tmp_path, "from\tto\tlow\thigh\tmin\na\tb\t1\tinf\t3\n", "roads.dat")
    path = file, "tsv"
    options = {"source": "from", "target": "to", "lower": "low", "upper": "high"}
    refused("private weight", path, OptionError, weight="min", **{**options, "upper": "min"})
    refused("different columns", path, OptionError, weight="from", **options)
    known = ", ".join(sorted(READERS))
    refused(f"'xls'.*{known}$", (file, "xls"), OptionError)
    refused(r"\['csv'\]", (file, ["csv"]), OptionError)


def test_a_network_without_edges_needs_a_node_table(tmp_path):
    refused("^the edge list is empty$", csv(tmp_path, "source,target,weight\n"))


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
        ("node\na\na\n", "of the node table repeats a node"),
        ("node,x,y\na,0,0\nb,1,north\n", "column 'y' of the node table: row 2"),
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
    known = ", ".join(suffix for reader in READERS.values() for suffix in reader.suffixes)
    refused(f"has none of the suffixes {known}, with or without .gz$", tmp_path / "roads.xls")
    refused("has none of the suffixes", "roads")
    refused("has none of the suffixes", "")
    refused("not a usable name", "a\0b.csv")
    refused("not a usable name|No such file", "a\ud800\n.csv")
    refused("too long", "a" * 5000 + ".csv")
    refused("not int", 7)
    refused("not bytes", (b"a.csv", "csv"))
    refused("cut short", csv(tmp_path, "no gzip", "edges.csv.gz"))
    whole = gzip.compress(HEAD.encode())
    refused("cut short", csv(tmp_path, whole[: len(whole) // 2], "half.csv.gz"))


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_foreign_separator_is_named(tmp_path, separator):
    path = tmp_path / "excel.csv"
    path.write_text(separator.join(["source", "target", "weight"]) + "\n" + separator.join(["a", "b", "1,5"]) + "\n")
    with pytest.raises(NetworkError, match="commas between columns") as caught:
        read_network(path)
    assert "1,5" not in str(caught.value)


# --- Parquet ----------------------------------------------------------------------------------------------


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


def test_parquet_weights_of_other_types_are_refused_and_never_no_edge(tmp_path):
    path = tmp_path / "edges.parquet"
    ends = {"source": pa.array([1, 2, 3]), "target": pa.array([2, 3, 4])}
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
    refused("directed=True", two, directed=True)


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
        (document(BODY + '<node id="a"/>'), "of the node table repeats a node"),
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
