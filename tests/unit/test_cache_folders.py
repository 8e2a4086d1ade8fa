"""Caches that other users can write to are not used: their files would be believed, or run."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from noisy_grid import grid

import hushpath
from hushpath import compiled
from hushpath.compiled import cache_problem
from hushpath.index import partition as dissection
from hushpath.index import registry as index_registry

DIGEST = "a" * 64
pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners and modes")
as_root = pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() != 0, reason="only root can give files away")


def closed(path):
    path.mkdir(mode=0o700)
    path.chmod(0o700)
    return path


def filled(path):
    """A folder of this user's own, with a file in a folder in it."""
    closed(path)
    closed(path / "inner")
    (path / "inner" / "file").write_text("[]")
    (path / "inner" / "file").chmod(0o600)
    return path


def test_a_folder_of_ones_own_is_used(tmp_path):
    assert cache_problem(filled(tmp_path / "cache")) == ""
    assert cache_problem(tmp_path / "missing" / "deep") == ""
    (tmp_path / "link").symlink_to(tmp_path / "cache")
    assert cache_problem(tmp_path / "link") == ""
    (tmp_path / "cache" / "inner" / "file").chmod(0o666)
    assert cache_problem(tmp_path / "cache") == ""  # nobody else gets as far as that file


OPEN = {
    "group": lambda cache: cache.chmod(0o770), "others": lambda cache: cache.chmod(0o707),
    "sticky": lambda cache: cache.chmod(0o1777), "above": lambda cache: cache.parent.chmod(0o777),
    "inner folder": lambda cache: (cache.chmod(0o755), (cache / "inner").chmod(0o775)),
    "inner file": lambda cache: (cache.chmod(0o711), (cache / "inner" / "file").chmod(0o606)),
}  # fmt: skip
FOREIGN = {
    "itself": lambda cache: os.chown(cache, 12345, -1),
    "inner folder": lambda cache: os.chown(cache / "inner", 12345, -1),
    "inner file": lambda cache: os.chown(cache / "inner" / "file", 12345, -1),
    "above": lambda cache: os.chown(cache.parent, 12345, -1),
}  # fmt: skip


@pytest.fixture
def cache(tmp_path):
    made = filled(closed(tmp_path / "above") / "cache")
    assert cache_problem(made) == ""
    return made


@pytest.mark.parametrize("how", OPEN)
@pytest.mark.parametrize("through_link", [False, True])
def test_a_folder_that_others_can_write_to_is_refused(cache, how, through_link, tmp_path):
    OPEN[how](cache)
    (tmp_path / "link").symlink_to(cache)
    assert cache_problem(tmp_path / "link" if through_link else cache) != ""


@as_root
@pytest.mark.parametrize("how", FOREIGN)
def test_a_folder_of_another_user_is_refused(cache, how):
    FOREIGN[how](cache)
    assert cache_problem(cache) != ""


@as_root
def test_a_link_of_another_user_is_refused(cache, tmp_path):
    (tmp_path / "link").symlink_to(cache)
    os.lchown(tmp_path / "link", 12345, -1)
    assert cache_problem(tmp_path / "link") != ""


def test_a_sticky_folder_above_is_no_danger(cache):
    cache.parent.chmod(0o1777)
    assert cache_problem(cache) == ""
    assert cache_problem(cache.parent / "missing") == ""


# --- records of indexes


@pytest.fixture
def records(tmp_path, monkeypatch):
    monkeypatch.setenv("HUSHPATH_CACHE", str(tmp_path / "records"))
    assert index_registry.remember(DIGEST, [1, 2])
    return tmp_path / "records"


def test_records_are_made_for_this_user_alone(records):
    before = os.umask(0)
    try:
        assert index_registry.remember("b" * 64, [])
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (records, records / "indexes")} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (records / "indexes").iterdir()} == {0o600}
    assert index_registry.recall(DIGEST) == [1, 2]


def open_file(records):
    for path in (records, records / "indexes"):
        path.chmod(0o755)
    (records / "indexes" / DIGEST).chmod(0o666)


def open_inner(records):
    records.chmod(0o755)
    (records / "indexes").chmod(0o777)


@pytest.mark.parametrize("how", [lambda records: records.chmod(0o777), open_inner, open_file])
def test_records_that_others_can_write_are_neither_read_nor_written(records, how):
    how(records)
    with pytest.warns(hushpath.HushpathWarning, match="HUSHPATH_CACHE"):
        assert index_registry.recall(DIGEST) is None
    with pytest.warns(hushpath.HushpathWarning, match="HUSHPATH_CACHE"):
        assert not index_registry.remember("c" * 64, [])
    assert not (records / "indexes" / ("c" * 64)).exists()


@as_root
def test_records_of_another_user_are_not_read(records):
    os.chown(records / "indexes" / DIGEST, 12345, -1)
    with pytest.warns(hushpath.HushpathWarning, match="another user"):
        assert index_registry.recall(DIGEST) is None


