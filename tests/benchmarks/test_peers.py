"""Restated estimates of other packages beside what the packages themselves gave, and rules of replays."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.leaderboard.__main__ import PEERS
from benchmarks.peers.estimates import CjeEval, GlideMultiPpi, OnRandomSample, Truescore, calibrated
from benchmarks.peers.faq import FaqStyle, believed
from benchmarks.peers.glide import Glide
from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError
from sparingly.base.registry import registered
from sparingly.bench.grid import grid_from_text
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.replay import ReplayRound, replay

ITEMS = 200


def recorded() -> tuple[Floats, Floats]:
    """Return the metrics and labels for which the packages' answers below were recorded."""
    draw = np.random.default_rng(11)
    metrics = draw.normal(size=(40, 3))
    people = metrics @ [1.0, 0.5, 0.0] + draw.normal(size=40) + 2.0
    labels = np.full(40, np.nan)
    rows = draw.permutation(40)[:15]
    labels[rows] = people[rows]
    return metrics, labels


def made(seed: int = 3) -> EvalSet:
    draw = np.random.default_rng(seed)
    metric = draw.normal(size=(ITEMS, 3))
    return EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(ITEMS)],
        ["a", "b", "c"],
        metrics={"metric": metric, "other": metric + draw.normal(size=metric.shape)},
        aspects={"y": 5.0 + metric + [0.0, 0.5, 1.0] + draw.normal(size=metric.shape)},
    )


def played(strategy: Glide, seed: int = 0, budget: int | str = 60) -> ReplayRound:
    return list(replay(made(), strategy, budget, truth="y", seed=seed))[-1]


def every_peer() -> list[Glide]:
    return [Truescore(metric="metric"), CjeEval(metric="metric"), GlideMultiPpi(), FaqStyle()]


def error_of(parts: Floats) -> float:
    return float(np.sqrt((parts**2).sum()))


def test_truescore_gives_what_truescore_0_7_4_gave() -> None:
    metrics, labels = recorded()
    state = played(Truescore(metric="metric")).state
    mean, parts = Truescore().of_model(state, labels, metrics[:, 0])
    assert mean == pytest.approx(2.1527239589947733, abs=1e-12)
    assert error_of(parts) == pytest.approx(0.26087142409378605, abs=1e-12)


def test_multi_ppi_gives_what_glide_0_11_0_gave() -> None:
    metrics, labels = recorded()
    mean, parts = GlideMultiPpi().of_model(played(GlideMultiPpi()).state, labels, metrics)
    assert mean == pytest.approx(2.1933912056073686, abs=1e-12)
    assert error_of(parts) == pytest.approx(0.25218958118997153, abs=1e-12)
    copied = np.column_stack([metrics, metrics[:, 0]])
    assert GlideMultiPpi().of_model(played(GlideMultiPpi()).state, labels, copied)[0] == pytest.approx(mean)


def test_the_calibration_gives_what_cje_eval_0_9_3_gave() -> None:
    metrics, labels = recorded()
    # The folds that it drew, and its monotone calibration.
    drawn_there = [4, 2, 3, 0, 0, 2, 4, 1, 4, 2, 0, 2, 4, 1, 1, 2, 1, 3, 4, 3]
    drawn_there += [1, 0, 1, 1, 3, 0, 0, 1, 0, 2, 3, 4, 4, 1, 1, 4, 1, 0, 2, 2]
    folds = np.array(drawn_there)[~np.isnan(labels)]
    mean, parts = calibrated(labels, metrics[:, 0], folds)
    assert mean == pytest.approx(2.036118505808874, abs=1e-9)
    assert error_of(parts) == pytest.approx(0.32218191549170083, abs=1e-9)


def test_they_stand_behind_the_standard_grid_and_are_not_registered() -> None:
    names = [entry.name for entry in grid_from_text(PEERS).entries]
    assert names[0] == "tinyBenchmarks: anchors by item response theory"
    assert names[1:] == [
        *("glide_stratified", "glide_active", "glide_multi_ppi", "truescore", "cje_eval", "faq_style")
    ]
    assert not set(names) & set(registered())


@pytest.mark.parametrize("strategy", every_peer())
def test_estimates_stay_in_the_budget_and_are_right_on_average(strategy: Glide) -> None:
    truth, sums, squares = made().aspects["y"].mean(axis=0), np.zeros(3), np.zeros(3)
    for seed in range(60):
        look = played(strategy, seed)
        assert look.state.asked.any(axis=1).sum() == 60
        found = look.strategy.estimate(look.state)
        off = found.scores - truth
        sums, squares = sums + off, squares + off**2
        assert (np.abs(off) < 6.0 * found.standard_errors).all()
    spread = np.sqrt(squares / 60)
    assert (np.abs(sums / 60) < 4.0 * spread / np.sqrt(60)).all()
    # Plain means of 60 of 200 items are off by about σ √((1 − n/N)/n) = √2 · .108.
    assert spread.mean() < 0.153


@pytest.mark.parametrize("strategy", every_peer())
def test_everything_judged_is_the_mean_of_everything(strategy: Glide) -> None:
    look = played(strategy, budget="100%")
    found = look.strategy.estimate(look.state)
    wanted = made().aspects["y"].mean(axis=0)
    if isinstance(strategy, OnRandomSample):
        assert found.scores == pytest.approx(wanted)
    else:
        # The mean over steps remembers its first ones.
        assert np.abs(found.scores - wanted).max() < 0.1


def test_estimates_of_one_sample_have_the_labels_of_random() -> None:
    same = [played(strategy, 4).state.asked for strategy in every_peer()[:3]]
    assert (same[0] == same[1]).all()
    assert (same[0] == same[2]).all()


def test_an_item_that_is_drawn_first_has_the_probability_that_is_written() -> None:
    strategy, state = FaqStyle(), played(FaqStyle(), budget=20).state
    steps = strategy._steps(state, len(state.rounds))
    assert len(np.unique(steps.rows)) == 20
    assert steps.chance[0] == pytest.approx(1.0 / ITEMS)
    assert (steps.chance > 0).all()
    weight = 0.5 * steps.belief[-1].unsure / steps.belief[-1].unsure.mean()
    weight = 0.2 + 0.8 * (weight + 0.5 * steps.belief[-1].teaches / steps.belief[-1].teaches.mean())
    left = np.delete(np.arange(ITEMS), steps.rows[:-1])
    assert steps.chance[-1] == pytest.approx(weight[steps.rows[-1]] / weight[left].sum())


def test_a_belief_predicts_what_all_models_share_and_where_it_is_unsure() -> None:
    draw = np.random.default_rng(0)
    factors = np.column_stack([np.ones(400), draw.normal(size=400)])
    noise = np.exp(factors[:, 1])[:, None] * draw.normal(size=(400, 4))
    people = factors[:, [1]] * 2.0 + 3.0 + noise
    labels = np.where(np.arange(400)[:, None] < 200, people, np.nan)
    belief = believed(factors, labels)
    assert np.abs(belief.predicted[200:] - (3.0 + 2.0 * factors[200:, [1]])).mean() < 0.4
    assert np.corrcoef(np.log(belief.unsure), factors[:, 1])[0, 1] > 0.9


def test_one_that_needs_metrics_says_so() -> None:
    bare = EvalSet.from_arrays(["x", "y"], ["a", "b"], aspects={"y": np.ones((2, 2))})
    for strategy in (GlideMultiPpi(), FaqStyle()):
        with pytest.raises(MissingDataError, match="needs metrics"):
            list(replay(bare, strategy, 1, truth="y"))
