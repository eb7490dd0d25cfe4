from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparingly
from benchmarks.analyses.distances import winning_distances
from benchmarks.analyses.pairs import of_pair, outputs_of, the_pair
from benchmarks.analyses.success import success_by_norm
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from tests.benchmarks.analyses.made import ON_CIRCLE, chord, on_circle

ANGLES: list[list[float | None]] = [[0.0, 0.3, 1.0], [0.0, 0.0, None], [1.0, None, None]]


def test_norms_are_known_where_both_outputs_are() -> None:
    outputs = outputs_of(on_circle(ANGLES, "abc"), ON_CIRCLE)
    assert outputs.pairs == [(0, 1), (0, 2), (1, 2)]
    np.testing.assert_allclose(outputs.norms(0, 1), [chord(0.3), 0.0, np.nan])
    np.testing.assert_allclose(outputs.norms(2, 0), [chord(1.0), np.nan, np.nan])
    assert outputs.rows(0, 1).tolist() == [0, 1]
    assert np.linalg.norm(outputs.differences(0, 1), axis=1) == pytest.approx([chord(0.3), 0.0])
    squares = [chord(0.3) ** 2, chord(1.0) ** 2, chord(0.7) ** 2]
    np.testing.assert_allclose(outputs.mean_norms(), [np.sqrt(np.mean(squares)), 0.0, np.nan])


def test_sets_without_outputs_say_so() -> None:
    with pytest.raises(MissingDataError, match="the evaluation set has none"):
        outputs_of(EvalSet.from_arrays(["x"], ["a", "b"]), "tfidf")
    with pytest.raises(MissingDataError, match="No item has outputs of two of the models a, b"):
        outputs_of(on_circle([[1.0, None], [None, 1.0]]), ON_CIRCLE)
    with pytest.raises(DataError, match="need two models"):
        outputs_of(on_circle([[1.0]], "a"), ON_CIRCLE)


def test_pairs_are_checked() -> None:
    data = on_circle(ANGLES, "abc")
    assert of_pair(data, ("c", "a")).models == ("a", "c")
    assert of_pair(data, None) is data
    assert the_pair(data, ("c", "a")) == ("c", "a")
    assert the_pair(of_pair(data, ("c", "a")), None) == ("a", "c")
    with pytest.raises(UsageError, match=r"Name a pair of models\. There are: a, b, c"):
        the_pair(data, None)
    with pytest.raises(UsageError, match="not a twice"):
        of_pair(data, ("a", "a"))
    with pytest.raises(UsageError, match="A pair has two models, not 3"):
        of_pair(data, ("a", "b", "c"))  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match='no model "d"'):
        of_pair(data, ("a", "d"))


@pytest.mark.shared_data
def test_a_published_set_without_texts_says_so(shared_data: Path) -> None:
    data = sparingly.load(shared_data / "frank_cnndm_notext.jsonl.gz")
    with pytest.raises(MissingDataError, match="Embeddings of outputs need outputs"):
        success_by_norm(data, truth="Factuality")
    assert len(winning_distances(data, truth="Factuality").pairs) == 10
