"""A public proxy is what the owner named, nothing else; it moves no measurement, and what nobody named stays hidden."""

import copy
import pickle
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from edge_files import FILES, graph_of, written
from named_graphs import fitted, named
from scipy import sparse

import hushpath
from hushpath import Network
from hushpath.data.readers import read_network, read_topology
from hushpath.data.topology import Topology
from hushpath.errors import CannotError, InputError, OptionError
from hushpath.measure.numbers import exact_numbers
from hushpath.publish.evaluate import evaluate
from hushpath.strategy.registry import MECHANISMS

CANARY = 7361942.0625  # in a column that nobody names; exact in binary
NODES = pd.DataFrame({"node": list("abcd"), "x": 0.0, "y": 0.0})
EDGES = pd.DataFrame({
    "source": list("abcaab"), "target": list("bcdbab"),  # a-b twice, and two loops
    "minutes": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    "free": [0.5, np.nan, 2.5, 0.25, 9.0, 9.0], "hops": [1, 2, 3, 4, 5, 6], "quiet": CANARY, "street": list("uvwxyz"),
})  # fmt: skip
BUDGET = {"epsilon": 4.0, "unit": 1.0, "max_weight": 20.0}  # less, and public facts alone would be as good
FREE = [0.25, 0.5, np.nan, 2.5]  # of a-b and its twin, b-c, c-d


def read(folder, name="csv.csv"):
    path, options = written(folder, name, EDGES, NODES)
    return read_network(path, weight="minutes", parallel_edges=True, **options)


def same(one, other):
    return np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize("name", FILES)
def test_a_column_of_any_file_is_a_proxy_when_it_is_named(tmp_path, name):
    net = read(tmp_path, name)
    assert net.topology.proxy is None
    assert net.topology.proxy_name == ""
    other = net.topology.with_proxy("free")
    assert same(other.proxy, FREE)
    assert (other.proxy_name, other.proxy.dtype, other.proxy.flags.writeable) == ("free", np.float64, False)
    assert net.topology.with_proxy("hops").proxy.tolist() == [1, 4, 2, 3]
    assert net.topology.proxy is None  # the first one is as it was
    assert other.with_proxy("hops").proxy_name == "hops"
    assert other.with_proxy(None).proxy is None
    assert net.topology.is_same(other)
    path, options = written(tmp_path, name, EDGES, NODES)
    public = read_topology(path, proxy="free", weight="minutes", parallel_edges=True, **options)
    assert same(public.proxy, FREE)
    assert len(public.columns) == 0


def test_frames_graphs_matrices_and_arrays():
    frame = Network.from_pandas(EDGES, parallel_edges=True, weight="minutes")
    graph = Network.from_networkx(graph_of(EDGES, NODES, False), weight="minutes")
    for net in (frame, graph):
        assert same(net.with_proxy("free").topology.proxy, FREE)
    ends = [0, 1, 2, 0, 0, 1], [1, 2, 3, 1, 0, 1]
    built = Network.build("abcd", *ends, EDGES["minutes"], proxy=EDGES["free"], parallel_edges=True)
    assert same(built.topology.proxy, FREE)
    assert built.topology.proxy_name == "proxy"
    assert same(frame.with_proxy(FREE[::-1], name="mine").topology.proxy[2:], [0.5, 0.25])
    square = sparse.coo_array((np.ones(6), ([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2])))
    both = Network.from_scipy(square, proxy=[1, 9, 2, 9, 9, 3])  # as the weights: what stands above the diagonal
    assert both.topology.proxy.tolist() == [1, 3, 2]


def test_a_frame_may_change_after_it_was_read():
    table = EDGES.copy()
    net = Network.from_pandas(table, weight="minutes", parallel_edges=True)
    table["free"] = 1.0
    table.iloc[:, :] = table.iloc[::-1].to_numpy()
    assert same(net.with_proxy("free").topology.proxy, FREE)


