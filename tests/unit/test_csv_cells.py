"""Text in CSV is never a formula: every writer, and what reading back needs."""

import ast
import csv
import io
from pathlib import Path

import pandas as pd
import pytest
from served import Client
from typer.testing import CliRunner

import hushpath
from hushpath.cli.app import app_for
from hushpath.lab.tables import csv_text
from hushpath.output.encode import FORMULA, NUMBER, csv_cell

EVIL = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "'=1", "''=1",
        "\N{FULLWIDTH EQUALS SIGN}1", "\u2003=1", "\n=1", "=1", "'-5", "-", "--5", "-5 low"]  # fmt: skip
PLAIN = ["-5", "+5", "-1.5", "-1e-7", "a=b", "1-2", "'quoted'", "O'Hare", "", "a", "-.5", "\N{MINUS SIGN}5"]


def read_back(cell):
    """What the documentation says: take one quote away if a formula follows."""
    rest = cell[1:]
    return rest if cell[:1] == "'" and FORMULA.match(rest) and not NUMBER.fullmatch(rest) else cell


def dangerous(cell):
    """Whether a spreadsheet may take it for a formula."""
    begins = cell.lstrip()[:1]
    formula = begins in tuple("=+-@\uff1d\uff0b\uff0d\uff20") or cell[:1] in tuple("\t\r\n")
    return formula and not NUMBER.fullmatch(cell)


@pytest.mark.parametrize("text", EVIL)
def test_what_begins_like_a_formula_gets_a_quote(text):
    assert csv_cell(text) == f"'{text}"
    assert not dangerous(csv_cell(text))
    assert read_back(csv_cell(text)) == text


@pytest.mark.parametrize("text", PLAIN)
def test_other_text_and_numbers_stay(text):
    assert csv_cell(text) == text
    assert read_back(csv_cell(text)) == text


@pytest.mark.parametrize("number", [-5, -1.5, 0, True, None, float("-inf")])
def test_numbers_are_numbers(number):
    assert csv_cell(number) is number


LABELS = [*(text for text in EVIL if text != "-5 low"), "-5", "a"]  # "-5" has a column "-5 low" already


@pytest.fixture(scope="module")
def made():
    net = hushpath.Network.build(LABELS, range(len(LABELS) - 1), range(1, len(LABELS)), [1.0] * (len(LABELS) - 1))
    return hushpath.release(net, epsilon=5.0, unit=1.0, max_weight=5.0, mechanism="input").with_decoder(
        estimator="clip"
    )


def check(text, labels=LABELS):
    """No cell of a table is a formula, and every label can be read back."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    cells = [cell for row in rows for cell in row]
    assert [cell for cell in cells if dangerous(cell)] == []
    assert {*labels} <= {read_back(cell) for cell in cells}
    return rows


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("interval", [False, True])
def test_matrices_in_files_and_over_http(made, tmp_path, long, interval):
    hushpath.write_matrix(made, tmp_path / "m.csv", long=long, interval=interval)
    text = (tmp_path / "m.csv").read_bytes().decode()
    rows = check(text)
    answer = Client({"r": made}).post("/matrix", long=long, interval=interval, format="csv")
    assert answer.content.decode() == text
    if not long and not interval:
        table = pd.read_csv(tmp_path / "m.csv", index_col="source")
        assert list(map(read_back, table.columns)) == [str(label) for label in made.topology.labels]
        assert (table.to_numpy() == made.matrix()).all()
    assert len(rows) == 1 + len(LABELS) ** (2 if long else 1)


def test_answers_to_pairs(made, tmp_path):
    made.save(tmp_path / "r.hush")
    with open(tmp_path / "pairs.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("source", "target"), *((label, "a") for label in LABELS)])
    done = CliRunner().invoke(app_for([]), ["query", str(tmp_path / "r.hush"), "--pairs", str(tmp_path / "pairs.csv")])
    assert done.exit_code == 0, done.output
    check(done.stdout_bytes.decode(), [label for label in LABELS if label == label.strip()])  # as the table is read


def test_tables_of_the_lab():
    rows = [{"network": label, "error": -1.5, "nothing": None} for label in LABELS]
    read = check(csv_text(rows))
    assert read[1][2:] == ["-1.5", ""]


def test_there_is_no_other_writer_of_csv():
    """One that is added must go through the same function, or write numbers alone."""
    numbers_only = {
        "demo/city.py": "intersections of the simulated city are numbers",
    }  # fmt: skip
    package, found = Path(hushpath.__file__).parent, set()
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in ("writer", "DictWriter", "to_csv", "write_csv"):
                found.add(file.relative_to(package).as_posix())
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "COPY " in node.value:
                assert "CSV" not in node.value, file
    assert found - {"demo/story.py"} == {"output/encode.py", *numbers_only}
    assert not [file for file in package.rglob("*.js") if "text/csv" in file.read_text(encoding="utf-8")]
