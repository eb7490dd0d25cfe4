from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.data.tables import Preferences
from sparingly.infer.estimate.bradley_terry import (
    LOSES_ALL,
    NEVER_COMPARED,
    ONE_ITEM,
    UNCONNECTED,
    WINS_ALL,
    bradley_terry,
    information,
    win_chances,
)


def compared(rows: list[tuple[int, int, int, float]], models: str = "abc", **more: Any) -> EvalSet:
    """Build a set of preferences: item, first, second, value."""
    item, first, second, value = (np.array(column) for column in zip(*rows, strict=True))
    items = int(item.max()) + 1
    table = Preferences(
        item=item.astype(np.int32),
        first=first.astype(np.int32),
        second=second.astype(np.int32),
        value=value.astype(np.float64),
        rater=np.full(len(rows), -1, np.int32),
        aspect=np.zeros(len(rows), np.int32),
        seconds=np.full(len(rows), np.nan),
        aspects=("good",),
    )
    names = [f"i{place:03d}" for place in range(items)]
    return EvalSet.from_arrays(names, list(models), preferences=table, **more)


def votes(wins: int, losses: int, ties: int = 0) -> list[tuple[int, int, int, float]]:
    values = [1.0] * wins + [-1.0] * losses + [0.0] * ties
    return [(place, 0, 1, value) for place, value in enumerate(values)]


def test_two_models_are_the_log_odds_of_their_wins() -> None:
    found = bradley_terry(compared(votes(30, 10), "ab"))
    assert found.strengths[0] - found.strengths[1] == pytest.approx(np.log(3))
    assert found.strengths.sum() == pytest.approx(0)
    # One comparison an item: the robust error is the binomial one, 1/√(n p (1 − p)), times √(n/(n − 1)).
    expected = np.sqrt(40 / 39 / (40 * 0.75 * 0.25))
    gap = found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1]
    assert np.sqrt(gap) == pytest.approx(expected)


def test_davidson_gives_ties_a_parameter() -> None:
    found = bradley_terry(compared(votes(32, 8, 24), "ab"))
    assert found.strengths[0] - found.strengths[1] == pytest.approx(np.log(4))
    assert np.exp(found.log_ties) == pytest.approx(24 / np.sqrt(32 * 8))
    assert found.chance("a", "b") == pytest.approx((32 + 12) / 64)


def test_half_a_win_each_is_another_way() -> None:
    found = bradley_terry(compared(votes(32, 8, 24), "ab"), ties="half")
    assert found.strengths[0] - found.strengths[1] == pytest.approx(np.log(44 / 20))


def test_soft_preferences_need_halves() -> None:
    data = compared([(0, 0, 1, 0.4), (1, 0, 1, -0.2)], "ab")
    with pytest.raises(UsageError, match="ties=half"):
        bradley_terry(data, ties="davidson")
    found = bradley_terry(data)
    assert found.ties == "half"
    assert found.strengths[0] - found.strengths[1] == pytest.approx(np.log(0.55 / 0.45))


def test_the_answer_is_where_the_likelihood_is_highest() -> None:
    from scipy.optimize import minimize

    drawn = np.random.default_rng(2)
    rows = []
    for item in range(150):
        one, other = drawn.choice(3, 2, replace=False)
        rows.append((item, int(one), int(other), float(drawn.choice([1.0, 0.0, -1.0]))))
    found = bradley_terry(compared(rows))
    first, second, value = (np.array([row[place] for row in rows]) for place in (1, 2, 3))

    def loss(at: Any) -> float:
        strengths = np.array([at[0], at[1], -at[0] - at[1]])
        win, tie = win_chances(strengths[first] - strengths[second], at[2])
        return -float(np.log(np.where(value > 0, win, np.where(value < 0, 1 - win - tie, tie))).sum())

    best = minimize(loss, np.zeros(3), tol=1e-10).x
    np.testing.assert_allclose(found.strengths[:2], best[:2], atol=1e-4)
    assert found.log_ties == pytest.approx(best[2], abs=1e-4)


def test_the_direction_in_which_a_pair_is_written_does_not_matter() -> None:
    rows = [(0, 0, 1, 1.0), (1, 1, 0, 1.0), (2, 1, 2, 1.0), (3, 2, 1, 0.0), (4, 2, 0, 1.0)]
    turned = [(item, second, first, -value) for item, first, second, value in rows]
    one, other = (bradley_terry(compared(each)) for each in (rows, turned))
    np.testing.assert_allclose(one.strengths, other.strengths, atol=1e-9)
    np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-9)


def test_degenerate_models_are_named_and_not_minus_infinity() -> None:
    circle = [(0, 0, 1, 1.0), (1, 1, 2, 1.0), (2, 2, 0, 1.0)]
    others = [(3, 3, 0, 1.0), (4, 3, 1, 1.0), (5, 4, 2, -1.0), (6, 6, 7, 1.0), (7, 7, 6, 1.0)]
    found = bradley_terry(compared([*circle, *others], "abcdefgh"))
    assert found.status == ("", "", "", WINS_ALL, LOSES_ALL, NEVER_COMPARED, UNCONNECTED, UNCONNECTED)
    np.testing.assert_allclose(found.strengths[:3], 0.0, atol=1e-9)
    assert np.isnan(found.strengths[3:]).all()
    assert any('"d" won every comparison' in note for note in found.notes)