def test_proxies_of_twins_go_with_their_weights():
    """The lowest with the lowest, whatever the rows: nothing public says which of them was which."""
    table = pd.DataFrame({"source": "a", "target": "b", "weight": [3, 1, 2, 9], "p": [10, np.nan, 20, 5]})
    net = Network.from_pandas(table, parallel_edges=True)
    made = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism="input", proxy="p")
    assert (made.measurements.values * made.statement.granularity).tolist() == [1, 2, 3, 9]
    assert same(made.topology.proxy, [5, 10, 20, np.nan])
    high = table.assign(high=[10, 20, 30, 40])
    apart = Network.from_pandas(high, upper="high", parallel_edges=True)  # bounds tell these apart
    assert same(apart.with_proxy("p").topology.proxy, [10, np.nan, 20, 5])


def test_a_bound_may_be_the_proxy_too(tmp_path):
    net = Network.from_pandas(EDGES, parallel_edges=True, weight="minutes", lower="hops", upper=50.0)
    assert net.with_proxy("hops").topology.proxy.tolist() == [1, 4, 2, 3]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("minutes", "'minutes' is the private weight"),
        ("source", "'source' is an end of the edges"),
        ("fre", "did you mean 'free'"),
        ("length", "there are: 'free', 'hops', 'quiet', 'street'"),
        ("street", "does not hold numbers"),
    ],
)
def test_columns_that_cannot_be_a_proxy(tmp_path, asked, says):
    net = read(tmp_path)
    for refuse in (
        net.topology.with_proxy, net.with_proxy, lambda name: hushpath.plan(net.topology, **BUDGET, proxy=name),
        lambda name: hushpath.release(net, **BUDGET, proxy=name),
    ):  # fmt: skip
        with pytest.raises(OptionError, match=says):
            refuse(asked)
    if asked in ("minutes", "source"):
        with pytest.raises(OptionError, match=says):
            read_topology(tmp_path / "edges.csv", weight="minutes", proxy=asked)


def test_only_names_are_given_to_plan_and_release():
    net = Network.from_pandas(EDGES, parallel_edges=True, weight="minutes")
    for call in (lambda p: hushpath.plan(net.topology, **BUDGET, proxy=p),
                 lambda p: hushpath.release(net, **BUDGET, proxy=p)):  # fmt: skip
        for odd in (FREE, 3, True, ["free"]):
            with pytest.raises(OptionError, match="proxy names a public column"):
                call(odd)
    with pytest.raises(OptionError, match="without other columns"):
        hushpath.release(named("grid"), **BUDGET, proxy="free")


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([1, 2, -1, 3], "edge 3 is negative"),
        ([1, 2, np.inf, 3], "edge 3 is negative, infinite"),
        ([1, 2, 1e101, 3], "edge 3"),
        ([1, 1e-101, 2, 3], "edge 2"),
        ([0, 0, np.nan, 0], "no positive number"),
        ([np.nan] * 4, "no positive number"),
        ([1, 2, "three", 3], "edge 3 is not a number"),
        ([1, 2, True, 3], "edge 3 is not a number"),
        ([1, 2, 3 + 1j, 3], "is not a number"),
        ([1, 2, 10**400, 3], "edge 3 is not a number"),
        ([1, 2, 3], "one number per edge: 4 edges"),
        ([[1, 2, 3, 4]], "one number per edge"),
        ([[1, 2], 3, 4, 5], "per edge|is not a number"),
        (5.0, "one number per edge"),
        ({1, 2}, "one number per edge"),
    ],
)
def test_arrays_that_are_no_proxy(values, says):
    topology = Topology.build("abcde", range(4), range(1, 5))[0]
    with pytest.raises(OptionError, match=says):
        topology.with_proxy(values)


def test_what_counts_as_a_number_and_as_unknown():
    topology = Topology.build(range(8), range(7), range(1, 8))[0]
    given = [None, "", " NA ", "nan", Decimal("1.5"), Fraction(1, 2), np.float32(2)]
    assert same(topology.with_proxy(given).proxy, [np.nan] * 4 + [1.5, 0.5, 2.0])
    masked = np.ma.array(np.arange(7.0), mask=[True] + [False] * 6)
    assert same(topology.with_proxy(masked).proxy, [np.nan, 1, 2, 3, 4, 5, 6])
    assert topology.with_proxy(np.arange(7, dtype=np.longdouble)).proxy.dtype == np.float64
    odd = np.array([-0.0, 1, -np.nan, 1, 1, 1, 1])
    assert topology.with_proxy(odd).proxy.tobytes() == np.array([0.0, 1, np.nan, 1, 1, 1, 1]).tobytes()
    for name in ("", "a\nb", "x" * 201, 5):
        with pytest.raises(OptionError, match="name of a proxy"):
            topology.with_proxy(np.ones(7), name=name)


