"""Joining runs by item, and labels from a file of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError
from sparingly.data.evalset import EvalSet
from sparingly.data.join import join, with_labels
from sparingly.data.tables import Repeats
from tests.data.hand_made import full_set

LOGS = Path(__file__).parent / "io" / "logs"
NAN = np.nan


def run(model: str = "m", items: str = "ab", **parts: Any) -> EvalSet:
    """A set with an input, an output and a score for every item."""
    made: dict[str, Any] = {
        "sources": [f"in {item}" for item in items],
        "outputs": [[f"{model} {item}"] for item in items],
        "metrics": {"score": [[float(place)] for place in range(len(items))]},
    }
    return EvalSet.from_arrays(list(items), [model], **{**made, **parts})


def epochs(*numbers: str) -> Repeats:
    count = len(numbers)
    return Repeats(
        item=np.zeros(count, np.int32),
        model=np.zeros(count, np.int32),
        epoch=np.arange(count, dtype=np.int32),
        epochs=numbers,
        output=np.array([f"out {number}" for number in numbers], object),
        scores={"metric:score": np.array([float(number) for number in numbers])},
    )


def test_two_models_on_the_same_items() -> None:
    data = join([run("m", "ab"), run("n", "bc")], ["one", "two"])
    assert (data.items.tolist(), data.models) == (["a", "b", "c"], ("m", "n"))
    np.testing.assert_array_equal(data.metrics["score"], [[0, NAN], [1, 0], [NAN, 1]])
    assert data.outputs is not None
    assert data.outputs.tolist() == [["m a", None], ["m b", "n b"], [None, "n c"]]


def test_every_part_of_a_set_survives() -> None:
    data = full_set()
    other = data.take(models=["small"])
    assert join([data], ["one"]).digest() == data.digest()
    again = with_labels(data, other.only([*other.fields]), "labels")
    assert again.shape == data.shape
    assert again.digest(["outputs", "sources", "references"]) == data.digest(
        ["outputs", "sources", "references"]
    )
    assert len(again.ratings) == len(data.ratings) + len(other.ratings)


def test_the_same_model_in_two_runs_is_two_models() -> None:
    data = join([run(), run(outputs=[["x"], ["y"]])], ["run-a", "run-b"])
    assert data.models == ("m (run-a)", "m (run-b)")


def test_a_log_in_parts_is_one_model() -> None:
    data = join([run(items="ab"), run(items="cd")], ["one", "two"])
    assert (data.models, len(data)) == (("m",), 4)


def test_other_epochs_of_a_model_are_repeats() -> None:
    sets = [
        EvalSet.from_arrays(["a"], ["m"], repeats=epochs(*numbers)) for numbers in (("1", "2"), ("3", "10"))
    ]
    data = join(sets, ["one", "two"])
    assert data.models == ("m",)
    assert data.repeats.epochs == ("1", "2", "3", "10")
    assert data.metrics["score"].item() == 4
    assert data.outputs is not None
    assert data.outputs.item() == "out 1"
    again = join([sets[0], EvalSet.from_arrays(["a"], ["m"], repeats=epochs("2", "3"))], ["one", "two"])
    assert again.models == ("m (one)", "m (two)")


def test_an_item_with_two_inputs_names_both() -> None:
    with pytest.raises(DataError) as caught:
        join([run(), run("n", sources=["in a", "another"])], ["one.json", "two.json"])
    assert str(caught.value) == (
        'The item "b" has two inputs: "in b" in one.json and "another" in two.json. '
        "Give another input another id."
    )


def test_items_without_a_common_id_are_matched_by_their_input() -> None:
    other = EvalSet.from_arrays(["t2", "t9"], ["n"], sources=["in b", "new"], outputs=[["x"], ["y"]])
    data = join([run(), other], ["one", "two"])
    assert data.items.tolist() == ["a", "b", "t9"]
    with pytest.raises(
        DataError, match='two has no item in common with one: its items are called "x", the others'
    ):
        join([run(), run("n", "x")], ["one", "two"])


def test_a_column_in_which_runs_differ_belongs_to_the_cells() -> None:
    first = run(columns={"topic": ["x", "y"], "seed": [1, 1]})
    data = join([first, run("n", columns={"topic": ["x", "y"], "seed": [2, 2]})], ["one", "two"])
    assert data.columns["topic"].tolist() == ["x", "y"]
    assert data.cells["seed"].tolist() == [[1, 2], [1, 2]]


def test_scales_must_agree() -> None:
    with pytest.raises(DataError, match="metric:score runs from 0 to 1 in one and from 0 to 5 in two"):
        join(
            [run(scales={"metric:score": (0, 1)}), run("n", scales={"metric:score": (0, 5)})], ["one", "two"]
        )


# --- labels ---------------------------------------------------------------------------------------


def labels(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    return path


def test_labels_of_a_second_file(tmp_path: Path) -> None:
    path = labels(tmp_path, "item,model,human_quality\nq1,mockllm/small,4\nq0,mockllm/small,5\n")
    data = sparingly.load(LOGS / "inspect-small.eval", labels=path)
    np.testing.assert_array_equal(data.aspects["human_quality"].ravel(), [5, 4, NAN, NAN, NAN])
    assert "human_quality" not in data.metrics


def test_ratings_of_a_second_file(tmp_path: Path) -> None:
    rows = "q0,mockllm/small,ana,overall,4\nq0,mockllm/small,bob,overall,2\n"
    path = labels(tmp_path, f"item,model,rater,aspect,score\n{rows}")
    data = sparingly.load(LOGS / "inspect-small.eval", labels=path)
    assert data.aspects["overall"][0].tolist() == [3]
    assert data.ratings.raters == ("ana", "bob")


def test_labels_by_input(tmp_path: Path) -> None:
    data = sparingly.load(LOGS / "inspect-small.eval")
    assert data.sources is not None
    path = labels(tmp_path, f"input,model,human\n{data.sources[2]},mockllm/small,1\n")
    labelled = sparingly.load(LOGS / "inspect-small.eval", labels=path)
    np.testing.assert_array_equal(labelled.aspects["human"].ravel(), [np.nan, np.nan, 1, np.nan, np.nan])
    path = labels(tmp_path, f"input,model,human\n{data.sources[2]},mockllm/small,1\nelse,mockllm/small,0\n")
    with pytest.raises(DataError, match='1 of 2 inputs are not in the data: "else"'):
        sparingly.load(LOGS / "inspect-small.eval", labels=path)


def test_labels_of_epochs_belong_to_their_outputs(tmp_path: Path) -> None:
    path = labels(tmp_path, "item,model,epoch,human\nq0,mockllm/small,1,1\nq0,mockllm/small,2,0\n")
    before = sparingly.load(LOGS / "inspect-small.eval")
    data = sparingly.load(LOGS / "inspect-small.eval", labels=path)
    assert len(data.repeats) == len(before.repeats) == 10
    np.testing.assert_array_equal(data.repeats.scores["aspect:human"][:3], [1, 0, np.nan])
    assert data.aspects["human"][0, 0] == 0.5


def test_labels_that_match_nothing(tmp_path: Path) -> None:
    path = labels(tmp_path, "item,model,human\n1,mockllm/small,4\n2,mockllm/small,5\nq0,mockllm/small,5\n")
    with pytest.raises(DataError) as caught:
        sparingly.load(LOGS / "inspect-small.eval", labels=path)
    assert str(caught.value) == (
        f'{path}: 2 of 3 items are not in the data: "1", "2". '
        'Items of the data are called "q0", "q1", "q2" and 2 more. Use the same ids in both files.'
    )
    path = labels(tmp_path, "item,model,human_score\nq0,smal,4\nq0,mockllm/large,5\n")
    both = [LOGS / "inspect-small.eval", LOGS / "inspect-large.eval"]
    with pytest.raises(
        DataError, match=r'1 of 2 models are not in the data: "smal"\. Models of the data are "mock'
    ):
        sparingly.load(both, labels=path)


def test_labels_without_a_score(tmp_path: Path) -> None:
    path = labels(tmp_path, "item,model,output\nq0,mockllm/small,Paris.\n")
    with pytest.raises(DataError, match=r"labels.csv: there are no labels in it\. A row needs an item"):
        sparingly.load(LOGS / "inspect-small.eval", labels=path)


def test_two_tables_of_one_system_each_are_joined_by_their_inputs(tmp_path: Path) -> None:
    for name in ("run_a", "run_b"):
        rows = "".join(f"Question number {number}?,{name} says {number},0.{number}\n" for number in range(9))
        (tmp_path / f"{name}.csv").write_text(f"prompt,response,judge_score\n{rows}")
    data = sparingly.load([tmp_path / "run_a.csv", tmp_path / "run_b.csv"])
    assert (data.models, len(data)) == (("run_a", "run_b"), 9)
    assert data.roles is not None


def test_two_runs_of_inspect() -> None:
    data = sparingly.load([LOGS / "inspect-small.eval", LOGS / "inspect-large.eval"])
    assert data.shape == (5, 2)
    assert len(data.repeats) == 20
    assert data.metrics["includes"].mean(axis=0).tolist() == pytest.approx([0.9, 0.6])
