from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.sample import ASSUMED, JudgedSample, frame_of, sample_from
from tests.infer.estimate.sets import judged_set

DATA = judged_set(40, document=[f"d{place // 4}" for place in range(40)])
TRUTH = DATA.aspects["truth"]


def chosen_from(data: EvalSet = DATA, n: int = 12, **changed: Any) -> Selection:
    return replace(sparingly.select(data, "uniform", n, seed=2), **changed)


def objects(values: list[Any]) -> Any:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def sample(selection: Selection | None, scores: Any = TRUTH, data: EvalSet = DATA) -> JudgedSample:
    return sample_from(data, np.asarray(scores), selection)


def test_rows_stand_in_the_order_of_the_ids() -> None:
    selection = chosen_from()
    found = sample(selection)
    assert found.rows.tolist() == sorted(DATA.positions(selection.items).tolist())
    assert found.scores.tolist() == TRUTH[found.rows].tolist()
    assert (found.probability == 0.3).all()
    assert found.size == 40
    assert found.notes == ()
    assert found.document is not None
    assert len(np.unique(found.document)) == 10


def test_without_a_selection_it_is_assumed_to_be_uniform() -> None:
    seen = TRUTH.copy()
    seen[10:] = np.nan
    found = sample(None, seen)
    assert found.notes == (ASSUMED,)
    assert (found.draw == 0.25).all()
    assert sample(None).notes == ()
    assert sample(None).is_complete
    with pytest.raises(DataError, match="No item is judged"):
        sample(None, np.full_like(TRUTH, np.nan))


def test_a_model_that_nobody_judged_is_not_missing() -> None:
    seen = TRUTH.copy()
    seen[:, 1] = np.nan
    assert sample(None, seen).notes == ()


def test_whole_items_and_single_outputs_that_are_missing() -> None:
    selection = chosen_from()
    seen = TRUTH.copy()
    rows = np.sort(DATA.positions(selection.items))
    seen[rows[:3]] = np.nan
    seen[rows[3:6], 0] = np.nan
    found = sample(selection, seen)
    assert len(found.rows) == 9
    # 9 of the 12 came; of these, 6 of model 0: the chances are 9/40, and 6/40.
    assert found.draw == pytest.approx(np.full(9, 9 / 40))
    assert found.probability[:, 1] == pytest.approx(np.full(9, 9 / 40))
    assert found.probability[:, 0] == pytest.approx(np.full(9, 6 / 40))
    assert found.notes == (
        "3 chosen items and 3 outputs of others are not judged: assumed to be missing at random.",
    )
    with pytest.raises(DataError, match="No chosen item is judged"):
        sample(selection, np.full_like(TRUTH, np.nan))


def test_missing_judgements_are_counted_by_stratum() -> None:
    strata = objects(["a"] * 6 + ["b"] * 6)
    selection = chosen_from(stratum=strata)
    seen = TRUTH.copy()
    seen[DATA.positions(selection.items[:3])] = np.nan
    found = sample(selection, seen)
    first = np.isin(DATA.items[found.rows], selection.items[:6].tolist())
    assert found.draw[first] == pytest.approx(np.full(3, 0.15))
    assert found.draw[~first] == pytest.approx(np.full(6, 0.3))
    # A stratum of which nothing came is stood for by the other.
    seen[DATA.positions(selection.items[:6])] = np.nan
    assert sample(selection, seen).draw == pytest.approx(np.full(6, 0.15))


def test_some_models_only() -> None:
    selection = chosen_from(models=objects([("model 0", "model 2")] * 12))
    found = sample(selection)
    assert np.isnan(found.scores[:, 1]).all()
    assert not found.separate
    assert found.notes == ()


def test_every_model_with_a_draw_of_its_own() -> None:
    items = [*DATA.items[:10], *DATA.items[5:15]]
    models = objects([("model 0",)] * 10 + [("model 1",)] * 10)
    units = objects([f"a{place // 2}" for place in range(10)] + [f"b{place // 5}" for place in range(10)])
    selection = chosen_from(
        items=objects(items), models=models, unit=units, probability=np.repeat([0.25, 0.5], 10)
    )
    found = sample(selection)
    assert found.separate
    assert len(found.rows) == 15
    assert found.judged.sum(axis=0).tolist() == [10, 10, 0]
    assert found.probability[5:10, :2].tolist() == [[0.25, 0.5]] * 5
    assert len(np.unique(found.of_model(0).unit)) == 5
    assert len(np.unique(found.of_model(1).unit)) == 2


def test_items_that_could_never_be_chosen_leave_the_set() -> None:
    selection = sparingly.select(DATA, "uniform", 10, never=DATA.items[:4])
    frame = frame_of(DATA, selection)
    assert len(frame) == 36
    assert frame_of(DATA, None) is DATA
    assert sample_from(frame, frame.aspects["truth"], selection).size == 36


def test_two_phases_and_importance() -> None:
    heavy = judged_set(40, weight=np.arange(1.0, 41.0))
    pool = sparingly.select(heavy, "uniform", 20, seed=1)
    found = sample(sparingly.select(heavy, "uniform", 10, pool=pool, seed=1), data=heavy)
    assert found.pool is not None
    assert (found.pool == 0.5).all()
    assert (found.draw == 0.25).all()
    assert found.weights is not None
    assert found.weights.mean() == pytest.approx(1.0)


def test_pairs_and_lists_give_no_sample() -> None:
    pairs = objects([("model 0", "model 1")] * 12)
    with pytest.raises(UsageError, match="pairs of models"):
        sample(chosen_from(pairs=pairs))
    with pytest.raises(UsageError, match="without probabilities"):
        sample(chosen_from(probability=None))


def test_items_lost_from_a_draw_for_every_model_are_a_loss_of_that_model() -> None:
    items = [*DATA.items[:10], *DATA.items[5:15]]
    models = objects([("model 0",)] * 10 + [("model 1",)] * 10)
    selection = chosen_from(items=objects(items), models=models, probability=np.full(20, 0.25))
    seen = TRUTH.copy()
    seen[:4] = np.nan
    found = sample(selection, seen)
    # Model 0 lost 4 of its 10 items, model 1 none: 6 items stand for all 40.
    assert found.rows.tolist() == list(range(4, 15))
    assert found.probability[found.judged[:, 0], 0] == pytest.approx(np.full(6, 0.15))
    assert found.probability[found.judged[:, 1], 1] == pytest.approx(np.full(10, 0.25))
    assert found.share[:, :2].sum(axis=0) == pytest.approx([40.0, 40.0])


def test_sentences_on_what_is_missing() -> None:
    selection = chosen_from()
    rows = np.sort(DATA.positions(selection.items))
    seen = TRUTH.copy()
    seen[rows[0], 0] = np.nan
    assert sample(selection, seen).notes[0].startswith("1 output of chosen items is not judged: ")
    seen[rows[0]] = np.nan
    assert sample(selection, seen).notes[0].startswith("1 chosen item is not judged: ")