@pytest.mark.parametrize("bad", ["12 min", "-3", "inf", "1_000"])
def test_a_bad_value_is_said_when_the_column_is_named_and_not_before(tmp_path, bad):
    table = EDGES.assign(free=["1", "2", "3", bad, "4", "5"])
    table.to_csv(tmp_path / "edges.csv", index=False)
    net = read_network(tmp_path / "edges.csv", weight="minutes", parallel_edges=True)
    with pytest.raises(OptionError, match="column 'free': row 4 is"):
        net.with_proxy("free")
    assert net.with_proxy("hops").topology.proxy_name == "hops"


def test_columns_of_all_kinds_let_a_network_be_read():
    """An odd column is no reason to refuse weights that are good."""
    table = EDGES.assign(
        when=pd.Timestamp("2020-01-01"), kind=pd.Categorical(list("xyxyxy")), ok=True, empty=None, thing=[object()] * 6,
        counted=pd.array([1, None, 3, 4, 5, 6], dtype="Int64"),
    )  # fmt: skip
    table[7] = 1.0
    net = Network.from_pandas(pd.concat([table, EDGES[["hops"]]], axis=1), weight="minutes", parallel_edges=True)
    assert same(net.with_proxy("counted").topology.proxy, [1, 4, np.nan, 3])
    for name in ("when", "kind", "ok", "thing"):
        with pytest.raises(OptionError, match="does not hold numbers"):
            net.with_proxy(name)
    with pytest.raises(OptionError, match="no positive number"):
        net.with_proxy("empty")
    with pytest.raises(OptionError, match="no column 'hops'"):
        net.with_proxy("hops")  # there are two
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=1.0, geometry=object(), lanes=[1, 2])
    graph.add_edge("b", "c", weight=1.0, length=3)
    net = Network.from_networkx(graph)
    assert same(net.with_proxy("length").topology.proxy, [np.nan, 3])
    for name in ("geometry", "lanes"):
        with pytest.raises(OptionError, match="does not hold numbers"):
            net.with_proxy(name)


def test_many_columns_of_a_small_file_are_no_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr("hushpath.data.readers.parquet.LARGEST_KEPT", 8 * 2 * len(EDGES))
    wide = EDGES.assign(more=1.0, most=2.0)
    wide.to_parquet(tmp_path / "edges.parquet")
    net = read_network(tmp_path / "edges.parquet", weight="minutes", parallel_edges=True)
    assert net.with_proxy("hops").topology.proxy_name == "hops"
    assert len(net.topology.columns) == 6
    with pytest.raises(OptionError, match="too many columns"):
        net.with_proxy("most")
    keys = "".join(f'<key id="k{i}" for="edge" attr.name="k{i}" attr.type="double"/>' for i in range(3000))
    data = '<data key="k0">{}</data><data key="w">1</data>'
    rows = "".join(f'<edge source="{i}" target="{i + 1}">{data.format(i)}</edge>' for i in range(3000))
    nodes = "".join(f'<node id="{i}"/>' for i in range(3001))
    weight = '<key id="w" for="edge" attr.name="weight"/>'
    weight += '<key id="d" for="edge" attr.name="d"><default>4</default></key>'
    text = f'<graphml>{weight}{keys}<graph edgedefault="undirected">{nodes}{rows}</graph></graphml>'
    (tmp_path / "many.graphml").write_text(text)
    tracemalloc.start()
    net = read_network(tmp_path / "many.graphml")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20  # a table of all keys and edges would be 72 MB of nothing
    assert net.with_proxy("k0").topology.proxy.tolist() == list(range(3000))
    assert (net.with_proxy("d").topology.proxy == 4).all()
    with pytest.raises(OptionError, match="no positive number"):
        net.with_proxy("k7")


def forms(number):
    """A number as a text and as bytes, in every type a pickle or a file may keep it in."""
    found = [repr(number).encode(), np.float64(number).tobytes(), np.float64(number).tobytes()[::-1]]
    return [*found, np.float32(number).tobytes(), str(int(number)).encode()]


