"""The table of mutants fits the sources; ``make mutants`` runs them, which takes minutes."""

import ast
import re
from collections import Counter
from itertools import groupby

import pytest
from mutants import CUT, EVERYTHING, MUTANTS, Mutant
from run import PACKAGE, ROOT, main, misfits


def test_every_edit_fits_exactly_once_and_leaves_python():
    assert misfits() == []
    for file, mutants in groupby(sorted(MUTANTS), key=lambda mutant: mutant.file):
        text = (PACKAGE / file).read_text(encoding="utf-8")
        before = ast.dump(ast.parse(text))
        for mutant in mutants:
            assert ast.dump(ast.parse(text.replace(mutant.old, mutant.new))) != before, mutant


def test_the_table_covers_what_privacy_rests_on():
    count = Counter(mutant.file for mutant in MUTANTS)
    assert len(MUTANTS) >= 45
    for path in ("privacy", "measurement", "noise"):
        for file in sorted((PACKAGE / path).rglob("*.py")):
            name = file.relative_to(PACKAGE).as_posix()
            if re.search(r"^ *def ", file.read_text(encoding="utf-8"), re.M) and name not in UNTOUCHED:
                assert count[name] >= (1 if name in ONE_IDEA else 2), name
    for name in (
        "network/lattice.py", "network/private_weights.py", "trips/trips.py", "trips/rows.py", "trips/tables.py",
    ):  # fmt: skip
        assert count[name] >= 2, name


# Files with a single thing to get wrong.
ONE_IDEA = {"noise/laws.py"}
# blocks.py lists the kinds of block, and samples.py draws public pairs.
UNTOUCHED = {"measurement/blocks.py", "measurement/samples.py"}


def test_no_stamp_counts_and_every_hint_is_a_test():
    assert not [name for name in EVERYTHING if "proof" in name or "stamp" in name]
    for name in {*EVERYTHING, *(mutant.hint for mutant in MUTANTS)}:
        assert (ROOT / name.split("::")[0]).exists(), name
        assert any(name.startswith(known) for known in EVERYTHING), name


def test_every_hint_is_quick(is_quick):
    """What notices a mutant notices a mistake in `make test`, too.  Only files that were collected can be looked at."""
    files = {name.split("::")[0] for name in is_quick}
    for hint in {mutant.hint for mutant in MUTANTS}:
        under = [name for name in is_quick if name.startswith(hint)]
        if under:
            assert any(is_quick[name] for name in under), hint
        else:
            assert hint.split("::")[0] not in files, hint  # no test has this name


def test_an_edit_that_no_longer_fits_is_said(monkeypatch, capsys):
    monkeypatch.setattr("run.MUTANTS", [MUTANTS[0]._replace(old="this stands nowhere")])
    assert main([]) == 2
    assert "stands 0 times" in capsys.readouterr().out


@pytest.mark.slow
def test_a_survivor_is_said(monkeypatch, capsys):
    """Negative control: an edit that changes nothing survives."""
    start = "from __future__ import annotations\n"
    harmless = Mutant("privacy/sensitivity.py", start, f"{start}# a comment\n", "nothing changes", CUT)
    monkeypatch.setattr("run.MUTANTS", [harmless])
    monkeypatch.setattr("run.EVERYTHING", [CUT])
    assert main(["--skip-baseline", "-j", "1"]) == 1
    assert "SURVIVED" in capsys.readouterr().out
