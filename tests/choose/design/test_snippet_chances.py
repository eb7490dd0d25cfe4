from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.choose.design.documents import (
    SnippetPlan,
    check_enough,
    covering_share,
    document_chances,
    draw_along,
    snippet_rows,
)
from sparingly.choose.design.probability import greatest_cost

LENGTHS = st.lists(st.integers(1, 25), min_size=1, max_size=12).map(np.array)


# --- documents ----------------------------------------------------------------------------------------


@given(LENGTHS, st.data())
def test_chances_of_documents_give_so_many_items(lengths: Ints, data: st.DataObject) -> None:
    shape = np.array(data.draw(st.lists(st.floats(0.1, 9.0), min_size=len(lengths), max_size=len(lengths))))
    count = data.draw(st.integers(1, int(lengths.sum())))
    found = document_chances(shape, lengths.astype(np.float64), count)
    assert found @ lengths == pytest.approx(count)
    ratio = (found / shape)[found < 1 - 1e-9]
    assert len(ratio) == 0 or np.ptp(ratio) <= 1e-9 * ratio.max()


def test_chances_of_documents_by_hand() -> None:
    lengths = np.array([2.0, 4.0, 14.0])
    np.testing.assert_allclose(document_chances(np.ones(3), lengths, 5), [0.25, 0.25, 0.25])
    # By size κ = 5/(4 + 16 + 196); at 17 items the longest is sure and 3 = κ(4 + 16) are left.
    np.testing.assert_allclose(document_chances(lengths, lengths, 5), lengths * 5 / 216)
    np.testing.assert_allclose(document_chances(lengths, lengths, 17), [0.3, 0.6, 1.0])


def test_a_document_of_no_importance_has_next_to_no_chance_but_one() -> None:
    found = document_chances(np.array([0.0, 1.0]), np.array([5.0, 5.0]), 3)
    assert 0 < found[0] < 1e-6


@given(LENGTHS, st.integers(0, 500), st.data())
def test_a_draw_stays_near_the_expected_number(lengths: Ints, seed: int, data: st.DataObject) -> None:
    floats = lengths.astype(np.float64)
    count = data.draw(st.integers(1, int(lengths.sum())))
    chances = document_chances(data.draw(st.sampled_from([np.ones(len(lengths)), floats])), floats, count)
    taken = draw_along(chances, floats, np.random.default_rng(seed))
    assert abs(lengths[taken].sum() - count) <= lengths.max()
    assert lengths[taken].sum() <= greatest_cost(chances, floats, in_order=True) <= count + lengths.max()
    assert abs(taken.sum() - chances.sum()) < 1 + 1e-9


def test_the_most_items_are_reached() -> None:
    lengths, chances = np.array([8.0, 4.0, 3.0, 1.0]), np.full(4, 0.4)
    totals = {lengths[draw_along(chances, lengths, np.random.default_rng(seed))].sum() for seed in range(300)}
    # One of the first two, and one more: 1.6 documents.
    assert max(totals) == greatest_cost(chances, lengths, in_order=True) == 8 + 3


def test_a_budget_below_a_document_is_refused() -> None:
    check_enough(np.array([0.5, 0.5]), 20, "document")
    sentence = r"A budget of 20 items is less than one document: only 0\.2 of them .* Raise it to 100 items"
    with pytest.raises(UsageError, match=sentence):
        check_enough(np.full(5, 0.04), 20, "document")


# --- segments -----------------------------------------------------------------------------------------


def test_four_of_ten() -> None:
    found = covering_share(np.arange(10), np.full(10, 10), np.full(10, 4))
    expected = [0.14, 0.29, 0.43, 0.57, 0.57, 0.57, 0.57, 0.43, 0.29, 0.14]
    np.testing.assert_array_equal(found.round(2), expected)
    assert found.sum() == pytest.approx(4)


@given(st.integers(1, 30), st.data())
def test_the_share_of_starts_is_what_counting_gives(count: int, data: st.DataObject) -> None:
    length = data.draw(st.integers(0, count))
    covered = np.zeros(count)
    starts = range(count - length + 1)
    for start in starts:
        covered[start : start + length] += 1
    args = np.arange(count), np.full(count, count), np.full(count, length)
    np.testing.assert_allclose(covering_share(*args), covered / len(starts), atol=1e-12)
    np.testing.assert_allclose(covering_share(*args, wrap=True), length / count)


def in_full(plan: SnippetPlan, wrap: bool) -> Floats:
    """Return the chances of all segments by listing every outcome of every document."""
    found = []
    for count, chance, length, longer in zip(plan.counts, plan.chance, plan.length, plan.longer, strict=True):
        segments = np.zeros(count)
        for size, weight in ((length, 1 - longer), (length + 1, longer)):
            starts = count if wrap else count - size + 1
            for start, step in itertools.product(range(max(starts, 0)), range(size)):
                segments[(start + step) % count] += chance * weight / starts
        found.append(segments)
    return np.concatenate(found)


@given(LENGTHS, st.floats(0.01, 1.0), st.booleans())
def test_chances_of_segments_are_those_of_all_outcomes(counts: Ints, share: float, wrap: bool) -> None:
    of_row = np.repeat(np.arange(len(counts)), counts)
    place = np.concatenate([np.arange(count) for count in counts])
    plans = [
        SnippetPlan.of_share(counts, np.full(len(counts), share)),
        SnippetPlan(counts, np.full(len(counts), share), np.minimum(counts, 10), np.zeros(len(counts))),
    ]
    for plan in plans:
        found = plan.segment_chances(of_row, place, wrap=wrap)
        np.testing.assert_allclose(found, in_full(plan, wrap), atol=1e-9)
    shares = np.bincount(of_row, plans[0].segment_chances(of_row, place, wrap=wrap)) / counts
    np.testing.assert_allclose(shares, share, err_msg="every document gives its share on average")


def test_a_share_surely_gives_a_snippet_of_a_segment_or_more() -> None:
    plan = SnippetPlan.of_share(np.array([1, 3, 10]), np.full(3, 0.4))
    assert plan.length.tolist() == [0, 1, 4]
    np.testing.assert_allclose(plan.longer, [0.4, 0.2, 0.0], atol=1e-12)
    assert plan.is_sure.tolist() == [False, True, True]


@given(LENGTHS, st.integers(0, 500), st.booleans(), st.data())
def test_shares_of_documents_add_up_exactly(counts: Ints, seed: int, wrap: bool, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, int(counts.sum())))
    share = document_chances(np.ones(len(counts)), counts.astype(np.float64), count)
    plan = SnippetPlan.of_share(counts, share)
    start, length = plan.draw(np.random.default_rng(seed), wrap=wrap)
    assert length.sum() == count
    assert (np.abs(length - share * counts) < 1 + 1e-9).all()
    assert ((start >= 0) & (start < counts)).all()
    assert wrap or (start + length <= counts).all()


def test_rows_of_snippets_in_reading_order() -> None:
    counts = np.array([5, 3, 4])
    document, place = snippet_rows(np.array([3, 0, 1]), np.array([4, 0, 2]), counts, np.array([2, 0]))
    assert document.tolist() == [2, 2, 0, 0, 0, 0]
    # The second goes on at the start: segments 3, 4, 0, 1.
    assert place.tolist() == [1, 2, 0, 1, 3, 4]