def holds(data, number):
    return any(form in data for form in forms(number))


@pytest.mark.parametrize("source", [*FILES, "pandas", "networkx"])
def test_a_column_that_nobody_named_is_nowhere(tmp_path, source, capsys):
    if source == "pandas":
        net = Network.from_pandas(EDGES, parallel_edges=True, weight="minutes")
    elif source == "networkx":
        net = Network.from_networkx(graph_of(EDGES, NODES, False), weight="minutes")
    else:
        net = read(tmp_path, source)
    assert (net.topology.with_proxy("quiet").proxy == CANARY).all()  # it is there
    topology = net.topology.with_proxy("free")
    plan = hushpath.plan(topology, **BUDGET)
    made = hushpath.release(net, plan=plan)
    made.save(tmp_path / "x.hush", index=True)
    told = [repr(vars(topology)), repr(plan.as_dict()), repr(made.statement), repr(topology.columns), repr(net)]
    told += [str(topology.columns), str(plan), str(made.statement), repr(made)]
    for name in ("qiet", "free flow", "minutes", "street"):
        with pytest.raises(InputError) as caught:
            topology.with_proxy(name)
        told.append(repr(caught.value))
    said = capsys.readouterr()
    seen = [(tmp_path / "x.hush").read_bytes(), (tmp_path / "x.hushx").read_bytes(), "".join([*told, *said]).encode()]
    seen += [pickle.dumps(thing) for thing in (topology, net.topology, plan, made.measurements)]
    assert not any(holds(data, CANARY) for data in seen)
    assert holds(pickle.dumps(net.topology.with_proxy("quiet")), CANARY)  # named, it would be found
    for again in (pickle.loads(pickle.dumps(topology)), copy.copy(topology), copy.deepcopy(topology)):
        assert (len(again.columns), repr(again.columns)) == (0, "OtherColumns(0 hidden)")
        assert same(again.proxy, topology.proxy)
    assert repr(topology.columns) == f"OtherColumns({len(topology.columns)} hidden)"
    with pytest.raises(TypeError):
        pickle.dumps(topology.columns)
    with pytest.raises(TypeError):
        list(topology.columns)


def test_the_number_of_columns_says_nothing_of_their_values(tmp_path):
    for values in ([1.0] * 6, ["x"] * 6, [None] * 6):
        EDGES.assign(quiet=values).to_csv(tmp_path / "edges.csv", index=False)
        assert len(read_network(tmp_path / "edges.csv", weight="minutes", parallel_edges=True).topology.columns) == 4


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_proxy_changes_neither_the_certificate_nor_what_is_measured(mechanism):
    net = fitted(named("grid"), mechanism)
    m = net.topology.num_edges
    asked = {"epsilon": 1.0, "unit": 1.0, "max_weight": 20.0, "mechanism": mechanism, "seed": 3, "anyway": True}
    asked |= {"hops": 1} if mechanism == "cover" else {}
    proxies = [None, np.full(m, 1e-9), np.linspace(0, 1e6, m), np.where(np.arange(m) % 2, np.nan, 7.0)]
    made = [hushpath.release(net.with_proxy(proxy), **asked) for proxy in proxies]
    first = made[0]
    for other in made[1:]:
        assert other.topology.proxy is not None
        one, two = first.measurements.strategy, other.measurements.strategy
        assert one.certificate == two.certificate
        assert one.scales.tobytes() == two.scales.tobytes()
        for name in ("low", "high", "twins"):
            assert np.array_equal(getattr(one.lattice, name), getattr(two.lattice, name))
        assert (one.lattice.granularity, one.lattice.unit_steps) == (two.lattice.granularity, two.lattice.unit_steps)
        steps = net.weights.on_lattice(one.lattice)
        for block, again in zip(one.blocks, two.blocks, strict=True):
            assert np.array_equal(exact_numbers(block, one.lattice, steps), exact_numbers(again, two.lattice, steps))
        assert first.measurements.values.tobytes() == other.measurements.values.tobytes()


