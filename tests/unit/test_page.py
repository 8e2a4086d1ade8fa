"""What goes into a page, seen from Python; tests/browser opens it."""

import base64
import json
import re
import zlib

import numpy as np
import pytest

import hushpath
from hushpath.errors import CannotError, InputError, OptionError
from hushpath.output.page import explorer as page_module
from hushpath.output.page.explorer import explorer, pack, write_explorer
from hushpath.output.page.layout import compute_layout, node_positions

OPTIONS = dict(epsilon=1, unit=1, max_weight=9)
pytestmark = pytest.mark.usefixtures("quick")


def ring(n=20, **more):
    return hushpath.Network.build(range(n), np.arange(n), (np.arange(n) + 1) % n, np.arange(n) % 5 + 1.0, **more)


def released(net, mechanism):
    plan = hushpath.plan(net.topology, mechanism=mechanism, ignore_baseline=True, **OPTIONS)
    return hushpath.release(net, plan=plan)


def unpack(text):
    """A second reader of what ``packed`` writes, by its description."""
    block = zlib.decompress(base64.b64decode(text))
    size = int.from_bytes(block[:4], "little")
    header, found = json.loads(block[4 : 4 + size]), {}
    for name, entry in header["arrays"].items():
        first, count = 4 + size + entry["at"], entry["length"]
        planes = np.frombuffer(block, np.uint8, entry["planes"] * count, first).reshape(entry["planes"], count)
        if entry["kind"] == "float":
            found[name] = np.ascontiguousarray(planes.T).view("<f4").ravel()
        else:
            whole = (planes.astype(np.int64) << (8 * np.arange(entry["planes"]))[:, None]).sum(axis=0)
            found[name] = np.cumsum(whole) if entry["kind"] == "rising" else whole
    return header, found


def payload(page):
    return unpack(re.search(r'id="data">([^<]+)<', page)[1])


def test_arrays_survive():
    arrays = {
        "few": np.array([3, 1, 2]), "large": np.array([2**53, 0, 5]), "rising": np.array([5, 5, 900, 2**40]),
        "none": np.empty(0, np.int64), "float": np.array([0.5, -2.25, 1e-30]),
    }  # fmt: skip
    header, found = unpack(pack({"word": "é<"}, arrays))
    assert header["word"] == "é<"
    assert header["arrays"]["few"]["planes"] == 1
    for name in ("few", "large", "rising", "none"):
        assert found[name].tolist() == arrays[name].tolist()
    assert found["float"].tolist() == arrays["float"].astype(np.float32).tolist()
    for wrong in ([-1], [2**53 + 1]):
        with pytest.raises(CannotError, match="granularity"):
            pack({}, {"x": np.array(wrong)})


def test_a_page_holds_the_release_and_nothing_else():
    made = released(ring(), "input")
    header, arrays = payload(explorer(made, title="A ring"))
    assert arrays["weights.0"].tolist() == made.decoder.weights.tolist()
    assert arrays["tails"].tolist() == made.topology.tails.tolist()
    assert header["labels"] == list(map(str, made.topology.labels))
    assert header["granularity"] == made.decoder.lattice.granularity
    assert header["promise"] == made.statement.promise.as_dict()
    assert header["technical"] == made.statement.technical
    assert header["fingerprint"] == made.fingerprint
    assert set(arrays) == {"tails", "heads", "x", "y", "weights.0", "spread.ends.0"}


def test_the_same_release_makes_the_same_page():
    made = released(ring(), "input")
    assert explorer(made) == explorer(made.with_decoder())


def test_a_table_has_its_limit(monkeypatch):
    made = released(ring(), "all-pairs")
    assert "table.0" in payload(explorer(made))[1]
    monkeypatch.setattr(page_module, "MOST_IN_TABLE", 399)
    with pytest.raises(CannotError, match=r"399.*400"):
        explorer(made)


def test_what_cannot_be_asked(tmp_path):
    made = released(ring(), "input")
    for title in ("", "x" * 121, "two\nlines", 7):
        with pytest.raises(OptionError, match="title"):
            explorer(made, title=title)
    with pytest.raises(InputError, match="unknown node"):
        explorer(made, origin="nowhere")
    with pytest.raises(OptionError, match="confidence"):
        explorer(made, confidence=1.5)
    with pytest.raises(CannotError, match="cannot write"):
        write_explorer(made, tmp_path / "absent" / "x.html")
    with pytest.raises(OptionError, match="height"):
        made.explore(height=3)


