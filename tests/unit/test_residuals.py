"""What one noisy value says: kernels against integrals, for both laws, at and beyond bounds."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import laplace, norm

from hushpath.kernels.residuals import LOWEST_RUNG, RUNG_STEP, Prior, Seen, rung, sample, update

# A mixture whose standard deviations, those of the location (`SPREAD`) added, are on the ladder: then all is exact but
# for the width of cells.
LADDER = np.exp(np.arange(np.log(LOWEST_RUNG), np.log(5.0), RUNG_STEP))
SPREAD = 0.05
TOTAL = LADDER[[28, 36, 42]]
WIDTHS, CENTRES = np.sqrt(TOTAL**2 - SPREAD), np.array([0.0, 0.5, -0.7])
ENDS = np.arange(-9.005, 9.01, 0.01)
SHARES = np.array([[0.5, 0.3, 0.1, 0.1], [0.2, 0.2, 0.6, 0.0]])
MASS = np.stack([np.diff(ndtr((ENDS - centre) / LADDER[:, None]), axis=1) for centre in CENTRES])
PRIOR = Prior(SHARES, np.zeros(1, np.int64), CENTRES, WIDTHS, MASS, (ENDS[1:] + ENDS[:-1]) / 2, np.exp(ENDS))
OFFSET, LOCATION = 0.1, 0.7

laws = pytest.mark.parametrize("gaussian", [False, True])
classes = pytest.mark.parametrize("kind", [0, 1])
# Noisy value, lower and upper bound: inside, below, far below, above, far above, no room, hardly any.
values = pytest.mark.parametrize(
    ("value", "low", "high"),
    [(2.5, 0.0, 30.0), (0.2, 0.0, 30.0), (-3.0, 0.0, 30.0), (-60.0, 0.0, 30.0), (1.0, 1.5, 30.0), (9.0, 1.5, 4.0),
     (40.0, 0.0, 30.0), (90.0, 0.0, 30.0), (7.0, 3.0, 3.0), (7.0, 3.0, 3.001)],
)  # fmt: skip


def seen_of(gaussian, value, low, high, scale=1.5):
    return Seen(gaussian, *(np.array([x]) for x in (value, scale, low, high)), OFFSET)


def log_likelihood(seen, true):
    """The logarithm of the density of the noisy value for a true one, in units of the scale of the noise."""
    law, scale = (norm if seen.gaussian else laplace), seen.scales[0]
    return law.logpdf((seen.values[0] - true) / scale)


def integral(function, seen, centre, sd):
    """The integral over the logarithm of the true value, offset added, cut where the integrand has a corner."""
    corners = [OFFSET + x[0] for x in (seen.values, seen.low, seen.high)]
    cuts = [np.log(x) for x in corners if x > 0]
    points = sorted({centre - 9 * sd, centre + 9 * sd, *(x for x in cuts if abs(x - centre) < 9 * sd)})
    total = 0.0
    for a, b in pairwise(points):
        total += quad(function, a, b, limit=200, epsabs=0, epsrel=1e-8)[0]
    return total


def greatest(seen):
    """The greatest log likelihood within bounds, which is taken off to keep numbers in reach of floats."""
    return log_likelihood(seen, np.clip(seen.values[0], seen.low[0], seen.high[0]))


def expected(seen, share):
    """Total likelihood, moments of the location and of the true value, by integrals."""
    low, high, most = seen.low[0], seen.high[0], greatest(seen)
    like = lambda w: np.exp(log_likelihood(seen, w) - most)  # noqa: E731
    true = lambda x: np.clip(np.exp(x) - OFFSET, low, high)  # noqa: E731
    sums, public, parts = np.zeros(4), 0.0, []
    for one, centre, sd in zip(share, LOCATION + CENTRES, TOTAL, strict=False):
        gain = SPREAD / sd**2
        density = lambda x, c=centre, s=sd: norm.pdf(x, c, s)  # noqa: E731
        moments = (
            lambda x: 1.0,
            lambda x, c=centre, g=gain: g * (x - c),
            lambda x, c=centre, g=gain: (g * (x - c)) ** 2 + SPREAD * (1 - g),
            true,
        )
        found = [integral(lambda x, f=f, d=density: f(x) * like(true(x)) * d(x), seen, centre, sd) for f in moments]
        sums += one * np.array(found)
        parts.append(found[0])
        public += one * integral(lambda x, d=density: true(x) * d(x), seen, centre, sd)
    at_low = share[-1] * like(low)
    sums += at_low * np.array([1, 0, SPREAD, low])
    total, first, second, mean = sums
    return {
        "location": LOCATION + first / total, "variance": second / total - (first / total) ** 2, "mean": mean / total,
        "public": public + share[-1] * low, "log": np.log(total) + most,
        "likelihoods": np.array([*parts, like(low)]) * np.exp(most),
    }  # fmt: skip


def updated(seen, kind, location=LOCATION, spread=SPREAD):
    out, likelihoods = np.empty((6, 1)), np.empty((1, 4))
    prior = PRIOR._replace(classes=np.array([kind]))
    update(seen, prior, np.array([location]), np.array([spread]), out, likelihoods, 0, 1)
    return out[:, 0], likelihoods[0]


@laws
@classes
@values
def test_updates_are_integrals(gaussian, kind, value, low, high):
    seen = seen_of(gaussian, value, low, high)
    wanted = expected(seen, SHARES[kind])
    (location, variance, mean, public, log, information), likelihoods = updated(seen, kind)
    assert location == pytest.approx(wanted["location"], abs=2e-3)
    assert variance == pytest.approx(wanted["variance"], rel=2e-2)
    far = abs(value) > 50  # values farther out are moved closer: only the shape of the likelihood is kept
    assert mean == pytest.approx(wanted["mean"], rel=2e-3, abs=0.01 if far else 0.0)
    assert public == pytest.approx(wanted["public"], rel=2e-3)
    if not far:
        assert log == pytest.approx(wanted["log"], abs=2e-3)
        assert likelihoods == pytest.approx(wanted["likelihoods"], rel=5e-3)
    relative = seen.scales[0] * np.exp(-LOCATION)
    assert information == pytest.approx(SHARES[kind, :3] @ (1 / (WIDTHS**2 + relative**2)))


@laws
@values
def test_samples_have_the_posterior(gaussian, value, low, high):
    seen = seen_of(gaussian, value, low, high)
    many = 4000
    repeated = Seen(gaussian, *(np.repeat(x, many) for x in seen[1:5]), OFFSET)
    prior = PRIOR._replace(classes=np.zeros(many, np.int64))
    uniform, out = (np.arange(many) + 0.5) / many, np.empty(many)
    sample(repeated, prior, np.full(many, LOCATION), uniform, out, 0, many)
    like = lambda w: np.exp(log_likelihood(seen, w) - greatest(seen))  # noqa: E731
    sds = np.array([LADDER[rung(width**2, len(LADDER))] for width in WIDTHS])
    ends = np.linspace(LOCATION - 9, LOCATION + 9, 40_001)
    true = np.clip(np.exp((ends[1:] + ends[:-1]) / 2) - OFFSET, low, high)
    weight = np.diff(ndtr((ends[:, None] - LOCATION - CENTRES) / sds), axis=0) @ SHARES[0, :3] * like(true)
    weight = np.append(weight, SHARES[0, 3] * like(low))
    true = np.append(true, low)
    order = np.argsort(true)
    below = np.cumsum(weight[order]) / weight.sum()
    assert (out >= low).all()
    assert (out <= high).all()
    if high - low > 0.01:
        at = np.quantile(out, np.linspace(0.02, 0.98, 25))
        found = np.searchsorted(np.sort(out), at + 1e-9) / many
        wanted = below[np.minimum(np.searchsorted(true[order], at + 1e-9), len(below) - 1)]
        assert np.abs(found - wanted).max() < 0.01
        assert out.mean() == pytest.approx(weight @ true / weight.sum(), rel=0.01, abs=0.01)
    assert np.array_equal(np.sort(out)[[0, -1]], np.clip(np.sort(out)[[0, -1]], low, high))


@laws
def test_little_noise_decides_and_much_noise_says_nothing(gaussian):
    loud, silent = (updated(seen_of(gaussian, 5.0, 0.0, 100.0, scale), 1)[0] for scale in (0.05, 5e3))
    assert loud[2] == pytest.approx(5.0, abs=0.06)
    assert loud[1] < 0.99 * SPREAD
    assert silent[0] == pytest.approx(LOCATION, abs=1e-3)
    assert silent[1] == pytest.approx(SPREAD, rel=1e-3)
    assert silent[2] == pytest.approx(silent[3], rel=2e-3)  # the mean before anything is seen


@laws
@pytest.mark.parametrize("value", [-1e300, -1e9, 0.0, 1e9, 1e300])
@pytest.mark.parametrize("location", [-800.0, 0.0, 800.0])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1e9), (0.0, 0.0), (2.0, 1e300)])
def test_nothing_makes_an_update_or_a_sample_no_number(gaussian, value, location, low, high):
    seen = seen_of(gaussian, value, low, high)
    out, likelihoods = updated(seen, 0, location)
    assert np.isfinite(out[:5]).all()
    assert (likelihoods > 0).all()
    assert out[1] > 0
    assert low <= out[2] * (1 + 1e-6)
    assert out[2] <= high * (1 + 1e-6)
    for uniform in (0.0, 0.5, 1 - 2**-53):
        drawn = np.empty(1)
        sample(seen, PRIOR, np.array([location]), np.array([uniform]), drawn, 0, 1)
        assert low <= drawn[0] <= high


def test_edges_have_their_own_row_of_everything():
    rng, m = np.random.default_rng(3), 30
    low = rng.choice([0.0, 1.0], m)
    seen = Seen(False, rng.normal(3, 4, m), rng.uniform(0.5, 3, m), low, low + rng.uniform(1, 30, m), OFFSET)
    location, spread, kinds = rng.normal(1, 1, m), rng.uniform(0.01, 1, m), rng.integers(0, 2, m)
    out, likelihoods = np.zeros((6, m)), np.zeros((m, 4))
    prior = PRIOR._replace(classes=kinds)
    for part in (slice(0, 11), slice(11, m)):
        update(seen, prior, location, spread, out, likelihoods, part.start, part.stop)
    for i in (0, 10, 11, m - 1):
        one = Seen(False, *(x[i : i + 1] for x in seen[1:5]), OFFSET)
        alone = updated(one, kinds[i], location[i], spread[i])
        assert np.array_equal(alone[0], out[:, i])
        assert np.array_equal(alone[1], likelihoods[i])
