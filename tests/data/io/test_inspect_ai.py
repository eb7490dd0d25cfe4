from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sparingly.base.errors import InputError, UnknownNameError, UsageError
from sparingly.data import io

ODD = "vllm/Llama 3 (p = 0.3) + tools"
HEADER = (
    "sample_id,eval_id,log,model,id,epoch,input,target,metadata_topic,metadata_cost,score_match,score_f1,"
    "score_match_answer,model_usage,total_tokens,total_time,working_time,message_count,error,limit,retries"
)


def sample(name: str, model: str, epoch: int = 1, **changes: Any) -> dict[str, Any]:
    """A row as samples_df(logs, columns=EvalModel + SampleSummary) has it."""
    return {
        "sample_id": f"{name}-{model}-{epoch}",
        "eval_id": f"eval-{model}",
        "log": f"logs/{model}.eval",
        "model": model,
        "id": name,
        "epoch": epoch,
        "input": f"user:\nQuestion {name}\n",
        "target": f"answer {name}",
        "metadata_topic": "maths" if name == "1" else "music",
        "score_match": "C",
        "score_f1": 0.5,
        "score_match_answer": "42",
        "model_usage": "{}",
        "total_time": 1.5,
        "error": None,
    } | changes


def parquet(path: Path, *rows: dict[str, Any]) -> Path:
    pl.DataFrame(list(rows), infer_schema_length=None).write_parquet(path)
    return path


def test_a_table_of_samples(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "samples.parquet",
        sample("2", "openai/gpt", score_match="I", score_f1=None),
        sample("2", ODD, score_match="P"),
        sample("1", ODD, score_match="N", total_time=2.5),
    )
    assert io.recognise(path).name == "inspect_ai"
    data = io.load(path)
    assert data.items.tolist() == ["1", "2"]
    assert data.models == ("openai/gpt", ODD)
    assert data.file_order.tolist() == [1, 0]
    assert data.sources is not None
    assert data.sources.tolist() == ["user:\nQuestion 1\n", "user:\nQuestion 2\n"]
    assert data.references == ("target",)
    assert data.reference_texts is not None
    assert data.reference_texts.tolist() == [["answer 1"], ["answer 2"]]
    assert list(data.metrics) == ["match", "f1"]
    np.testing.assert_array_equal(data.metrics["match"], [[np.nan, 0], [0, 0.5]])
    np.testing.assert_array_equal(data.metrics["f1"], [[np.nan, 0.5], [np.nan, 0.5]])
    assert data.columns["topic"].tolist() == ["maths", "music"]
    assert data.columns["total_time"].tolist() == [2.5, 1.5]
    assert data.columns["score_match_answer"].tolist() == ["42", "42"]
    assert data.cells["eval_id"][1].tolist() == ["eval-openai/gpt", f"eval-{ODD}"]
    assert "repeats" not in data.fields
    assert data.outputs is None


def test_epochs_are_repeats(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "samples.parquet",
        sample("1", "m", 2, score_match="I", output="later", total_time=3.5),
        sample("1", "m", 1, score_match="C", output="", total_time=1.5),
        sample("1", "m", 3, score_match=None, output="last", total_time=4.0),
        sample("1", "n", 1, score_match="P", output="once"),
    )
    data = io.load(path)
    assert data.metrics["match"].tolist() == [[0.5, 0.5]]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["", "once"]]
    assert data.repeats.model.tolist() == [0, 0, 0]
    assert sorted(data.repeats.epoch.tolist()) == [0, 1, 2]


def test_a_csv_table_of_samples(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    path.write_text(
        f"{HEADER}\n"
        's1,e1,logs/a.eval,m,1,1,"user:\nHi, you",yes,art,3,C,0.25,x,{},10,1.0,1.0,2,,,0\n'
        f's2,e2,logs/b.eval,{ODD},1,1,"user:\nHi, you",yes,art,3,I,,"",{{}},12,1.5,1.5,2,,,0\n'
    )
    data = io.load(path, output="score_match_answer")
    assert data.models == ("m", ODD)
    assert data.metrics["match"].tolist() == [[1, 0]]
    np.testing.assert_array_equal(data.metrics["f1"], [[0.25, np.nan]])
    assert data.outputs is not None
    assert data.outputs.tolist() == [["x", ""]]
    assert data.columns["log_cost"].tolist() == ["3"]
    assert data.columns["topic"].tolist() == ["art"]
    assert data.cells["total_tokens"].tolist() == [["10", "12"]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["yes", "No"], [1, 0]),
        (["True", "false"], [1, 0]),
        (["0.75", "2"], [0.75, 2]),
        ([True, False], [1, 0]),
        ([3, 4], [3, 4]),
        (["C", "nan"], [1, np.nan]),
    ],
)
def test_scores_are_counted_as_inspect_does(tmp_path: Path, values: list[Any], expected: list[float]) -> None:
    rows = [sample("1", model, score_x=value) for model, value in zip("mn", values, strict=True)]
    data = io.load(parquet(tmp_path / "samples.parquet", *rows))
    np.testing.assert_array_equal(data.metrics["x"], [expected])


