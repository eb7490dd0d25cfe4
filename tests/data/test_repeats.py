"""Outputs of several epochs: part of the data, seen in views, files and digests; cells hold the mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, InputError
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Repeats, epoch_order

NAN = np.nan


def codes(*values: int) -> Any:
    return np.array(values, np.int32)


def repeats(**changed: Any) -> Repeats:
    """Two epochs of b × y and of a × x; b × x was run once."""
    columns: dict[str, Any] = {
        "item": codes(1, 0, 0, 1, 0),
        "model": codes(0, 1, 1, 0, 0),
        "epoch": codes(1, 0, 1, 0, 0),
        "epochs": ("1", "2"),
        "output": np.array(["second", "one", "two", None, "alone"], object),
        "scores": {
            "metric:accuracy": np.array([0.0, 1.0, 0.0, 1.0, 1.0]),
            "aspect:quality": np.array([2.0, 5.0, NAN, 4.0, NAN]),
        },
    }
    return Repeats(**{**columns, **changed})


@pytest.fixture
def data() -> EvalSet:
    return EvalSet.from_arrays(["b", "a"], ["x", "y"], repeats=repeats())


def test_cells_hold_the_mean_over_epochs_and_the_first_output(data: EvalSet) -> None:
    np.testing.assert_array_equal(data.metrics["accuracy"], [[0.5, NAN], [1.0, 0.5]])
    np.testing.assert_array_equal(data.aspects["quality"], [[3.0, NAN], [NAN, 5.0]])
    assert data.outputs is not None
    assert data.outputs.tolist() == [["second", None], ["alone", "one"]]


def test_a_cell_that_was_run_once_has_no_row(data: EvalSet) -> None:
    assert len(data.repeats) == 4
    assert "repeats" in data.fields
    assert "repeats: 4" in repr(data)
    once = EvalSet.from_arrays(["b", "a"], ["x", "y"], repeats=repeats().take(codes(0, 1, 4)))
    assert "repeats" not in once.fields
    np.testing.assert_array_equal(once.metrics["accuracy"], [[0.0, NAN], [1.0, 1.0]])


def test_scores_of_the_cells_themselves_come_first() -> None:
    metrics = {"accuracy": [[0.25, NAN], [NAN, NAN]]}
    data = EvalSet.from_arrays(["b", "a"], ["x", "y"], repeats=repeats(), metrics=metrics)
    np.testing.assert_array_equal(data.metrics["accuracy"], [[0.5, NAN], [0.25, 0.5]])


def test_views_cut_repeats_and_hide_what_they_hide(data: EvalSet) -> None:
    view = data.take(items=["b"], models=["y"])
    assert (view.repeats.item.tolist(), view.repeats.model.tolist()) == ([0, 0], [0, 0])
    unlabelled = data.without_labels().repeats
    assert list(unlabelled.scores) == ["metric:accuracy"]
    assert data.only(["repeats"]).repeats.output is None
    assert len(data.only(["outputs"]).repeats) == 0


def test_reveal_hides_what_people_said_of_other_epochs_too(data: EvalSet) -> None:
    shown = data.reveal(np.array([[True, False], [False, False]]))
    labels = shown.repeats.scores["aspect:quality"]
    assert sorted(labels[~np.isnan(labels)].tolist()) == [2.0, 4.0]
    assert not np.isnan(shown.repeats.scores["metric:accuracy"]).any()


def test_a_replaced_metric_loses_its_repeats(data: EvalSet) -> None:
    scores = np.ones((2, 2))
    changed = data.with_metric("accuracy", scores)
    assert list(changed.repeats.scores) == ["aspect:quality"]
    assert list(data.with_metric("other", scores).repeats.scores) == list(data.repeats.scores)
    gone = data.with_parts(metrics={})
    assert list(gone.metrics) == []
    assert data.with_parts(outputs=np.full((2, 2), "new", object)).repeats.output is None


def test_a_metric_of_which_low_is_good_is_negated_in_every_epoch(data: EvalSet, tmp_path: Path) -> None:
    sparingly.save(data, tmp_path / "data.jsonl")
    flipped = sparingly.load(tmp_path / "data.jsonl", lower_is_better=["accuracy"])
    np.testing.assert_array_equal(flipped.metrics["accuracy"], -data.metrics["accuracy"])
    assert sorted(flipped.repeats.scores["metric:accuracy"].tolist()) == [-1.0, -1.0, -0.0, -0.0]


@pytest.mark.parametrize("name", ["data.jsonl", "data.parquet"])
def test_our_own_files_carry_repeats(data: EvalSet, tmp_path: Path, name: str) -> None:
    assert sparingly.save(data, tmp_path / name) == []
    again = sparingly.load(tmp_path / name)
    assert len(again.repeats) == len(data.repeats)
    assert again.digest() == data.digest()
    assert again.digest(["repeats"]) != data.with_parts(repeats=repeats(epochs=("1", "3"))).digest(
        ["repeats"]
    )


def test_json_lines_with_repeats_alone_need_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    runs = '{"model": "m", "epoch": 1, "output": "A", "metrics": {"ok": "pass"}}, '
    runs += '{"model": "m", "epoch": 2, "output": "B", "metrics": {"ok": "fail"}}'
    path.write_text(f'{{"item": "a", "repeats": [{runs}]}}\n')
    data = sparingly.load(path)
    assert (data.metrics["ok"].item(), data.outputs is not None and data.outputs.item()) == (0.5, "A")
    assert data.truth_scale("ok") == (0, 1)


def test_an_epoch_that_is_there_twice_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the same epoch twice"):
        EvalSet.from_arrays(["b", "a"], ["x", "y"], repeats=repeats(epoch=codes(0, 0, 1, 0, 0)))
    path = tmp_path / "data.jsonl"
    path.write_text('{"item": "a", "repeats": [{"model": "m", "epoch": 1}, {"model": "m", "epoch": 1}]}\n')
    with pytest.raises(InputError, match=r'data.jsonl, line 1.*the item "a".*epoch 1 twice'):
        sparingly.load(path)


def test_epochs_are_in_the_order_of_numbers_then_of_names() -> None:
    assert epoch_order(["10", "9", "run-b", "1", "run-a"]) == ("1", "9", "10", "run-a", "run-b")
