"""A public proxy is the column that was named when reading; it moves no measurement, and no other column is kept."""

import gc
import pickle
import tracemalloc
from decimal import Decimal
from fractions import Fraction
from types import FunctionType, ModuleType

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from edge_files import FILES, graph_of, written
from named_graphs import fitted, named
from scipy import sparse

import hushpath
from hushpath import Network
from hushpath.errors import CannotError, InputError, NetworkError, OptionError
from hushpath.io.readers import read_network, read_topology
from hushpath.measurement.exact import exact_numbers
from hushpath.mechanism.registry import MECHANISMS
from hushpath.network.topology import Topology
from hushpath.releasing.evaluate import evaluate

CANARY = 7361942.0625  # in a column that nobody names; exact in binary
NODES = pd.DataFrame({"node": list("abcd"), "x": 0.0, "y": 0.0})
EDGES = pd.DataFrame({
    "source": list("abcaab"), "target": list("bcdbab"),  # a-b twice, and two loops
    "minutes": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    "free": [0.5, np.nan, 2.5, 0.25, 9.0, 9.0], "hops": [1, 2, 3, 4, 5, 6], "quiet": CANARY, "street": list("uvwxyz"),
})  # fmt: skip
SOURCES = [*FILES, "pandas", "networkx"]
BUDGET = {"epsilon": 4.0, "unit": 1.0, "max_weight": 20.0}  # less, and public facts alone would be as good
FREE = [0.25, 0.5, np.nan, 2.5]  # of a-b and its twin, b-c, c-d


def read(folder, name="csv.csv", **named):
    """The network of a file, a data frame or a graph; ``named`` names public columns."""
    if name == "pandas":
        return Network.from_pandas(EDGES, parallel_edges=True, weight="minutes", **named)
    if name == "networkx":
        return Network.from_networkx(graph_of(EDGES, NODES, False), weight="minutes", **named)
    path, options = written(folder, name, EDGES, NODES)
    return read_network(path, weight="minutes", parallel_edges=True, **options, **named)


def same(one, other):
    return np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize("name", SOURCES)
def test_a_column_of_any_source_is_a_proxy_when_it_is_named(tmp_path, name):
    net = read(tmp_path, name)
    assert (net.topology.proxy, net.topology.proxy_name, dict(net.topology.columns)) == (None, "", {})
    other = read(tmp_path, name, proxy="free").topology
    assert same(other.proxy, FREE)
    assert (other.proxy_name, other.proxy.dtype, other.proxy.flags.writeable) == ("free", np.float64, False)
    assert dict(other.columns) == {}
    assert read(tmp_path, name, proxy="hops").topology.proxy.tolist() == [1, 4, 2, 3]
    assert other.with_proxy(None).proxy is None
    assert same(other.proxy, FREE)  # the first one is as it was
    assert net.topology.is_same(other)
    if name in FILES:
        path, options = written(tmp_path, name, EDGES, NODES)
        public = read_topology(path, proxy="free", weight="minutes", parallel_edges=True, **options)
        assert same(public.proxy, FREE)
        assert dict(public.columns) == {}


@pytest.mark.parametrize("name", SOURCES)
def test_other_public_columns_are_numbers_or_texts(tmp_path, name):
    topology = read(tmp_path, name, proxy="free", columns=["hops", "street"]).topology
    assert set(topology.columns) == {"hops", "street"}
    assert topology.numbers("hops").tolist() == [1, 4, 2, 3]
    assert topology.texts("street") == ["u", "x", "v", "w"]
    assert same(topology.numbers("free"), FREE)  # the proxy is one of them
    with pytest.raises(OptionError, match="edge 1 is not a number"):
        topology.numbers("street")
    for ask in (topology.numbers, topology.texts):
        with pytest.raises(OptionError, match="name it when reading"):
            ask("quiet")
    again = pickle.loads(pickle.dumps(topology))
    assert again.texts("street") == topology.texts("street")


