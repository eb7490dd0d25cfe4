"""The learner: what it predicts is what its parts add up to, whatever the block."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.choose.distil import learner, text_features
from sparingly.choose.distil.learner import fit_trees
from sparingly.choose.distil.text_features import Spans
from tests.choose.distil.made_past import source

TEXTS = sorted(source(place)[0] for place in range(150))
HARD = {source(place)[0]: source(place)[1] for place in range(150)}
TARGETS = np.array([[HARD[text], len(text)] for text in TEXTS], np.float64)
TARGETS = (TARGETS - TARGETS.mean(axis=0)) / TARGETS.std(axis=0)


@pytest.mark.parametrize("boosting", [False, True])
def test_it_learns_words_and_length(boosting: bool) -> None:
    half = np.arange(150) % 2 == 0
    train = [text for text, here in zip(TEXTS, half, strict=True) if here]
    test = [text for text, here in zip(TEXTS, half, strict=True) if not here]
    known = learner.fit_light(train, TARGETS[half], None, boosting, 0)
    told = known.predict(test)
    for place in range(2):
        assert np.corrcoef(told[:, place], TARGETS[~half, place])[0, 1] > 0.8


@pytest.mark.parametrize("boosting", [False, True])
def test_blocks_change_no_bit(boosting: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    known = learner.fit_light(TEXTS, TARGETS, None, boosting, 0)
    whole = known.predict(TEXTS)
    monkeypatch.setattr(text_features, "_BLOCK_LETTERS", 100)
    np.testing.assert_array_equal(known.predict(TEXTS), whole)
    np.testing.assert_array_equal(known.predict(TEXTS[::-1])[::-1], whole)


def test_weights_of_ngrams_are_those_of_the_main_directions() -> None:
    """Folded back to n-grams, the ridge says what it said of its features, within single precision."""
    known = learner.fit_light(TEXTS, TARGETS, None, False, 0)
    directions = learner._ngram_directions(TEXTS)[0]
    standard = known.linear.standard(Spans(TEXTS))
    size = np.sqrt(standard.shape[1] / directions.var(axis=0).sum())
    x = np.hstack([standard, directions * size])
    ridge = learner._ridge(x, TARGETS[:, 0])
    expected = x @ ridge.coefficients + ridge.intercepts[0]
    np.testing.assert_allclose(known.predict(TEXTS)[:, 0], expected, atol=1e-5)


def test_trees_are_those_of_scikit_learn() -> None:
    from sklearn.ensemble import GradientBoostingRegressor

    drawn = np.random.default_rng(1)
    x, y = drawn.normal(size=(300, 4)), drawn.normal(size=300)
    trees = fit_trees(x, y, 5)
    same = GradientBoostingRegressor(
        n_estimators=150, learning_rate=0.05, max_depth=3, subsample=0.5, min_samples_leaf=20, random_state=5
    ).fit(x, y)
    np.testing.assert_allclose(trees.predict(x), same.predict(x), atol=1e-12)


def test_unknown_targets_are_left_out() -> None:
    holes = TARGETS.copy()
    holes[:100, 0] = np.nan
    known = learner.fit_light(TEXTS, holes, None, True, 0)
    alone = learner.fit_light(TEXTS, TARGETS[:, 1:], None, True, 0)
    np.testing.assert_allclose(known.predict(TEXTS)[:, 1], alone.predict(TEXTS)[:, 0], atol=1e-9)
    assert np.isfinite(known.predict(TEXTS)).all()


def test_vectors_stand_in_for_ngrams() -> None:
    drawn = np.random.default_rng(2)
    vectors = drawn.normal(size=(150, 5))
    target = (vectors @ [1.0, 0, -1.0, 0, 2.0])[:, None]
    known = learner.fit_light(TEXTS, target, vectors, False, 0)
    assert known.linear.characters is None
    assert np.corrcoef(known.predict(TEXTS, vectors)[:, 0], target[:, 0])[0, 1] > 0.99
