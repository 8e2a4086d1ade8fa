"""Tests that may fail by chance say how rarely, and together they do so at most once in a thousand runs."""

from pathlib import Path

import numpy as np
import pytest

from hushpath.noise import Law, make_sampler

SCALES = np.full(20, 10**9)
MOST = 1e-3
# Tests that start Python in a process of its own, which no mark reaches, and why its noise makes none of them fail.
NONE, KEYED = "draws no noise", "draws from a key or a seed"
STARTED = {
    "contract/test_architecture.py": NONE,
    "contract/test_cli.py": "releases that are interrupted, and a seeded one",
    "contract/test_cold_start.py": NONE,
    "contract/test_containers.py": NONE,
    "contract/test_examples.py": KEYED,
    "contract/test_extending.py": KEYED,
    "contract/test_full_disk.py": "a release that finds no room for its file",
    "contract/test_mistakes.py": NONE,
    "contract/test_mypy.py": NONE,
    "contract/test_optimised.py": "what is measured is not looked at",
    "contract/test_packaging.py": KEYED,
    "contract/test_series_killed.py": "what is charged, written and said does not depend on the noise",
    "contract/test_site.py": NONE,
    "contract/test_trips_public.py": "interrupted before anything is drawn",
    "fuzz/test_fuzz.py": KEYED,
    "unit/test_cache_folders.py": NONE,
    "unit/test_compiled.py": NONE,
    "unit/test_file_bombs.py": NONE,
    "unit/test_ledger.py": "what is charged and written does not depend on the noise",
    "unit/test_noise_door.py": NONE,
}


def draws(choice):
    return make_sampler(choice, size=20).draw(Law.LAPLACE, SCALES).tolist()


def test_false_alarms_are_rarer_than_one_run_in_a_thousand(noise_rates):
    for test, mark in noise_rates.items():
        assert set(mark) <= {"rate", "reason"}, test
        assert 0 <= mark["rate"] <= 1e-4, test
        assert mark["rate"] > 0 or mark.get("reason"), f"{test}: say why no draw of noise makes it fail"
    assert sum(mark["rate"] for mark in noise_rates.values()) <= MOST


def test_every_process_that_a_test_starts_is_known():
    tests = Path(__file__).parents[1]
    started = {p.relative_to(tests).as_posix() for p in tests.rglob("test_*.py") if "sys.executable" in p.read_text()}
    assert started - {"contract/test_noise_marks.py"} == set(STARTED)


@pytest.mark.parametrize("choice", ["vector", "auto"])
def test_noise_is_repeated_without_the_mark(choice, keys, request):
    assert keys.name == request.node.nodeid
    with keys.named("the same"):
        one = draws(choice)
    with keys.named("the same"):
        assert draws(choice) == one
        assert draws(choice) != one  # the next key
    assert draws(choice) != one


@pytest.mark.noise(rate=1e-9)  # twenty draws of scale 10**9 are the same again with probability below (10**-9)**20
@pytest.mark.parametrize("choice", ["vector", "auto"])
def test_noise_is_fresh_with_the_mark(choice, keys):
    assert keys.name is None
    assert draws(choice) != draws(choice)
