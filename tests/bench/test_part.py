from __future__ import annotations

import numpy as np
import pytest

from sparingly.bench.sets import (
    FullyJudgedSet,
    SetFile,
    asked_once,
    open_replay_data,
    replay_data,
    resampled_rows,
)
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented


@pytest.fixture(scope="module")
def judged() -> FullyJudgedSet:
    return FullyJudgedSet(load_invented(), "overall", "learned")


def test_a_resample_holds_four_fifths_of_the_items_and_is_judged_by_itself(judged: FullyJudgedSet) -> None:
    part = replay_data(judged, 3)
    assert len(part.data) == 192
    assert np.allclose(part.full_outcome.means, part.data.truth("overall").mean(axis=0))
    assert not np.allclose(part.full_outcome.means, replay_data(judged, 0).full_outcome.means)


def test_resamples_differ_and_do_not_depend_on_the_other_items(judged: FullyJudgedSet) -> None:
    first, second = (set(resampled_rows(judged.data, number).tolist()) for number in (1, 2))
    assert first != second
    half = judged.data.at(np.arange(0, 240, 2))
    kept = set(half.items[resampled_rows(half, 1)])
    # Items are in or out by their own key: hardly any of the half changes sides.
    wanted = {name for name in judged.data.items[sorted(first)] if name in set(half.items)}
    assert len(kept ^ wanted) <= 12


def test_methods_see_no_label(judged: FullyJudgedSet) -> None:
    part = replay_data(judged, 0)
    assert len(part.data.aspects) == 2
    assert len(part.unlabelled.aspects) == 0
    assert len(part.unlabelled.ratings) == 0


def test_seconds_are_those_of_the_published_line(judged: FullyJudgedSet) -> None:
    part = replay_data(judged, 0)
    assert part.seconds is not None
    assert part.data.sources is not None
    words = len(part.data.sources[0].split())
    assert part.seconds[0] == pytest.approx(33.7 + 0.15 * words)
    bare = replay_data(FullyJudgedSet(judged.data.only(["aspect:overall"]), "overall", None), 0)
    assert bare.seconds is None


def test_a_part_in_use_is_kept() -> None:
    file = SetFile("demo", None)
    assert open_replay_data(file, "package", 1) is open_replay_data(file, "package", 1)


def test_a_text_is_asked_about_once_and_has_one_label() -> None:
    outputs = np.array([["x", "y", " x "], ["p", "q", "r"], [None, None, ""]], object)
    scores = np.array([[1.0, 5.0, 3.0], [1.0, 2.0, 3.0], [4.0, 5.0, np.nan]])
    data = EvalSet.from_arrays(["a", "b", "c"], ["m", "n", "o"], outputs=outputs, aspects={"s": scores})
    once = asked_once(data)
    np.testing.assert_array_equal(once.aspects["s"], [[2, 5, 2], [1, 2, 3], [4, 5, np.nan]])
    part = replay_data(FullyJudgedSet(once, "s", None), 0)
    everything = np.ones((3, 3), bool)
    assert part.questions(everything).tolist() == [2, 3, 3], "outputs without texts are apart"
    assert part.questions(everything & [False, True, True]).tolist() == [2, 2, 2]
    bare = replay_data(FullyJudgedSet(data.only(["aspect:s"]), "s", None), 0)
    assert bare.questions(everything).tolist() == [3, 3, 3]
