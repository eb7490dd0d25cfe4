from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers.glide import Glide, GlideActive, GlideStratified
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import registered
from sparingly.bench.grid import entry_of
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.replay import ReplayRound, replay

ITEMS, COUNT = 200, 60


def made(seed: int = 3) -> EvalSet:
    draw = np.random.default_rng(seed)
    proxy = draw.normal(size=(ITEMS, 3))
    return EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(ITEMS)],
        ["a", "b", "c"],
        metrics={"proxy": proxy},
        aspects={"y": 5.0 + proxy + draw.normal(size=proxy.shape)},
    )


def played(strategy: Glide, seed: int = 0, budget: int | str = COUNT) -> ReplayRound:
    return list(replay(made(), strategy, budget, truth="y", seed=seed))[-1]


def test_peers_are_entries_of_a_grid_by_their_module_and_not_registered() -> None:
    module = "benchmarks.peers.glide"
    assert entry_of("glide_active", module=module).make_method(None) == GlideActive()
    named = entry_of("glide_stratified:metric={metric}", module=module, rounds=1)
    assert named.make_method("a b") == GlideStratified(metric="a b")
    assert named.plan.make_method("a b") == GlideStratified(metric="a b")
    assert not {"glide_active", "glide_stratified"} & set(registered())
    with pytest.raises(UnknownNameError, match="parameter of glide_active"):
        entry_of("glide_active:metrics=a", module=module)
    with pytest.raises(UsageError, match="takes one value"):
        entry_of("glide_active:metric=[a,b]", module=module)


def test_one_round_within_the_budget() -> None:
    sizes = {len(played(GlideActive(), seed).state.rounds[0]) for seed in range(25)}
    assert max(sizes) == COUNT, "what is drawn beyond the budget is left out"
    assert min(sizes) < COUNT, "the number of drawn items is random"
    for seed in range(5):
        state = played(GlideStratified(), seed).state
        assert len(state.rounds) == 1
        assert len(state.rounds[0]) == COUNT


def test_bins_give_items_by_the_spread_of_the_proxy() -> None:
    data, state = made(), played(GlideStratified()).state
    mean = data.metrics["proxy"].mean(axis=1)
    bins = np.argsort(np.argsort(mean)) * 5 // ITEMS
    drawn = np.bincount(bins[state.asked[:, 0]], minlength=5)
    spread = np.array([mean[bins == one].std() for one in range(5)])
    assert np.corrcoef(drawn, spread)[0, 1] > 0.95
    assert drawn[[0, 4]].min() > drawn[1:4].max()


def test_the_active_estimate_is_that_of_its_formula() -> None:
    data, strategy = made(), GlideActive(metric="proxy")
    look = played(strategy, seed=6)
    state = look.state
    met = np.sort(strategy._met(state))
    chance, drawn = strategy._chances(state)[met], state.asked[met, 0].astype(float)
    found = strategy.estimate(state)
    for model in range(3):
        proxy, label = data.metrics["proxy"][met, model], data.aspects["y"][met, model] * drawn
        first, second = proxy * (drawn / chance - 1.0), label / chance
        slope = np.cov(first, second)[0, 1] / np.var(first, ddof=1)
        rectified = slope * proxy + drawn * (label - slope * proxy) / chance
        assert found.scores[model] == pytest.approx(rectified.mean())
        assert found.standard_errors[model] == pytest.approx(rectified.std(ddof=1) / np.sqrt(len(met)))


def test_the_stratified_estimate_is_that_of_its_formula() -> None:
    data, strategy = made(), GlideStratified(metric="proxy")
    state = played(strategy, seed=6).state
    found, code = strategy.estimate(state), strategy._plan(state)[0].of_unit
    drawn = state.asked[:, 0]
    for model in range(3):
        proxy, label = data.metrics["proxy"][:, model], data.aspects["y"][:, model]
        mean = variance = 0.0
        for one in range(5):
            inside, here, rest = code == one, (code == one) & drawn, (code == one) & ~drawn
            slope = np.cov(label[here], proxy[here])[0, 1] / np.var(proxy[inside], ddof=1)
            slope /= 1.0 + here.sum() / rest.sum()
            missed = label[here] - slope * proxy[here]
            share = inside.mean()
            mean += share * (slope * proxy[rest].mean() + missed.mean())
            variance += share**2 * (
                missed.var(ddof=1) / here.sum() + (slope * proxy[rest]).var(ddof=1) / rest.sum()
            )
        assert found.scores[model] == pytest.approx(mean)
        assert found.standard_errors[model] == pytest.approx(np.sqrt(variance))


@pytest.mark.parametrize("strategy", [GlideActive(), GlideStratified()])
def test_everything_judged_is_the_mean_of_everything(strategy: Glide) -> None:
    look = played(strategy, budget="100%")
    found = look.strategy.estimate(look.state)
    assert found.scores == pytest.approx(made().aspects["y"].mean(axis=0))
    assert look.finished is not None
    assert found.full_set_p().shape == (3,)


def test_an_estimator_is_refused() -> None:
    look = played(GlideActive())
    with pytest.raises(UsageError, match="without estimator="):
        look.strategy.estimate(look.state, estimator="greg")
