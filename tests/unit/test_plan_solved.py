"""A plan solved for a target error, and one for several epsilons."""

import json
import math

import pytest
from planned_grid import asked, lognormal_grid

import hushpath.planning.plan as target
from hushpath.errors import CannotError
from hushpath.output.report.pictures import draw_sweep
from hushpath.planning.plan import plan
from hushpath.planning.result import Sweep


@pytest.mark.quick(every=2)
@pytest.mark.parametrize(
    ("wanted", "more", "estimator"),
    [
        (4.0, {}, "clip"),
        ("4", {}, "clip"),
        (" 5 %", {}, "clip"),
        (8.0, {"typical_weight": None}, "clip"),
        pytest.param(" 5 %", {}, "auto", marks=pytest.mark.slow),
    ],
)
def test_a_target_error_is_solved_for_epsilon(wanted, more, estimator, request):
    if estimator == "clip":
        request.getfixturevalue("quick")
    topology = lognormal_grid(rows=20 if estimator == "clip" else 6).topology
    made = plan(topology, **asked(epsilon=None, target_error=wanted, **more))
    goal = 0.05 * made.baseline.distance if isinstance(wanted, str) and "%" in wanted else float(wanted)
    assert made.target_error == pytest.approx(goal)
    assert 0.9 * goal < made.choice.mean_error <= goal
    assert made.terms.budget.epsilon == float(f"{made.terms.budget.epsilon:.3g}")
    assert f"predicted mean error of {goal:.4g}" in str(made)
    less = plan(topology, **asked(epsilon=0.9 * made.terms.budget.epsilon, **more))
    assert less.choice.mean_error > goal * 0.97


def test_a_search_takes_few_steps_and_rounds_up():
    for power in (0.4, 1.0, 1.7):
        for goal in (1e-2, 0.5, 3.0, 40.0):
            steps = []
            found = target.smallest_epsilon(lambda e, p=power, s=steps: s.append(e) or 2.0 * e**-p, goal) \
                if target.SMALLEST < (2 / goal) ** (1 / power) < target.LARGEST else None  # fmt: skip
            if found is not None:
                assert len(steps) <= target.MOST_TRIES
                assert 2.0 * found**-power <= goal
                assert found <= 1.2 * (2 / goal) ** (1 / power)
    assert target.smallest_epsilon(lambda _: 0.0, 1.0) == target.SMALLEST
    with pytest.raises(CannotError, match=r"no epsilon up to 1000 .* at 1000 it is 7"):
        target.smallest_epsilon(lambda _: 7.0, 1.0)
    with pytest.raises(CannotError):
        target.smallest_epsilon(lambda _: math.inf, 1.0)


@pytest.mark.usefixtures("quick")
def test_several_epsilons_make_a_sweep():
    topology = lognormal_grid().topology
    made = plan(topology, **asked(epsilon=[2, 0.5, 1, 2.0]))
    assert isinstance(made, Sweep)
    assert [one.terms.budget.epsilon for one in made.plans] == [0.5, 1.0, 2.0]
    errors = [one.choice.mean_error for one in made.plans]
    assert errors == sorted(errors, reverse=True)
    assert made.plans[1].choice.expected == plan(topology, **asked()).choice.expected
    rows = json.loads(json.dumps(made.as_dict(), allow_nan=False))["sweep"]
    assert [row["epsilon"] for row in rows] == [0.5, 1.0, 2.0]
    assert [row["mean_error"] for row in rows] == errors
    assert "Baseline from public data" in str(made)
    assert "Nothing public" in str(plan(topology, epsilon=(1, 2), unit=1.0))


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("scale", [{}, {"typical_weight": 5.0}])
def test_a_sweep_is_drawn_the_same_every_time(scale):
    made = plan(lognormal_grid().topology, epsilon=[0.3, 1, math.inf], unit=1.5, **scale)
    assert draw_sweep(made) == draw_sweep(made)
    assert draw_sweep(made).startswith(b"\x89PNG")
    text = draw_sweep(made, "svg").decode()
    assert text == draw_sweep(made, "svg").decode()
    assert ("baseline from public data" in text) == bool(scale)
    assert ("from noise only" in text) != bool(scale)
    with pytest.raises(CannotError):
        draw_sweep(plan(lognormal_grid().topology, epsilon=[math.inf], unit=1.5))
