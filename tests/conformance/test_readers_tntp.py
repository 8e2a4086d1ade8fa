"""TNTP networks as they are published."""

from functools import partial

import edge_files
import pytest

from hushpath import read_network, read_topology
from hushpath.errors import HushpathWarning, OptionError

HEAD = "<NUMBER OF ZONES> 2\n<NUMBER OF NODES> 4\n<FIRST THRU NODE> 1\n<NUMBER OF LINKS> 3\n<END OF METADATA>\t\t\n\n\n"
NAMES = "~ \tinit_node\tterm_node\tcapacity\tlength\tfree_flow_time\tb\tpower\tspeed\ttoll\tlink_type\t;\n"
LINKS = (
    "\t1\t2\t25900.20064\t6\t98765.25\t0.15\t4\t0\t0\t1\t;\n"
    "\t1\t3\t23403.47319\t4\t4\t0.15\t4\t0\t0\t1\t;\n"
    "\t2\t1\t25900.20064\t6\t6.5\t0.15\t4\t0\t0\t1\t;\n"
)
# Names with blanks and units, as in some files; blanks for tabs; and no names at all.
WORDS = (
    "~ \tInit node \tTerm node \tCapacity (veh/h)\tLength (ft)\tFree Flow Time (min)\tB\tPower\tSpeed (ft/min)\t"
    "Toll\tType\t;\n"
)
EXPECTED = [(1, 2, 98765.25), (1, 3, 4.0), (2, 1, 6.5)]


def put(folder, content, name="Town_net.tntp"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows(net):
    t = net.topology
    ends = [(t.labels[a], t.labels[b]) for a, b in zip(t.tails.tolist(), t.heads.tolist(), strict=True)]
    return sorted((*pair, w) for pair, w in zip(ends, net.weights.reveal().tolist(), strict=True))


refused = partial(edge_files.refused, weight="free_flow_time")


@pytest.mark.parametrize(
    "content",
    [
        HEAD + NAMES + LINKS,
        HEAD + "~ a comment\n" + WORDS + LINKS,
        HEAD + (NAMES + LINKS).replace("\t", "  "),
        HEAD + LINKS,
        HEAD + "~" + LINKS.splitlines()[0] + "\n" + LINKS,
        HEAD + NAMES + LINKS.replace("\t;\n", ";\r\n~ a comment\r\n"),
        HEAD.replace("3\n", "3 links\r\n") + "<ORIGINAL HEADER>~ Init node ;\n" + NAMES + LINKS.rstrip(),
        "\ufeff" + HEAD + NAMES + LINKS,
    ],
)
def test_networks_as_they_are_published(tmp_path, content):
    net = read_network(put(tmp_path, content), weight="free_flow_time", proxy="length")
    assert net.topology.directed
    assert rows(net) == EXPECTED
    assert net.topology.proxy.tolist() == [6, 4, 6]
    assert net.topology.coordinates is None


@pytest.mark.parametrize("head", ["Node\tX\tY\t;\n", "~ node X Y ;\n", "", "node x y\n"])
@pytest.mark.parametrize("end", ["\t;", ""])
def test_a_node_file_has_places(tmp_path, head, end):
    links = put(tmp_path, HEAD + NAMES + LINKS)
    table = head + "".join(f"{i}\t{i * 10}.5\t-{i}{end}\n" for i in range(1, 5))
    topology = read_topology(links, nodes=put(tmp_path, table, "Town_node.tntp"))
    assert topology.labels == (1, 2, 3, 4)
    assert topology.coordinates.tolist() == [[i * 10 + 0.5, -i] for i in range(1, 5)]
    assert read_topology(links, nodes=put(tmp_path, "node\n1\n4\n", "n.csv")).labels == (1, 2, 3, 4)


def test_parallel_links_are_kept_and_zones_are_said(tmp_path):
    content = (HEAD + NAMES + LINKS + LINKS.splitlines()[1]).replace("LINKS> 3", "LINKS> 4")
    with pytest.warns(HushpathWarning, match="parallel edges: 1 of 4"):
        assert read_topology(put(tmp_path, content)).num_edges == 4
    path = put(tmp_path, (HEAD + LINKS).replace("THRU NODE> 1", "THRU NODE> 3"))
    with pytest.warns(HushpathWarning, match="paths do not pass nodes below 3; here they may"):
        assert read_topology(path).num_edges == 3


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "is not TNTP: it does not say <NUMBER OF LINKS>"),
        (NAMES + LINKS, "is not TNTP: it does not say <NUMBER OF LINKS>"),
        (HEAD + NAMES + LINKS + LINKS, "says that it has 3 links, but 6 rows follow; is it whole"),
        (HEAD, "says that it has 3 links, but 0 rows follow"),
        (HEAD.replace("LINKS> 3", "LINKS> x") + LINKS, "says that it has 0 links, but 3 rows follow"),
        (HEAD.replace("LINKS> 3", "LINKS> 0"), "the edge list is empty"),
        (HEAD + NAMES + LINKS[:-3], "row 3 of the edge list does not end with a semicolon; is it whole"),
        (HEAD + NAMES + LINKS.replace("6.5\t", ""), "row 3 of the edge list has 9 fields, its header 10"),
        (HEAD + "1 2 98765 ;\n", "row 1 of the edge list has 3 fields, but no line before it names as many columns"),
        (HEAD + NAMES.replace("toll", "power") + LINKS.replace("98765.25", "x"), "column 'free_flow_time': row 1 is"),
        (HEAD + NAMES.replace("toll", "free_flow_time") + LINKS, "two columns called 'free_flow_time'"),
        (HEAD + NAMES.replace("free_flow_time", "cost") + LINKS, "no column 'free_flow_time'; it has: 'source', 'tar"),
        (HEAD + LINKS.replace("98765.25", "98765,25"), "column 'free_flow_time': row 1 is missing or not a finite"),
        (HEAD + LINKS.replace("98765.25", "98765\0"), "a NUL or a very long line"),
        (HEAD + "1 " * 40_000 + LINKS, "not well-formed near line 8: a NUL or a very long line"),
        (HEAD.encode() + b"\xff" + LINKS.encode(), "is not UTF-8 text"),
        ((HEAD + LINKS).encode("utf-16"), "is not UTF-8 text"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_network(tmp_path, content, match):
    refused(match, put(tmp_path, content))


def test_what_does_not_add_up_and_what_does_not_fit(tmp_path):
    path = put(tmp_path, HEAD + NAMES + LINKS)
    for rate in ("capacity", "speed", "b", "power", "link_type"):
        refused(f"^'{rate}' does not add up along a path", path, OptionError, weight=rate)
    for content, match in [
        ("", "the node table is an empty file"),
        ("node X Y ;\n1 2 ;\n", "row 1 of the node table has 2 fields, but no line"),
        ("1 2 3 ;\n2 5 ;\n", "row 2 of the node table has 2 fields, its header 3"),
        ("node X Y ;\n1 north 3 ;\n", "column 'x' of the node table: row 1"),
        ("node X Y ;\n1 0 0 ;\n1 0 0 ;\n", "row 2 of the node table repeats"),
    ]:
        refused(match, path, nodes=put(tmp_path, content, "n.tntp"))
