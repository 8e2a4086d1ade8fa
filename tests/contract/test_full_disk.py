"""A disk that fills up: one clear line, the old file as it was, and nothing half-written.

The system itself refuses to let files grow (RLIMIT_FSIZE), so every writer is met as it is: Python's, safetensors'
in Rust, Arrow's in C++ and a memory map.  Its reason is then "File too large"; a full disk takes the same road.
"""

import contextlib
import os
import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest
from named_graphs import grid_ends

from hushpath.cli import run
from hushpath.errors import CannotError, OptionError
from hushpath.io.folders import check_new_folder, new_folder

RELEASE = ["release", "roads.csv", "--epsilon", "1", "--unit", "1", "--mechanism", "input", "-o"]
WRITES = {
    "new.hush": [*RELEASE, "new.hush"],
    "signed.hush": [*RELEASE, "signed.hush", "--sign", "me.key"],
    "i.hushx": ["index", "r.hush", "-o", "i.hushx"],
    "m.npy": ["matrix", "r.hush", "-o", "m.npy"],
    "m.csv": ["matrix", "r.hush", "-o", "m.csv"],
    "m.parquet": ["matrix", "r.hush", "-o", "m.parquet"],
    "l.csv": ["matrix", "r.hush", "-o", "l.csv", "--long"],
    "l.parquet": ["matrix", "r.hush", "-o", "l.parquet", "--long"],
    "e.omx": ["export", "r.hush", "--to", "omx", "-o", "e.omx"],
    "k.key": ["keygen", "k"],
}
pytestmark = pytest.mark.usefixtures("quick_module")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("disk")
    weights = np.random.default_rng(0).uniform(2, 9, 1000)
    rows = [f"n{a},n{b},{w}" for (a, b), w in zip(grid_ends(12, 12).tolist(), weights, strict=False)]
    (place / "roads.csv").write_text("source,target,weight\n" + "\n".join(rows) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for command in (["keygen", "me"], [*RELEASE, "r.hush"], *WRITES.values()):  # also compiles every kernel
            assert run(command) == 0
        for name in (*WRITES, "signed.hush.sig", "k.pub"):
            os.unlink(name)
        yield place


@contextlib.contextmanager
def no_file_larger_than(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("old", [None, b"as it was"], ids=["new", "over an old file"])
@pytest.mark.parametrize("size", [20, 3000], ids=["at once", "in the middle"])
@pytest.mark.parametrize("name", WRITES)
def test_one_line_and_nothing_left(folder, capsys, name, size, old):
    if name == "k.key" and (old or size > 20):
        pytest.skip("a key is small and never overwritten")
    if old:
        (folder / name).write_bytes(old)
    before = sorted(os.listdir())
    command = [*WRITES[name], *(["--force"] if name.endswith(".hush") else [])]
    with no_file_larger_than(size):
        code = run(command)
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err.startswith(f"hushpath: cannot write {name}: ")
    assert err.count("\n") == 1
    assert err.endswith(": File too large\n")
    assert sorted(os.listdir()) == before
    if old:
        assert (folder / name).read_bytes() == old
        os.unlink(name)


@pytest.mark.parametrize("size", [20, 3000], ids=["at once", "in the middle"])
def test_a_folder_is_there_complete_or_not_at_all(folder, size):
    def write(length):
        with new_folder("new") as temporary:
            (temporary / "small.csv").write_bytes(b"1")
            (temporary / "large.csv").write_bytes(bytes(length))

    before = sorted(os.listdir())
    with no_file_larger_than(size), pytest.raises(CannotError, match="cannot write new: File too large"):
        write(4000)
    assert sorted(os.listdir()) == before
    write(10)
    assert len(os.listdir("new")) == 2
    assert os.stat("new").st_mode & 0o077
    with pytest.raises(OptionError):  # a folder is never written over
        check_new_folder("new")
    shutil.rmtree("new")


@pytest.mark.parametrize("size", [20, 3000], ids=["at once", "in the middle"])
def test_a_part_is_there_complete_or_not_at_all(folder, capsys, size):
    with no_file_larger_than(size):
        code = run(["matrix", "r.hush", "-o", "parts"])
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err == "hushpath: cannot write parts/rows/part-00000.parquet: File too large\n"
    assert [name for _, _, names in os.walk("parts") for name in names] == []
    shutil.rmtree("parts")


@pytest.mark.parametrize("size", [2000, 9000, 60_000])
def test_a_disk_that_fills_up_while_hdf5_writes(folder, capsys, monkeypatch, size):
    """HDF5 says nothing, so what was written is read again."""
    monkeypatch.setattr(
        "hushpath.output.formats.omx.reserve_space", lambda path, need: None
    )  # the space was there when it was asked
    before = sorted(os.listdir())
    with no_file_larger_than(size):
        code = run(["export", "r.hush", "--to", "omx", "-o", "late.omx"])
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err.startswith("hushpath: cannot write late.omx: ")
    assert err.count("\n") == 1
    assert sorted(os.listdir()) == before


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("unshare"), reason="needs a disk of its own")
def test_a_disk_that_is_really_full(folder, tmp_path):
    """A file system of 32 kB, seen by this one process only."""
    mounted = f"mount -t tmpfs -o size=32k none {tmp_path} && head -c 24k /dev/zero > {tmp_path}/x"
    # The disk may also fill up after it was asked how much is free; a memory map would then end the process.
    late = "import shutil; shutil.disk_usage = lambda path: shutil._ntuple_diskusage(10**15, 0, 10**15)"
    (tmp_path.parent / "late.py").write_text(f"{late}\nfrom hushpath.cli import main\nmain()\n")
    for name in ("m.npy", "late.npy", "m.csv", "m.parquet", "m.hushx", "r.hush"):
        verb = {"m.hushx": "index r.hush -o", "r.hush": " ".join(RELEASE)}.get(name, "matrix r.hush -o")
        program = f"{tmp_path.parent}/late.py" if name == "late.npy" else "-m hushpath"
        line = f"{mounted} && {sys.executable} {program} {verb} {tmp_path}/{name}; echo $?; ls -A {tmp_path}"
        done = subprocess.run(["unshare", "--mount", "sh", "-c", line], capture_output=True, text=True)
        if "mount" in done.stderr or "unshare" in done.stderr:
            pytest.skip("not allowed to mount")
        assert done.stdout.split() == ["1", "x"], done
        assert done.stderr.startswith("hushpath: ")
        assert done.stderr.count("\n") == 1
        assert "internal" not in done.stderr