def test_matrices_and_arrays():
    ends = [0, 1, 2, 0, 0, 1], [1, 2, 3, 1, 0, 1]
    built = Network.build("abcd", *ends, EDGES["minutes"], proxy=EDGES["free"], parallel_edges=True)
    assert same(built.topology.proxy, FREE)
    assert built.topology.proxy_name == "proxy"
    assert same(built.with_proxy(FREE[::-1], name="mine").topology.proxy[2:], [0.5, 0.25])
    columns = {"lanes": pd.Series([[1, 2]] * 6, index=range(9, 15)), "name": "uvwxyz"}
    built = Network.build("abcd", *ends, EDGES["minutes"], columns=columns, parallel_edges=True)
    assert built.topology.texts("lanes") == ["[1, 2]"] * 4
    assert built.topology.texts("name") == ["u", "x", "v", "w"]
    with pytest.raises(OptionError, match="6 edges, 5 values"):
        Network.build("abcd", *ends, EDGES["minutes"], columns={"name": "uvwxy"}, parallel_edges=True)
    with pytest.raises(OptionError, match="named when the network is read"):
        built.with_proxy("free")
    square = sparse.coo_array((np.ones(6), ([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2])))
    both = Network.from_scipy(square, proxy=[1, 9, 2, 9, 9, 3])  # as the weights: what stands above the diagonal
    assert both.topology.proxy.tolist() == [1, 3, 2]


def test_a_frame_may_change_after_it_was_read():
    table = EDGES.copy()
    net = Network.from_pandas(table, weight="minutes", parallel_edges=True, proxy="free", columns=["hops"])
    table["free"] = 1.0
    table.iloc[:, :] = table.iloc[::-1].to_numpy()
    assert same(net.topology.proxy, FREE)
    assert net.topology.numbers("hops").tolist() == [1, 4, 2, 3]


def test_proxies_of_twins_go_with_their_weights():
    """The lowest with the lowest, whatever the rows: nothing public says which of them was which."""
    table = pd.DataFrame({"source": "a", "target": "b", "weight": [3, 1, 2, 9], "p": [10, np.nan, 20, 5]})
    net = Network.from_pandas(table, parallel_edges=True, proxy="p")
    made = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism="input")
    assert (made.measurements.values * made.statement.granularity).tolist() == [1, 2, 3, 9]
    assert same(made.topology.proxy, [5, 10, 20, np.nan])
    high = table.assign(high=[10, 20, 30, 40])
    apart = Network.from_pandas(high, upper="high", parallel_edges=True, proxy="p")  # bounds tell these apart
    assert same(apart.topology.proxy, [10, np.nan, 20, 5])


def test_a_bound_may_be_the_proxy_too():
    asked = dict(weight="minutes", lower="hops", upper=50.0, proxy="hops", columns=["hops"])
    net = Network.from_pandas(EDGES, parallel_edges=True, **asked)
    assert net.topology.lower.tolist() == net.topology.proxy.tolist() == [1, 4, 2, 3]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("minutes", "'minutes' is the private weight"),
        ("source", "'source' is an end of the edges"),
        ("fre", "no column 'fre'|no edge of the graph has"),
        ("street", "(row|edge) 1 is not a number"),
        (FREE, "name of a public column"),
        (3, "name of a public column"),
        (True, "name of a public column"),
        (["free"], "name of a public column"),
    ],
)
@pytest.mark.parametrize("name", ["csv.csv", "graphml.graphml", "pandas", "networkx"])
def test_columns_that_cannot_be_a_proxy(tmp_path, name, asked, says):
    if (asked, name) != ("source", "networkx"):  # whose ends are no columns
        with pytest.raises(InputError, match=says):
            read(tmp_path, name, proxy=asked)
    if name == "csv.csv":
        with pytest.raises(InputError, match=says):
            read_topology(tmp_path / "edges.csv", weight="minutes", proxy=asked, parallel_edges=True)


@pytest.mark.parametrize("name", ["csv.csv", "pandas", "networkx"])
def test_the_private_weight_is_no_public_column_under_any_name(tmp_path, name):
    for option, value in dict(proxy="minutes", columns=["hops", "minutes"], lower="minutes", upper="minutes").items():
        with pytest.raises(OptionError, match="private weight"):
            read(tmp_path, name, **{option: value})
    for odd in ("hops", [3], [None], 7, None):
        with pytest.raises(OptionError, match="list of the names"):
            read(tmp_path, name, columns=odd)


