from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sparingly.base import rng
from sparingly.base.stats.sign_flip import pair_p_values
from sparingly.choose.design import search
from sparingly.choose.design.search import Search, distinct_draws

SCORES = np.random.default_rng(3).normal(size=(9, 4)).round(1)
SCORES[2, 1] = np.nan
KEYS = rng.keys_of([str(place) for place in range(9)])


def accuracy(rows: list[int]) -> float:
    """Soft pairwise accuracy by the plain functions."""
    part, full = (
        pair_p_values(SCORES[places], keys=KEYS[places], method="analytic")
        for places in (rows, list(range(9)))
    )
    return float(1 - np.abs(part - full).mean())


def test_the_best_of_all_subsets_is_found() -> None:
    best = max(accuracy(list(rows)) for rows in combinations(range(9), 3))
    found = Search.of_scores(SCORES).run(
        np.arange(9), 3, step=3, draws=2000, beam=1, generator=rng.generator(0, "test")
    )
    assert found.accuracy == pytest.approx(best)
    assert accuracy(found.rows.tolist()) == pytest.approx(best)


def test_sums_are_kept_along_the_way() -> None:
    search = Search.of_scores(SCORES)
    found = search.run(np.arange(9), 7, step=2, draws=20, beam=3, generator=rng.generator(1, "test"))
    assert len(set(found.rows.tolist())) == 7
    np.testing.assert_allclose(found.sums, search.terms[found.rows].sum(axis=0))
    assert found.accuracy == pytest.approx(accuracy(found.rows.tolist()))


def test_all_items_agree_with_themselves() -> None:
    found = Search.of_scores(SCORES).run(
        np.arange(9), 9, step=4, draws=3, beam=2, generator=rng.generator(1, "test")
    )
    assert found.accuracy == pytest.approx(1.0)


def test_blocks_of_draws_find_as_good_a_subset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_CELLS", 40)
    found = Search.of_scores(SCORES).run(
        np.arange(9), 3, step=3, draws=2000, beam=1, generator=rng.generator(0, "test")
    )
    assert found.accuracy == pytest.approx(max(accuracy(list(rows)) for rows in combinations(range(9), 3)))


@pytest.mark.parametrize(("pool", "size"), [(5, 5), (6, 3), (30, 2), (12, 1)])
def test_draws_are_sets_and_all_equally_likely(pool: int, size: int) -> None:
    drawn = distinct_draws(30_000, pool, size, rng.generator(0, "test"))
    assert drawn.shape == (30_000, size)
    assert all(len(set(row)) == size for row in drawn[:1000].tolist())
    _, counts = np.unique(np.sort(drawn, axis=1), axis=0, return_counts=True)
    sets = len(list(combinations(range(pool), size)))
    assert len(counts) == sets
    expected = 30_000 / sets
    # χ² with so many degrees of freedom stays within five of its standard deviations.
    assert ((counts - expected) ** 2 / expected).sum() < sets + 5 * np.sqrt(2 * sets)
