"""What a reader does with a file from a stranger: load it, read its promise, ask it everything.

``attempt`` returns "refused" or "loaded", or raises ``Finding`` if the file made hushpath do anything else.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import hushpath
from hushpath import HushpathError, HushpathWarning


class Finding(Exception):
    """A file did what no file may do."""


def answers(rel):
    """A sample of everything a release answers, as one list of arrays; of its last period, if it has any."""
    rel = rel.for_period(rel.periods[-1]) if rel.periods and rel.period is None else rel
    n = rel.topology.num_nodes
    some = np.unique(np.linspace(0, n - 1, min(n, 12)).astype(int))
    pairs = np.stack(np.meshgrid(some, some), -1).reshape(-1, 2)
    labels = [(rel.topology.labels[a], rel.topology.labels[b]) for a, b in pairs[:: max(1, len(pairs) // 3)].tolist()]
    return [
        rel.matrix(some, positions=True), rel.distances(pairs, positions=True), rel.rows(some[:2]),
        np.array([rel.interval(a, b) for a, b in labels]),
    ]  # fmt: skip


def attempt(path, seed=None):
    """Load and exercise; ``seed`` is (fingerprint, answers) of the file that was damaged."""
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            rel = hushpath.load(path)
        strange = [str(w.message) for w in seen if not issubclass(w.category, HushpathWarning)]
        if strange:
            raise Finding(f"a warning of somebody else: {strange[0]}")
    except HushpathError as error:
        _one_line(error)
        if "its parts do not fit together" in str(error):
            raise Finding("a check was forgotten: the net under all of them caught this file") from None
        return "refused"
    json.dumps(rel.statement.as_dict(), allow_nan=False)
    if any(not part.isprintable() for part in str(rel.statement).split("\n")):
        raise Finding("the statement is not printable")
    if not rel.statement.epsilon >= 0:
        raise Finding(f"the statement claims epsilon {rel.statement.epsilon}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = answers(rel)
    except HushpathError as error:
        _one_line(error)
        return "loaded"
    for part in found:
        if np.isnan(part).any() or (part < 0).any():
            raise Finding("an answer is negative or not a number")
    if seed is not None and rel.fingerprint == seed[0]:
        for mine, theirs in zip(found, seed[1], strict=True):
            if not np.array_equal(mine, theirs):
                raise Finding("answers differ under a statement that still verifies")
    return "loaded"


def _one_line(error):
    if "\n" in str(error) or len(str(error)) > 2000:
        raise Finding(f"a message is not one line: {str(error)[:200]!r}")