def test_nothing_to_go_by_is_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"none has a strength\. Who won how often: sparingly.compare"):
        bradley_terry(compared([(0, 0, 1, 1.0)], "ab"))
    with pytest.raises(MissingDataError, match="with_preferences_from"):
        bradley_terry(load_invented().only(["aspect:overall"]))


def test_length_can_be_taken_out() -> None:
    drawn = np.random.default_rng(4)
    outputs, rows = [], []
    for item in range(2000):
        long = drawn.random(2) < 0.5
        outputs.append(["word " * (30 if one else 5) for one in long])
        lead = 0.5 + 1.5 * (float(long[0]) - float(long[1]))
        rows.append((item, 0, 1, 1.0 if drawn.random() < 1 / (1 + np.exp(-lead)) else -1.0))
    data = compared(rows, "ab", outputs=outputs)
    plain, adjusted = bradley_terry(data), bradley_terry(data, covariates=["length"])
    effect, error = adjusted.effects["length"]
    # In standard deviations, of which the two lengths are two apart.
    assert effect == pytest.approx(1.5 / 2, abs=3 * error)
    assert adjusted.strengths[0] - adjusted.strengths[1] == pytest.approx(0.5, abs=0.17)
    assert abs(plain.strengths[0] - plain.strengths[1]) < 0.5
    with pytest.raises(UnknownNameError, match="length"):
        bradley_terry(data, covariates=["lenght"])


def test_an_aspect_can_be_named() -> None:
    data = compared(votes(3, 1), "ab")
    assert bradley_terry(data, "good").comparisons == 4
    with pytest.raises(UnknownNameError, match="good"):
        bradley_terry(data, "god")


def test_information_is_the_variance_of_an_outcome() -> None:
    lead = np.array([0.0, 1.3, -2.0])
    win, tie = win_chances(lead, -np.inf)
    np.testing.assert_allclose(information(lead, -np.inf), win * (1 - win))
    np.testing.assert_array_equal(tie, 0.0)
    win, tie = win_chances(lead, 0.3)
    outcome, square = win + tie / 2, win + tie / 4
    np.testing.assert_allclose(information(lead, 0.3), square - outcome**2)


def test_plain_values_are_json_with_and_without_ties() -> None:
    without, with_ties = (bradley_terry(compared(votes(30, 10, ties), "ab")).to_dict() for ties in (0, 5))
    assert json.loads(json.dumps(without, allow_nan=False))["log_ties"] is None
    assert with_ties["log_ties"] > -20


def test_all_comparisons_of_one_item_leave_no_error() -> None:
    found = bradley_terry(compared([(0, 0, 1, 1.0), (0, 0, 1, 1.0), (0, 1, 0, 1.0)], "ab"))
    assert found.strengths[0] - found.strengths[1] == pytest.approx(np.log(2))
    assert np.isnan([*found.standard_errors, *found.low, *found.high]).all()
    assert (found.freedom, found.notes) == (0.0, (ONE_ITEM,))


def test_intervals_go_by_the_number_of_items() -> None:
    rows = [(item, 0, 1, value) for item, value in enumerate([1.0, 1.0, -1.0, 1.0, -1.0, 1.0])]
    found = bradley_terry(compared(rows, "ab"), level=0.9)
    assert found.freedom == 5.0
    # Student's t at 5 degrees of freedom, from a table.
    assert found.high - found.strengths == pytest.approx(2.015048 * found.standard_errors, rel=1e-6)
    assert json.loads(json.dumps(found.to_dict()))["freedom"] == 5.0


@pytest.mark.statistics
@pytest.mark.parametrize(("items", "votes"), [(5, 6), (13, 2)])
def test_intervals_from_few_items_hold(items: int, votes: int) -> None:
    """Four models, all pairs on every item by several people who agree more on an item than by chance."""
    from scipy.special import ndtr

    drawn, truth = np.random.default_rng([3, items]), np.array([-0.5, -0.2, 0.2, 0.5])
    pairs = np.array([(one, other) for one in range(4) for other in range(one + 1, 4)])
    first, second = (np.tile(np.repeat(pairs[:, side], votes), items) for side in (0, 1))
    item = np.repeat(np.arange(items), len(pairs) * votes)
    chance = 1.0 / (1.0 + np.exp(truth[second] - truth[first]))
    near, apart = [], []
    for _ in range(300):
        shared = np.repeat(drawn.normal(size=items * len(pairs)), votes)
        latent = ndtr(np.sqrt(0.4) * shared + np.sqrt(0.6) * drawn.normal(size=len(item)))
        value = np.where(latent < chance, 1.0, -1.0)
        found = bradley_terry(
            compared(list(zip(item.tolist(), first.tolist(), second.tolist(), value, strict=True)), "abcd"),
            ties="half",
        )
        near.append((found.low <= truth) & (truth <= found.high))
        gap = found.covariance[0, 0] + found.covariance[3, 3] - 2 * found.covariance[0, 3]
        missed = found.strengths[3] - found.strengths[0] - 1.0
        apart.append(abs(missed) <= (found.high - found.strengths)[0] / found.standard_errors[0] * gap**0.5)
    # Good to 0.011; by the normal distribution it is 0.90 and 0.92.
    assert 0.935 < np.mean(near) < 0.98
    assert 0.925 < np.mean(apart) < 0.985
