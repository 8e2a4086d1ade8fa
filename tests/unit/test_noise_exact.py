"""The compiled kernels are the reference algorithms, word for word and for every buffer size."""

from fractions import Fraction
from pathlib import Path

import noise_reference as reference
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noise_reference import draw_reference

from hushpath.noise import MAX_SCALE, Law, exact, pmf
from hushpath.noise.vector import Keystream, VectorSampler

SCALES = [0, 1, 2, 3, 7, 1000, 2**30, 2**31 - 1, 2**45, MAX_SCALE - 1, MAX_SCALE]
MIXED = np.resize(np.array(SCALES), 3000)
U64 = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize("law", Law)
def test_twins_agree_on_a_keystream(law):
    words = Keystream(seed=11).read(200_000).tolist()
    fast = VectorSampler(Keystream(seed=11)).draw(law, MIXED)
    assert fast.tolist() == draw_reference(law, MIXED, words)


@pytest.mark.parametrize("law", Law)
@settings(max_examples=150, deadline=None)
@given(extremes=st.lists(st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]) | U64, max_size=40))
def test_twins_agree_on_words_that_chance_would_never_bring(law, extremes):
    """Zeros trigger Lemire's rejection and long series, which a keystream hardly ever shows."""
    tail = Keystream(seed=3).read(5000)
    words = np.concatenate([np.array(extremes, dtype=np.uint64), tail])
    scales = np.array(SCALES)
    out = np.empty_like(scales)
    done, used = exact.fill(law is Law.GAUSSIAN, scales, out, 0, words)
    assert done == len(scales)
    consumed = iter(words[:used].tolist())
    assert out.tolist() == draw_reference(law, scales, consumed)
    assert next(consumed, None) is None  # and they read the same number of words


@pytest.mark.parametrize("law", Law)
@pytest.mark.parametrize("chunk", [1, 2, 3, 17, 1000])
def test_the_draw_is_independent_of_the_buffer(law, chunk):
    """Small chunks end inside nearly every value; restarting on fresh words would show here at once."""
    expected = VectorSampler(Keystream(seed=2)).draw(law, MIXED[:500])
    assert np.array_equal(VectorSampler(Keystream(seed=2), chunk=chunk).draw(law, MIXED[:500]), expected)


def test_the_draw_is_independent_of_its_division_into_calls():
    expected = VectorSampler(Keystream(seed=2)).draw(Law.GAUSSIAN, MIXED)
    sampler = VectorSampler(Keystream(seed=2))
    parts = [sampler.draw(Law.GAUSSIAN, part) for part in np.split(MIXED, [1, 2, 40, 41, 2000])]
    assert np.array_equal(np.concatenate(parts), expected)


@pytest.mark.parametrize("law", Law)
def test_words_that_run_out_end_the_kernel_and_are_not_used(law):
    """Every prefix of a stream gives a prefix of the values, and an honest count of the words used."""
    words, scales = Keystream(seed=8).read(300), np.array(SCALES)
    whole = np.empty_like(scales)
    exact.fill(law is Law.GAUSSIAN, scales, whole, 0, words)
    for length in range(len(words)):
        out = np.full_like(scales, -999)
        done, used = exact.fill(law is Law.GAUSSIAN, scales, out, 0, words[:length])
        assert used <= length
        assert out[:done].tolist() == whole[:done].tolist()
        assert (out[done:] == -999).all()


@given(x=U64, y=U64)
def test_multiply_is_the_128_bit_product(x, y):
    high, low = exact.multiply(np.uint64(x), np.uint64(y))
    assert (int(high), int(low)) == divmod(x * y, 2**64)


@given(y=st.integers(0, 2**62), s=st.integers(1, MAX_SCALE))
def test_the_gaussian_exponent_splits_as_the_proof_says(y, s):
    z = abs(y - s)
    q, r = divmod(z, s)
    parts = [Fraction(q * q, 2), q * Fraction(r, s), Fraction(r, s) * Fraction(r, 2 * s)]
    assert sum(parts) == Fraction(z * z, 2 * s * s)
    # and the acceptance is target / proposal up to a constant: exp(-y²/2s²) / exp(-y/s) = exp(1/2 - sum)
    assert Fraction(1, 2) - sum(parts) == Fraction(y, s) - Fraction(y * y, 2 * s * s)


class TooUnlikely(Exception):
    """A course below the cutoff."""


class Tree:
    """Walks every course the reference can take, in place of random words, with its probability."""

    def __init__(self, cutoff):
        self.cutoff, self.path, self.lost = cutoff, [], 0.0

    def branch(self, chances):
        if self.depth == len(self.path):
            self.path.append(0)
        turn = self.path[self.depth]
        self.widths[self.depth :] = [len(chances)]
        self.depth += 1
        self.weight *= chances[turn]
        if self.weight < self.cutoff:
            raise TooUnlikely
        return turn

    def __next__(self):
        return 2**63 * self.branch([0.5, 0.5])

    def masses(self, run):
        masses = {}
        while True:
            self.depth, self.weight, self.widths = 0, 1.0, []
            try:
                value = run(self)
                masses[value] = masses.get(value, 0) + self.weight
            except TooUnlikely:
                self.lost += self.weight
            del self.path[self.depth :]
            while self.path and self.path[-1] == self.widths[len(self.path) - 1] - 1:
                self.path.pop()
            if not self.path:
                return masses
            self.path[-1] += 1


