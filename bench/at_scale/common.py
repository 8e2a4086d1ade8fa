"""What every job needs: clocks, questions that are the same for everybody, and the files of its folder."""

from __future__ import annotations

import resource
import time
from importlib import import_module

import numpy as np
from engine import timed

from .networks import Generated
from .rivals import Weighed

SECONDS = 2.0  # about so long is a slow rival asked, and its time taken per question
SIDE = 1000  # of the block


def peak():
    """The most memory this process had so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def clocked(name, work):
    """Wall and processor time of one run under a name, and what it made."""
    cpu = time.process_time()
    wall, value = timed(work)
    return {f"{name}_s": wall, f"{name}_cpu_s": time.process_time() - cpu}, value


def enough(work, most):
    """How many questions fill the time, if one of them is ``work``; and no fewer than two."""
    one, _ = timed(work)
    return max(2, min(most, int(SECONDS / max(one, 1e-9))))


def engine():
    """Our side, imported only by those who need it and ready to be timed."""
    ours = import_module("at_scale.ours")
    ours.warm_up()
    return ours


def asked_of(nodes):
    """The same pairs, sources and targets for everybody."""
    rng = np.random.default_rng(2)
    return rng.integers(0, nodes, (3000, 2)), *rng.integers(0, nodes, (2, SIDE))


def agree(mine, theirs, exact=True):
    """Every answer that is timed is compared."""
    if exact:
        np.testing.assert_array_equal(mine, theirs)
    else:
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-3)


def generated(folder):
    found = np.load(folder / "generated.npz")
    return Generated(int(found["nodes"]), found["ends"], found["places"])


def weighed(folder):
    found = np.load(folder / "weighed.npz")
    return Weighed(found["start"], found["heads"], found["lengths"], float(found["step"]), found["places"])


def loaded(folder, index=True):
    return import_module("hushpath").load(folder / "roads.hush", index=index)
