"""Plans come true: the errors and the chances that a pilot makes expect are those of repeated draws.

A width is compared with the standard deviation of 150 draws (itself known to 3 % over the models), averaged
over 5 pilots, because one pilot of 80 items knows a spread to about 8 %.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

import sparingly
from sparingly.data.evalset import EvalSet
from tests.infer.plan.sets import drawn_pilot, made_set, uneven_set

pytestmark = pytest.mark.statistics

Z = norm.ppf(0.975)
DRAWS, PILOTS = 150, 5


def realised(data: EvalSet, method: str, estimator: str, n: int) -> float:
    """The half-width that repeated draws would need: z times the root mean square error, mean over models."""
    truth = data.aspects["people"].mean(axis=0)
    missed = []
    for seed in range(DRAWS):
        chosen = sparingly.select(data, method, n, seed=1000 + seed)
        told = sparingly.estimate(data, chosen, "people", estimator=estimator, interval="none", seed=seed)
        missed.append(told.scores - truth)
    return float(Z * np.sqrt((np.array(missed) ** 2).mean(axis=0)).mean())


def predicted(
    data: EvalSet, size: int, n: int, *, document: bool = False
) -> tuple[float, set[tuple[str, str]]]:
    """The mean predicted half-width over pilots, and what they recommend."""
    widths, advised = [], set()
    for seed in range(PILOTS):
        pilot = drawn_pilot(data, size, seed)
        # A wide interval is wanted, so that choosing is worth it and a method is named.
        told = sparingly.plan(
            data, pilot, "people", budgets=[n], width=0.3, unit="document" if document else "item", seed=seed
        )
        widths.append(next(row.half_width for row in told.table if row.n == n))
        advised.add((str(told.advice.method), told.advice.estimator))
    return float(np.mean(widths)), advised


@pytest.mark.parametrize("n", [60, 160])
def test_widths_with_predictions(n: int) -> None:
    data = made_set()
    width, advised = predicted(data, 80, n)
    assert advised == {("local_pivotal", "greg")}
    assert width == pytest.approx(realised(data, "uniform", "greg", n), rel=0.15)


def test_widths_without_predictions() -> None:
    data = made_set().only(["aspect:people"])
    width, advised = predicted(data, 80, 100)
    assert advised == {("uniform", "weighted_mean")}
    assert width == pytest.approx(realised(data, "uniform", "weighted_mean", 100), rel=0.15)


def test_widths_with_unequal_probabilities() -> None:
    data = uneven_set()
    width, advised = predicted(data, 120, 100)
    methods = {method for method, _ in advised}
    assert all(method.startswith("local_pivotal:utility=(metric_avg:metric=good)") for method in methods)
    come_true = realised(data, max(methods), "greg", 100)
    assert width == pytest.approx(come_true, rel=0.15)
    # And they are better than equal ones.
    assert come_true < 0.9 * realised(data, "uniform", "greg", 100)


def test_widths_of_whole_documents() -> None:
    shared = np.repeat(np.random.default_rng(5).normal(size=100), 4)[:, None]
    data = made_set(columns={"document": [f"d{place // 4:03d}" for place in range(400)]})
    data = data.with_aspect("people", data.aspects["people"] + shared).only(
        ["aspect:people", "column:document", "column:position"]
    )
    width, _ = predicted(data, 150, 100, document=True)
    assert width == pytest.approx(realised(data, "uniform:unit=document", "weighted_mean", 100), rel=0.15)


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
