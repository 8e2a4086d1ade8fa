"""Every fault on purpose is caught by the checks that should see it; the same checks have nothing against its twin."""

from functools import cache

import pytest
from broken import FAULTS
from experiment import CHECKS, Experiment


def label(fault):
    return f"{fault.name}, {fault.case.mechanism}".replace(" ", "_")


@cache
def twin(which, checks):
    fault = FAULTS[which]
    return Experiment(fault.case).outcome(fault.trials, fault.trials, checks)


@pytest.mark.parametrize("fault", FAULTS, ids=label)
def test_the_fault_is_caught(fault):
    outcome = Experiment(fault.case, fault.pipeline).outcome(fault.trials, fault.trials, fault.seen_by)
    assert outcome.objections == fault.seen_by


@pytest.mark.parametrize("fault", FAULTS, ids=label)
def test_its_sound_twin_is_not(fault):
    same = next(
        i for i, f in enumerate(FAULTS) if (f.case, f.trials, f.seen_by) == (fault.case, fault.trials, fault.seen_by)
    )
    assert twin(same, fault.seen_by).objections == ()


def test_every_check_is_needed_or_at_work():
    assert {check for fault in FAULTS for check in fault.seen_by} == set(CHECKS)


def test_the_faults_of_the_list_are_there():
    names = {fault.name.split(" (")[0] for fault in FAULTS}
    assert names >= {
        "half the noise", "one group without noise", "sensitivity off by two", "noise reused in two cells",
        "decomposition from weights", "bounds read from data", "fixed seed",
    }  # fmt: skip
