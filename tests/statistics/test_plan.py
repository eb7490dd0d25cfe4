"""Plans hold: the half-widths and the chances that a pilot makes expect are those of repeated draws.

``benchmarks/plan_holds.py`` does the same on public sets, with more draws and more pilots.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import sparingly
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.plan.outlook import PlanGoals, PlanOutlook
from sparingly.infer.plan.pilot import pilot_of
from sparingly.infer.plan.plan import divide, items_with
from tests.infer.plan.sets import drawn_pilot, made_set

pytestmark = pytest.mark.statistics

DRAWS, PILOTS = 24, 7


def errors_set() -> EvalSet:
    """500 items × 6 models: error scores, 70 % of them 0, a few large; metrics follow them weakly."""
    drawn = np.random.default_rng(2)
    hard = drawn.gamma(0.5, size=(500, 1))
    large = drawn.random((500, 6)) < 0.3 * hard / (0.3 + hard)
    people = -np.where(large, np.ceil(drawn.gamma(1.0, 3.0, (500, 6))), 0.0)
    metric = -hard + 0.5 * drawn.normal(size=(500, 6))
    names = [f"i{place:03d}" for place in range(500)], [f"m{place}" for place in range(6)]
    return EvalSet.from_arrays(*names, metrics={"weak": metric}, aspects={"people": people})


def passes_set() -> EvalSet:
    """The made set as passes and failures, with its metrics."""
    data = made_set()
    return data.with_aspect("people", (data.aspects["people"] > -1).astype(float))


def judge_set(items: int = 1000) -> EvalSet:
    """One model that passes or fails; its judge passes 30 % of bad answers and fails 8 % of good ones."""
    drawn = np.random.default_rng(4)
    people = drawn.random((items, 1)) < 0.75
    judge = np.where(people, drawn.random((items, 1)) > 0.08, drawn.random((items, 1)) < 0.3)
    names = [f"i{place:04d}" for place in range(items)], ["model"]
    return EvalSet.from_arrays(*names, metrics={"judge": judge * 1.0}, aspects={"people": people * 1.0})


SETS = {"normal": made_set, "errors": errors_set, "passes": passes_set, "judge": judge_set}
SIZES = (12, 20, 60, 150)


def planned(data: EvalSet, pilot: Selection | None) -> NDArray[np.float64]:
    """The planned half-widths for all sizes."""
    outlook = PlanOutlook(pilot_of(data, pilot, "people", for_differences=False, seed=0), PlanGoals())
    return np.array([outlook.half_width(n) for n in SIZES])


def printed(data: EvalSet) -> NDArray[np.float64]:
    """The median over draws and models of the half-widths that the default path prints, for all sizes."""
    medians = []
    for n in SIZES:
        halves = []
        for seed in range(DRAWS):
            chosen = sparingly.select(data, budget=n, seed=1000 + seed)
            found = sparingly.estimate(data, chosen, "people", seed=seed)
            halves.append((found.high - found.low) / 2)
        medians.append(np.nanmedian(halves))
    return np.array(medians)


@pytest.mark.parametrize("name", list(SETS))
def test_printed_half_widths_are_those_that_were_planned(name: str) -> None:
    """From the whole set as pilot, so that what is left is the plan's own error and that of 24 draws."""
    data = SETS[name]()
    ratio = printed(data) / planned(data, None)
    assert ((ratio > 0.9) & (ratio < 1.15)).all(), ratio


def test_pilots_of_sixty_items_plan_the_printed_half_widths() -> None:
    """One pilot of 60 knows a spread to about 9 %, the median of seven to about 4 %."""
    data = made_set()
    pilots = np.median([planned(data, drawn_pilot(data, 60, seed)) for seed in range(PILOTS)], axis=0)
    ratio = printed(data) / pilots
    assert ((ratio > 0.9) & (ratio < 1.15)).all(), ratio