def test_no_interval_is_narrower_on_the_page():
    values = np.random.default_rng(1).uniform(0, 1e6, 1000)
    assert (page_module._outward(values, down=True) <= values).all()
    assert (page_module._outward(values) >= values).all()
    assert np.allclose(page_module._outward(values), values, rtol=1e-6)


def test_layouts_put_neighbours_side_by_side():
    side = 15
    at = np.arange(side * side).reshape(side, side)
    tails, heads = np.concatenate([[at[:-1].ravel(), at[1:].ravel()], [at[:, :-1].ravel(), at[:, 1:].ravel()]], axis=1)
    topology = hushpath.Network.build(range(side * side), tails, heads, np.ones(len(tails))).topology
    places = compute_layout(topology)
    length = np.linalg.norm(places[topology.tails] - places[topology.heads], axis=1)
    everyone = np.linalg.norm(places[:, None] - places, axis=2)
    assert length.max() < 0.3 * everyone.max()
    assert np.array_equal(places, compute_layout(topology))
    assert np.median(length) == pytest.approx(1, rel=0.4)


def test_parts_lie_apart_and_single_nodes_have_a_place():
    topology = hushpath.Network.build(range(7), [0, 1, 3], [1, 2, 4], [1.0] * 3).topology
    places = compute_layout(topology)
    assert np.isfinite(places).all()
    assert places[:3, 0].max() < places[3:5, 0].min()
    assert len({tuple(one) for one in places.round(6).tolist()}) == 7


def test_nodes_without_a_place_lie_among_their_neighbours():
    nowhere = [np.nan, np.nan]
    net = ring(6, coordinates=[[0, 0], nowhere, [2, 0], nowhere, nowhere, [5, 5]])
    places, own = node_positions(net.topology)
    assert own
    assert places[1].tolist() == [1, 0]
    assert np.isfinite(places).all()
    assert node_positions(ring(6, coordinates=[nowhere] * 6).topology)[1] is False


def test_degrees_of_longitude_are_shorter():
    net = ring(4, coordinates=[[6.0, 60.0], [7.0, 60.0], [7.0, 60.5], [6.0, 60.5]])
    places, _ = node_positions(net.topology)
    assert np.ptp(places, axis=0) == pytest.approx([55_600, 55_600], rel=0.02)  # metres


def test_cards_in_a_notebook():
    made = hushpath.release(
        ring(),
        mechanism="input",
        epsilon=float("inf"),
        unit=1,
        quantity=hushpath.Quantity(name="load", unit_of_measure="MW"),
    )
    card = made._repr_html_()
    assert "NOT PRIVATE" in card
    assert "load in MW" in card
    plan = hushpath.plan(ring().topology, **OPTIONS)
    assert "input" in plan._repr_html_()
    sweep = hushpath.plan(ring().topology, **{**OPTIONS, "epsilon": [1, 2]})
    assert sweep._repr_html_().count("epsilon = ") >= 2
    unlimited = hushpath.plan(ring().topology, epsilon=float("inf"), unit=1)
    assert "NOT PRIVATE" in unlimited._repr_html_()


def test_intervals_of_huge_numbers_hold_their_distance():
    net = hushpath.Network.build(range(6), np.arange(5), np.arange(1, 6), [1e38] * 5)
    made = hushpath.release(
        net, plan=hushpath.plan(net.topology, epsilon=1, unit=1e38, mechanism="all-pairs", ignore_baseline=True)
    )
    header, arrays = payload(explorer(made))
    low, high = (arrays[name].astype(float) * header["granularity"] for name in ("low.0", "high.0"))
    assert (low <= made.matrix().ravel()).all()
    assert (high >= made.matrix().ravel()).all()
    assert np.isfinite(arrays["high.0"]).all()


def test_places_beyond_all_bounds_are_refused():
    made = released(ring(4, coordinates=[[0, 0], [1e308, 0], [0, -1e308], [1, 1]]), "input")
    with pytest.raises(CannotError, match="coordinates"):
        explorer(made)
