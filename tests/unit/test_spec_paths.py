"""Paths of a specification: its own are relative to its folder, those of options to the current folder."""

from pathlib import Path

from hushpath import read_spec

TEXT = """
[network]
file = "roads.csv"
nodes = "nodes.csv"
[weights]
column = "minutes"
[unit]
l1 = 1.0
[budget]
epsilon = 1.0
[ledger]
file = "own.ledger"
"""


def test_paths_are_relative_to_where_they_are_written(tmp_path):
    (tmp_path / "release.toml").write_text(TEXT)
    spec = read_spec(tmp_path / "release.toml")
    assert (spec.network.file, spec.network.nodes) == (tmp_path / "roads.csv", tmp_path / "nodes.csv")
    assert spec.ledger.file == tmp_path / "own.ledger"
    changed = read_spec(tmp_path / "release.toml", {"ledger": {"file": "city.ledger"}})
    assert changed.ledger.file == Path("city.ledger")
    assert changed.network.file == tmp_path / "roads.csv"
