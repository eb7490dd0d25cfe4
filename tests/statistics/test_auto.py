"""Scores of ``auto`` after five rounds hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.auto import Auto, spread_order
from sparingly.run.rounds.replay import replay

REPLAYS, LEAST = 200, 0.93


class Replays(NamedTuple):
    """The estimates after the last rounds, and the mean of the first items of the order: replays × models."""

    estimates: list[sparingly.Estimate]
    control: Floats


def judged() -> EvalSet:
    return sparingly.make_evalset(
        items=120, models=4, metrics={"good": 0.6, "weak": 0.2}, texts=False, raters=0, aspects=("y",), seed=5
    )


def replays() -> Replays:
    data, shown = judged(), judged().without_labels()
    estimates, control = [], []
    for seed in range(REPLAYS):
        last = list(replay(data, "auto", 40, truth="y", seed=seed))[-1]
        estimates.append(last.strategy.estimate(last.state))
        first = spread_order(shown.only(Auto().reads(shown)), seed)[:40]
        control.append(data.aspects["y"][first].mean(axis=0))
    return Replays(estimates, np.stack(control))


@pytest.mark.statistics
def test_intervals_for_scores_hold() -> None:
    """95 % intervals of four models over 200 replays hold in at least 93 %.

    The binomial error of a share of 0.93 over 200 replays is 0.018 (models of one replay are not taken for
    independent), so the mean over models must reach 0.93 − 2 · 0.018 = 0.894, and each model alone, of
    which four are looked at, 0.93 − 3 · 0.018 = 0.876.
    """
    labels = judged().aspects["y"]
    truth, held, errors, sizes = labels.mean(axis=0), [], [], []
    runs = replays()
    for found in runs.estimates:
        held.append((found.low <= truth) & (truth <= found.high))
        errors.append(found.scores - truth)
        sizes.append(found.standard_errors)
    covered, error = np.mean(held, axis=0), np.sqrt(LEAST * (1.0 - LEAST) / REPLAYS)
    assert covered.mean() >= LEAST - 2.0 * error
    assert covered.min() >= LEAST - 3.0 * error
    # No bias above 0.1 standard errors, up to 3 standard errors of the replays. The mean of the first items
    # of the order has no bias: what of the mean error it explains is noise.
    control = runs.control - truth
    centred, ratios = control - control.mean(axis=0), np.stack(errors) / np.mean(sizes, axis=0)
    rest = ratios - (centred * ratios).sum(axis=0) / (centred**2).sum(axis=0) * control
    assert (np.abs(rest.mean(axis=0)) <= 0.1 + 3.0 * rest.std(axis=0) / np.sqrt(REPLAYS)).all()
    # Errors are not above those of as many random labels: mean squares, up to 2 standard errors of them.
    random = labels.var(axis=0, ddof=1) * (1.0 / 40 - 1.0 / 120)
    squares = (np.square(errors) / random).mean(axis=1)
    assert squares.mean() <= 1.0 + 2.0 * squares.std() / np.sqrt(REPLAYS)
