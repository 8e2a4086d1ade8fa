"""The one door: who is chosen, what is refused, what is never repeated, and that no other door exists."""

import ast
import copy
import multiprocessing
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import hushpath.noise
from hushpath.errors import CannotError, OptionError
from hushpath.noise import MAX_SCALE, Law, make_sampler, simulation
from hushpath.noise.samplers import OPENDP_LIMIT
from hushpath.noise.vector import Keystream, VectorSampler

# The likeliest false alarm: two of 100 draws of scale 2**40 are equal, 4950 / 2**41.
pytestmark = pytest.mark.noise(rate=3e-9)
SOURCES = Path(hushpath.noise.__file__).parents[1]
WIDE = np.full(50, 2**40)  # two independent draws agree with chance below 1e-600

CHOICES = [
    # choice, seed, size -> name, private
    ("auto", None, OPENDP_LIMIT, "opendp", True),
    ("auto", None, OPENDP_LIMIT + 1, "vector", True),
    ("opendp", None, 10**9, "opendp", True),
    ("vector", None, 1, "vector", True),
    ("auto", 0, 1, "vector-seeded", False),
    ("vector", 7, 10**9, "vector-seeded", False),
]
SAMPLERS = {
    "opendp": lambda: make_sampler("opendp", size=0),
    "vector": lambda: make_sampler("vector", size=0),
    "seeded": lambda: make_sampler("vector", seed=1, size=0),
}
every_sampler = pytest.mark.parametrize("make", SAMPLERS.values(), ids=SAMPLERS)
every_law = pytest.mark.parametrize("law", Law)


@pytest.mark.parametrize(("choice", "seed", "size", "name", "private"), CHOICES)
def test_the_table_of_choices(choice, seed, size, name, private):
    sampler = make_sampler(choice, seed=seed, size=size)
    assert (sampler.name, sampler.private) == (name, private)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(choice="opendp", seed=3, size=1), "seed"),
        (dict(choice="numpy", size=1), "sampler"),
        (dict(choice="auto", size=-1), "size"),
    ],
)
def test_refusals_are_one_clear_line(arguments, message):
    with pytest.raises(OptionError, match=message) as caught:
        make_sampler(**arguments)
    assert "\n" not in str(caught.value)


@every_sampler
@every_law
@pytest.mark.parametrize("bad", [[-1], [1, MAX_SCALE + 1], [1.0], [True], [2**63]])
def test_bad_scales_are_refused_in_one_line(make, law, bad):
    with pytest.raises(OptionError) as caught:
        make().draw(law, np.array(bad))
    assert "\n" not in str(caught.value)


@every_sampler
def test_an_unknown_law_is_refused(make):
    with pytest.raises(ValueError, match="cauchy"):
        make().draw("cauchy", WIDE)


@every_sampler
@every_law
def test_scale_zero_is_no_noise_and_shapes_are_kept(make, law):
    scales = np.array([[0, 2**40, 0], [2**40, 0, MAX_SCALE]])
    noise = make().draw(law, scales)
    assert noise.dtype == np.int64
    assert ((noise == 0) == (scales == 0)).all()
    assert make().draw(law, np.zeros(1000, np.int64)).tolist() == [0] * 1000
    assert make().draw(law, np.empty(0, np.int64)).size == 0


@every_sampler
@every_law
def test_consecutive_draws_never_repeat(make, law):
    sampler = make()
    first, second = sampler.draw(law, WIDE), sampler.draw(law, WIDE)
    assert len(np.unique(np.concatenate([first, second]))) == 100


@pytest.mark.parametrize("choice", ["opendp", "vector"])
def test_unseeded_samplers_differ(choice):
    one, two = (make_sampler(choice, size=50).draw(Law.LAPLACE, WIDE) for _ in range(2))
    assert not np.array_equal(one, two)


def test_a_seed_reproduces_and_another_does_not():
    one, same, other = (make_sampler(seed=s, size=50).draw(Law.GAUSSIAN, WIDE) for s in (4, 4, 5))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_seeded_values_are_pinned():
    """Files written by seeded tests elsewhere rely on these; change them only with the release format."""
    draw = make_sampler(seed=2024, size=5).draw
    assert draw(Law.LAPLACE, np.full(5, 1000)).tolist() == [778, -34, -324, -2537, 862]


class SlowStream(Keystream):
    """Gives other threads every occasion to step in between."""

    def read(self, count):
        time.sleep(0.001)
        words = super().read(count)
        time.sleep(0.001)
        return words


