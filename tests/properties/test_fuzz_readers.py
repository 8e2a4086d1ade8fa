"""Whatever is in a file, a reader returns a network or raises one of our errors, on one line."""

import io
import tempfile
import warnings
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
from edge_files import written
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hushpath.errors import HushpathError, HushpathWarning
from hushpath.io.readers import READERS, read_network, read_topology
from hushpath.network.network import Network

SUFFIXES = [suffix + packed for reader in READERS.values() for suffix in reader.suffixes for packed in ("", ".gz")]
many = settings(max_examples=250, deadline=None, derandomize=True)
few = settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

# Letters that break things: separators, quotes, line ends, NUL, right-to-left, joiners, emoji, digits, signs.
LETTERS = "ab,;\t\"'\n\r\0 019-+._e&<>\ufeff\u200f\u202e\u0301\u2028\U0001f6b2é٣"
words = st.one_of(st.text(LETTERS, max_size=6), st.text(max_size=6), st.integers().map(str))


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def attempt(call):
    """Return the network, or check the error and return None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HushpathWarning)  # what is odd but readable, such as a place that was damaged
        try:
            return call()
        except HushpathError as error:
            caught = error
    message = str(caught)
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    assert len(message) < 800
    assert caught.__cause__ is None
    return None


def read(folder, content, suffix, **options):
    path = folder / f"fuzz{suffix}"
    path.write_bytes(content)
    net = attempt(lambda: read_network(path, **options))
    topology = attempt(lambda: read_topology(path, **options))
    if net is not None:  # whatever has weights also has a public half, and the same one
        assert topology is not None
        assert topology.labels == net.topology.labels
        assert topology.tails.tolist() == net.topology.tails.tolist()
        assert net.weights.reveal().shape == (topology.num_edges,)
    return net


@many
@given(content=st.binary(max_size=300), suffix=st.sampled_from(SUFFIXES))
@example(content=b"", suffix=".parquet")
@example(content=b"PAR1\0\0\0\0PAR1", suffix=".parquet")
@example(content=b"\x1f\x8b", suffix=".csv.gz")
@example(content=b"\xff\xfe<\0", suffix=".graphml")
@example(content=b"<?xml version='1.0' encoding='idna'?><graphml/>", suffix=".graphml")
@example(content=b"<?xml version='1.0' encoding='rot13'?><graphml/>", suffix=".graphml")
@example(content=b"<?xml version='1.0' encoding='idna'?><net/>", suffix=".net.xml")
@example(content=b"SQLite format 3\0" + b"\0" * 600, suffix=".gpkg")
@example(content=b"<NUMBER OF LINKS> 1\n1 2 3 4 5 6 7 8 9 \xff;\n", suffix=".tntp")
def test_random_bytes(folder, content, suffix):
    read(folder, content, suffix)


@many
@given(body=st.lists(st.lists(words, max_size=5), max_size=5), separator=st.sampled_from([",", "\t"]))
def test_ragged_and_odd_text(folder, body, separator):
    lines = [separator.join(["source", "target", "weight"]), *(separator.join(row) for row in body)]
    read(folder, "\n".join(lines).encode("utf-8", "surrogatepass"), ".csv" if separator == "," else ".tsv")


@many
@given(header=st.lists(words | st.sampled_from(["source", "target", "weight"]), max_size=5))
def test_wrong_columns(folder, header):
    content = ",".join(header) + "\n" + ",".join("1" * max(len(header), 1)) + "\n"
    read(folder, content.encode("utf-8", "surrogatepass"), ".csv")


@many
@given(rows=st.lists(st.tuples(words, words, st.floats()), max_size=5))
def test_well_written_tables_with_odd_labels(folder, rows):
    """Quoted as it should be, a label comes back as it was, but for whitespace around it."""
    out = io.StringIO()
    pd.DataFrame(rows, columns=["source", "target", "weight"]).to_csv(out, index=False)
    net = read(folder, out.getvalue().encode("utf-8", "surrogatepass"), ".csv")
    if net is not None:
        assert {str(label) for label in net.topology.labels} == {end.strip() for row in rows for end in row[:2]}


@pytest.mark.parametrize(
    "label",
    [
        "\ud800",
        "a\udfffb",
        "\u202e123",
        "🚲" * 100,
        "9" * 1001,
        "9" * 100_000,
        "x" * 140_000,
        "\0",
        "\u2028",
        "\x85",
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".graphml"])
def test_odd_labels_in_text_files(folder, label, suffix):
    separator = "," if suffix == ".csv" else "\t"
    table = f"source{separator}target{separator}weight\n{label}{separator}b{separator}1\n"
    graph = (
        '<graphml><key id="w" for="edge" attr.name="weight"/><graph edgedefault="directed">'
        f'<edge source="{label}" target="b"><data key="w">1</data></edge></graph></graphml>'
    )
    net = read(folder, (graph if suffix == ".graphml" else table).encode("utf-8", "surrogatepass"), suffix)
    if net is not None:
        assert set(net.topology.labels) in ({label, "b"}, {label.strip(), "b"})


@many
@given(
    rows=st.lists(
        st.tuples(*[st.one_of(words, st.integers(), st.floats(), st.booleans(), st.none(), st.binary(max_size=3))] * 3),
        max_size=4,
    )
)
def test_odd_objects_in_pandas(rows):
    frame = pd.DataFrame(rows, columns=["source", "target", "weight"], dtype=object)
    attempt(lambda: Network.from_pandas(frame))
    attempt(lambda: Network.from_pandas(frame.infer_objects()))


@many
@given(
    edges=st.lists(
        st.tuples(
            st.one_of(words, st.integers(), st.tuples(st.integers())),
            st.one_of(words, st.floats(allow_nan=False), st.booleans()),
            st.one_of(words, st.floats(), st.none()),
        ),
        max_size=4,
    ),
    kind=st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]),
)
def test_odd_objects_in_networkx(edges, kind):
    graph = kind()
    graph.add_weighted_edges_from(edges)
    attempt(lambda: Network.from_networkx(graph))


def whole(folder, suffix):
    """A good file."""
    frame = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "a"], "weight": [1.5, 2.5, 3.5]})
    nodes = pd.DataFrame({"node": ["a", "b", "c"], "x": [0.0, 1.0, 2.0], "y": 0.0})
    kind = next(name for name, reader in READERS.items() if suffix.removesuffix(".gz") in reader.suffixes)
    return written(folder, kind + suffix, frame, nodes)[0].read_bytes()


GOOD = [".csv", ".csv.gz", ".parquet", ".graphml", ".gpkg", ".net.xml", ".tntp"]


@pytest.mark.parametrize("suffix", GOOD)
def test_the_good_file_is_good(folder, suffix):
    net = read(folder, whole(folder, suffix), suffix)
    assert sorted(net.weights.reveal().tolist()) == [1.5, 2.5, 3.5]


@pytest.mark.parametrize("suffix", GOOD[1:])
def test_no_truncated_file_is_taken_for_a_whole_one(folder, suffix):
    content = whole(folder, suffix).rstrip()
    for end in range(0, len(content), max(1, len(content) // 150)):
        assert read(folder, content[:end], suffix) is None, end


@few
@given(data=st.data(), suffix=st.sampled_from([name for name in GOOD if name != ".parquet"]))
def test_damaged_files(folder, data, suffix):
    content = bytearray(whole(folder, suffix))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    read(folder, bytes(content), suffix)


@few
@given(data=st.data())
def test_damaged_parquet(folder, data):
    content = bytearray(whole(folder, ".parquet"))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    read(folder, bytes(content), ".parquet")


@many
@given(name=st.text(max_size=12), suffix=st.sampled_from(["", *GOOD]))
def test_odd_file_names(name, suffix):
    assert attempt(lambda: read_network("/no-such-folder/" + name + suffix)) is None
    assert attempt(lambda: read_network(("/no-such-folder/x", name))) is None
