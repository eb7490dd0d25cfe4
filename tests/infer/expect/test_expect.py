"""``expect``: what judging everything would say, and what it must not depend on."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.infer.expect import expect as expect_module
from sparingly.infer.expect.expect import EVERY_LABEL, Belief, Expected, believe, label_noise

GAPS = np.array([0.6, 0.3, 0.25, 0.0, -0.5])
FIRST, SECOND = np.triu_indices(len(GAPS), 1)


def scores_and_metrics(items: int = 160, seed: int = 1) -> tuple[Floats, dict[str, Floats]]:
    draw = np.random.default_rng(seed)
    shape = (items, len(GAPS))
    scores = GAPS + draw.normal(size=(items, 1)) + draw.normal(size=shape)
    good = scores + draw.normal(size=shape)
    return scores, {"good": good, "noise": draw.normal(size=shape)}


def made(scores: Floats, metrics: dict[str, Floats]) -> EvalSet:
    ids = [f"i{row:03d}" for row in range(len(scores))]
    names = [f"m{place}" for place in range(scores.shape[1])]
    return EvalSet.from_arrays(ids, names, metrics=metrics, aspects={"y": scores})


def some_of(scores: Floats, share: float = 0.4, seed: int = 3) -> Floats:
    """Labels with gaps: a model goes to a depth of its own."""
    depth = np.random.default_rng(seed).integers(
        round(share * len(scores) / 2), round(share * len(scores)), 5
    )
    return np.where(np.arange(len(scores))[:, None] < depth, scores, np.nan)


def same(one: Expected, other: Expected) -> None:
    np.testing.assert_allclose(one.p_values, other.p_values, rtol=1e-6, atol=1e-9)
    assert one.trust == pytest.approx(other.trust, abs=1e-6)


@pytest.mark.parametrize("metrics", [True, False])
def test_of_a_judged_set_it_gives_the_set_s_own_p_values(metrics: bool) -> None:
    scores, known = scores_and_metrics(400)
    found = sparingly.expect(made(scores, known if metrics else {}))
    np.testing.assert_allclose(found.scores, scores.mean(axis=0), atol=1e-6)
    apart = scores[:, FIRST] - scores[:, SECOND]
    z = apart.mean(axis=0) * 20.0 / apart.std(axis=0, ddof=1)
    # Spreads borrow from the other pairs as if on five more items of 400.
    np.testing.assert_allclose(found.z, z, rtol=0.01, atol=0.01)
    np.testing.assert_allclose(found.p_values, norm.sf(z), atol=0.005)
    assert found.spread.max() < 1e-3
    assert found.order == tuple(f"m{place}" for place in np.argsort(-scores.mean(axis=0)))


def test_metrics_bring_it_nearer_to_the_whole_set() -> None:
    scores, metrics = scores_and_metrics(400)
    whole = sparingly.expect(made(scores, {})).p_values
    away = {True: 0.0, False: 0.0}
    for start in range(0, 360, 40):
        labels = np.where((np.arange(400) // 40 * 40 == start)[:, None], scores, np.nan)
        for with_metrics in away:
            found = sparingly.expect(made(scores, metrics if with_metrics else {}), labels)
            away[with_metrics] += float(np.abs(found.p_values - whole).mean())
    assert away[True] < 0.8 * away[False]


@pytest.mark.parametrize("metrics", [True, False])
def test_the_unit_and_the_origin_of_scores_do_not_matter(metrics: bool) -> None:
    scores, known = scores_and_metrics()
    data = made(scores, known if metrics else {})
    labels = some_of(scores)
    one, other = sparingly.expect(data, labels), sparingly.expect(data, 10.0 * labels + 3.0)
    same(one, other)
    np.testing.assert_allclose(10.0 * one.scores + 3.0, other.scores, rtol=1e-6)


def test_units_of_metrics_do_not_matter() -> None:
    scores, metrics = scores_and_metrics()
    labels = some_of(scores)
    moved = {name: 100.0 * values - 5.0 for name, values in metrics.items()}
    same(sparingly.expect(made(scores, metrics), labels), sparingly.expect(made(scores, moved), labels))


def test_models_under_other_names_get_the_same_answer() -> None:
    scores, metrics = scores_and_metrics()
    labels = some_of(scores)
    one = sparingly.expect(made(scores, metrics), labels)
    turned = {name: values[:, ::-1] for name, values in metrics.items()}
    other = sparingly.expect(made(scores[:, ::-1], turned), labels[:, ::-1])
    np.testing.assert_allclose(one.scores, other.scores[::-1], rtol=1e-6)
    np.testing.assert_allclose(one.two_sided, other.two_sided[::-1, ::-1], rtol=1e-5)
    np.testing.assert_allclose(np.sort(one.p_values), np.sort(1.0 - other.p_values), rtol=1e-5, atol=1e-9)


def test_items_under_other_names_get_the_same_answer() -> None:
    scores, metrics = scores_and_metrics()
    labels, order = some_of(scores), np.random.default_rng(9).permutation(len(scores))
    moved = {name: values[order] for name, values in metrics.items()}
    one = sparingly.expect(made(scores, metrics), labels)
    other = sparingly.expect(made(scores[order], moved), labels[order])
    same(one, other)
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-6)


def test_without_metrics_nothing_is_trusted() -> None:
    scores, _ = scores_and_metrics()
    found = sparingly.expect(made(scores, {}), some_of(scores))
    assert found.trust == found.within == 0.0


def test_metrics_that_are_noise_are_trusted_less_than_good_ones() -> None:
    scores, metrics = scores_and_metrics()
    labels = some_of(scores, 0.8)
    good, noise = (
        sparingly.expect(made(scores, {name: metrics[name]}), labels) for name in ("good", "noise")
    )
    assert good.within > 0.4 > 0.1 > noise.within
    assert good.trust > noise.trust + 0.3


def test_a_model_without_labels_has_the_widest_belief() -> None:
    scores, metrics = scores_and_metrics()
    labels = scores.copy()
    labels[60:] = np.nan
    labels[:, 2] = np.nan
    found = sparingly.expect(made(scores, metrics), labels)
    assert found.labels.tolist() == [60, 60, 0, 60, 60]
    assert np.isfinite(found.p_values).all()
    assert np.isfinite(found.scores).all()
    without = (FIRST == 2) | (SECOND == 2)
    assert found.spread[without].min() > found.spread[~without].max()


def test_a_metric_that_is_the_truth_does_not_predict_itself() -> None:
    scores, metrics = scores_and_metrics()
    labels = some_of(scores)
    data = made(scores, {"noise": metrics["noise"], "truth": scores})
    without = made(scores, {"noise": metrics["noise"]})
    same(sparingly.expect(data, labels, aspect="truth"), sparingly.expect(without, labels))


def test_weights_of_items_count() -> None:
    scores, metrics = scores_and_metrics()
    ids = [f"i{row:03d}" for row in range(len(scores))]
    weights = np.where(np.arange(len(scores)) < 20, 5.0, 1.0)
    data = EvalSet.from_arrays(
        ids, list("abcde"), metrics=metrics, aspects={"y": scores}, columns={"weight": weights.tolist()}
    )
    found = sparingly.expect(data)
    np.testing.assert_allclose(found.scores, np.average(scores, axis=0, weights=weights), atol=1e-6)


def test_it_can_be_shown_and_written() -> None:
    scores, metrics = scores_and_metrics()
    found = sparingly.expect(made(scores, metrics), some_of(scores))
    held = json.loads(json.dumps(found.to_dict()))
    assert held["order"] == list(found.order)
    assert held["note"] == EVERY_LABEL
    assert len(held["pairs"]) == len(FIRST)
    assert "metrics trusted" in repr(found)
    assert "every label" in found._repr_html_()
    square = found.two_sided
    assert np.isnan(np.diag(square)).all()
    least = np.minimum(found.p_values, 1 - found.p_values)
    np.testing.assert_allclose(square[FIRST, SECOND], 2 * least, atol=1e-12)


def test_an_expected_p_value_comes_with_its_range() -> None:
    scores, metrics = scores_and_metrics()
    found = sparingly.expect(made(scores, metrics), some_of(scores))
    low, high = found.two_sided_range()
    square = found.two_sided
    off = ~np.eye(len(GAPS), dtype=bool)
    assert (low <= square)[off].all()
    assert (square <= high)[off].all()
    np.testing.assert_allclose(square, square.T)
    z, spread = found.z[0], found.spread[0]
    assert high[0, 1] == pytest.approx(2 * norm.sf(max(abs(z) - norm.ppf(0.975) * spread, 0)))
    pair = found.to_dict()["pairs"][0]
    assert pair["two_sided_range"] == pytest.approx([low[0, 1], high[0, 1]])
    text = found.sentence("m4", "m0")
    assert text.startswith("Judging everything is expected to show m0 above m4 with p = ")
    assert text == found.sentence("m0", "m4")
    # Everything judged leaves nothing open.
    known = sparingly.expect(made(scores, metrics), scores)
    low, high = known.two_sided_range()
    assert low[off] == pytest.approx(high[off], abs=0.01)
    with pytest.raises(UsageError, match="and itself"):
        found.sentence("m1", "m1")


def test_what_cannot_be_gets_one_sentence() -> None:
    scores, metrics = scores_and_metrics(20)
    data = made(scores, metrics)
    with pytest.raises(UsageError, match=r"^Labels are items × models, 20 × 5, not 19 × 5\.$"):
        sparingly.expect(data, scores[:19])
    with pytest.raises(DataError, match=r"two items or more .* Judge more first\.$"):
        sparingly.expect(data, np.where(np.arange(20)[:, None] < 1, scores, np.nan))
    with pytest.raises(DataError, match="there is only one"):
        sparingly.expect(data.take(models=["m0"]), scores[:, :1])
    with pytest.raises(UsageError, match="Name one: aspect"):
        sparingly.expect(data.with_aspect("other", scores))


def test_the_order_agrees_with_the_expected_differences() -> None:
    """Printed neighbours must not read "A over B" where the belief has B over A, unless they are level."""
    data = load_invented()
    generator = np.random.default_rng(5)
    for count in (6, 12, 40):
        labels = np.full(data.shape, np.nan)
        rows = generator.choice(len(data), count, replace=False)
        labels[rows] = data.aspects["overall"][rows]
        found = sparingly.expect(data, labels)
        place = {name: number for number, name in enumerate(found.order)}
        first, second = np.triu_indices(len(data.models), 1)
        above = np.array(
            [place[data.models[i]] < place[data.models[j]] for i, j in zip(first, second, strict=True)]
        )
        wrong = above != (found.z > 0)
        assert (np.abs(found.z[wrong]) < 0.5).all()


@pytest.mark.parametrize(
    ("counts", "share", "noise"),
    [
        # 100 · (1/50 − 1/100), whatever the shares.
        ((50, 50), 0.5, 1.0),
        ((50, 50), 0.9, 1.0),
        # 100 · 0.25 · (1/25 − 1/100): the second model has no error left.
        ((25, 100), 0.25, 0.75),
        ((100, 25), 0.25, 2.25),
        # A model without labels counts as one with a single label.
        ((0, 50), 0.5, 50.0),
        ((100, 100), 0.5, 1e-9),
    ],
)
def test_noise_of_labels_ends_with_the_set(counts: tuple[int, int], share: float, noise: float) -> None:
    found = label_noise(np.array(counts, np.float64), 100, np.array([share]))
    assert found == pytest.approx([noise], rel=1e-12)


def test_the_belief_is_given_the_noise_of_the_finite_set(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, metrics = scores_and_metrics(160)
    labels = np.where(np.arange(160)[:, None] < 40, scores, np.nan)
    noises = []

    def recorded(observed: Floats, predicted: Floats, noise: Floats, **options: Any) -> Belief:
        noises.append(noise)
        return believe(observed, predicted, noise, **options)

    monkeypatch.setattr(expect_module, "believe", recorded)
    sparingly.expect(made(scores, metrics), labels)
    # 160 · (1/40 − 1/160) for every pair.
    assert noises[0] == pytest.approx(np.full(10, 3.0))