def test_texts_that_are_no_scores_stay_texts(tmp_path: Path) -> None:
    rows = [sample("1", model, score_x=text) for model, text in (("m", "Paris"), ("n", "Rome"))]
    data = io.load(parquet(tmp_path / "samples.parquet", *rows))
    assert "x" not in data.metrics
    assert data.cells["x"].tolist() == [["Paris", "Rome"]]


def test_scores_that_are_objects(tmp_path: Path) -> None:
    rows = [
        sample("1", "m", score_rubric='{"clarity": 4, "grade": "C", "why": "short"}'),
        sample("1", "n", score_rubric='{"clarity": 2.5, "grade": "I", "why": "long"}'),
        sample("2", "n", score_rubric=None),
    ]
    data = io.load(parquet(tmp_path / "samples.parquet", *rows))
    assert data.metrics["rubric.clarity"][0].tolist() == [4, 2.5]
    assert data.metrics["rubric.grade"][0].tolist() == [1, 0]
    assert "rubric.why" not in data.metrics


def test_summaries_of_a_log_are_no_scores(tmp_path: Path) -> None:
    extra: dict[str, Any] = {
        "score_match_accuracy": 0.9,
        "score_headline_value": 0.9,
        "score_match_explanation": "ok",
    }
    rows = [sample("1", model, **extra) for model in "mn"]
    data = io.load(parquet(tmp_path / "samples.parquet", *rows))
    assert list(data.metrics) == ["match", "f1"]
    assert data.columns["score_match_accuracy"].tolist() == [0.9]


def test_the_scores_to_take(tmp_path: Path) -> None:
    path = parquet(tmp_path / "samples.parquet", sample("1", "m"), sample("1", "n", score_match="I"))
    assert list(io.load(path, metrics="f1").metrics) == ["f1"]
    data = io.load(path, roles={"match": "human", "f1": "ignored"})
    assert not data.metrics
    assert data.aspects["match"].tolist() == [[1, 0]]
    assert data.roles is not None
    assert "match → human labels (0–1)" in data.roles.lines()
    with pytest.raises(UsageError, match=r"match is a score in a log: it cannot be model\."):
        io.load(path, roles={"match": "model"})
    with pytest.raises(UnknownNameError, match='There is no column "mach"'):
        io.load(path, roles={"mach": "human"})
    with pytest.raises(UnknownNameError, match=r'There is no score "mach". Did you mean match\?'):
        io.load(path, metrics="mach")
    with pytest.raises(UnknownNameError, match='There is no column "text"'):
        io.load(path, output="text")


def test_several_tasks_keep_their_samples_apart(tmp_path: Path) -> None:
    rows = [sample("1", "m", task_name=task) for task in ("gsm8k", "mmlu")]
    data = io.load(parquet(tmp_path / "samples.parquet", *rows))
    assert data.items.tolist() == ["gsm8k/1", "mmlu/1"]


def test_metadata_that_differs_between_models_belongs_to_the_cell(tmp_path: Path) -> None:
    rows = [
        sample("1", "m", metadata_topic="a"),
        sample("1", "n", metadata_topic="b"),
    ]
    data = io.load(parquet(tmp_path / "samples.parquet", *rows))
    assert data.cells["topic"].tolist() == [["a", "b"]]


def test_a_table_without_models(tmp_path: Path) -> None:
    rows = [{name: value for name, value in sample("1", "m").items() if name != "model"}]
    path = parquet(tmp_path / "samples.parquet", *rows)
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f"{path}, field model: no column names the model. "
        "Save samples_df(logs, columns=EvalModel + SampleSummary), or say model=eval_id."
    )
    assert io.load(path, model="eval_id").models == ("eval-m",)


def test_a_sample_twice_in_one_epoch(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    row = "s1,e1,a.eval,m,1,1,hi,yes,art,3,C,0.25,x,{},10,1.0,1.0,2,,,0\n"
    path.write_text(f"{HEADER}\n{row}{row.replace(',m,1,', ',m,2,')}{row}")
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f'{path}, field row 3, epoch: the item "1" and the model "m" have the epoch 1 twice. '
        "Keep one of them, or give it another epoch."
    )


def test_a_score_among_others_that_is_none(tmp_path: Path) -> None:
    rows = [sample(name, "m", score_x=value) for name, value in (("1", "C"), ("2", "C"), ("3", "INVALID"))]
    path = parquet(tmp_path / "samples.parquet", *rows)
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f'{path}, field row 3: "INVALID" is not a score of x. '
        "Write a number or a word such as pass or fail there, or choose scores with metrics=."
    )


def test_a_column_that_is_missing(tmp_path: Path) -> None:
    path = parquet(tmp_path / "samples.parquet", {"id": "1", "model": "m", "epoch": 1, "input": "x"})
    with pytest.raises(InputError) as caught:
        io.load(path, "inspect_ai")
    assert (
        str(caught.value) == f"{path}, field target: the column is not there. Save the table of samples_df."
    )
