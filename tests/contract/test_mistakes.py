"""Some hundreds of mistakes over all verbs: one line that says what is wrong, exit code 1 or 2, nothing left behind.

A line of ``MISTAKES`` is a command and a word its message must hold.  ``@`` stands for a sound release command up to
where the mistake is added; a later option overrides an earlier one.
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
ROADS = "".join(f"n{i},n{i + 1},{5 + i % 3},9\n" for i in range(12))
FILES = {
    "roads.csv": f"source,target,weight,cap\n{ROADS}n0,n5,7,9\n",
    "trips.csv": f"source,target,weight,cap\n{ROADS}n0,n5,7,9\n",
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


def _mechanism(name, *cases):
    return [([*BASE, "--max-weight", "9", "--mechanism", name, "--option", value], says) for value, says in cases]


NO_NUMBER = "valid number"
UNREADABLE = [
    ("absent.hush", "no file"), ("empty.hush", "not a hushpath release"), ("noise.hush", "not a hushpath release"),
    ("huge.hush", "not a hushpath release"), ("bare.hush", "not a hushpath release"), ("nested.hush", "not a hushpath"),
    ("roads.csv", "not a hushpath release"), ("dir", "is a folder"), ("loop", "no file"), ("fifo", "is a pipe"),
    ("/dev/null", "a device"), ("", "is a folder"), (LONG, "too long"), (BYTES, "no file"), (NEWLINE, "no file"),
    (TURNED, "no file"), ("roads.csv/x.hush", "no file"),
]  # fmt: skip
UNVERIFIED = [
    ("absent", "No such file"), ("me.pub", "is not signed"), ("me.key", "should stay secret"), ("dir", "directory"),
    ("roads.csv", "not a public key"), ("fifo", "ordinary file"), (LONG, "too long"),
]  # fmt: skip
UNWRITABLE = [
    ("", "is a folder"), ("dir", "is a folder"), (".", "is a folder"), ("/", "is a folder"), ("..", "is a folder"),
    ("no/such/x.csv", "no folder"), ("roads.csv/x.csv", "no folder"), ("loop", "leads nowhere"), ("fifo", "a pipe"),
    (LONG + ".csv", "too long"), ("dir/", "is a folder"),
]  # fmt: skip
# Everything is right but the part that is asked; the network need not be read to say so.
SERIES = [
    "roads.csv", "--trips", "trips.csv", "--from", "2026-01-01", "--every", "month", "--count", "2", "--epsilon", "1",
    "--delta", "1e-6", "-o", "out", "--ledger", "x.ledger", "--protects", "person", "--low", "0.5", "--high", "6",
    "--person", "source", "--day", "target", "--edge", "source,target", "--seconds", "weight", "--proxy", "cap",
]  # fmt: skip
MISTAKES = [
    # 60.7 edges are not 60: what is declared is never made smaller.
    *_each(
        "plan", ["roads.csv", "--epsilon", "1", "--unit-edges", "?"],
        ("60", "at most k weights by at most c"), ("60.7,0.5", "at most k weights"), ("60,0.5,1", "at most k weights"),
        ("60,", "is no number"),
    ),
    *_each("series", [*SERIES, "--trips", "?"], ("absent.csv", "no such file"), ("dir", "supported suffixes")),
    *_each("series", [*SERIES, "--every", "?"], ("year", "one of day, week, month"), ("", "one of day")),
    *_each("series", [*SERIES, "--count", "?"], ("0", "from 1 to 1000"), ("many", "a valid integer")),
    *_each("series", [*SERIES, "--from", "?"], ("yesterday", "a date such as"), ("2026-02-30", "a date such as")),
    *_each("series", [*SERIES, "--split", "?"], ("none", "one of even, front")),
    *_each("series", [*SERIES, "--ledger", "?"], ("roads.csv", "not a hushpath ledger")),
    *_each(
        "release", ["?", *BASE[2:]],
        ("absent.csv", "No such file"), ("empty.csv", "empty file"), ("head.csv", "is empty"), ("bin.csv", "UTF-8"),
        ("zeros.csv", "a NUL"), ("semi.csv", "commas"), ("ragged.csv", "2 fields"), ("nan.csv", "row 1"),
        ("inf.csv", "row 1"), ("text.csv", "row 1"), ("gap.csv", "empty node label"), ("labels.csv", "characters"),
        ("latin.csv", "UTF-8"), ("quote.csv", "a quote"), ("twice.csv", "two columns"), ("roads.xlsx", "suffixes"),
        ("plain", "suffixes"), ("bad.parquet", "Parquet"), ("bad.graphml", "XML"), ("html.graphml", "not GraphML"),
        ("doctype.graphml", "DOCTYPE"), ("bad.csv.gz", "whole"), ("dir", "is a folder"), ("dir.csv", "is a folder"),
        ("loop.csv", "symbolic links"), ("dangling.csv", "No such file"), ("roads.hush", "suffixes"), (".", "a folder"),
        ("", "is a folder"), ("fifo.csv", "is a pipe"), ("/dev/zero", "a device"), (LONG + ".csv", "too long"),
        (NEWLINE + ".csv", "No such file"), (BYTES + ".csv", "No such file"), (TURNED + ".csv", "No such file"),
    ),
    *_option("--epsilon", *((v, "greater than 0") for v in ("0", "-1", "nan", "-inf", "1e-400")),
             *((v, NO_NUMBER) for v in ("abc", "", "1,5", "½"))),
    *_option("--delta", *((v, "delta must be") for v in ("1", "2", "-1", "nan", "inf")), ("x", NO_NUMBER)),
    *_option("--unit", *((v, "unit must") for v in ("0", "-1", "nan", "inf", "1e-320", "1e308")), ("x", NO_NUMBER)),
    *_option("--max-weight", *((v, "max_weight must") for v in ("0", "-5", "nan", "inf")), ("1e308", "64 bits"),
             ("x", NO_NUMBER)),
    *_option("--mechanism", *((v, "no mechanism is called") for v in ("magic", "", "INPUT", "tree\n", LONG)),
             ("tree", "close a cycle"), ("cover", "max_weight"), ("hubs-bounded", "max_weight")),
    *_option("--noise", ("cauchy", "law must"), ("", "law must")),
    ([*BASE, "--noise", "laplace", "--epsilon", "1e-300"], "64 bits"),
    *_option("--sampler", ("dice", "sampler must"), ("", "sampler must")),
    *_option("--seed", ("x", "integer"), ("1.5", "integer")),
    *_option("--weight", *((v, "no column") for v in ("nosuch", "", "cap\n")), ("source", "different columns")),
    *_option("--source", ("nosuch", "no column"), ("target", "different columns"), ("", "no column")),
    *_option("--lower", ("nosuch", "no column"), ("nan", "not a number"), ("-1", "not negative"), ("inf", "finite"),
             ("weight", "private weight"), ("1e999", "finite")),
    *_option("--upper", ("nosuch", "no column"), ("nan", "not a number"), ("-1", "above"), ("weight", "private")),
    *_option("--nodes", ("absent.csv", "No such file"), ("dir", "is a folder"),
             ("doubled.csv", "row 2"), ("unnamed.csv", "no column 'node'"), ("bin.csv", "UTF-8"), ("fifo.csv", "pipe")),
    *_option("--option", *((v, "NAME=VALUE") for v in ("depth", "=3", "1x=2", "", "=")),
             *((v, "by name") for v in ("depth=3", "depth=1e999", "depth=NaN", 'depth={"a":{"b":1}}',
                                        "depth=" + "[" * 100_000, "depth=" + "9" * 5000, "depth=")),
             *((v, "there is no option") for v in ("é=1", "self=1", f"{LONG}=3")), ("dept=3", "did you mean depth?"),
             *((f"{v}=3", "is not one") for v in ("epsilon", "topology", "network", "unit", "law", "max-weight")),
             ("granularity=3", "power of two")),
    *_mechanism("separator", *((f"depth={v}", "depth must") for v in ("abc", "-1", "1e999", "true", "[1]", "{}")),
                ("family=x", "no separator family"), ("family=5", "no separator family"), ("levels=zz", "levels must"),
                ("leaf_size=0", "leaf_size must"), ("cover=3", "no option 'cover'"), (f"{LONG}=3", "no option")),
    *_mechanism("hubs", *((f"hubs={v}", "hubs must") for v in ("0", "abc", "1e9", "-3", "2.5"))),
    *_mechanism("treewidth", ("width=0", "width must"), ("x=1", "no option 'x'")),
    *_mechanism("separator-cover", ("hops=x", "hops must"), ("k=0", "no option 'k'")),
    *_option("-o", *UNWRITABLE, ("roads.csv", "is an input"), ("roads.hush", "spends the budget again")),
    *_option("--sign", ("absent", "No such file"), ("me.pub", "signing takes"), ("roads.csv", "not a private key"),
             ("dir", "directory"), ("fifo", "ordinary file"), ("loop", "symbolic links")),
    ([*BASE, "--directed", "--mechanism", "tree"], "undirected"), ([*BASE, "extra"], "unexpected"),
    ([*BASE, "--frob"], "No such option"), ([*BASE, "--seed", "1", "--sampler", "opendp"], "no seed"),
    ([*BASE, "-o", "few.csv", "--nodes", "few.csv", "--force"], "is an input"),
    ([*BASE, "-o", "me.key", "--sign", "me.key", "--force"], "is an input"),
    (["release"], "Missing"), (["release", "roads.csv"], "Missing"), (BASE[:4], "Missing"), (["plan"], "Missing"),
    (["plan", "roads.csv"], "Missing"), (["plan", "fifo.csv", *BASE[4:]], "is a pipe"), (["frob"], "No such command"),
    (["plan", "absent.csv", *BASE[4:]], "No such file"), (["QUERY", "x"], "No such command"), (["--frob"], "option"),
    *_each("query", ["?", "n0", "n1"], *UNREADABLE),
    *_each("inspect", ["?"], *UNREADABLE),
    *_each("matrix", ["?", "-o", "m.csv"], *UNREADABLE),
    *_each("index", ["?", "-o", "i.hushx"], *UNREADABLE),
    *_each("serve", ["?"], *UNREADABLE),
    *_each("serve", ["roads.hush", "--verify", "?"], *UNVERIFIED),
    *_each("serve", ["roads.hush", "--port", "?"], ("x", "integer"), ("-1", "greater than"), ("70000", "less than")),
    *_each("serve", ["roads.hush", "--host", "?"], ("203.0.113.7", "cannot listen on"), (LONG, "no such address")),
    *_each("serve", ["roads.hush", "--max-cells", "?"], ("0", "greater than"), ("1.5", "integer")),
    *_each("serve", ["roads.hush", "--max-stall", "?"], ("nan", "greater than"), ("-1", "greater"), ("inf", "above 0")),
    (["serve", "roads.hush", "./roads.hush"], "same name"), (["serve"], "Missing"),
    *_each("evaluate", ["roads.csv", "?"], *UNREADABLE),
    *_each("query", ["roads.hush", "n0", "n1", "--verify", "?"], *UNVERIFIED),
    *_each("inspect", ["roads.hush", "--verify", "?"], *UNVERIFIED),
    *_each("matrix", ["roads.hush", "-o", "m.csv", "--verify", "?"], *UNVERIFIED),
    *_each("index", ["roads.hush", "-o", "i.hushx", "--verify", "?"], *UNVERIFIED),
    *_each("query", ["roads.hush", "n0", "?"], ("zz", "no node is called"), ("", "no node"), ("n1\n", "no node"),
           (LONG * 300, "no node"), (BYTES, "no node"), ("N1", "no node"), ("--frob", "No such option")),
    (["query"], "Missing"), (["query", "roads.hush"], "two nodes"), (["query", "roads.hush", "n0"], "two nodes"),
    (["query", "roads.hush", "n0", "n1", "n2"], "unexpected"),
    (["query", "roads.hush", "n0", "n1", "--pairs", "pairs.csv"], "two nodes"),
    (["query", "roads.hush", "n0", "--pairs", "pairs.csv"], "two nodes"),
    *_each("query", ["roads.hush", "--pairs", "?"], ("absent.csv", "No such file"), ("p-columns.csv", "columns source"),
           ("p-half.csv", "row 1"), ("p-short.csv", "row 1"), ("p-unknown.csv", "no node"), ("empty.csv", "columns"),
           ("bin.csv", "UTF-8"), ("p-long.csv", "very long"), ("p-many.csv", "more fields"), ("p-nul.csv", "no node"),
           ("p-quote.csv", "a quote"), ("dir", "a folder"), ("loop", "symbolic"), ("fifo", "pipe"), ("", "a folder"),
           ("roads.hush", "UTF-8")),
    *_each("query", ["roads.hush", "n0", "n1", "--interval", "--confidence", "?"],
           *((v, "between 0 and 1") for v in ("0", "1", "2", "-1", "nan", "inf")), ("x", NO_NUMBER), ("", NO_NUMBER)),
    (["query", "roads.hush", "n0", "n1", "--confidence", "7"], "between 0 and 1"),
    *_each("matrix", ["roads.hush", "-o", "?"], ("", "no part of this matrix"), (".", "no part of this matrix"),
           ("..", "without a dot"), ("/", "no part of this matrix"), ("dir.csv", "is a folder"),
           ("no/such", "no folder"), ("no/such/x.csv", "no folder"), ("roads.csv/x", "no folder"),
           ("loop", "not a folder"), ("fifo", "not a folder"), (LONG, "too long"), (LONG + ".csv", "too long"),
           ("m.xlsx", "not .xlsx"),
           ("roads.hush", "is an input"), ("m.csv.gz", "not .gz"), (".csv", "without a dot"), ("fifo.csv", "a pipe")),
    *_each("matrix", ["roads.hush", "-o", "m", "--workers", "?"], ("-1", "greater"), ("x", "integer"),
           ("999", "less than")),
    *_each("matrix", ["roads.hush", "-o", "m.csv", "?", "1"], ("--workers", "write a folder"),
           ("--dask", "write a folder")),
    *_each("matrix", ["roads.hush", "-o", "m", "--dask", "?"], ("smb://x", "no Dask scheduler answers"),
           ("", "no Dask scheduler answers")),
    (["matrix", "roads.hush", "-o", "m", "--period", "am"], "no periods"),
    *_each("matrix", ["roads.hush", "-o", "m.csv", "--sources", "?"], ("absent.txt", "No such file"),
           ("blank.txt", "names no node"), ("unknown.txt", "no node is called"), ("bin.csv", "UTF-8"),
           ("dir", "folder"), ("fifo", "a pipe"), ("loop", "symbolic"), ("", "folder")),
    *_each("matrix", ["roads.hush", "-o", "m.npy", "--targets", "?"], ("absent.txt", "No such file"), ("dir", "folder"),
           ("unknown.txt", "no node is called")),
    *_each("matrix", ["roads.hush", "--targets", "double.txt", "-o", "?"], ("m.csv", "same name"),
           ("m.parquet", "same name")),
    (["matrix", "roads.hush", "-o", "m.npy", "--long"], "plain matrix"), (["matrix", "roads.hush"], "Missing"),
    (["matrix", "roads.hush", "-o", "list.txt", "--sources", "list.txt"], "is an input"),
    *_each("export", ["?", "--to", "omx", "-o", "m.omx"], *UNREADABLE),
    *_each("export", ["roads.hush", "--to", "omx", "-o", "m.omx", "--verify", "?"], *UNVERIFIED),
    *_each("export", ["roads.hush", "--to", "omx", "-o", "?"], *UNWRITABLE, ("roads.hush", "is an input")),
    *_each("export", ["roads.hush", "--to", "valhalla", "-o", "?"], ("", "is there already"), (".", "is there already"),
           ("roads.csv", "is there already"), ("fifo", "is there already"), ("loop", "is there already"),
           ("no/such", "no folder"), (LONG, "too long"), ("roads.hush", "is there already"), ("/", "there already")),
    *_each("export", ["roads.hush", "-o", "m", "--to", "?"], ("csv", "osrm, valhalla"), ("", "osrm, valhalla"),
           ("OMX", "osrm, valhalla"), (LONG, "osrm, valhalla")),
    *_each("export", ["roads.hush", "--to", "omx", "-o", "m.omx", "--zones", "?"], ("absent.txt", "No such file"),
           ("blank.txt", "blank.txt"), ("unknown.txt", "no node is called"), ("bin.csv", "UTF-8"),
           ("dir", "folder"), ("fifo", "a pipe"), ("roads.csv", "columns zone, node")),
    *_each("export", ["roads.hush", "--to", "omx", "-o", "m.omx", "--confidence", "?"],
           *((v, "between 0 and 1") for v in ("0", "1", "nan")), ("x", NO_NUMBER)),
    *_each("export", ["roads.hush", "-o", "m", "--to", "?"], ("osrm", "OSM ids"), ("valhalla", "--ids"),
           ("geojson", "no coordinates"), ("geoparquet", "no coordinates")),
    *_each("export", ["roads.hush", "--to", "valhalla", "-o", "m", "--ids", "?"], ("absent.csv", "No such file"),
           ("pairs.csv", "columns source, target, edge_id"), ("dir", "folder"), ("fifo", "a pipe")),
    *_each("export", ["roads.hush", "--to", "geojson", "-o", "m", "--isochrone", "n0", "--steps", "?"],
           ("soon", "is no number"), ("1,", "is no number"), ("60", "no coordinates")),
    (["export", "roads.hush", "--to", "osrm", "-o", "m", "--zones", "list.txt"], "--zones"),
    (["export", "roads.hush", "--to", "omx", "-o", "m", "--period", "am"], "no periods"),
    (["export", "roads.hush", "--to", "omx", "-o", "m", "--crs", "x"], "--crs"),
    (["export", "roads.hush", "--to", "omx", "-o", "list.txt", "--zones", "list.txt"], "is an input"),
    (["export", "table.hush", "--to", "osrm", "-o", "m"], "OSM ids"), (["export", "roads.hush", "-o", "m"], "Missing"),
    (["export"], "Missing"), (["export", "roads.hush", "--to", "omx"], "Missing"),
    *_each("index", ["roads.hush", "-o", "?"], *UNWRITABLE, ("roads.hush", "is an input")),
    *_each("index", ["roads.hush", "-o", "i.hushx", "--max-gb", "?"], ("-1", "greater than"), ("nan", "greater than"),
           ("x", NO_NUMBER), ("0", "would take")),
    *_each("index", ["roads.hush", "-o", "i.hushx", "--partition", "?"], *UNWRITABLE, ("i.hushx", "name two files"),
           ("roads.hush", "not a hushpath partition"), ("roads.csv", "damaged"), ("list.txt", "damaged")),
    *_each("page", ["?", "-o", "p.html"], *UNREADABLE),
    *_each("page", ["roads.hush", "-o", "p.html", "--verify", "?"], *UNVERIFIED),
    *_each("page", ["roads.hush", "-o", "?"], *UNWRITABLE, ("roads.hush", "is an input")),
    *_each("page", ["roads.hush", "-o", "p.html", "--confidence", "?"], ("2", "between 0 and 1"), ("x", NO_NUMBER)),
    *_each("page", ["roads.hush", "-o", "p.html", "--title", "?"], ("", "one line"), (NEWLINE, "one line"),
           (LONG, "one line")),
    *_each("page", ["roads.hush", "-o", "p.html", "--origin", "?"], ("zz", "no node"), ("", "no node")),
    (["page", "roads.hush", "-o", "p.html", "--period", "am"], "no periods"), (["page"], "Missing"),
    (["page", "roads.hush"], "Missing"), (["page", "roads.hush", "-o", "p.html", "--decoder", "zz"], "no decoder"),
    *_each("report", ["roads.csv", "?", "-o", "p.html"], *UNREADABLE),
    *_each("report", ["roads.csv", "roads.hush", "-o", "?"], *UNWRITABLE, ("roads.csv", "is an input"),
           ("roads.hush", "is an input")),
    *_each("report", ["?", "roads.hush", "-o", "p.html"], ("absent.csv", "No such file"), ("nan.csv", "row 1"),
           ("fifo.csv", "a pipe")),
    (["report", "roads.csv", "roads.hush", "-o", "p.html", "--directed"], "another topology"),
    (["report", "roads.csv", "roads.hush"], "Missing"), (["report"], "Missing"),
    *_each("report", ["roads.csv", "roads.hush", "-o", "list.txt", "?", "list.txt"], ("--edge-data", "is an input"),
           ("--trips", "is an input"), ("--nodes", "is an input")),
    *_each("release", ["roads.csv", "-o", "list.txt", "--force", "--epsilon", "1", "--unit", "1", "?", "list.txt"],
           ("--trips", "is an input"), ("--ledger", "is an input"), ("--edge-data", "is an input")),
    *_each("report", ["roads.csv", "roads.hush", "-o", "p.html", "--sources", "?"], ("0", "greater than")),
    *_option("--quantity", ("x" * 61, "short line"), (NEWLINE, "short line")),
    *_option("--in", (NEWLINE, "short line")),
    *_option("--date", ("x" * 61, "short line")),
    (["index", "table.hush"], "no index is needed"), (["evaluate"], "Missing"), (["evaluate", "roads.csv"], "Missing"),
    *_each("evaluate", ["?", "roads.hush"], ("absent.csv", "No such file"), ("nan.csv", "row 1"),
           ("fifo.csv", "a pipe"), ("roads.hush", "suffixes")),
    *_each("evaluate", ["roads.csv", "roads.hush", "--sources", "?"], ("0", "greater than"), ("x", "integer")),
    (["evaluate", "roads.csv", "roads.hush", "--weight", "zz"], "no column"),
    (["evaluate", "roads.csv", "roads.hush", "--directed"], "another topology"),
    *_each("keygen", ["?"], ("", "names no file"), ("dir/", "names no file"), ("me", "never overwritten"),
           ("no/such", "No such file"), (LONG, "too long"), ("roads.csv/x", "Not a directory")),
    (["keygen"], "Missing"),
    *_each("demo", ["--out", "?"], ("roads.csv", "File exists"), ("roads.csv/x", "Not a directory"), ("loop", "exists"),
           (LONG, "too long")),
    (["demo", "extra"], "unexpected"),
    *_each("lab", ["--quick", "--out", "?"], ("roads.csv", "File exists"), (LONG, "too long")),
    *_each("lab", ["--quick", "--out", "lab", "--network", "?"], ("absent.csv", "No such file"), ("bin.csv", "UTF-8"),
           ("bad.graphml", "bad.graphml"), ("fifo.csv", "a pipe"), ("dir", "a folder")),
    *_each("lab", ["--quick", "--out", "lab", "--jobs", "?"], ("0", "greater"), ("99", "less than"), ("x", "integer")),
    (["lab", "--quick", "--out", "lab", "--mechanism", "zz"], "no mechanism"),
    (["lab", "--quick", "--out", "lab", "--class", "zz"], "network class"),
    (["lab", "--quick", "--out", "lab", "--seed", "-1"], "seed must"),
    (["lab", "--quick", "--out", "lab", "--network", "roads.csv", "--weight", "zz"], "no column"),
    (["lab", "--quick", "--out", "lab", "--network", "roads.csv", "--network", "roads.csv"], "unique"),
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


def test_there_are_hundreds_over_every_verb():
    from hushpath.cli.app import app

    assert len(MISTAKES) >= 300
    assert {command.name for command in app.registered_commands} <= {arguments[0] for arguments, _ in MISTAKES}


@pytest.mark.parametrize("mistake", MISTAKES, ids=_shown)
def test_a_mistake_gets_one_clear_line(folder, capsys, mistake):
    arguments, says = mistake
    before = _state(folder)
    code = run(arguments)
    after = _state(folder)
    (folder / "new.hush").unlink(missing_ok=True)  # one failure should not make the next tests fail
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


@pytest.mark.parametrize("mistake", [m for m in MISTAKES if m[0][0] != "lab"][::4], ids=_shown)
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
