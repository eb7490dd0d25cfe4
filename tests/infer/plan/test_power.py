"""Planned differences are those that ``rank`` decides: by its own p-values, with the planned probability."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import sparingly
from sparingly.data.evalset import EvalSet
from sparingly.infer.plan.outlook import PlanGoals, PlanOutlook
from sparingly.infer.plan.pilot import pilot_of
from sparingly.infer.plan.power import (
    deciding_ratios,
    decision_power,
    detectable,
    items_for,
    normal_ratios,
    pair_level,
    t_tail,
)
from sparingly.infer.rank.pair_tests import least_p
from tests.infer.plan.sets import drawn_pilot, made_set

MOST = 10_000_000


def normal_set(n: int, models: int, effect: float, drawn: np.random.Generator) -> EvalSet:
    """Normal scores whose differences have a standard deviation of 1; the first model is better."""
    scores = drawn.normal(size=(n, models)) / np.sqrt(2.0)
    scores[:, 0] += effect
    names = [f"i{place:04d}" for place in range(n)], [f"m{place}" for place in range(models)]
    return EvalSet.from_arrays(*names, aspects={"people": scores})


def decided_share(n: int, models: int, effect: float, runs: int, seed: int = 0) -> float:
    """The share of the first model's pairs that ``rank`` decides in its favour."""
    drawn, shares = np.random.default_rng(seed), []
    for _ in range(runs):
        found = sparingly.rank(normal_set(n, models, effect, drawn), None, "people")
        place = [one.model for one in found.models].index("m0")
        shares.append((found.corrected[place, place + 1 :] <= 0.05).sum() / (models - 1.0))
    return float(np.mean(shares))


@pytest.mark.parametrize(
    ("effect", "power", "items"),
    [(0.2, 0.8, 199), (0.3, 0.8, 90), (0.5, 0.8, 34), (0.8, 0.8, 15), (0.5, 0.9, 44)],
)
def test_the_power_of_students_t_is_that_of_the_tables(effect: float, power: float, items: int) -> None:
    """G*Power 3.1, "Means: difference between two dependent means", two-sided, 5 %."""
    powers = [float(t_tail(effect, n, stats.t.ppf(0.975, n - 1))) for n in (items - 1, items)]
    assert powers[0] < power <= powers[1]


@pytest.mark.parametrize(("effect", "models"), [(0.3, 2), (0.6, 2), (1.0, 2), (0.6, 8)])
def test_rank_decides_as_often_as_planned(effect: float, models: int) -> None:
    """160 runs know a share to 3 points, with eight models to 2; decisions.md has the figures of 4,000."""
    n = items_for(effect, models, 0.95, 0.8, MOST)
    assert n is not None
    assert decided_share(n, models, effect, 160 if models == 2 else 60) == pytest.approx(0.81, abs=0.075)


def test_the_planned_number_is_the_fewest() -> None:
    for effect, models in ((0.3, 2), (1.0, 2), (0.5, 6)):
        n = items_for(effect, models, 0.95, 0.8, MOST)
        assert n is not None
        assert decision_power(effect, n - 1, models, 0.95) < 0.8 <= decision_power(effect, n, models, 0.95)
    assert items_for(0.00001, 2, 0.95, 0.8, MOST) is None
    assert items_for(0.3, 2, 0.95, 0.8, 50) is None


@pytest.mark.parametrize("models", [2, 5, 30, 40])
def test_no_planned_number_is_too_small_to_decide_anything(models: int) -> None:
    n = items_for(20.0, models, 0.95, 0.8, MOST)
    assert n is not None
    assert 2.0 * least_p(n - 1.0) <= 1.0 - pair_level(models, 0.95)
    assert n == 10 or 2.0 * least_p(n - 2.0) > 1.0 - pair_level(models, 0.95)
    assert decided_share(n, models, 20.0, 2) == 1.0


@pytest.mark.parametrize(("n", "models"), [(12, 3), (14, 2), (40, 6)])
def test_ratios_are_where_the_p_value_of_rank_meets_its_level(n: int, models: int) -> None:
    data = normal_set(n, models, 0.4, np.random.default_rng(n))
    found = sparingly.estimate(data, None, "people", target="population")
    assert found.pairs is not None
    alone = pair_level(models, 0.95)
    first, second = np.triu_indices(models, 1)
    ratios = deciding_ratios(found.pairs, alone)
    errors = found.pairs.errors.of_pairs(first, second)[0]
    for direction, sign in enumerate((1.0, -1.0)):
        at = found.pairs.p_values(first, second, sign * ratios[direction] * errors)
        assert at == pytest.approx(np.full(len(first), 1.0 - alone), rel=1e-6)


def test_few_units_decide_nothing_and_many_models_are_a_matter_of_their_pairs() -> None:
    assert not np.isfinite(normal_ratios(10, 24, pair_level(24, 0.95))).any()
    assert decision_power(100.0, 10, 30, 0.95) == 0.0
    assert pair_level(2, 0.95) == 0.95
    assert pair_level(5, 0.95) == pytest.approx(1.0 - 0.05 / 10.0)


def test_a_middle_pair_by_hand() -> None:
    covariance = np.diag([1.0, 4.0, 9.0])
    assert detectable(covariance, 2.5, 0.5) == pytest.approx(2.5 * np.sqrt(10.0))
    assert detectable(covariance, 2.5, 0.8) == pytest.approx((2.5 + stats.norm.ppf(0.8)) * np.sqrt(10.0))


@pytest.mark.parametrize(("n", "target"), [(20, "population"), (60, "population"), (60, "set"), (200, "set")])
def test_differences_planned_from_a_pilot_are_those_of_the_default_path(n: int, target: str) -> None:
    """From the whole set as pilot, against the median over eight draws; predictions from 30 items on."""
    data = made_set()
    pilot = pilot_of(data, None, "people", for_differences=True, seed=0)
    planned = PlanOutlook(pilot, PlanGoals(target=target)).detectable(n)  # type: ignore[arg-type]
    found = []
    for seed in range(8):
        chosen = sparingly.select(data, budget=n, seed=seed)
        scores = sparingly.estimate(data, chosen, "people", target=target)  # type: ignore[arg-type]
        assert scores.pairs is not None
        ratio = float(np.median(deciding_ratios(scores.pairs, pair_level(4, 0.95))))
        found.append(detectable(scores.covariance, ratio, 0.8))
    assert np.median(found) == pytest.approx(planned, rel=0.12)


def test_few_documents_decide_less() -> None:
    """Twelve documents: differences on inputs like these have 11 degrees of freedom, however many items."""
    data = made_set(columns={"document": [f"d{place // 34:02d}" for place in range(400)]})
    pilot = pilot_of(data, drawn_pilot(data, 60), "people", for_differences=True, seed=0)
    ahead = PlanOutlook(pilot, PlanGoals())
    found = sparingly.estimate(data, None, "people", target="population")
    assert found.pairs is not None
    actual = float(np.median(deciding_ratios(found.pairs, pair_level(4, 0.95))))
    assert ahead.deciding_ratio(400) == pytest.approx(actual, rel=0.1)
    free = PlanOutlook(
        pilot_of(made_set(), drawn_pilot(made_set(), 60), "people", for_differences=True, seed=0), PlanGoals()
    )
    assert ahead.deciding_ratio(400) > 1.2 * free.deciding_ratio(400)
