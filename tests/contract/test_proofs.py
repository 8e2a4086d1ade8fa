"""Every proof was read against the code as it stands, and all code that promises privacy has a proof."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from proof_stamps import ROOT, code_digest, has_code, main, restamp, stale_proofs, stamps
from tracing import PACKAGE, file_of, traced

import hushpath
from hushpath.measurement.blocks import BLOCKS
from hushpath.measurement.exact import exact_numbers
from hushpath.measurement.private_step import measure, measure_trips
from hushpath.measurement.strategy import Strategy, Terms
from hushpath.measurement.trip_strategy import TripStrategy
from hushpath.measurement.trip_totals import trip_totals
from hushpath.mechanism.registry import MECHANISMS
from hushpath.network.private_weights import PrivateWeights
from hushpath.noise.vector import Keystream, VectorSampler
from hushpath.privacy.accounting import Budget
from hushpath.privacy.units import TripUnit
from hushpath.releasing.release import strategy_for
from hushpath.trips.trips import Trips

PROOFS = ROOT / "docs" / "proofs"
CODE = '''
"""Module."""
LIMIT = 3
def scale(s, eps):
    """Doc."""
    return s / eps
class Law:
    """Doc."""
    def scale(self, s):
        return s + LIMIT
    def other(self, s):
        def scale(t): return t
        return s
def _(x): return x
def _(x): return -x
'''


def test_no_proof_is_stale():
    assert stale_proofs(ROOT, PROOFS) == []


# What the private step runs that promises nothing: helpers for arrays and arguments, and how kernels are compiled.
HELPERS = {"arrays.py", "_validate.py", "compiled.py", "errors.py", "days.py", "progress.py"}


def private_path():
    """The files that the private step enters, for every mechanism, both laws and trips."""
    ends = np.array([(i, i + 1) for i in range(15)])
    net = hushpath.Network.build(range(16), *ends.T, np.ones(15), upper=20.0, proxy=np.ones(15))
    frame = pd.DataFrame({"who": np.arange(90) % 7, "day": 1, "from": 3, "to": 4, "seconds": 5.0})
    people = hushpath.read_trips(frame, net.topology, person="who", day="day", edge=("from", "to"), seconds="seconds")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strategies = [
            hushpath.plan(net.topology, epsilon=1.0, unit=1.0, mechanism=name, noise=law, ignore_baseline=True).strategy
            for name in MECHANISMS for law in ("laplace", "gaussian")
        ]  # fmt: skip
        told = {"low": 0.5, "high": 6, "edge_weighting": "inverse-traffic"}
        of_trips = strategy_for(people, Budget(1.0), TripUnit("person"), noise="auto", **told)
    files = set()
    with traced(lambda code, frame: files.add(file_of(code))):
        for strategy in strategies:
            measure(_anew(strategy), net.weights, VectorSampler(Keystream(seed=1)))
        measure_trips(_anew(of_trips), people, VectorSampler(Keystream(seed=1)))
    return files


def _anew(strategy):
    """The same strategy with blocks that remember nothing: what they claim is computed by the private step."""
    return replace(strategy, blocks=tuple(replace(block) for block in strategy.blocks))


def unproved(files):
    """Which files hold no stamped code, of those given and of ``privacy``."""
    privacy = [path for path in (PACKAGE / "privacy").glob("*.py") if has_code(path.read_text(encoding="utf-8"))]
    needed = {*(PACKAGE / file for file in files - HELPERS), *privacy}
    return sorted(needed - {ROOT / stamp.path for stamp in stamps(ROOT, PROOFS)})


def test_every_file_on_the_private_path_has_a_proof():
    entered = private_path()
    core = (measure, exact_numbers, trip_totals, Strategy, Terms, TripStrategy, PrivateWeights, Trips)
    must = {f"{one.__module__.partition('.')[2].replace('.', '/')}.py" for one in (*core, *BLOCKS.values())}
    assert must - entered == set()  # they were really called, and seen
    assert unproved(entered) == []
    assert unproved({*entered, "planning/plan.py"}) == [PACKAGE / "planning/plan.py"]  # can fail


@pytest.mark.parametrize(("old", "new"), [
    ('"""Doc."""', '"""Other words,\n    over two lines."""  # and a comment'),
    ('"""Doc."""\n    return', "return"),
    ("s / eps", "(s\n            / eps)"),
])  # fmt: skip
def test_wording_is_free(old, new):
    assert old in CODE
    assert code_digest(CODE.replace(old, new), "scale") == code_digest(CODE, "scale")


@pytest.mark.parametrize(("name", "old", "new"), [
    ("scale", "s / eps", "s * eps"),
    ("scale", "s / eps", "s // eps"),
    ("scale", "(s, eps)", "(s, eps=1)"),
    ("Law", "s + LIMIT", "s - LIMIT"),
    ("Law.scale", "s + LIMIT", "s - LIMIT"),
    ("Law.other.scale", "return t", "return None"),
    ("LIMIT", "= 3", "= 4"),
    ("_#2", "-x", "+x"),
    ("*", "-x", "+x"),
])  # fmt: skip
def test_a_changed_operator_is_seen(name, old, new):
    assert old in CODE
    assert code_digest(CODE.replace(old, new), name) != code_digest(CODE, name)


def test_a_dotted_name_sees_its_own_code_only():
    changed = CODE.replace("s / eps", "s * eps")
    assert code_digest(changed, "Law.scale") == code_digest(CODE, "Law.scale")
    names = ["scale", "Law", "Law.scale", "Law.other.scale", "_#1", "_#2"]
    assert len({code_digest(CODE, name) for name in names}) == len(names)


@pytest.mark.parametrize(("name", "message"), [
    ("_", "stands for 2 things"),
    ("gone", "there is no 'gone'"),
    ("Law.gone", "there is no 'gone'"),
    ("_#3", "there is no '_#3'"),
])  # fmt: skip
def test_a_name_must_mean_one_thing(name, message):
    with pytest.raises(LookupError, match=message):
        code_digest(CODE, name)


def test_a_stale_stamp_is_reported_and_restamped(tmp_path):
    (tmp_path / "m.py").write_text(CODE)
    proofs = tmp_path / "proofs"
    proofs.mkdir()
    proof = proofs / "scale.md"
    proof.write_text(f"text\n\nProves: m.py::scale @ {code_digest(CODE, 'scale')}\n")
    assert stale_proofs(tmp_path, proofs) == []
    (tmp_path / "m.py").write_text(CODE.replace("/", "*"))
    (report,) = stale_proofs(tmp_path, proofs)
    assert report.startswith("scale.md: m.py::scale is now ")
    assert restamp(tmp_path, proofs) == 1
    assert stale_proofs(tmp_path, proofs) == []
    assert restamp(tmp_path, proofs) == 0


@pytest.mark.parametrize(("text", "message"), [
    ("no stamp at all", "no 'Proves:' line"),
    ("Proves: m.py::scale @ 123", "cannot read the stamp"),
    ("- Proves: m.py::scale @ 0123456789ab", "cannot read the stamp"),
    ("Proves: m.py::gone @ 0123456789ab", "there is no 'gone'"),
    ("Proves: gone.py::scale @ 0123456789ab", "there is no such file"),
])  # fmt: skip
def test_a_stamp_that_checks_nothing_is_reported(tmp_path, text, message):
    (tmp_path / "m.py").write_text(CODE)
    (tmp_path / "proofs").mkdir()
    (tmp_path / "proofs" / "p.md").write_text(text + "\n")
    assert any(message in report for report in stale_proofs(tmp_path, tmp_path / "proofs"))


def test_the_command_prints_every_stamp(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    for stamp in stamps(ROOT, PROOFS):
        assert f"Proves: {stamp.path}::{stamp.name} @ {stamp.digest}" in out
    assert main(["--help"]) == 2