def test_a_proxy_is_named_when_reading_and_not_later():
    net = Network.from_pandas(EDGES, parallel_edges=True, weight="minutes")
    for call in (lambda: hushpath.plan(net.topology, **BUDGET, proxy="free"),
                 lambda: hushpath.release(net, **BUDGET, proxy="free")):  # fmt: skip
        with pytest.raises(OptionError):
            call()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([1, 2, -1, 3], "edge 3 "),
        ([1, 2, np.inf, 3], "edge 3 "),
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
def test_a_bad_value_is_said_when_the_column_is_named(tmp_path, bad):
    table = EDGES.assign(free=["1", "2", "3", bad, "4", "5"])
    table.to_csv(tmp_path / "edges.csv", index=False)
    with pytest.raises(OptionError, match="column 'free': row 4 "):
        read_network(tmp_path / "edges.csv", weight="minutes", parallel_edges=True, proxy="free")
    net = read_network(tmp_path / "edges.csv", weight="minutes", parallel_edges=True, proxy="hops")
    assert net.topology.proxy_name == "hops"


def test_columns_of_all_kinds_let_a_network_be_read():
    """An odd column is no reason to refuse weights that are good."""
    table = EDGES.assign(
        when=pd.Timestamp("2020-01-01"), kind=pd.Categorical(list("xyxyxy")), ok=True, empty=None, thing=[object()] * 6,
        counted=pd.array([1, None, 3, 4, 5, 6], dtype="Int64"),
    )  # fmt: skip
    table[7] = 1.0
    table = pd.concat([table, EDGES[["hops"]]], axis=1)

    def proxy(name):
        return Network.from_pandas(table, weight="minutes", parallel_edges=True, proxy=name).topology.proxy

    assert proxy(None) is None
    assert same(proxy("counted"), [1, 4, np.nan, 3])
    for name in ("when", "kind", "ok", "thing"):
        with pytest.raises(OptionError, match="row 1 is not a number"):
            proxy(name)
    with pytest.raises(OptionError, match="no positive number"):
        proxy("empty")
    with pytest.raises(NetworkError, match="two columns called 'hops'"):
        proxy("hops")
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=1.0, geometry=object(), lanes=[1, 2])
    graph.add_edge("b", "c", weight=1.0, length=3)
    assert same(Network.from_networkx(graph, proxy="length").topology.proxy, [np.nan, 3])
    for name in ("geometry", "lanes"):
        with pytest.raises(OptionError, match="edge 1 is not a number"):
            Network.from_networkx(graph, proxy=name)


