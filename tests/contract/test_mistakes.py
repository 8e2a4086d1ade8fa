"""One mistake of every kind over all verbs: one line that names the place, exit code 1 or 2, nothing left behind.

A line of ``MISTAKES`` is a command and a name its message must hold: an option, a key of a specification, a file.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hushpath.cli import run

BASE = ["release", "roads.csv", "-o", "new.hush", "--epsilon", "1", "--unit", "1"]
LONG, NEWLINE, BYTES, TURNED = "x" * 300, "a\nb\x1b[31m", "caf\udce9", "\u202egpj"  # names people should not give
SPEC = 'network = {file = "roads.csv"}\nweights = {}\nunit = {l1 = 1}\nbudget = {epsilon = 1}\n'
SERIES = """
network = {file = "streets.csv", proxy = "cap"}
trips = {file = "trips.csv", person = "who", day = "day", edge = ["from", "to"], seconds = "seconds", low = 1, high = 6}
unit = {protects = "person"}
budget = {epsilon = 1}
ledger = {file = "x.ledger"}
schedule = {first = "2026-01-01", every = "month", count = 2}
"""
ROADS = "".join(f"n{i},n{i + 1},{5 + i % 3},9\n" for i in range(12))
FILES = {
    "roads.csv": f"source,target,weight,cap\n{ROADS}n0,n5,7,9\n",
    "trips.csv": "who,day,from,to,seconds\nan,1,n0,n1,9\n",
    "streets.csv": f"source,target,weight,cap\n{ROADS}",
    "good.toml": SPEC, "series.toml": SERIES, "broken.toml": SPEC + "[", "latin.toml": b"\xff",
    "unknown.toml": SPEC.replace("l1", "l3"), "type.toml": SPEC.replace("epsilon = 1", 'epsilon = "1"'),
    "both.toml": SPEC + 'trips = {file = "trips.csv"}\n', "lost.toml": SPEC.replace("roads.csv", "absent.csv"),
    "public.toml": SERIES.replace("streets.csv", "trips.csv"), "bare.toml": SERIES.replace("schedule =", "#"),
    "empty.csv": "", "head.csv": "source,target,weight\n", "zeros.csv": "\0" * 100,
    "bin.csv": bytes(range(256)) * 9, "semi.csv": "source;target;weight\na;b;1\n",
    "ragged.csv": "source,target,weight\na,b\n", "nan.csv": "source,target,weight\na,b,nan\n",
    "inf.csv": "source,target,weight\na,b,inf\n", "text.csv": "source,target,weight\na,b,many\n",
    "gap.csv": "source,target,weight\na,,1\n", "labels.csv": f"source,target,weight\n{'y' * 5000},b,1\n",
    "latin.csv": "source,target,weight\né,b,1\n".encode("latin1"), "quote.csv": 'source,target,weight\n"a,b,1\n',
    "twice.csv": "source,target,weight,weight\na,b,1,2\n", "roads.xlsx": b"PK\3\4", "plain": "source,target\na,b\n",
    "bad.parquet": b"PAR1junkPAR1", "bad.graphml": "<graphml>", "html.graphml": "<html></html>",
    "doctype.graphml": "<!DOCTYPE x><graphml/>", "bad.csv.gz": b"\x1f\x8bjunk",
    "few.csv": "node,x,y\nn0,0,0\n", "doubled.csv": "node\nn0\nn0\n", "unnamed.csv": "name\nn0\n",
    "pairs.csv": "source,target\nn0,n3\n", "p-columns.csv": "a,b\n1,2\n", "p-half.csv": "source,target\nn0,\n",
    "p-short.csv": "source,target\nn0\n", "p-unknown.csv": "source,target\nn0,zz\n",
    "p-long.csv": f"source,target\nn0,{'y' * 200_000}\n", "p-many.csv": "source,target\nn0,n1,n2\n",
    "p-nul.csv": "source,target\nn0,n\0001\n", "p-quote.csv": 'source,target\n"n0,n1\n',
    "list.txt": "n0\nn1\n", "double.txt": "n0\nn0\n", "unknown.txt": "n0\nnope\n", "blank.txt": "\n\n",
    "noise.hush": bytes(range(256)) * 9, "empty.hush": "", "huge.hush": b"\xff" * 8 + b"x" * 100,
    "bare.hush": (10).to_bytes(8, "little") + b"{}        ",
    "nested.hush": (20000).to_bytes(8, "little") + b"[" * 20000,
}  # fmt: skip


def _each(verb, rest, *cases):
    """The same verb on several values in the place of ``?``."""
    return [([verb, *(value if part == "?" else part for part in rest)], says) for value, says in cases]


def _option(name, *cases):
    return [([*BASE, name, value], says) for value, says in cases]


UNREADABLE = [(name, name) for name in ("absent.hush", "empty.hush", "noise.hush", "huge.hush", "bare.hush",
                                        "nested.hush", "roads.csv", "dir", "loop", "fifo", "/dev/null")]  # fmt: skip
NAMES = [("", "folder"), (LONG, "xxx"), (BYTES, "caf"), (NEWLINE, "a"), (TURNED, "gpj"), ("roads.csv/x.hush", "x.hush")]
UNVERIFIED = [("absent", "absent"), ("me.pub", "not signed"), ("me.key", "me.key"), ("dir", "dir"),
              ("roads.csv", "roads.csv"), ("fifo", "fifo")]  # fmt: skip
UNWRITABLE = [("", "folder"), ("dir", "dir"), ("no/such/x.csv", "no/such"), ("roads.csv/x.csv", "roads.csv"),
              ("loop", "loop"), ("fifo", "fifo"), (LONG + ".csv", "xxx")]  # fmt: skip
MISTAKES = [
    # the files of a network
    *_each("release", ["?", *BASE[2:]], *((name, name) for name in (
        "absent.csv", "roads.xlsx", "plain", "bad.csv.gz", "dir.csv", "loop.csv", "dangling.csv", "roads.hush",
        "fifo.csv", "/dev/zero")),
        *((name, "row 1") for name in ("ragged.csv", "nan.csv", "inf.csv", "text.csv")),
        ("empty.csv", "empty"), ("head.csv", "empty"), ("bin.csv", "UTF-8"), ("latin.csv", "UTF-8"),
        ("zeros.csv", "NUL"), ("semi.csv", "column"), ("gap.csv", "label"), ("labels.csv", "label"),
        ("quote.csv", "quote"),
        ("twice.csv", "weight"), ("bad.parquet", "Parquet"), ("bad.graphml", "XML"), ("html.graphml", "GraphML"),
        ("doctype.graphml", "DOCTYPE"), (LONG + ".csv", "xxx"), (NEWLINE + ".csv", "csv"), (BYTES + ".csv", "csv")),
    *_option("--nodes", ("absent.csv", "absent.csv"), ("dir", "dir"), ("doubled.csv", "row 2"),
             ("unnamed.csv", "node")),
    *_option("--weight", ("nosuch", "nosuch"), ("source", "source")),
    *_option("--source", ("target", "target"), ("", "column")),
    *_option("--lower", ("nosuch", "nosuch"), ("nan", "lower"), ("-1", "lower"), ("weight", "weight")),
    *_option("--upper", ("-1", "upper")),
    *_option("--proxy", ("weight", "weight"), ("nosuch", "nosuch")),
    *_option("--edge-data", ("list.txt", "--edge-data"), ("dir", "dir")),
    # the promise
    *((_option("--epsilon", (value, "--epsilon"))[0]) for value in ("0", "-1", "nan", "1e-400", "abc", "")),
    *_option("--delta", ("1", "--delta"), ("nan", "--delta"), ("x", "--delta")),
    *_option("--unit", ("0", "--unit"), ("inf", "--unit"), ("1e308", "--unit"), ("x", "--unit")),
    *_option("--unit-edges", ("60", "--unit-edges"), ("60.7,0.5", "--unit-edges"), ("60,", "--unit-edges")),
    *_option("--lattice-step", ("3", "--lattice-step")),
    *_option("--max-weight", ("0", "--max-weight"), ("1e308", "64 bits"), ("x", "--max-weight")),
    *_option("--mechanism", ("magic", "magic"), ("", "mechanism"), (LONG, "xxx"), ("tree", "tree"), ("cover", "cover")),
    *_option("--noise", ("cauchy", "cauchy")), *_option("--sampler", ("dice", "dice")),
    *_option("--seed", ("x", "--seed")),
    *_option("--option", *((value, "--option") for value in ("depth", "=3", "1x=2", "depth=null")), ("dept=3", "dept"),
             ("depth=" + "[" * 100_000, "depth"), ("epsilon=3", "epsilon"), ("typical_weight=3", "typical_weight")),
    ([*BASE, "--mechanism", "separator", "--option", "depth=abc"], "depth"),
    ([*BASE, "--mechanism", "hubs", "--option", "hubs=2.5"], "hubs"),
    ([*BASE, "--directed", "--mechanism", "tree"], "tree"), ([*BASE, "--seed", "1", "--sampler", "opendp"], "opendp"),
    ([*BASE, "--noise", "laplace", "--epsilon", "1e-300"], "64 bits"),
    *_option("--quantity", (NEWLINE, "--quantity")), *_option("--date", ("x" * 61, "--date")),
    *_option("--ledger", ("roads.csv", "roads.csv")),
    # specifications
    *_each("plan", ["?"], ("absent.toml", "absent.toml"), ("broken.toml", "TOML"), ("latin.toml", "UTF-8"),
           ("unknown.toml", "unit.l3"), ("type.toml", "budget.epsilon"), ("both.toml", "unit.l1"),
           ("lost.toml", "absent.csv")),
    *_each("release", ["?", "-o", "new.hush"], ("unknown.toml", "unit.l3"), ("lost.toml", "absent.csv"),
           ("public.toml", "trips.csv")),
    (["release", "good.toml", "-o", "new.hush", "--epsilon", "0"], "budget.epsilon"),
    (["release", "good.toml", "-o", "new.hush", "--max-weight", "0"], "weights.max_weight"),
    (["plan", "good.toml", "--typical-weight", "0"], "expected.typical_weight"),
    (["release", "good.toml", "-o", "good.toml", "--force"], "good.toml"),
    (["release", "good.toml", "-o", "roads.csv", "--force"], "roads.csv"),
    (["release-trips", "good.toml", "trips.csv", "-o", "new.hush"], "trips.csv"),
    (["release-trips", "streets.csv", "-o", "new.hush"], "TRIPS"),
    (["release-trips", "streets.csv", "trips.csv", "--epsilon", "1", "-o", "new.hush"], "--protects"),
    (["plan-trips", "streets.csv", "--epsilon", "1"], "--protects"),
    *_each("series", ["?", "-o", "out"], ("good.toml", "[schedule]"), ("bare.toml", "[schedule]"),
           ("public.toml", "trips.csv"), ("roads.csv", "roads.csv")),
    (["series", "series.toml", "-o", "out", "--ledger", "roads.csv"], "roads.csv"),
    (["series", "series.toml", "-o", "roads.csv"], "roads.csv"), (["series", "series.toml"], "--out"),
    *_each("init", ["?", "-o", "new.toml"], ("absent.csv", "absent.csv"), ("bad.parquet", "bad.parquet"),
           ("dir", "dir")),
    *_each("init", ["roads.csv", "-o", "?"], *UNWRITABLE, ("good.toml", "--force"), ("roads.csv", "roads.csv")),
    *_each("diff", ["good.toml", "?"], ("absent.toml", "absent.toml"), ("roads.csv", "roads.csv"), ("dir", "dir"),
           ("unknown.toml", "unit.l3")),
    *_each("inspect", ["?", "--spec"], ("roads.csv", "roads.csv")),
    # places to write to
    *_option("-o", *UNWRITABLE, ("roads.csv", "roads.csv"), ("roads.hush", "--force")),
    *_option("--sign", ("absent", "absent"), ("me.pub", "me.pub"), ("roads.csv", "roads.csv"), ("dir", "dir"),
             ("fifo", "fifo")),
    ([*BASE, "-o", "me.key", "--sign", "me.key", "--force"], "me.key"),
    *_each("index", ["roads.hush", "-o", "?"], *UNWRITABLE[1:3], ("roads.hush", "roads.hush")),
    *_each("page", ["roads.hush", "-o", "?"], *UNWRITABLE[1:3], ("roads.hush", "roads.hush")),
    *_each("report", ["roads.csv", "roads.hush", "-o", "?"], *UNWRITABLE[1:3], ("roads.csv", "roads.csv")),
    *_each("export", ["roads.hush", "--to", "omx", "-o", "?"], *UNWRITABLE[1:3], ("roads.hush", "roads.hush")),
    *_each("export", ["roads.hush", "--to", "valhalla", "-o", "?"], ("dir.csv/x/y", "dir.csv"),
           ("roads.csv", "roads.csv")),
    *_each("matrix", ["roads.hush", "-o", "?"], ("no/such/x.csv", "no/such"), ("m.xlsx", ".xlsx"),
           ("roads.hush", "roads.hush"), ("fifo.csv", "fifo.csv"), (".csv", ".csv"), ("loop", "loop")),
    # release files and signatures
    *_each("query", ["?", "n0", "n1"], *UNREADABLE, *NAMES),
    *_each("query", ["roads.hush", "n0", "n1", "--verify", "?"], *UNVERIFIED),
    *((one, says) for verb in (["inspect", "?"], ["matrix", "?", "-o", "m.csv"], ["index", "?", "-o", "i.hushx"],
                               ["serve", "?"], ["evaluate", "roads.csv", "?"],
                               ["export", "?", "--to", "omx", "-o", "m"],
                               ["page", "?", "-o", "p.html"], ["report", "roads.csv", "?", "-o", "p.html"])
      for one, says in _each(verb[0], verb[1:], ("absent.hush", "absent.hush"), ("fifo", "fifo"))),
    # questions
    *_each("query", ["roads.hush", "n0", "?"], ("zz", "zz"), ("", "node"), (LONG * 300, "xxx"), ("--frob", "--frob")),
    (["query"], "Missing"), (["query", "roads.hush", "n0"], "--pairs"),
    (["query", "roads.hush", "n0", "n1", "--pairs", "pairs.csv"], "--pairs"),
    *_each("query", ["roads.hush", "--pairs", "?"], ("absent.csv", "absent.csv"), ("p-columns.csv", "source"),
           ("p-half.csv", "row 1"), ("p-unknown.csv", "zz"), ("bin.csv", "UTF-8"), ("p-many.csv", "row 1"),
           ("p-quote.csv", "p-quote.csv"), ("dir", "dir"), ("fifo", "fifo")),
    (["query", "roads.hush", "n0", "n1", "--confidence", "7"], "confidence"),
    *_each("matrix", ["roads.hush", "-o", "m.csv", "--sources", "?"], ("absent.txt", "absent.txt"),
           ("blank.txt", "blank.txt"), ("unknown.txt", "nope"), ("fifo", "fifo")),
    (["matrix", "roads.hush", "--targets", "double.txt", "-o", "m.csv"], "name"),
    (["matrix", "roads.hush", "-o", "m", "--workers", "-1"], "--workers"),
    (["matrix", "roads.hush", "-o", "m.csv", "--workers", "1"], "folder"),
    (["matrix", "roads.hush", "-o", "m", "--dask", "smb://x"], "smb://x"),
    (["matrix", "roads.hush", "-o", "m", "--period", "am"], "period"),
    (["matrix", "roads.hush", "-o", "list.txt", "--sources", "list.txt"], "list.txt"),
    (["serve", "roads.hush", "--port", "-1"], "--port"),
    *_each("serve", ["roads.hush", "--limit", "?"], ("cells=-1", "cells"), ("cells=x", "cells"), ("sells=1", "sells"),
           ("cells", "--limit")),
    (["serve", "roads.hush", "--host", "203.0.113.7"], "203.0.113.7"),
    (["serve", "roads.hush", "./roads.hush"], "name"),
    *_each("export", ["roads.hush", "-o", "m", "--to", "?"], ("csv", "osrm"), ("osrm", "OSM"), ("valhalla", "--ids"),
           ("geojson", "coordinates")),
    *_each("export", ["roads.hush", "--to", "omx", "-o", "m.omx", "--zones", "?"], ("absent.txt", "absent.txt"),
           ("unknown.txt", "nope"), ("roads.csv", "zone")),
    (["export", "roads.hush", "--to", "osrm", "-o", "m", "--zones", "list.txt"], "--zones"),
    *_each("index", ["roads.hush", "-o", "i.hushx", "--max-gb", "?"], ("-1", "--max-gb"), ("0", "GB")),
    *_each("index", ["roads.hush", "-o", "i.hushx", "--partition", "?"], ("roads.csv", "roads.csv"),
           ("i.hushx", "two")),
    *_each("page", ["roads.hush", "-o", "p.html", "--title", "?"], ("", "title"), (NEWLINE, "title")),
    (["page", "roads.hush", "-o", "p.html", "--origin", "zz"], "zz"),
    (["page", "roads.hush", "-o", "p.html", "--decoder", "zz"], "decoder"),
    (["report", "roads.csv", "roads.hush", "-o", "p.html", "--directed"], "topology"),
    *_each("report", ["roads.csv", "roads.hush", "-o", "list.txt", "?", "list.txt"], ("--edge-data", "list.txt"),
           ("--nodes", "list.txt")),
    *_each("evaluate", ["?", "roads.hush"], ("absent.csv", "absent.csv"), ("nan.csv", "row 1"),
           ("fifo.csv", "fifo.csv"), ("lost.toml", "absent.csv"), ("unknown.toml", "unit.l3")),
    (["evaluate", "roads.csv", "roads.hush", "--sources", "0"], "--sources"),
    *_each("keygen", ["?"], ("", "name"), ("me", "me.key"), ("no/such", "no/such")),
    *_each("demo", ["--out", "?"], ("roads.csv", "roads.csv"), (LONG, "xxx")),
    *_each("lab", ["--quick", "--out", "lab", "?", "zz"], ("--mechanism", "zz"), ("--class", "class"),
           ("--jobs", "--jobs"), ("--network", "zz")),
    *(([verb], "Missing") for verb in ("release", "plan", "series", "init", "diff", "serve", "export", "page", "report",
                                       "evaluate", "keygen")),
    (["plan", "roads.csv", "--unit", "1"], "--epsilon"), (["frob"], "frob"), (["--frob"], "--frob"),
    ([*BASE, "extra"], "extra"), ([*BASE, "--frob"], "--frob"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mistakes")
    for name, content in FILES.items():
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for name in ("dir", "dir.csv"):
        (place / name).mkdir()
    for name in ("fifo", "fifo.csv"):
        os.mkfifo(place / name)
    for name, to in (("loop", "loop"), ("loop.csv", "loop.csv"), ("dangling.csv", "gone.csv")):
        (place / name).symlink_to(to)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert run(["keygen", "me"]) == 0
        assert run([*BASE, "-o", "roads.hush", "--mechanism", "input"]) == 0
        assert run([*BASE, "-o", "table.hush", "--mechanism", "all-pairs"]) == 0
        yield place


@pytest.fixture(autouse=True)
def no_waiting():
    """A command that waits for ever (on a pipe, say) is ended."""

    def stop(*_):
        raise BaseException("the command did not end")  # which nothing on the way may catch

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _state(folder):
    return sorted((str(p), p.lstat().st_mtime_ns, p.lstat().st_size) for p in folder.rglob("*"))


def _shown(mistake):
    parts = (part if len(part) < 40 else f"{part[:9]}..." for part in mistake[0])
    return " ".join(parts).encode("ascii", "replace").decode()


def test_every_verb_has_mistakes():
    from hushpath.cli.app import VERBS

    assert set(VERBS) <= {arguments[0] for arguments, _ in MISTAKES}


@pytest.mark.parametrize("mistake", MISTAKES, ids=_shown)
def test_a_mistake_gets_one_clear_line(folder, capsys, mistake):
    arguments, says = mistake
    before = _state(folder)
    code = run(arguments)
    out, err = capsys.readouterr()
    after = _state(folder)
    (folder / "new.hush").unlink(missing_ok=True)  # of a mistake that went through: it must not spoil what comes after
    assert code in (1, 2)
    assert out == ""
    assert err.startswith("hushpath: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert all(letter.isprintable() for letter in err[:-1])
    assert len(err) < 700
    assert says in err
    for word in ("internal error", "Traceback", "Error(", "HUSHPATH_DEBUG", "None"):
        assert word not in err
    assert after == before


@pytest.mark.parametrize("mistake", MISTAKES[::8], ids=_shown)
def test_with_json_it_is_a_document_too(folder, capsys, mistake):
    arguments, says = mistake
    verb, *rest = arguments
    code = run([verb, "--json", *rest])
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["error"]["exit_code"] == code
    assert says in document["error"]["message"]
    assert f"hushpath: {document['error']['message']}\n" == err
    assert document["error"]["type"] in (
        "InputError", "NetworkError", "OptionError", "FileFormatError", "CannotError", "BudgetError", "UsageError",
    )  # fmt: skip
    assert document["warnings"] == []


def shell(folder, command):
    """Run a line in a shell, where streams can be closed or full; $HUSH is the program."""
    environment = os.environ | {"HUSH": f"{sys.executable} -m hushpath"}
    line = ["sh", "-c", command]
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def test_streams_that_cannot_be_written(folder):
    if Path("/dev/full").is_char_device():
        code, _, err = shell(folder, "$HUSH inspect roads.hush > /dev/full")
        assert (code, err) == (1, "hushpath: cannot write: No space left on device\n")
    assert shell(folder, "$HUSH inspect roads.hush >&-") == (0, "", "")
    assert shell(folder, "$HUSH inspect absent.hush 2>&-") == (2, "", "")
    assert shell(folder, "$HUSH inspect absent.hush >&- 2>&-") == (2, "", "")
    code, out, err = shell(folder, "PYTHONIOENCODING=ascii $HUSH query roads.hush n0 né")
    assert (code, out, err.count("\n")) == (2, "", 1)
    code, out, err = shell(folder, "$HUSH query roads.hush --pairs pairs.csv | head -c 1")
    assert (code, out, err) == (0, "s", "")