def test_both_numbers_of_a_mix_give_the_width_that_was_asked_for() -> None:
    """People alone, and with the judge on everything: the intervals of so many items."""
    data = judge_set()
    mix = sparingly.plan(data, None, "people", width=0.05, prices={"human": 1.0, "judge": 0.0}).mix
    assert mix is not None
    assert mix.items < 0.75 * mix.items_alone
    alone = data.only(name for name in data.fields if name != "metric:judge")
    for view, n in ((data, mix.items), (alone, mix.items_alone)):
        halves = []
        for seed in range(DRAWS):
            chosen = sparingly.select(view, budget=n, seed=2000 + seed)
            found = sparingly.estimate(view, chosen, "people", seed=seed)
            halves.append((found.high - found.low) / 2)
        assert np.nanmedian(halves) == pytest.approx(0.05, rel=0.1)


def test_a_judge_on_a_part_of_the_items_is_as_precise_as_people_alone() -> None:
    """Two-phase draws: m items for the judge, k of them for people, against n for people alone."""
    data = judge_set(4000)
    people, judge = data.aspects["people"][:, 0], data.metrics["judge"][:, 0]
    share = np.corrcoef(people, judge)[0, 1] ** 2
    n = 200
    k, m, _ = divide(n, items_with(share, n, 4000), 4000, judge_price=0.05, human_price=1.0)
    assert k < 0.8 * n < m < 2000
    slope = np.cov(people, judge)[0, 1] / judge.var()
    drawn, alone, mixed = np.random.default_rng(0), [], []
    for _ in range(4000):
        order = drawn.permutation(4000)[:m]
        alone.append(people[order[:n]].mean())
        mixed.append((people - slope * judge)[order[:k]].mean() + slope * judge[order].mean())
    assert np.std(mixed) == pytest.approx(np.std(alone), rel=0.05)


def test_widths_of_whole_documents() -> None:
    """Documents of four items that share half of their variance; 40 of 100 documents."""
    shared = np.repeat(np.random.default_rng(5).normal(size=100), 4)[:, None]
    data = made_set(columns={"document": [f"d{place // 4:03d}" for place in range(400)]})
    data = data.with_aspect("people", data.aspects["people"] + shared).only(
        ["aspect:people", "column:document", "column:position"]
    )
    widths, halves = [], []
    for seed in range(5):
        pilot = pilot_of(data, drawn_pilot(data, 150, seed), "people", for_differences=False, seed=0)
        widths.append(PlanOutlook(pilot, PlanGoals(unit="document")).half_width(160))
    for seed in range(DRAWS):
        chosen = sparingly.select(data, budget=160, unit="document", seed=seed)
        found = sparingly.estimate(data, chosen, "people")
        halves.append((found.high - found.low) / 2)
    assert np.nanmedian(halves) == pytest.approx(np.median(widths), rel=0.15)


def normal_models(seed: int) -> tuple[EvalSet, NDArray[np.float64]]:
    """300 items x 5 models whose abilities are drawn from a normal distribution."""
    drawn = np.random.default_rng(seed)
    scores = drawn.normal(size=(300, 5)) + 0.15 * drawn.normal(size=5)
    names = [f"i{place:03d}" for place in range(300)], [f"m{place}" for place in range(5)]
    return EvalSet.from_arrays(*names, aspects={"people": scores}), scores


def test_chances_of_the_right_winner_and_of_right_pairs() -> None:
    """Over 60 sets, each with a pilot of 40 and 40 draws of 80 items."""
    first, second = np.triu_indices(5, 1)
    expected, come_true = [], []
    for seed in range(60):
        data, scores = normal_models(seed)
        told = sparingly.plan(data, drawn_pilot(data, 40, seed), "people", budgets=[80], seed=seed)
        row = next(row for row in told.table if row.n == 80)
        expected.append((row.right_winner, row.right_pairs, row.right_order))
        truth, drawn = scores.mean(axis=0), np.random.default_rng(1000 + seed)
        means = np.array([scores[drawn.permutation(300)[:80]].mean(axis=0) for _ in range(40)])
        right = np.sign(means[:, first] - means[:, second]) == np.sign(truth[first] - truth[second])
        winner = means.argmax(axis=1) == truth.argmax()
        come_true.append((winner.mean(), right.mean(), right.all(axis=1).mean()))
    winner, pairs, order = np.mean(expected, axis=0) - np.mean(come_true, axis=0)
    assert abs(winner) < 0.08
    assert abs(pairs) < 0.04
    assert abs(order) < 0.08
