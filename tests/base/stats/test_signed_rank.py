from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import wilcoxon

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.stats.pairs import pair_indices
from sparingly.base.stats.signed_rank import Alternative, RankTest, pair_signed_rank, signed_rank

ALTERNATIVES: list[Alternative] = ["two-sided", "less", "greater"]
METHODS: list[RankTest] = ["auto", "approx"]

whole = st.integers(-4, 4).map(float)
fine = st.integers(-(10**6), 10**6).map(float)


@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", METHODS)
@given(
    differences=st.one_of(
        arrays(np.float64, st.integers(1, 60), elements=whole),
        arrays(np.float64, st.integers(1, 60), elements=fine, unique=True),
    )
)
def test_as_scipy(alternative: Alternative, method: RankTest, differences: np.ndarray) -> None:
    ours = signed_rank(differences[:, None], alternative, method).p[0]
    if not differences.any():
        assert ours == 1.0
        return
    expected = wilcoxon(differences, alternative=alternative, method=method, correction=False).pvalue
    assert ours == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("items", [3, 12, 14, 50, 51, 400])
def test_pairs_of_models_as_scipy_one_by_one(alternative: Alternative, items: int) -> None:
    generator = np.random.default_rng(items)
    scores = generator.normal(size=(items, 5)) + 0.2 * np.arange(5)
    scores[:, 3:] = np.round(scores[:, 3:])
    tests = pair_signed_rank(scores, alternative)
    for at, (i, j) in enumerate(zip(*pair_indices(5), strict=True)):
        expected = wilcoxon(scores[:, i] - scores[:, j], alternative=alternative).pvalue
        assert tests.p[at] == pytest.approx(expected, abs=1e-9)


def test_direction_points_to_the_larger_rank_sum() -> None:
    differences = np.array([[1.0, -1.0, 1.0, 0.0], [2.0, -2.0, -1.0, 0.0], [-1.0, 3.0, 0.0, 0.0]])
    assert signed_rank(differences).direction.tolist() == [1, 0, 0, 0]
    assert signed_rank(-differences).direction.tolist() == [-1, 0, 0, 0]


def test_missing_cells_are_left_out_pair_by_pair() -> None:
    scores = np.random.default_rng(0).normal(size=(60, 3))
    gappy = scores.copy()
    gappy[::4, 2] = np.nan
    there = ~np.isnan(gappy[:, 2])
    p = pair_signed_rank(gappy).p
    assert p[0] == pair_signed_rank(scores).p[0]
    assert p[1:].tolist() == pair_signed_rank(scores[there]).p[1:].tolist()


def test_no_differences_speak_against_nothing() -> None:
    nothing = np.column_stack([np.zeros(30), np.full(30, np.nan)])
    for alternative in ALTERNATIVES:
        for method in METHODS:
            assert signed_rank(nothing, alternative, method).p.tolist() == [1.0, 1.0]
    assert pair_signed_rank(np.repeat(np.arange(20.0)[:, None], 2, axis=1)).p.tolist() == [1.0]


def test_blocks_of_pairs_give_what_all_pairs_give(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(0).normal(size=(30, 6))
    straight = pair_signed_rank(scores)
    monkeypatch.setattr("sparingly.base.stats.signed_rank._BLOCK_CELLS", 65)
    blocked = pair_signed_rank(scores)
    assert np.array_equal(straight.p, blocked.p)
    assert np.array_equal(straight.direction, blocked.direction)


def test_wrong_calls_get_one_sentence() -> None:
    with pytest.raises(UsageError, match="items × columns"):
        signed_rank(np.zeros(3))
    with pytest.raises(UnknownNameError, match="bigger"):
        signed_rank(np.zeros((3, 1)), "bigger")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="exactly"):
        signed_rank(np.zeros((3, 1)), method="exactly")  # type: ignore[arg-type]