def test_many_columns_of_a_small_file_are_no_bomb(tmp_path):
    keys = "".join(f'<key id="k{i}" for="edge" attr.name="k{i}" attr.type="double"/>' for i in range(3000))
    data = '<data key="k0">{}</data><data key="w">1</data>'
    rows = "".join(f'<edge source="{i}" target="{i + 1}">{data.format(i)}</edge>' for i in range(3000))
    nodes = "".join(f'<node id="{i}"/>' for i in range(3001))
    weight = '<key id="w" for="edge" attr.name="weight"/>'
    weight += '<key id="d" for="edge" attr.name="d"><default>4</default></key>'
    text = f'<graphml>{weight}{keys}<graph edgedefault="undirected">{nodes}{rows}</graph></graphml>'
    (tmp_path / "many.graphml").write_text(text)
    tracemalloc.start()
    net = read_network(tmp_path / "many.graphml", proxy="k0", columns=["d"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20  # a table of all keys and edges would be 72 MB of nothing
    assert net.topology.proxy.tolist() == list(range(3000))
    assert (net.topology.numbers("d") == 4).all()
    with pytest.raises(OptionError, match="no positive number"):
        read_network(tmp_path / "many.graphml", proxy="k7")


def forms(number):
    """A number as a text and as bytes, in every type a pickle or a file may keep it in."""
    found = [repr(number).encode(), np.float64(number).tobytes(), np.float64(number).tobytes()[::-1]]
    return [*found, np.float32(number).tobytes(), str(int(number)).encode()]


def holds(data, number):
    return any(form in data for form in forms(number))


def held_by(thing):
    """Everything that an object holds in memory, however deep, as bytes."""
    seen, todo = {}, [thing]
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, (type, ModuleType, FunctionType)):
            continue
        seen[id(one)] = one
        todo += one.tolist() if isinstance(one, np.ndarray) and one.dtype == object else gc.get_referents(one)
        todo += [] if getattr(one, "base", None) is None else [one.base]
    return [one.tobytes() if isinstance(one, np.ndarray) else repr(one).encode() for one in seen.values()
            if isinstance(one, (np.ndarray, bytes, str, int, float))]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_a_column_that_is_not_named_is_nowhere(tmp_path, source, capsys):
    named = read(tmp_path, source, proxy="quiet")
    assert (named.topology.proxy == CANARY).all()  # it is there
    assert holds(pickle.dumps(named.topology), CANARY)  # named, it would be found
    net = read(tmp_path, source, proxy="free", columns=["hops"])
    plan = hushpath.plan(net.topology, **BUDGET)
    made = hushpath.release(net, plan=plan)
    made.save(tmp_path / "x.hush", index=True)
    told = [repr(vars(net.topology)), repr(plan.as_dict()), repr(made.statement), repr(net), repr(vars(net))]
    told += [str(plan), str(made.statement), repr(made)]
    for name in ("qiet", "free flow", "minutes", "street"):
        with pytest.raises(InputError) as caught:
            read(tmp_path, source, proxy=name)
        told.append(repr(caught.value))
    said = capsys.readouterr()
    seen = [(tmp_path / "x.hush").read_bytes(), (tmp_path / "x.hushx").read_bytes(), "".join([*told, *said]).encode()]
    seen += [pickle.dumps(thing) for thing in (net.topology, plan, made.measurements)]
    assert not any(holds(data, CANARY) for data in seen)
    assert any(holds(data, CANARY) for data in held_by(named))
    assert not any(holds(data, CANARY) for data in held_by(net))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_proxy_changes_neither_the_certificate_nor_what_is_measured(mechanism):
    net = fitted(named("grid"), mechanism)
    m = net.topology.num_edges
    asked = {"epsilon": 1.0, "unit": 1.0, "max_weight": 20.0, "mechanism": mechanism}
    asked |= {"hops": 1} if mechanism == "cover" else {}
    proxies = [None, np.full(m, 1e-9), np.linspace(0, 1e6, m), np.where(np.arange(m) % 2, np.nan, 7.0)]
    networks = [net.with_proxy(proxy) for proxy in proxies]
    plans = [hushpath.plan(one.topology, **asked, ignore_baseline=True) for one in networks]
    made = [hushpath.release(one, plan=plan, seed=3) for one, plan in zip(networks, plans, strict=True)]
    first = made[0]
    for other in made[1:]:
        assert other.topology.proxy is not None
        one, two = first.measurements.strategy, other.measurements.strategy
        assert one.certificate == two.certificate
        assert one.scales.tobytes() == two.scales.tobytes()
        for name in ("low", "high", "twins"):
            assert np.array_equal(getattr(one.lattice, name), getattr(two.lattice, name))
        assert one.lattice.granularity == two.lattice.granularity
        assert one.terms.unit_steps(one.lattice) == two.terms.unit_steps(two.lattice)
        steps = net.weights.on_lattice(one.lattice)
        for block, again in zip(one.blocks, two.blocks, strict=True):
            assert np.array_equal(exact_numbers(block, one.lattice, steps), exact_numbers(again, two.lattice, steps))
        assert first.measurements.values.tobytes() == other.measurements.values.tobytes()


def test_a_plan_keeps_its_proxy_as_it_keeps_coordinates(tmp_path):
    net, other = read(tmp_path), read(tmp_path, proxy="hops")
    assert hushpath.plan(net.topology, **BUDGET).as_dict()["proxy"] is None
    plan = hushpath.plan(read(tmp_path, proxy="free").topology, **BUDGET)
    assert plan.as_dict()["proxy"] == "free"
    assert "public column free," in str(plan)
    assert hushpath.release(net, plan=plan).topology.proxy_name == "free"
    assert hushpath.release(other, plan=plan).topology.proxy_name == "free"
    assert hushpath.release(other, **BUDGET).topology.proxy_name == "hops"
    # A plan made from the public half alone may not know which column is private; the network does.
    unaware = read_topology(
        tmp_path / "edges.csv", proxy="minutes", nodes=tmp_path / "nodes-edges.csv", parallel_edges=True
    )
    for name in ("csv.csv", "pandas", "networkx"):
        with pytest.raises(OptionError, match="private weight"):
            hushpath.release(read(tmp_path, name), plan=hushpath.plan(unaware, **BUDGET))


def test_evaluate_says_what_everybody_knows_already(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"source": range(60), "target": range(1, 61), "weight": rng.uniform(5, 9, 60)})
    table["double"] = 2 * table["weight"]
    table["known"] = np.where(np.arange(60) == 7, np.nan, 7.0)
    net, known = Network.from_pandas(table), Network.from_pandas(table, proxy="known")
    double = Network.from_pandas(table, proxy="double")
    exact = dict(epsilon=np.inf, unit=1.0, mechanism="input")
    plain = evaluate(net, hushpath.release(net, **exact))
    assert (plain.proxy_error, plain.proxy_scaled_error, plain.baseline_summary) == (None, None, "")
    assert "baseline" not in str(plain)
    assert plain.as_dict()["proxy_error"] is None
    scaled = evaluate(net, hushpath.release(double, **exact))
    assert scaled.proxy_error == pytest.approx(scaled.mean_distance)
    assert scaled.proxy_scaled_error == pytest.approx(0.0, abs=1e-2 * scaled.mean_distance)
    flat = evaluate(net, hushpath.release(known, **exact))
    assert 0 < flat.proxy_scaled_error < flat.proxy_error + 1
    assert "NOT better" not in str(flat)
    assert "baseline from public data: " in str(flat)
    drowned = dict(epsilon=0.01, unit=1.0, mechanism="input")
    with pytest.raises(CannotError):  # the plan says so beforehand
        hushpath.release(known, **drowned)
    noisy = evaluate(
        net, hushpath.release(known, plan=hushpath.plan(known.topology, **drowned, ignore_baseline=True), seed=1)
    )
    assert noisy.mean_error > noisy.proxy_error
    assert "NOT better" in str(noisy)
    assert noisy.as_dict()["proxy_error"] == noisy.proxy_error
    by_hand = np.abs(np.where(np.isnan(table["known"]), 7.0, table["known"]) - table["weight"])
    pair = evaluate(
        Network.from_pandas(table[:1]), hushpath.release(Network.from_pandas(table[:1], proxy="known"), **exact)
    )
    assert pair.proxy_error == pytest.approx(by_hand[0])
    # Where no edge was measured by itself, the scale is that of distances.
    pairs = evaluate(net, hushpath.release(double, epsilon=np.inf, unit=1.0, mechanism="all-pairs"))
    assert pairs.proxy_scaled_error == pytest.approx(0.0, abs=1e-4 * pairs.mean_distance)  # the lattice rounds
    # The network's own proxy serves where the release has none.
    bare = hushpath.release(net, **exact)
    assert evaluate(double, bare).proxy_error == pytest.approx(scaled.proxy_error)


def test_the_statement_has_one_line_about_it(tmp_path):
    made = hushpath.release(read(tmp_path, proxy="free"), **BUDGET)
    plain = hushpath.release(read(tmp_path), **BUDGET)
    lines = [line for line in str(made.statement).splitlines() if "column free," in line]
    assert len(lines) == 1
    for words in ("public column free,", "the owner declared", "costs no privacy", "bounds nothing"):
        assert words in lines[0]
    assert "column" not in str(plain.statement)
    assert (made.statement.as_dict()["proxy"], plain.statement.as_dict()["proxy"]) == ("free", "")