def test_a_plan_keeps_its_proxy_as_it_keeps_coordinates(tmp_path):
    net = read(tmp_path)
    assert hushpath.plan(net.topology, **BUDGET).as_dict()["proxy"] is None
    plan = hushpath.plan(net.topology, **BUDGET, proxy="free")
    assert plan.as_dict()["proxy"] == "free"
    assert "public column free," in str(plan)
    assert hushpath.release(net, plan=plan).topology.proxy_name == "free"
    assert hushpath.release(net.with_proxy("hops"), plan=plan).topology.proxy_name == "free"
    assert hushpath.release(net.with_proxy("hops"), **BUDGET).topology.proxy_name == "hops"
    assert hushpath.release(net.with_proxy("hops"), **BUDGET, proxy="free").topology.proxy_name == "free"
    with pytest.raises(OptionError, match="give it alone"):
        hushpath.release(net, plan=plan, proxy="free")
    # A plan made from the public half alone may not know which column is private; the network does.
    unaware = read_topology(
        tmp_path / "edges.csv", proxy="minutes", nodes=tmp_path / "nodes-edges.csv", parallel_edges=True
    )
    with pytest.raises(OptionError, match="private weight"):
        hushpath.release(net, plan=hushpath.plan(unaware, **BUDGET))


def test_evaluate_says_what_everybody_knows_already(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"source": range(60), "target": range(1, 61), "weight": rng.uniform(5, 9, 60)})
    table["double"] = 2 * table["weight"]
    table["known"] = np.where(np.arange(60) == 7, np.nan, 7.0)
    net = Network.from_pandas(table)
    exact = dict(epsilon=np.inf, unit=1.0, mechanism="input")
    plain = evaluate(net, hushpath.release(net, **exact))
    assert (plain.proxy_error, plain.proxy_scaled_error, plain.baseline_summary) == (None, None, "")
    assert "baseline" not in str(plain)
    assert plain.as_dict()["proxy_error"] is None
    scaled = evaluate(net, hushpath.release(net, **exact, proxy="double"))
    assert scaled.proxy_error == pytest.approx(scaled.mean_distance)
    assert scaled.proxy_scaled_error == pytest.approx(0.0, abs=1e-2 * scaled.mean_distance)
    flat = evaluate(net, hushpath.release(net, **exact, proxy="known"))
    assert 0 < flat.proxy_scaled_error < flat.proxy_error + 1
    assert "NOT better" not in str(flat)
    assert "baseline from public data: " in str(flat)
    drowned = dict(epsilon=0.01, unit=1.0, mechanism="input", seed=1, proxy="known")
    with pytest.raises(CannotError, match="expected to be no better"):  # the plan says so beforehand
        hushpath.release(net, **drowned)
    noisy = evaluate(net, hushpath.release(net, **drowned, anyway=True))
    assert noisy.mean_error > noisy.proxy_error
    assert "NOT better" in str(noisy)
    assert noisy.as_dict()["proxy_error"] == noisy.proxy_error
    by_hand = np.abs(np.where(np.isnan(table["known"]), 7.0, table["known"]) - table["weight"])
    pair = evaluate(
        Network.from_pandas(table[:1]), hushpath.release(Network.from_pandas(table[:1]), **exact, proxy="known")
    )
    assert pair.proxy_error == pytest.approx(by_hand[0])
    # Where no edge was measured by itself, the scale is that of distances.
    pairs = evaluate(net, hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism="all-pairs", proxy="double"))
    assert pairs.proxy_scaled_error == pytest.approx(0.0, abs=1e-4 * pairs.mean_distance)  # the lattice rounds
    # The network's own proxy serves where the release has none.
    bare = hushpath.release(net, **exact)
    assert evaluate(net.with_proxy("double"), bare).proxy_error == pytest.approx(scaled.proxy_error)


def test_the_statement_has_one_line_about_it(tmp_path):
    net = read(tmp_path)
    made, plain = hushpath.release(net, **BUDGET, proxy="free"), hushpath.release(net, **BUDGET)
    lines = [line for line in str(made.statement).splitlines() if "column free," in line]
    assert len(lines) == 1
    for words in ("public column free,", "the owner declared", "costs no privacy", "bounds nothing"):
        assert words in lines[0]
    assert "column" not in str(plain.statement)
    assert (made.statement.as_dict()["proxy"], plain.statement.as_dict()["proxy"]) == ("free", "")
