"""What several looks settle_pairs: step by step, sticky, exact where everything is judged."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sparingly.run.rounds.stop.sequential import Look, critical_value, settle_pairs


def look(
    scores: list[float], error: float, clock: float, *, exact: bool = False, freedom: float = math.inf
) -> Look:
    count = len(scores)
    return Look(
        np.array(scores),
        np.eye(count) * error**2,
        freedom,
        clock,
        100.0 * clock,
        100.0,
        np.full(count, exact),
    )


def test_clear_pairs_are_settled_and_close_ones_stay_open() -> None:
    found = settle_pairs([look([0.0, 10.0, 10.5], 1.0, 0.5)], 0.05, "group_sequential")
    assert found.above[1, 0]
    assert found.above[2, 0]
    assert found.open.sum() == 2
    assert found.candidates.tolist() == [False, True, True]


def test_what_is_settled_stays_settled_and_leaves_its_error_to_the_rest() -> None:
    looks = [look([0.0, 10.0, 10.5], 1.0, 0.5), look([10.4, 10.0, 13.0], 0.9, 1.0)]
    found = settle_pairs(looks, 0.05, "group_sequential")
    assert found.above[1, 0]
    # The one pair that is left is tested alone, as the whole family would not have allowed.
    alone = settle_pairs([looks[1]], 0.05, "fixed", final=True)
    assert found.critical < alone.critical + 0.3
    assert found.level > 0.03


def test_fixed_looks_only_at_the_end() -> None:
    looks = [look([0.0, 99.0], 1.0, 0.5), look([0.0, 3.0], 1.0, 1.0)]
    assert not settle_pairs(looks, 0.05, "fixed").above.any()
    assert settle_pairs(looks, 0.05, "fixed", final=True).above[1, 0]
    assert critical_value(looks, 0.05, "fixed") == pytest.approx(1.96, abs=0.01)


def test_everything_judged_settles_all_and_equal_ones_are_the_same() -> None:
    found = settle_pairs([look([1.0, 1.0, 1.0 + 1e-9], 0.0, 1.0, exact=True)], 0.05, "anytime")
    assert found.same[0, 1]
    assert found.above[2, 0]
    assert not found.open.any()


def test_models_that_never_differed_are_not_told_apart() -> None:
    one = look([1.0, 2.0], 0.0, 0.5)
    assert settle_pairs([one], 0.05, "group_sequential").open.all() ^ True
    assert not settle_pairs([one], 0.05, "group_sequential").above.any()


def test_the_best_needs_less_than_all_pairs() -> None:
    scores = [0.0, *([-3.2] * 9)]
    one = [look(scores, 0.75, 1.0)]
    assert settle_pairs(one, 0.05, "fixed", final=True, question="best").candidates.sum() == 1
    assert settle_pairs(one, 0.05, "fixed", final=True).candidates.sum() > 1


def test_models_without_scores_or_errors_are_left_open() -> None:
    one = look([0.0, 9.0, 5.0], 1.0, 1.0)
    covariance = one.covariance.copy()
    covariance[2] = covariance[:, 2] = np.nan
    gap = Look(np.array([0.0, 9.0, np.nan]), covariance, 30.0, 1.0, 100.0, 100.0, one.exact)
    found = settle_pairs([gap], 0.05, "group_sequential")
    assert found.above[1, 0]
    assert found.open[2].sum() == 2
    blind = Look(one.scores, np.full((3, 3), np.nan), 0.0, 1.0, 100.0, 100.0, one.exact)
    assert not settle_pairs([blind], 0.05, "group_sequential").above.any()


def test_the_anytime_sequence_asks_for_more_than_one_look() -> None:
    one = [look([0.0, 3.3], 1.0, 1.0)]
    assert settle_pairs(one, 0.05, "fixed", final=True).above.any()
    assert not settle_pairs(one, 0.05, "anytime").above.any()
