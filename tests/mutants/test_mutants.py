"""The table of mutants fits the sources; ``make mutants`` runs them, which takes minutes."""

import ast
import re
from collections import Counter

import pytest
from mutants import EVERYTHING, MUTANTS
from run import PACKAGE, ROOT, main, misfits


def test_every_edit_fits_exactly_once_and_leaves_python():
    assert misfits() == []
    for mutant in MUTANTS:
        text = (PACKAGE / mutant.file).read_text(encoding="utf-8")
        changed = text.replace(mutant.old, mutant.new)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)), mutant


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


def test_an_edit_that_no_longer_fits_is_said(monkeypatch, capsys):
    monkeypatch.setattr("run.MUTANTS", [MUTANTS[0]._replace(old="this stands nowhere")])
    assert main([]) == 2
    assert "stands 0 times" in capsys.readouterr().out


@pytest.mark.slow
def test_a_survivor_is_said(monkeypatch, capsys):
    """Negative control: an edit that changes nothing survives."""
    harmless = MUTANTS[0]._replace(old="k * (p + q - k))", new="(p + q - k) * k)", hint=EVERYTHING[0])
    monkeypatch.setattr("run.MUTANTS", [harmless])
    monkeypatch.setattr("run.EVERYTHING", EVERYTHING[:1])
    assert main(["--skip-baseline", "-j", "1"]) == 1
    assert "SURVIVED" in capsys.readouterr().out
