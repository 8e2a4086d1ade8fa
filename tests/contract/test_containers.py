"""Where nothing beside the package and no home can be written: compiled kernels go to a folder of one's own."""

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import hushpath
from hushpath import compiled

PACKAGE = Path(hushpath.__file__).parent


@pytest.fixture
def container(tmp_path):
    """A copy of the package that cannot be written beside (the tests may run as root, whom no mode stops)."""
    shutil.copytree(PACKAGE, tmp_path / "site" / "hushpath", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [tmp_path / "site" / "hushpath", *(tmp_path / "site" / "hushpath").rglob("*/")]:
        if folder.is_dir():
            (folder / "__pycache__").write_text("not a folder")
    (tmp_path / "file").write_text("")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "cwd").mkdir()
    net = hushpath.Network.build(["a", "b", "c"], [0, 1], [1, 2], weights=[4.0, 6.0])
    hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input").save(tmp_path / "cwd" / "r.hush")
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT")}
    home = tmp_path / "file" / "home"  # below a file: nobody can make it, not even root
    settings = {"PYTHONPATH": tmp_path / "site", "HOME": home, "TMPDIR": tmp_path / "tmp"}
    return tmp_path, kept | {name: str(value) for name, value in settings.items()}


def hushpath_in(container, *arguments, **more):
    folder, environment = container
    command = [sys.executable, "-m", "hushpath", *arguments]
    done = subprocess.run(command, cwd=folder / "cwd", env=environment | more, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_a_read_only_package_without_a_home(container):
    folder, _ = container
    code, out, err = hushpath_in(container, "query", "r.hush", "a", "c")
    assert (code, err) == (0, "")
    assert float(out) >= 0
    (kept,) = (folder / "tmp").iterdir()
    assert kept.name == f"hushpath-numba-{os.getuid()}"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert list(kept.rglob("*.nbi"))  # the next run finds them
    assert sorted(p.name for p in (folder / "cwd").iterdir()) == ["r.hush"]  # and no folder called "~"


def test_a_folder_somebody_else_could_have_filled_is_not_used(container):
    """Its files would be run."""
    folder, _ = container
    planted = folder / "tmp" / f"hushpath-numba-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    code = "import numpy as np; from hushpath.kernels.search import hops_from as f; f(*np.array([[0, 1], [0, 1]]), 0)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder / "cwd", env=container[1], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(planted.iterdir()) == []
    assert list((folder / "tmp").iterdir()) == [planted]  # the one for this process is gone


def test_nowhere_to_write_is_one_line(container):
    """With every candidate of numba's and every temporary folder closed."""
    folder, _ = container
    code = "import sys; from hushpath.cli import run; sys.exit(run(['query', 'r.hush', 'a', 'c']))"
    start = "import tempfile\ndef no(*a, **k): raise OSError(30, 'Read-only file system')\n"
    start += "tempfile.gettempdir = tempfile.mkdtemp = no\n"
    command = [sys.executable, "-c", start + code]
    done = subprocess.run(command, cwd=folder / "cwd", env=container[1], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "hushpath: no folder can be written to; name one in TMPDIR or NUMBA_CACHE_DIR\n"


def test_what_numba_can_use_is_left_to_it(tmp_path, monkeypatch):
    monkeypatch.delenv(compiled.SETTING, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name in compiled.PACKAGES:
        (tmp_path / "package" / name).mkdir(parents=True)
    compiled.choose_cache_folder(tmp_path / "package")
    assert compiled.SETTING not in os.environ
    for name in compiled.PACKAGES:
        (tmp_path / "package" / name / "__pycache__").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiled.choose_cache_folder(tmp_path / "package")
    assert compiled.SETTING not in os.environ
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv(compiled.SETTING, str(tmp_path / "mine"))
    compiled.choose_cache_folder(tmp_path / "package")
    assert os.environ[compiled.SETTING] == str(tmp_path / "mine")


def test_every_folder_with_kernels_is_known():
    """Otherwise one of them could be closed while the others are open, and nobody would look."""
    uses = re.compile(r"^from \S+ import njit$|^import numba$", re.MULTILINE)
    files = [path for path in PACKAGE.rglob("*.py") if uses.search(path.read_text())]
    assert {path.parent.relative_to(PACKAGE).as_posix() for path in files} == set(compiled.PACKAGES)
