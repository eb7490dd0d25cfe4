from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import sparingly
from benchmarks.analyses.success import SuccessByNorm, success_by_norm
from sparingly.base.errors import DataError, UsageError
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank.winners import pair_margins
from tests.benchmarks.analyses.made import ON_CIRCLE, chord, on_circle

ANGLES = [0.1, 0.2, 0.3, 1.0, 1.1, 1.2]
# a wins 4 of 6: always where the outputs differ much; where they do not, b wins once and one is a tie.
GAPS = [-1.0, 0.0, 1.0, 1.0, 1.0, 1.0]


def by_hand(order: list[int], **parts: object) -> SuccessByNorm:
    angles = [[0.0, ANGLES[place]] for place in order]
    scores = np.array([[GAPS[place], 0.0] for place in order])
    return success_by_norm(
        on_circle(angles, aspects={"mqm": scores}),
        truth="mqm",
        embedding=ON_CIRCLE,
        **parts,  # type: ignore[arg-type]
    )


def test_two_bins_by_hand() -> None:
    found = by_hand([0, 1, 2, 3, 4, 5], bins=2)
    low, high = found.bins
    assert (low.winner, low.loser, low.tie) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (high.winner, high.loser, high.tie) == pytest.approx((1.0, 0.0, 0.0))
    # In the lower bin the two models are even, which names no winner.
    assert (low.success, high.success) == (0.0, 1.0)
    assert low.norm == pytest.approx(np.mean([chord(angle) for angle in ANGLES[:3]]))
    assert (low.items, high.items, found.pairs, found.winner) == (3, 3, 1, "a")
    assert 0.0 <= found.random <= 1.0
    assert found.table()["bin"] == [1, 2]


def test_the_order_of_the_file_changes_nothing() -> None:
    data = load_invented()
    order = np.random.default_rng(0).permutation(len(data))
    shuffled = sparingly.EvalSet.from_arrays(
        data.items[order].tolist(),
        list(data.models),
        outputs=data.outputs[order].tolist() if data.outputs is not None else None,
        aspects={"overall": data.aspects["overall"][order]},
    )
    assert success_by_norm(shuffled, truth="overall") == success_by_norm(data, truth="overall")


def test_shares_and_success_against_a_plain_loop() -> None:
    data = load_invented()
    found = success_by_norm(data, truth="overall", tie=2.0, bins=6)
    scores = data.truth("overall")
    margins = dict(zip(*_pairs_and_margins(scores), strict=True))
    assert found.pairs == sum(margin != 0 for margin in margins.values())
    for one in found.bins:
        assert one.winner + one.loser + one.tie == pytest.approx(1.0)
        assert one.items == 28 * 40
    # Over all bins, the items that prefer the winner are those of the full set.
    gaps = {pair: scores[:, pair[0]] - scores[:, pair[1]] for pair in margins}
    wins = [(np.sign(margins[pair]) * gap > 2.0).mean() for pair, gap in gaps.items()]
    assert np.mean([one.winner for one in found.bins]) == pytest.approx(np.mean(wins))
    assert [one.norm for one in found.bins] == sorted(one.norm for one in found.bins)


def _pairs_and_margins(scores: NDArray[np.float64]) -> tuple[list[tuple[int, int]], list[float]]:
    first, second = np.triu_indices(scores.shape[1], 1)
    return list(zip(first, second, strict=True)), pair_margins(scores, tie=2.0).tolist()


def test_one_bin_is_the_full_set() -> None:
    found = success_by_norm(load_invented(), truth="overall", bins=1)
    assert found.bins[0].success == found.random == 1.0


def test_missing_outputs_and_judgements_are_left_out() -> None:
    data = on_circle(
        [[0.0, 0.1], [0.0, 0.2], [0.0, 0.3], [0.0, None]],
        aspects={"mqm": np.array([[1.0, 0.0], [1.0, 0.0], [np.nan, 0.0], [1.0, 0.0]])},
    )
    found = success_by_norm(data, truth="mqm", embedding=ON_CIRCLE, bins=2)
    assert [one.items for one in found.bins] == [1, 1]


def test_tied_pairs_are_counted_and_left_out() -> None:
    scores = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    data = on_circle([[0.0, 0.1, 0.2], [0.0, 0.3, 0.5]], "abc", aspects={"mqm": scores})
    found = success_by_norm(data, truth="mqm", embedding=ON_CIRCLE, bins=2)
    assert (found.pairs, found.winner) == (2, None)
    assert found.notes == ("Left out: 1 of 3 pairs, which tie or have too few judged items.",)
    assert "2 pairs" in str(found)


def test_what_cannot_be_asked() -> None:
    with pytest.raises(UsageError, match="at least one bin, not 0"):
        by_hand([0, 1], bins=0)
    with pytest.raises(DataError, match="No pair of models has a winner by mqm and 7 judged items or more"):
        by_hand([0, 1, 2, 3, 4, 5], bins=7)
