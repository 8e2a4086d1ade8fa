"""The release file carries the public proxy, proved like everything else."""

import numpy as np
import pytest
from forging import forged, taken_apart
from named_graphs import named

import hushpath
from hushpath import Network
from hushpath.errors import FileFormatError

PROXY = [5.0, 1.0, np.nan, 0.0, 2.5]  # of three twins and two more


@pytest.fixture
def file(tmp_path):
    ends = [0, 0, 0, 1, 2], [1, 1, 1, 2, 3]
    net = Network.build("abcd", *ends, [1.0, 2.0, 3.0, 4.0, 5.0], proxy=PROXY, parallel_edges=True)
    path = tmp_path / "x.hush"
    hushpath.release(net, epsilon=4.0, unit=1.0, mechanism="input").save(path)
    return path


def refused(path, says):
    with pytest.raises(FileFormatError, match=says) as caught:
        hushpath.load(path)
    assert "\n" not in str(caught.value)


def test_a_proxy_survives(file, tmp_path):
    loaded = hushpath.load(file)
    assert loaded.topology.proxy.tobytes() == np.array([1.0, 5.0, np.nan, 0.0, 2.5]).tobytes()
    assert loaded.topology.proxy_name == loaded.statement.proxy == "proxy"
    header, arrays = taken_apart(file)
    assert header["proxy"] == "proxy"
    assert "proxy" not in header["statement"]  # no part of the promise
    assert arrays["topology.proxy"].shape == (5,)
    loaded.save(tmp_path / "again.hush")
    assert (tmp_path / "again.hush").read_bytes() == file.read_bytes()


def test_a_release_without_one_says_so(tmp_path):
    hushpath.release(named("grid"), epsilon=1.0, unit=1.0).save(tmp_path / "x.hush")
    header, arrays = taken_apart(tmp_path / "x.hush")
    assert header["proxy"] == ""
    assert "topology.proxy" not in arrays
    assert hushpath.load(tmp_path / "x.hush").topology.proxy is None


CHANGES = {
    "infinite": (lambda h, a: a["topology.proxy"].__setitem__(0, np.inf), "edge 1 "),
    "negative": (lambda h, a: a["topology.proxy"].__setitem__(4, -1.0), "edge 5 "),
    "huge": (lambda h, a: a["topology.proxy"].__setitem__(4, 1e300), "edge 5"),
    "another zero": (lambda h, a: a["topology.proxy"].__setitem__(3, -0.0), "canonical"),
    "another NaN": (lambda h, a: a["topology.proxy"].view(np.int64).__setitem__(2, 0x7FF8000000000001), "canonical"),
    "twins in another order": (lambda h, a: a["topology.proxy"].__setitem__([0, 1], [5.0, 1.0]), "canonical"),
    "nothing positive": (lambda h, a: a["topology.proxy"].fill(np.nan), "no positive number"),
    "too short": (lambda h, a: a.update({"topology.proxy": a["topology.proxy"][:4]}), "one number per edge"),
    "too long": (lambda h, a: a.update({"topology.proxy": np.append(a["topology.proxy"], 9.0)}), "one number per edge"),
    "whole numbers": (lambda h, a: a.update({"topology.proxy": np.ones(5, np.int64)}), "wrong type or shape"),
    "two columns": (lambda h, a: a.update({"topology.proxy": np.ones((5, 1))}), "wrong type or shape"),
    "absent": (lambda h, a: a.pop("topology.proxy"), "lacks the array 'topology.proxy'"),
    "no name": (lambda h, a: h.update(proxy=""), "'topology.proxy' that does not belong"),
    "no field": (lambda h, a: h.pop("proxy"), "missing fields"),
    "no text": (lambda h, a: h.update(proxy=None), "'proxy' of its header is not str"),
    "a number": (lambda h, a: h.update(proxy=3), "'proxy' of its header is not str"),
    "two lines": (lambda h, a: h.update(proxy="a\nb"), "name of a proxy"),
    "escapes": (lambda h, a: h.update(proxy="\x1b[31m"), "name of a proxy"),
    "a long name": (lambda h, a: h.update(proxy="x" * 201), "name of a proxy"),
    "in the statement": (lambda h, a: h["statement"].update(proxy="proxy"), "promises something else"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_hostile_proxy_is_refused(file, name):
    change, says = CHANGES[name]
    forged(file, change)
    refused(file, says)


def test_another_proxy_is_another_release(file):
    before = hushpath.load(file)
    forged(file, lambda header, arrays: arrays["topology.proxy"].__setitem__(4, 7.0))
    after = hushpath.load(file)
    assert after.fingerprint != before.fingerprint
    assert after.statement == before.statement  # certificate included: it does not look at the proxy
