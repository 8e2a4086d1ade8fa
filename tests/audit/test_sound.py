"""Quick audit of what hushpath really does: nothing objects, and the auditor is not blind.

``report.py`` does the same with many more trials and with secret noise.  Noise is seeded here, so results are fixed.
"""

from dataclasses import replace

import numpy as np
import pytest
from cases import BUSH, NAMED, NEAR, OTHERS, path, whole_release
from experiment import Experiment
from subject import Case

from hushpath.mechanism.registry import MECHANISMS


def label(case):
    return f"{case.title}, {case.law}, {case.shape}, {case.epsilon:g}".replace(" ", "_")


@pytest.mark.parametrize("case", NAMED, ids=label)
def test_the_audit_comes_near_the_claim_and_stays_below(case):
    fast = case.copies >= 100
    experiment = Experiment(case if fast else replace(case, epsilon=3.0))  # at epsilon = 1: in the report
    assert case.mechanism != "separator" or experiment.depth >= 3
    outcome = experiment.outcome(100_000 if fast else 4_000, 400)
    assert outcome.objections == ()
    assert outcome.vector.epsilon > NEAR * outcome.vector.claim.epsilon


@pytest.mark.parametrize("case", [case for case in OTHERS if case.size <= 32], ids=label)
def test_nothing_objects_to_any_mechanism(case):
    experiment = Experiment(case)
    checks = ("structure", "replay", "noise", "vector") + (("distances",) if case.size <= 12 else ())
    assert experiment.outcome(120, 80, checks).objections == ()
    assert experiment.replay > 0.3  # the neighbours that are tried come near what the certificate allows


def test_every_mechanism_is_audited_under_both_laws():
    assert {(c.mechanism, c.law) for c in NAMED + OTHERS} == {
        (m, law) for m in MECHANISMS for law in ("laplace", "gaussian")
    }


def test_the_front_door_is_as_private_as_its_parts():
    case = NAMED[0]
    outcome = Experiment(case, whole_release(case)).outcome(4_000, 4_000, ("vector", "distances"))
    assert outcome.objections == ()
    assert outcome.vector.epsilon > NEAR * outcome.vector.claim.epsilon


def test_copies_are_independent_and_alike():
    """What tiling rests on: each copy is the single network over again, with numbers of its own."""
    case = Case("separator", "laplace", "bush of 6", 6, BUSH, copies=5, options={"leaf_size": 2})
    experiment = Experiment(case)
    _, kept, numbers = experiment.worst
    assert kept.tolist() == list(range(5))
    assert len(set(numbers.ravel().tolist())) == numbers.size == 5 * experiment.single.num_values
    assert experiment.strategy.certificate.epsilon == pytest.approx(experiment.single.certificate.epsilon, rel=0.01)


def test_copies_that_share_a_number_are_refused():
    experiment = Experiment(Case("input", "laplace", "path of 3", 3, path(3), copies=2))
    exposure = experiment.strategy.exposure
    # as if the first number depended on all edges
    all_on_one = replace(exposure, group=np.zeros_like(exposure.group), single=None)
    experiment.strategy.__dict__["exposure"] = all_on_one
    with pytest.raises(AssertionError, match="share"):
        _ = experiment.worst
