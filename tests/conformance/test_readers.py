"""One suite over every registered reader and every constructor: the same network, whichever way it comes in.

Stated differences: scipy has no places, and ``edge_files`` says which formats are always directed.  All else must agree
exactly, the order of nodes and edges included.  A new reader inherits this file by being registered and needs a writer
in ``edge_files``.  Bad files: ``test_readers_refuse``.
"""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from edge_files import DIRECTED, FILES, UNSPACED, WRITERS, graph_of, written
from scipy import sparse

from hushpath.errors import NetworkError, OptionError
from hushpath.io.readers import READERS, read_network, read_topology
from hushpath.network.network import Network

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


def labels_of(name, kind="text"):
    return LABELS["integers" if name.partition(".")[0] in UNSPACED else kind]


def from_file(name):
    def build(folder, labels, directed):
        path, options = written(folder, name, *frames(labels), directed)
        return read_network(path, **options)

    return build


def from_pandas(_, labels, directed):
    edges, nodes = frames(labels)
    return Network.from_pandas(edges, nodes=nodes, directed=directed)


def from_networkx(_, labels, directed):
    return Network.from_networkx(graph_of(*frames(labels), directed))


def from_scipy(_, labels, directed):
    tails, heads, weights = zip(*EDGES, strict=True)
    if not directed:
        tails, heads = np.minimum(tails, heads), np.maximum(tails, heads)
    matrix = sparse.coo_array((np.array(weights), (tails, heads)), shape=(len(labels), len(labels)))
    return Network.from_scipy(matrix, labels=labels, directed=directed)


