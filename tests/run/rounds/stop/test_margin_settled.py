"""``margin_settled``: what intervals show, on looks made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.run.rounds.stop.rules import MarginSettled
from sparingly.run.rounds.stop.sequential import Look


def look(apart: float, error: float, step: float = 0.0) -> Look:
    """One look at two models, when the plan is spent, whose difference has the error given."""
    return Look(
        np.array([apart, 0.0]), np.eye(2) * error**2 / 2, np.inf, 1.0, 100.0, 100.0, np.zeros(2, bool),
        step=step, judged=np.full(2, 100.0),
    )  # fmt: skip


def stop(margin: float, question: str = "equivalent") -> MarginSettled:
    return MarginSettled(margin=margin, question=question, model="a", against="b")  # type: ignore[arg-type]


def test_one_side_is_tested_at_the_whole_error() -> None:
    one = stop(1.0, "non-inferior")
    assert one.answer([look(-1.0 + 1.7 * 0.1, 0.1)], 0, 1) == "non-inferior"
    assert one.answer([look(-1.0 + 1.6 * 0.1, 0.1)], 0, 1) is None
    assert one.answer([look(-1.0 - 1.7 * 0.1, 0.1)], 0, 1) == "inferior"


def test_not_equivalent_is_a_two_sided_claim() -> None:
    one = stop(0.01)
    # Beyond the margin by 1.8 standard errors: enough for one side only.
    assert one.answer([look(0.01 + 1.8 * 0.1, 0.1)], 0, 1) is None
    assert one.answer([look(0.01 + 2.0 * 0.1, 0.1)], 0, 1) == "not equivalent"
    assert one.answer([look(-0.01 - 2.0 * 0.1, 0.1)], 0, 1) == "not equivalent"
    assert stop(1.0).answer([look(1.0 - 1.7 * 0.1, 0.1)], 0, 1) == "equivalent"


def test_two_valued_scores_have_the_error_that_they_have_on_the_margin() -> None:
    # 100 items, one of which differs: by itself that is 11 standard errors from a margin of 0.12.
    error = float(np.sqrt((0.01 - 0.01**2) / 100))
    on_margin = float(np.sqrt(error**2 + (0.12 - 0.01) * (1 - 0.12 - 0.01) / 100))
    assert on_margin == pytest.approx(np.sqrt((0.12 - 0.12**2) / 100), rel=0.01)
    one = stop(0.12, "non-inferior")
    assert one.answer([look(-0.01, error, step=1.0)], 0, 1) == "non-inferior"
    assert one.answer([look(-0.095, error)], 0, 1) == "non-inferior"
    assert one.answer([look(-0.095, error, step=1.0)], 0, 1) is None


def test_all_pairs_share_the_error() -> None:
    scores = np.array([0.0, 0.5, 0.52])
    one = Look(scores, np.eye(3) * 0.005, np.inf, 1.0, 100.0, 100.0, np.zeros(3, bool))
    apart, same = MarginSettled(margin=0.3).differ_or_equivalent([one])
    assert apart.tolist() == [[False, True, True], [True, False, False], [True, False, False]]
    assert same.tolist() == [[False] * 3, [False, False, True], [False, True, False]]
