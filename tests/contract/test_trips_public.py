"""What everybody can see of a release of trips does not depend on one row: exit code, message, size, ledger.

A hundred hostile rows in each format, each alone in an otherwise sound table; and signals while trips are read.
"""

import contextlib
import datetime
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time

import pytest
import trip_formats as f

import hushpath
from hushpath.cli import run
from hushpath.privacy.ledger import Ledger

ENDS = [(1, 2), (2, 3), (3, 1)]
DAYS = [datetime.date(2026, 10, 1 + i) for i in range(3)]
ROWS = [[i % 9, DAYS[i % 3], i % 2, *ENDS[i % 3], 5.0 + i % 20, "1"] for i in range(60)]
COLUMNS = (
    "--person person --day day --trip trip --edge tail,head --seconds seconds --period-column period --periods 1,2"
)
TERMS = f"{COLUMNS} --protects person-day --low 0.5 --high 6 --proxy free --epsilon 1 --directed"
RAW = {  # lines that no writer of tables makes
    "csv": [b'"', b",,,,,,,,,", b"\xff\xfe", b"x" * 200_000, b"\0" * 50, b"1,2,3", b'7,"2026-10-01,1,1,2,7,1', b"\r\r"],
    "json": [b"{", b"[]", b"[" * 50_000, b'{"of_Bob": true}', b"\xff", b'{"day": ' + b"9" * 5000 + b"}", b"null", b"7"],
}  # fmt: skip


def hostile(form):
    """A hundred rows: every odd value twice, in columns that differ from format to format; and raw lines."""
    start = list(f.FORMATS).index(form)
    rows = [(f.ODD[i % len(f.ODD)], (start + i + i // len(f.ODD)) % len(f.COLUMNS)) for i in range(100)]
    return [*rows, *RAW.get(form, ())]


def told(form, rows, raw, folder):
    """Everything public about a release of these rows."""
    folder.mkdir()
    (folder / "net.csv").write_text("source,target,free\n1,2,4\n2,3,8\n3,1,9\n")
    given = f.FORMATS[form](rows, folder)
    if raw is not None:
        with given.open("ab") as file:
            file.write(raw + b"\n")
    budget = dict(dataset="d", protects="person-day", epsilon=4.0, delta=1e-5)
    Ledger.create(folder / "ledger", **budget)
    seen = io.StringIO()
    with contextlib.redirect_stdout(seen), contextlib.redirect_stderr(seen):
        if form in ("frame", "arrow"):
            topology = hushpath.read_topology(folder / "net.csv", proxy="free", directed=True)
            trips = hushpath.read_trips(given, topology, periods=["1", "2"], **f.NAMED)
            terms = dict(protects="person-day", low=0.5, high=6, epsilon=1.0)
            hushpath.release_trips(trips, ledger=folder / "ledger", **terms).save(folder / "out.hush")
            code = 0
        else:
            options = [*TERMS.split(), "--ledger", f"{folder}/ledger", "-o", f"{folder}/out.hush"]
            code = run(["release-trips", f"{folder}/net.csv", str(given), *options])
    with contextlib.closing(sqlite3.connect(folder / "ledger")) as ledger:
        charges = ledger.execute("SELECT protects, epsilon, delta FROM charge").fetchall()
    size = (folder / "out.hush").stat().st_size
    # Whether a release is mostly noise is told from its noisy numbers: that is public, and differs from draw to draw.
    lines = [line for line in seen.getvalue().replace(str(folder), "").splitlines() if "mostly noise" not in line]
    return code, lines, size, charges, hushpath.load(folder / "out.hush").statement


@pytest.mark.parametrize("form", f.FORMATS)
@pytest.mark.parametrize("count", [6, pytest.param(None, marks=pytest.mark.slow)])
def test_one_row_changes_nothing_that_others_can_see(form, count, tmp_path):
    plain = told(form, ROWS, None, tmp_path / "plain")
    assert plain[0] == 0
    rows = hostile(form)
    for i, odd in enumerate(rows[:: 1 if count is None else len(rows) // count]):
        raw = odd if isinstance(odd, bytes) else None
        row = [999, *ROWS[0][1:]]
        if raw is None:
            row[odd[1]] = odd[0]
        found = told(form, ROWS if raw is not None else [*ROWS, row], raw, tmp_path / str(i))
        assert found == plain, odd


SLOW = """

    import signal, sys, time

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background may ignore them
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    from hushpath.trips import tables as trip_files
    from hushpath.cli import main
    read, begun = trip_files._lines, sys.argv.pop()

    def slowly(opened):
        yield from read(opened)
        open(begun, "w").close()
        while True:
            time.sleep(0.01)
            yield trip_files._decode_lines([b"x" * 1000] * 1000)

    trip_files._lines = slowly
    main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_trips_are_read_is_an_interrupt_and_leaves_nothing_behind(name, tmp_path):
    (tmp_path / "net.csv").write_text("source,target,free\n1,2,4\n2,3,8\n3,1,9\n")
    f.as_csv(ROWS, tmp_path)
    (tmp_path / "tmp").mkdir()
    options = ["net.csv", "t.csv", *TERMS.split(), "--json", "-o", "out.hush", "begun"]
    command = [sys.executable, "-c", textwrap.dedent(SLOW), "release-trips", *options]
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    place = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    with subprocess.Popen(command, cwd=tmp_path, env=place, **pipes) as running:
        try:
            while not (tmp_path / "begun").exists():
                assert running.poll() is None, running.stderr.read()
                time.sleep(0.02)
            time.sleep(0.3)
            running.send_signal(getattr(signal, name))
            out, err = running.communicate(timeout=60)
        finally:
            running.kill()
    assert running.returncode == 130
    assert "Interrupted" in json.dumps(json.loads(out))
    assert "damaged" not in out + err
    assert not (tmp_path / "out.hush").exists()
    assert not list((tmp_path / "tmp").glob("hushpath-*"))


def test_spilled_rows_are_for_their_owner_only(tmp_path, monkeypatch):
    from hushpath.trips.tables import connection

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with connection() as engine:
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert engine.execute("SELECT current_setting('temp_directory')").fetchone()[0] == str(folder)
        engine.execute("SET memory_limit = '40MB'")
        engine.execute("CREATE TABLE t AS SELECT repeat('x', 40) || range AS who, random() AS r FROM range(2_000_000)")
        assert any(path.is_file() for path in folder.rglob("*"))
    assert not list(tmp_path.iterdir())


def test_engine_errors_are_not_quoted(tmp_path):
    """A file that is damaged after it was looked at: one fixed sentence, and no other error behind it."""
    path = f.as_parquet([[f"p{i}", *ROWS[0][1:]] for i in range(3000)], tmp_path)
    (tmp_path / "net.csv").write_text("source,target,free\n1,2,4\n2,3,8\n3,1,9\n")
    topology = hushpath.read_topology(tmp_path / "net.csv", proxy="free", directed=True)
    trips = hushpath.read_trips(path, topology, periods=["1", "2"], **f.NAMED)
    data = path.read_bytes()
    path.write_bytes(data[:4] + os.urandom(len(data) // 2) + data[4 + len(data) // 2 :])
    with pytest.raises(hushpath.HushpathError, match=r"^the trips could not be read to their end \(\w+\?\)$") as caught:
        f.totals(trips)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
