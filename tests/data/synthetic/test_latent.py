"""The hidden truth: documents, abilities, qualities."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.data.synthetic.generate import draw_abilities, draw_items, draw_quality


def test_documents_hold_all_items_in_order() -> None:
    items = draw_items(500, 60, 4, seed=3)
    lengths = np.bincount(items.document, minlength=60)
    assert lengths.sum() == 500
    assert lengths.min() >= 1
    assert len(np.unique(lengths)) > 5
    assert (np.diff(items.document) >= 0).all()
    for document in range(60):
        place = np.flatnonzero(items.document == document)
        assert items.position[place].tolist() == list(range(len(place)))
        assert len(set(items.domain[place].tolist())) == 1


def test_lengths_vary_and_longer_items_are_harder() -> None:
    items = draw_items(5000, 800, 4, seed=0)
    assert (items.words.min(), items.words.max()) >= (5, 60)
    assert items.words.max() <= 80
    assert np.corrcoef(np.log(items.words), items.difficulty)[0, 1] > 0.05


def test_abilities_are_spread_as_asked() -> None:
    wide, narrow = draw_abilities(12, 2.0, seed=1), draw_abilities(12, 0.5, seed=1)
    np.testing.assert_allclose(wide, 4 * narrow)
    assert wide.max() - wide.min() == pytest.approx(4.0, abs=1.5)


@pytest.mark.statistics
def test_abler_models_are_better_and_hard_items_worse() -> None:
    items = draw_items(4000, 0, 0, seed=2)
    abilities = draw_abilities(6, 0.7, seed=2)
    quality = draw_quality(items, abilities, 1, seed=2)[0]
    assert (np.argsort(quality.mean(axis=0)) == np.argsort(abilities)).all()
    assert np.corrcoef(quality.mean(axis=1), items.difficulty)[0, 1] < -0.5


@pytest.mark.statistics
def test_items_of_high_discrimination_tell_models_apart() -> None:
    """The share of the spread between models that is due to their abilities is larger on such items."""
    items = draw_items(20_000, 0, 0, seed=4)
    abilities = draw_abilities(8, 0.7, seed=4)
    quality = draw_quality(items, abilities, 1, seed=4)[0]
    within = quality - quality.mean(axis=1, keepdims=True)
    able = (abilities - abilities.mean()) / np.linalg.norm(abilities - abilities.mean())
    agreement = within @ able / np.maximum(np.linalg.norm(within, axis=1), 1e-9)
    sharp = items.discrimination > np.median(items.discrimination)
    assert agreement[sharp].mean() > agreement[~sharp].mean() + 0.1


def test_aspects_are_akin() -> None:
    items = draw_items(3000, 0, 0, seed=5)
    first, second, third = draw_quality(items, draw_abilities(6, 0.7, seed=5), 3, seed=5)
    for other in (second, third):
        within = np.corrcoef(
            (first - first.mean(axis=1, keepdims=True)).ravel(),
            (other - other.mean(axis=1, keepdims=True)).ravel(),
        )[0, 1]
        assert 0.5 < within < 0.95