def test_an_index_that_others_could_have_vouched_for_is_not_used(tmp_path, records):
    rel = hushpath.release(grid(5), epsilon=1.0, unit=1.0, max_weight=9.0, mechanism="input")
    rel.save(tmp_path / "r.hush", index=True)
    assert hushpath.load(tmp_path / "r.hush").index is not None
    records.chmod(0o777)
    with pytest.warns(hushpath.HushpathWarning) as told:
        assert hushpath.load(tmp_path / "r.hush").index is None
    assert any("HUSHPATH_CACHE" in str(one.message) for one in told)


def test_a_cut_that_others_could_have_made_is_not_used(tmp_path, records, monkeypatch):
    monkeypatch.setattr(dissection, "KEPT_FROM", 1)
    topology = grid(6).topology
    dissection.partition.__wrapped__(topology)
    (kept,) = (records / "partitions").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    loaded = []
    monkeypatch.setattr(dissection.Partition, "load", lambda *given: loaded.append(given))
    dissection.partition.__wrapped__(topology)
    assert len(loaded) == 1
    records.chmod(0o777)
    kept.unlink()
    with pytest.warns(hushpath.HushpathWarning, match="HUSHPATH_CACHE"):
        dissection.partition.__wrapped__(topology)
    assert len(loaded) == 1
    assert not kept.exists()


# --- compiled kernels


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Settle anew, with a temporary folder and a cache folder of the test's own; return what is told to numba."""
    for name in ("tmp", "home"):
        closed(tmp_path / name)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(compiled, "_refused", [])
    monkeypatch.setattr(compiled, "_uncached", False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", "")

    def settle(package=Path(os.devnull), **named):
        for name, value in named.items():
            monkeypatch.setenv(name, str(value))
        compiled.choose_cache_folder(Path(package))
        return os.environ.get("NUMBA_CACHE_DIR")

    return settle


def test_a_named_folder_for_kernels_must_be_ones_own(fresh, cache, tmp_path):
    assert fresh(NUMBA_CACHE_DIR=cache) == str(cache)
    cache.chmod(0o777)
    used = Path(fresh(NUMBA_CACHE_DIR=cache))
    assert used.parent == tmp_path / "tmp"
    assert stat.S_IMODE(used.stat().st_mode) == 0o700
    with pytest.warns(hushpath.HushpathWarning, match="NUMBA_CACHE_DIR"):
        compiled._warn_about_refused()


@as_root
def test_a_named_folder_of_another_user_is_refused_even_if_it_cannot_be_written(fresh, cache, monkeypatch):
    """What lies in it may be open: numba looks for a folder of a name that everybody knows."""
    os.chown(cache, 12345, -1)
    monkeypatch.setattr(compiled, "_writable", lambda folder: not Path(folder).is_relative_to(cache))
    assert fresh(NUMBA_CACHE_DIR=cache) != str(cache)


def test_a_link_that_leads_nowhere_is_no_trouble(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert cache_problem(tmp_path / "loop") == ""


def test_a_named_folder_is_not_replaced_by_numbas_own_choice(fresh, cache):
    """Even where kernels could be kept beside the source: numba would read the folder that is named."""
    cache.chmod(0o777)
    assert fresh(Path(hushpath.__file__).parent, NUMBA_CACHE_DIR=cache) != str(cache)


def test_the_users_cache_folder_must_be_ones_own(fresh, tmp_path):
    assert fresh() is None
    closed(tmp_path / "home" / "numba").chmod(0o777)
    assert Path(fresh()).parent == tmp_path / "tmp"


def test_without_any_folder_of_ones_own_nothing_is_kept(fresh, cache, tmp_path):
    cache.chmod(0o777)
    (tmp_path / "tmp").chmod(0o777)
    fresh(NUMBA_CACHE_DIR=cache)
    assert compiled._uncached
    twice = compiled.njit(cache=True)(lambda x: 2 * x)
    with pytest.warns(hushpath.HushpathWarning, match="no cache"):
        assert twice(4) == 8
    assert not list((tmp_path / "tmp").rglob("*.nbi"))


@as_root
def test_a_temporary_folder_with_a_file_of_another_user_is_not_used(fresh, tmp_path):
    planted = filled(tmp_path / "tmp" / f"hushpath-numba-{os.getuid()}")
    os.chown(planted / "inner" / "file", 12345, -1)
    cache = closed(tmp_path / "open")
    cache.chmod(0o777)
    assert Path(fresh(NUMBA_CACHE_DIR=cache)) != planted


def test_the_command_says_it_in_one_line(tmp_path):
    """And reads nothing there: the real thing, in a process of its own."""
    hushpath.release(grid(3), epsilon=1.0, unit=1.0, max_weight=9.0, mechanism="input").save(tmp_path / "r.hush")
    planted = closed(tmp_path / "planted")
    planted.chmod(0o777)
    code = "import hushpath.kernels.queries, os, sys; print(os.environ['NUMBA_CACHE_DIR'])"
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(planted), "TMPDIR": str(closed(tmp_path / "tmp"))}
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).parent == tmp_path / "tmp"
    assert list(planted.iterdir()) == []