@pytest.fixture
def tree(monkeypatch):
    """A tree wired into the reference: uniform draws and Bernoullis become branchings."""
    monkeypatch.setattr(reference, "_below", lambda tree, n: tree.branch([1 / n] * n))

    def chance(tree, a, b):
        return a == b if a in (0, b) else tree.branch([a / b, 1 - a / b]) == 0

    monkeypatch.setattr(reference, "_chance", chance)
    return Tree(cutoff=1e-6)


@pytest.mark.parametrize("factors", [(0, 5, 1, 1), (1, 1, 1, 1), (1, 2, 1, 1), (3, 7, 1, 1), (6, 7, 6, 14)])
def test_the_series_gives_exp_minus_g_by_exhaustion(tree, factors):
    a, b, c, d = factors
    masses = tree.masses(lambda words: reference._exp_minus(words, a, b, c, d))
    assert masses[True] == pytest.approx(np.exp(-a * c / (b * d)), abs=1e-5)
    assert sum(masses.values()) + tree.lost == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("scale", [1, 2])
def test_the_laplace_reference_has_its_law_by_exhaustion(tree, scale):
    """No sampling: the probabilities of all courses, added up, bracket the mass of each value."""
    masses = tree.masses(lambda words: reference._laplace(words, scale))
    assert sum(masses.values()) + tree.lost == pytest.approx(1, abs=1e-9)
    assert tree.lost < 0.03  # courses too unlikely to follow
    x = np.array(sorted(masses))
    found, true = np.array([masses[i] for i in x]), pmf(Law.LAPLACE, scale, x)
    assert (found <= true + 1e-12).all()
    assert (true <= found + tree.lost).all()


@pytest.mark.parametrize("scale", [1, 3, 7])
def test_the_gaussian_reference_turns_laplace_into_gaussian_by_exhaustion(tree, scale, monkeypatch):
    """One proposal from the exact Laplace law; what is accepted has Gaussian proportions."""
    support = np.arange(-8 * scale, 8 * scale + 1)
    proposal = pmf(Law.LAPLACE, scale, support)
    tree.cutoff = 1e-7

    def propose(tree, s):
        if tree.depth > 0:
            raise TooUnlikely  # a second proposal would only repeat the proportions of the first
        return int(support[tree.branch(proposal.tolist())])

    monkeypatch.setattr(reference, "_laplace", propose)
    masses = tree.masses(lambda words: reference._gaussian(words, scale))
    accepted = np.array([masses.get(i, 0.0) for i in support.tolist()])
    target = pmf(Law.GAUSSIAN, scale, support)
    rate = np.exp(-1 / 2) * (proposal / target)[support == 0].item()  # accepted at 0 over share of 0
    np.testing.assert_allclose(accepted, rate * target, atol=2e-4)
    assert tree.lost == pytest.approx(1 - rate, abs=1e-3)


def test_largest_scale_with_the_longest_geometric_run_stays_in_int64():
    assert (MAX_SCALE - 1) + MAX_SCALE * exact.MOST_TURNS < 2**63


@pytest.mark.parametrize("turns", [1, 25, 400, 2046])
def test_tails_are_drawn_as_far_as_they_go(turns):
    """Words that chance would never bring: U = 0, so many turns, and a sign.  Noise must reach 2046 scales out."""
    success, failure = [0, 2**64 - 1], [2**64 - 1]  # of exp(-1): the first failure at k = 3, or at k = 2
    words = np.array([0] + success * turns + failure + [2**63], np.uint64)
    out = np.zeros(1, np.int64)
    assert tuple(exact.fill(False, np.array([MAX_SCALE]), out, 0, words)) == (1, len(words))
    assert out.tolist() == reference.draw_reference(Law.LAPLACE, [MAX_SCALE], words.tolist()) == [turns * MAX_SCALE]


def code_of(source, monkeypatch):
    """LLVM code of every function of a kernel module, compiled anew (cached functions do not keep theirs)."""
    with monkeypatch.context() as patch:
        cached = numba.njit
        patch.setattr(numba, "njit", lambda **options: cached(**{**options, "cache": False}))
        module = {"__name__": "fresh_kernels"}
        exec(compile(source, "fresh_kernels", "exec"), module)
    for gaussian in (False, True):
        module["fill"](gaussian, np.array([3]), np.zeros(1, np.int64), 0, Keystream(seed=0).read(100))
    dispatchers = {name: thing for name, thing in module.items() if hasattr(thing, "inspect_llvm")}
    return {name: "".join(thing.inspect_llvm().values()) for name, thing in dispatchers.items()}


def test_no_float_is_formed_in_the_compiled_code(monkeypatch):
    """One stray division would do it, and no test of a few million draws would notice: read the code."""
    source = Path(exact.__file__).read_text(encoding="utf-8")
    code = code_of(source, monkeypatch)
    assert len(code) == source.count("@_compiled") == 8
    assert all("define" in text for text in code.values())
    assert [name for name, text in code.items() if "double" in text or "float" in text] == []


def test_a_planted_float_is_found(monkeypatch):
    source = Path(exact.__file__).read_text(encoding="utf-8")
    planted = source.replace("q = z // s", "q = int(z / s)")
    assert planted != source
    assert "double" in code_of(planted, monkeypatch)["_gaussian"]