BUILDERS = {
    **{name: from_file(name) for name in FILES},
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
    form = name.partition(".")[0]
    if (form in DIRECTED and not directed) or (form in UNSPACED and kind == "text"):
        pytest.skip("the format has no such networks")
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


def test_every_registered_reader_can_be_written():
    known = set(WRITERS)
    assert known == set(READERS), "WRITERS in tests/edge_files.py and READERS must name the same formats"
    assert {name: reader.name for name, reader in READERS.items()} == {name: name for name in READERS}
    suffixes = [suffix for reader in READERS.values() for suffix in reader.suffixes]
    assert len(suffixes) == len(set(suffixes))


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", FILES)
def test_the_public_half_is_the_same_and_needs_no_weights(tmp_path, name, kind):
    edges, nodes = frames(labels_of(name, kind))
    path, options = written(tmp_path, name, edges, nodes)
    whole, public = read_network(path, **options).topology, read_topology(path, **options)
    path, options = written(tmp_path, name, edges.drop(columns="weight"), nodes)
    for topology in (public, read_topology(path, **options)):
        assert topology.labels == whole.labels
        assert topology.tails.tolist() == whole.tails.tolist()
        assert topology.heads.tolist() == whole.heads.tolist()
        assert topology.coordinates.tolist() == whole.coordinates.tolist()
    with pytest.raises(NetworkError, match=r"has no column 'weight'; it has: .*'extra'"):
        read_network(path, **options)


@pytest.mark.parametrize("name", FILES)
def test_the_public_half_does_not_look_at_weights(tmp_path, name):
    """A weight that no reader could accept does not disturb it."""
    edges, nodes = frames(labels_of(name))
    texts = [*map(repr, edges["weight"][:-1]), "secret"]
    path, options = written(tmp_path, name, edges.assign(weight=texts), nodes)
    assert read_topology(path, **options).num_edges == 5
    with pytest.raises(NetworkError, match=r"column 'weight': row [0-9] is missing or not a finite number$"):
        read_network(path, **options)


@pytest.mark.parametrize("name", FILES)
def test_labels_without_types_are_stripped_and_may_be_integers(tmp_path, name):
    labels = [" 10", "-3 ", "0", "7", str(2**63 - 1), "5"]
    path, options = written(tmp_path, name, *frames(labels))
    typed = READERS[name.partition(".")[0]].typed
    assert set(read_network(path, **options).topology.labels) == set(labels if typed else map(int, labels))


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_nodes_of_its_own_takes_no_node_table_and_is_none(tmp_path, name):
    reader = READERS[name.partition(".")[0]]
    path, options = written(tmp_path, name, *frames(labels_of(name)))
    assert reader.whole is not bool(options)
    if reader.whole:
        with pytest.raises(OptionError, match=f"^a {reader.title} file"):
            read_network(path, nodes=path)
        text = csv(tmp_path, "source,target,weight\na,b,1\n", "other.csv")
        with pytest.raises(NetworkError, match=f"^the node table cannot be {reader.title}; use CSV, TSV"):
            read_network(text, nodes=path)


@pytest.mark.parametrize("name", FILES)
def test_the_format_may_be_said_and_capitals_do_not_matter(tmp_path, name):
    kind, _, ending = name.partition(".")
    path, options = written(tmp_path, name, *frames(labels_of(name)))
    expected = read_topology(path, **options).labels
    loud = path.rename(path.with_name(f"EDGES.{ending.upper()}"))
    assert read_topology(loud, **options).labels == expected
    plain = loud.rename(loud.with_name("edges.GZ" if name.endswith(".gz") else "edges"))
    assert read_topology((plain, kind), **options).labels == expected
    with pytest.raises(NetworkError, match="has none of the suffixes"):
        read_topology(plain, **options)


# --- text files -------------------------------------------------------------------------------------------


def csv(folder, content, name="edges.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_header_and_labels_are_stripped_and_a_byte_order_mark_is_no_letter(tmp_path):
    path = csv(tmp_path, "\ufeff source ,target,\tweight\r\n a , b c ,1\r\n\r\nb c,a, 2 \r\n")
    net = read_network(path, directed=True)
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
    options = {"source": "from", "target": "to", "lower": "low", "upper": "high"}
    net = read_network((path, "tsv"), weight="min", **options)
    assert rows(net) == [(0, 1, 3.0, 1.0, math.inf)]
    assert read_topology((str(path), "tsv"), **options).lower.tolist() == [1.0]


def test_a_network_without_edges_has_a_node_table(tmp_path):
    edges = csv(tmp_path, "source,target,weight\n")
    net = read_network(edges, nodes=csv(tmp_path, "node\na\nb\n", "nodes.csv"))
    assert (net.topology.labels, net.topology.num_edges) == (("a", "b"), 0)


# --- Parquet and GraphML ----------------------------------------------------------------------------------


def test_parquet_text_and_categories_stay_as_they_stand(tmp_path):
    path = tmp_path / "edges.parquet"
    table = pd.DataFrame({"source": ["1", " 1"], "target": ["2", "2"], "weight": ["1.5", "2"]})
    table.astype({"source": "category"}).to_parquet(path)
    net = read_network(path)
    assert net.topology.labels == (" 1", "1", "2")
    assert net.weights.reveal().tolist() == [2.0, 1.5]


def test_parquet_weights_of_other_types_are_numbers(tmp_path):
    path = tmp_path / "edges.parquet"
    ends = {"source": pa.array([1, 2, 3]), "target": pa.array([2, 3, 4])}
    numbers = pa.array([0.0, 7.0, 0.0])
    for column in (numbers.dictionary_encode(), numbers.cast(pa.float16()), numbers.cast(pa.decimal128(9, 2))):
        pq.write_table(pa.table({**ends, "weight": column}), path)
        assert read_network(path).weights.reveal().tolist() == [0.0, 7.0, 0.0]


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
    document = f'<graphml>{keys}<graph edgedefault="undirected">{body}</graph></graphml>'
    net = read_network(csv(tmp_path, document, "a.graphml"))
    assert net.topology.labels == (1, 2, 3)
    assert net.weights.reveal().tolist() == [4.0, 5.0]


def test_graphml_may_leave_nodes_to_its_edges(tmp_path):
    keys = '<key id="w" for="edge" attr.name="weight"/>'
    body = '<edge source="b" target="a"><data key="w">5</data></edge>'
    path = csv(tmp_path, f'<graphml>{keys}<graph edgedefault="directed">{body}</graph></graphml>', "a.graphml")
    assert read_network(path).topology.labels == ("a", "b")
