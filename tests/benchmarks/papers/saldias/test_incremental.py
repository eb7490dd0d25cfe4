"""Strata that follow the ratings: the fast rounds are those of the strategy, and so are the scores."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from benchmarks.papers.saldias.cases import Case, Cases
from benchmarks.papers.saldias.simulated import (
    Spread,
    incremental_errors,
    path,
    shown_to,
    stratified_mean,
)
from sparingly.choose.design.stratified import Stratified
from sparingly.choose.design.units import Groups
from sparingly.run.rounds.replay import replay


@pytest.mark.parametrize("spread", get_args(Spread))
def test_rounds_and_scores_are_those_of_the_strategy(case: Case, cases: Cases, spread: Spread) -> None:
    view, truth = shown_to(case, cases, 1), case.truth[:, 1]
    text = f"incremental_strata:spread={spread},by=document,update=rating"
    judged = view.with_aspect("judged", truth[:, None])
    looks = [look for look in replay(judged, text, 80, truth="judged", seed=5) if look.finished is None]
    found = list(path(view, truth, spread, (20, 40, 60, 80), 5))
    # A round for every rating.
    assert len(looks) == 80
    looks = looks[19::20]
    strata = Stratified(by="document").plan(view, 80).strata
    for taken, look in zip(found, looks, strict=True):
        assert (taken == look.state.asked[:, 0]).all()
        told = look.strategy.estimate(look.state).scores[0]
        assert stratified_mean(truth, taken, strata) == pytest.approx(told, abs=1e-9)


def test_strata_without_a_judgement_do_not_count() -> None:
    strata = Groups(("a", "b", "c"), np.array([0, 0, 0, 1, 2, 2]))
    truth = np.array([1.0, 2.0, 3.0, 10.0, 4.0, 8.0])
    taken = np.array([True, True, False, False, False, True])
    assert stratified_mean(truth, taken, strata) == pytest.approx((3 * 1.5 + 2 * 8.0) / 5)


def test_errors_fall_with_the_share_and_the_same_share_is_the_same_draw(cases: Cases) -> None:
    found = incremental_errors(cases, "ratings", (0.1, 0.1, 0.95), 3)
    assert found.error.shape == (3, 3, 3)
    assert (found.error[0] == found.error[1]).all()
    assert found.error[2].mean() < 0.5 * found.error[0].mean()