def test_threads_share_a_sampler_without_sharing_words():
    sampler = VectorSampler(SlowStream(seed=1), chunk=500)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda _: sampler.draw(Law.LAPLACE, np.full(500, MAX_SCALE)), range(8)))
    alone = VectorSampler(Keystream(seed=1)).draw(Law.LAPLACE, np.full(4000, MAX_SCALE))
    assert np.array_equal(np.sort(np.concatenate(parts)), np.sort(alone))


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps, lambda s: copy.deepcopy({"in": [s]})])
def test_a_vector_sampler_is_not_duplicated(duplicate, seed):
    """A copy would read the left-over words again: the same noise twice."""
    sampler = VectorSampler(Keystream(seed=seed))
    sampler.draw(Law.LAPLACE, WIDE)
    with pytest.raises(TypeError, match="would repeat its noise"):
        duplicate(sampler)


@pytest.mark.parametrize("choice", ["opendp", "vector"])
def test_one_sampler_for_two_releases_draws_afresh(choice):
    sampler = make_sampler(choice, size=50)
    assert not np.array_equal(sampler.draw(Law.LAPLACE, WIDE), sampler.draw(Law.LAPLACE, WIDE))


def test_nothing_of_an_opendp_sampler_is_worth_copying():
    """It holds no state: a copy draws from the operating system, as the original does."""
    sampler = make_sampler("opendp", size=50)
    assert vars(sampler) == {}
    assert not np.array_equal(copy.copy(sampler).draw(Law.LAPLACE, WIDE), sampler.draw(Law.LAPLACE, WIDE))


@pytest.mark.parametrize("law", list(Law))
def test_opendp_clamps_noise_at_the_ends_of_64_bits(law):
    """What docs/proofs/noise.md relies on, shown at a scale we never allow.  False alarm: 0.94**400 < 1e-10."""
    from hushpath.noise.samplers import _make_measurement

    scale = 2**62 if law is Law.LAPLACE else 2**63
    noise = np.asarray(_make_measurement(law, scale)(np.zeros(400, np.int64)))
    ends = np.iinfo(np.int64)
    assert noise.dtype == np.int64
    assert (noise == ends.max).sum() >= 1
    assert (noise == ends.min).sum() >= 1


def _in_fork(sampler, queue):
    try:
        sampler.draw(Law.LAPLACE, WIDE)
        queue.put("drew")
    except CannotError as error:
        queue.put(str(error))


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(("seed", "said"), [(None, "cannot cross a fork"), (1, "drew")])
def test_a_secret_sampler_refuses_to_work_in_a_forked_copy(seed, said):
    sampler = VectorSampler(Keystream(seed=seed))
    sampler.draw(Law.LAPLACE, WIDE)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_in_fork, args=(sampler, queue))
    child.start()
    child.join(60)
    assert said in queue.get()


def test_opendp_features_are_left_as_they_were():
    from opendp.mod import GLOBAL_FEATURES, disable_features, enable_features

    before = set(GLOBAL_FEATURES)
    try:
        for set_by_user in (disable_features, enable_features):
            set_by_user("contrib")
            as_user_left_it = set(GLOBAL_FEATURES)
            make_sampler("opendp", size=50).draw(Law.LAPLACE, WIDE)
            assert as_user_left_it == GLOBAL_FEATURES
    finally:
        GLOBAL_FEATURES.clear()
        GLOBAL_FEATURES.update(before)


def test_a_simulation_is_seeded_and_repeats():
    assert simulation(3).integers(2**62) == simulation(3).integers(2**62)
    with pytest.raises(OptionError, match="seed"):
        simulation(None)


def test_importing_the_door_loads_neither_numba_nor_opendp():
    code = "import sys, hushpath.noise; print(sorted({'numba', 'opendp', 'cryptography'} & set(sys.modules)))"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=SOURCES.parent)
    assert run.stdout.strip() == "[]"


def _randomness(tree):
    """Calls and imports that would be a second door."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in {"default_rng", "RandomState", "urandom"}:
            yield node.attr
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in {"random", "secrets"})
        elif isinstance(node, ast.ImportFrom) and node.module in {"random", "secrets", "numpy.random"}:
            yield node.module


def test_no_other_module_makes_randomness():
    doors = {
        f"{path.relative_to(SOURCES)}: {found}"
        for path in SOURCES.rglob("*.py")
        for found in _randomness(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert doors == {"noise/samplers.py: default_rng", "noise/vector.py: urandom"}


def test_the_search_for_doors_can_find_one():
    planted = "import secrets\nfrom random import gauss\nx = np.random.default_rng(0)\ny = os.urandom(4)"
    assert set(_randomness(ast.parse(planted))) == {"secrets", "random", "default_rng", "urandom"}
