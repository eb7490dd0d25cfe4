"""``bank``: earlier models' labels as predictors of a model that was judged on few items."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats, Mask
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.assemble import EstimateRequest, assemble
from sparingly.infer.estimate.bank import Bank, earlier_models
from sparingly.infer.estimate.sample import sample_from_arrays

ITEMS, NEW = 200, 60


def scores_of(models: int, seed: int = 0) -> Floats:
    """Return scores in which items differ far more than models do on one item."""
    draw = np.random.default_rng(seed)
    difficulty = draw.normal(0, 10, ITEMS)
    return 70.0 + difficulty[:, None] + draw.normal(0, 4, (ITEMS, models)) + np.arange(models)


def judged_set(scores: Floats, new: Mask, earlier: Mask | None = None) -> EvalSet:
    """Return a set in which the first model was judged on some items, and the others on all or some."""
    labels = scores.copy()
    labels[~new, 0] = np.nan
    if earlier is not None:
        labels[~earlier, 1:] = np.nan
    names = [f"model {place}" for place in range(scores.shape[1])]
    return EvalSet.from_arrays([f"i{row}" for row in range(ITEMS)], names, aspects={"quality": labels})


def sample_of(count: int, seed: int, inside: Mask | None = None) -> Mask:
    pool = np.arange(ITEMS) if inside is None else np.flatnonzero(inside)
    mask = np.zeros(ITEMS, bool)
    mask[np.random.default_rng(seed).choice(pool, count, replace=False)] = True
    return mask


def test_a_new_model_is_sharpened_by_default_and_the_others_stay_as_they_are() -> None:
    scores = scores_of(5)
    found = sparingly.estimate(judged_set(scores, sample_of(NEW, 1)), aspect="quality")
    plain = sparingly.estimate(
        judged_set(scores, sample_of(NEW, 1)), aspect="quality", estimator="weighted_mean"
    )
    assert found.estimator == "bank"
    assert found.standard_errors[0] < 0.6 * plain.standard_errors[0]
    assert np.allclose(found.scores[1:], scores[:, 1:].mean(axis=0), rtol=1e-12)
    assert not found.standard_errors[1:].any()
    assert any("model 0" in note for note in found.notes)


def test_one_earlier_model_is_enough() -> None:
    data = judged_set(scores_of(2), sample_of(NEW, 1))
    found = sparingly.estimate(data, aspect="quality")
    plain = sparingly.estimate(data, aspect="quality", estimator="weighted_mean")
    assert found.standard_errors[0] < 0.7 * plain.standard_errors[0]


def test_where_all_were_judged_on_the_same_items_nothing_changes() -> None:
    drawn = sample_of(NEW, 1)
    data = judged_set(scores_of(4), drawn, drawn)
    assert sparingly.estimate(data, aspect="quality").estimator == "weighted_mean"
    by_bank = sparingly.estimate(data, aspect="quality", estimator="bank")
    by_mean = sparingly.estimate(data, aspect="quality")
    assert np.array_equal(by_bank.scores, by_mean.scores)
    assert np.array_equal(by_bank.standard_errors, by_mean.standard_errors)


def test_with_metrics_and_the_same_items_it_is_greg() -> None:
    data = load_invented()
    chosen = sparingly.select(data, budget=60, seed=1)
    greg = sparingly.estimate(data, chosen, "overall")
    bank = sparingly.estimate(data, chosen, "overall", estimator="bank")
    assert greg.estimator == "greg"
    assert np.allclose(bank.scores, greg.scores, rtol=1e-12)


@pytest.mark.parametrize(("judged", "counts"), [(29, False), (30, True)])
def test_few_labels_learn_nothing(judged: int, counts: bool) -> None:
    data = judged_set(scores_of(3), sample_of(judged, 1))
    assert (sparingly.estimate(data, aspect="quality").estimator == "bank") is counts


def test_gaps_do_not_make_a_model_new() -> None:
    labels = scores_of(3)
    labels[:60, 0] = np.nan
    assert not earlier_models(sample_from_arrays(labels)).any()


def test_earlier_models_that_tell_nothing_leave_the_plain_mean() -> None:
    scores = scores_of(4)
    scores[:, 0] = np.random.default_rng(5).normal(0, 1, ITEMS)
    new = sample_of(NEW, 3)
    found = sparingly.estimate(judged_set(scores, new), aspect="quality")
    assert found.scores[0] == pytest.approx(scores[new, 0].mean())
    assert any("do not help to predict" in note for note in found.notes)


@pytest.mark.statistics
@pytest.mark.parametrize("kind", ["on all items", "on a part, inside", "on a part, apart", "one model"])
def test_scores_are_unbiased_and_intervals_hold(kind: str) -> None:
    scores = scores_of(2 if kind == "one model" else 4)
    truth, errors, held = scores[:, 0].mean(), [], 0
    draws = 400
    for seed in range(draws):
        earlier = None if kind in ("on all items", "one model") else sample_of(100, 10_000 + seed)
        new = sample_of(40, seed, earlier if kind == "on a part, inside" else None)
        data = judged_set(scores, new, earlier)
        if kind == "on a part, inside":
            found = sparingly.estimate(data, aspect="quality", estimator="bank")
            score, low, high = float(found.scores[0]), float(found.low[0]), float(found.high[0])
        else:
            score, low, high = of_its_own_draw(data, 1.0 if earlier is None else 0.5)
        errors.append(score - truth)
        held += low <= truth <= high
    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / np.sqrt(draws)
    assert held / draws > 0.925
    plain = scores[:, 0].std() * np.sqrt(1 / 40 - 1 / ITEMS)
    assert np.std(errors) < {"on a part, apart": 0.95, "on a part, inside": 0.85}.get(kind, 0.7) * plain


def of_its_own_draw(data: EvalSet, probability: float) -> tuple[float, float, float]:
    """Return score and interval of the first model, judged on 40 items of its own draw."""
    labels = data.aspects["quality"]
    chances = np.where(np.arange(labels.shape[1]) == 0, 40 / ITEMS, probability)
    sample = sample_from_arrays(labels, np.broadcast_to(chances, labels.shape))
    part = Bank().linear(sample, data, 0).of_model(0, sample.judged[:, 0])
    found = assemble(sample.of_model(0), part, ["new"], EstimateRequest(), aspect="quality", estimator="bank")
    return float(found.scores[0]), float(found.low[0]), float(found.high[0])
