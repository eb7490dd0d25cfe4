"""Noise between epochs in the errors of this set."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.data.tables import Repeats
from sparingly.infer.estimate.widen import ONE_EPOCH, ONLY_NOISE


def repeated(values: list[list[list[float]]], **parts: object) -> sparingly.EvalSet:
    """Return a set of items × models × epochs of the metric ``score``."""
    array = np.array(values)
    item, model, epoch = (part.ravel().astype(np.int32) for part in np.indices(array.shape))
    table = Repeats(item, model, epoch, ("1", "2"), scores={"metric:score": array.ravel()})
    items, models = (
        [f"{kind}{place:02}" for place in range(count)]
        for kind, count in zip("im", array.shape[:2], strict=True)
    )
    return sparingly.EvalSet.from_arrays(items, models, repeats=table, **parts)  # type: ignore[arg-type]


MARKS = [[[1.0, 3.0], [5.0, 5.0]], [[2.0, 2.0], [4.0, 8.0]], [[6.0, 2.0], [7.0, 6.0]]]


def test_the_variance_is_that_of_the_formula() -> None:
    found = sparingly.estimate(repeated(MARKS), None, "score", estimator="weighted_mean")
    # s² is 2, 0, 8 and 0, 8, 0.5; each over 2 epochs and 3² items.
    expected = np.array([10.0, 8.5]) / 2 / 9
    assert found.standard_errors**2 == pytest.approx(expected)
    assert found.covariance[0, 1] == 0.0
    assert ONLY_NOISE in found.notes
    assert found.differences()[0].standard_error ** 2 == pytest.approx(expected.sum())


def test_degrees_of_freedom_are_those_of_the_cells_that_differ() -> None:
    from scipy.stats import t

    found = sparingly.estimate(repeated(MARKS), None, "score", estimator="weighted_mean")
    half = t.ppf(0.975, 10**2 / (2**2 + 8**2)) * found.standard_errors[0]
    assert found.high[0] - found.scores[0] == pytest.approx(half)


def test_passes_that_all_agree_have_the_rule_of_three() -> None:
    data = repeated([[[1.0, 1.0]]] * 20, scales={"metric:score": (0.0, 1.0)})
    found = sparingly.estimate(data, None, "score", estimator="weighted_mean")
    assert (found.low[0], found.high[0]) == (pytest.approx(1 - 3.04 / 20, abs=1e-3), 1.0)


def test_a_group_that_all_agrees_has_the_rule_of_three_of_its_own_size() -> None:
    groups = np.array(["a"] * 20 + ["b"] * 40, dtype=object)
    data = repeated([[[1.0, 1.0]]] * 60, scales={"metric:score": (0.0, 1.0)}, columns={"domain": groups})
    whole = sparingly.estimate(data, None, "score", estimator="weighted_mean", by="domain")
    for group, size in zip((whole.groups["a"], whole.groups["b"]), (20, 40), strict=True):
        assert group.scores[0] - group.low[0] == pytest.approx(3.04 / size, abs=1e-3)


def test_the_population_holds_the_noise_already() -> None:
    data = repeated(MARKS * 10)
    found = sparingly.estimate(data, None, "score", estimator="weighted_mean", target="population")
    means = np.array(MARKS * 10).mean(axis=2)
    assert found.standard_errors**2 == pytest.approx(means.var(axis=0, ddof=1) / len(means))


def test_labels_of_one_epoch_say_what_they_leave_out() -> None:
    labels = np.arange(40.0).reshape(20, 2) % 7
    data = repeated((MARKS * 7)[:20], aspects={"quality": labels})
    found = sparingly.estimate(data, None, "quality", estimator="weighted_mean")
    assert ONE_EPOCH.format(aspect="quality") in found.notes
    assert found.standard_errors == pytest.approx(0.0)


def test_groups_and_rankings_hold_it_too() -> None:
    domain = ["a", "b", "b"] * 10
    data = repeated(MARKS * 10, columns={"domain": domain})
    found = sparingly.estimate(data, None, "score", estimator="weighted_mean", by="domain")
    assert found.groups["a"].standard_errors[0] ** 2 == pytest.approx(2 / 2 / 10)
    ranking = sparingly.rank(data, aspect="score", target="set", estimator="weighted_mean")
    p_value = ranking.p_values[0, 1]
    assert 0.0 < p_value < 0.05


def test_a_plan_for_this_set_ends_with_the_noise() -> None:
    data = repeated(MARKS * 10)
    found = sparingly.estimate(data, None, "score", estimator="weighted_mean")
    whole = sparingly.plan(data, aspect="score").table[-1]
    assert whole.n == len(data)
    halves = (found.high - found.low) / 2
    assert halves.min() <= whole.half_width <= halves.max()
