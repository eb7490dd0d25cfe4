from __future__ import annotations

import numpy as np
import pytest

from benchmarks.analyses.distances import winning_distances
from sparingly.base.errors import DataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented

# a beats b on 3 of 4 items and ties c on all; nobody judged d.
SCORES = np.array([[2.0, 1.0, 2.0], [2.0, 1.0, 2.0], [2.0, 1.0, 2.0], [1.0, 2.0, 1.0]])


def made() -> EvalSet:
    scores = np.column_stack([SCORES, np.full(4, np.nan)])
    return EvalSet.from_arrays(list("wxyz"), list("abcd"), aspects={"mqm": scores})


def test_distances_by_hand() -> None:
    found = winning_distances(made(), truth="mqm", width=0.25)
    assert [(one.first, one.second, one.distance) for one in found.pairs] == [
        ("a", "b", 0.5),
        ("a", "c", 0.0),
        ("b", "c", 0.5),
    ]
    # A distance on an edge belongs to the bin that it opens.
    assert (found.edges, found.counts) == ((0.0, 0.25, 0.5, 0.75), (1, 0, 2))
    assert (found.median, found.tied) == (0.5, 1)
    assert found.mean == pytest.approx(1 / 3)
    assert found.notes == ("Left out: 3 of 6 pairs, never judged on the same item.",)


@pytest.mark.parametrize("width", [0.01, 0.05, 0.1, 0.3, 1.0])
def test_every_pair_is_in_one_bin(width: float) -> None:
    found = winning_distances(load_invented(), truth="overall", width=width)
    assert sum(found.counts) == len(found.pairs) == 28
    for low, high, count in zip(found.edges[:-1], found.edges[1:], found.counts, strict=True):
        assert count == sum(low - 1e-9 <= one.distance < high - 1e-9 for one in found.pairs)


def test_given_preferences_are_used_without_a_truth() -> None:
    found = winning_distances(made().with_preferences_from("mqm"))
    assert (found.by, found.median) == ("mqm", 0.5)


def test_what_cannot_be_asked() -> None:
    for width in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(UsageError, match="The width of a bin"):
            winning_distances(made(), truth="mqm", width=width)
    with pytest.raises(DataError, match="No pair of models was judged by mqm on the same item"):
        winning_distances(made().take(models=["a", "d"]), truth="mqm")
