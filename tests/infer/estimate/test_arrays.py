from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.infer.estimate.estimate import estimate_scores

DRAWN = np.random.default_rng(0)
TRUTH = DRAWN.normal(size=(300, 3)) + np.arange(3)
SEEN = np.where(np.arange(300)[:, None] % 2 == 0, TRUTH, np.nan)


def test_rows_alone_and_rows_among_all_items_say_the_same() -> None:
    whole = estimate_scores(SEEN)
    rows = estimate_scores(SEEN[::2], size=300)
    assert rows.scores == pytest.approx(whole.scores)
    assert rows.covariance == pytest.approx(whole.covariance)
    assert (rows.n, rows.size) == (150, 300)
    assert whole.covariance == pytest.approx(0.5 * np.cov(TRUTH[::2].T) / 150)


def test_predictions_help_and_the_guard_shrinks_them() -> None:
    told = TRUTH + 0.3 * DRAWN.normal(size=TRUTH.shape) + 4.0
    plain, helped = estimate_scores(SEEN), estimate_scores(SEEN, predictions=told)
    assert (helped.standard_errors < 0.4 * plain.standard_errors).all()
    exact = estimate_scores(SEEN, predictions=told, guard=False)
    expected = told.mean(axis=0) + (TRUTH - told)[::2].mean(axis=0)
    assert exact.scores == pytest.approx(expected)
    few = estimate_scores(np.where(np.arange(300)[:, None] < 20, TRUTH, np.nan), predictions=told)
    assert few.outcome.fallen_back == 3


def test_names_targets_and_levels() -> None:
    found = estimate_scores(SEEN, models=["a", "b", "c"], target="population", level=0.9)
    assert found.models == ("a", "b", "c")
    assert found.target == "population"
    assert found.covariance == pytest.approx(np.cov(TRUTH[::2].T) / 150)
    assert found.difference("c", "a").difference == pytest.approx(found.scores[2] - found.scores[0])


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(UsageError, match="3 models but 2 names"):
        estimate_scores(SEEN, models=["a", "b"])
    with pytest.raises(UsageError, match="Predictions are of all 600 items"):
        estimate_scores(SEEN, size=600, predictions=TRUTH)
    with pytest.raises(UsageError, match="some are missing"):
        estimate_scores(SEEN, predictions=SEEN)
    with pytest.raises(UnknownNameError, match='no target "world"'):
        estimate_scores(SEEN, target="world")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match='no interval "z"'):
        estimate_scores(SEEN, interval="z")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="from a finite number to a higher one, not from 1 to 0"):
        estimate_scores(SEEN, scale=(1.0, 0.0))
