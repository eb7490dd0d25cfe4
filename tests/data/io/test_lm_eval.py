"""Samples of lm-evaluation-harness, built by hand as its evaluation tracker writes them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import InputError, UnknownNameError, UsageError
from sparingly.data import io

TIME = "2026-10-05T14-20-44.123456"
TINY, LARGE = "tiny", "Large (v2) + chat"
NAN = float("nan")


def written(doc_id: int, response: str, **changed: Any) -> dict[str, Any]:
    """A sample of a task in which the model writes."""
    sample = {
        "doc_id": doc_id,
        "doc": {"question": f"question {doc_id}", "answer": "4"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": f"Q: question {doc_id}\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [[response]],
        "filtered_resps": [response],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": f"doc-{doc_id}",
        "prompt_hash": f"prompt-{doc_id}",
        "target_hash": "target-4",
        "exact_match": 1.0,
    }
    return {**sample, **changed}


def chosen(doc_id: int, likelihoods: list[str], **changed: Any) -> dict[str, Any]:
    """A sample of a task with given answers."""
    answers = [" red", " green", " blue"]
    sample = {
        "doc_id": doc_id,
        "doc": {"question": "Which?", "choices": ["red", "green", "blue"]},
        "target": "1",
        "arguments": {
            f"gen_args_{place}": {"arg_0": "Which?\nAnswer:", "arg_1": text}
            for place, text in enumerate(answers)
        },
        "resps": [[[likelihood, "False"]] for likelihood in likelihoods],
        "filtered_resps": [[likelihood, "False"] for likelihood in likelihoods],
        "filter": "none",
        "metrics": ["acc", "acc_norm"],
        "doc_hash": f"doc-{doc_id}",
        "prompt_hash": "prompt",
        "target_hash": "target",
        "acc": 1.0,
        "acc_norm": True,
    }
    return {**sample, **changed}


def write(folder: Path, task: str, samples: list[dict[str, Any]], time: str = TIME) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{time}.jsonl"
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    return path


def test_folder_per_model(tmp_path: Path) -> None:
    write(tmp_path / TINY, "gsm8k_cot", [written(0, "it is 4"), written(1, "", exact_match=0.0)])
    write(tmp_path / LARGE, "gsm8k_cot", [written(1, "4"), written(0, "5", exact_match=False)])
    data = io.load(tmp_path)
    assert data.models == (LARGE, TINY)
    assert data.items.tolist() == ["gsm8k_cot#0", "gsm8k_cot#1"]
    np.testing.assert_array_equal(data.metrics["exact_match"], [[0.0, 1.0], [1.0, 0.0]])
    assert data.outputs is not None
    assert data.outputs.tolist() == [["5", "it is 4"], ["4", ""]]
    assert data.sources is not None
    assert data.sources.tolist() == ["Q: question 0\nA:", "Q: question 1\nA:"]
    assert data.references == ("target",)
    assert data.reference_texts is not None
    assert data.reference_texts.tolist() == [["4"], ["4"]]
    assert data.columns["task"].tolist() == ["gsm8k_cot", "gsm8k_cot"]
    assert data.columns["doc_id"].tolist() == [0, 1]
    assert data.columns["doc"][1] == {"question": "question 1", "answer": "4"}


def test_one_file_takes_its_model_from_the_folder_or_the_option(tmp_path: Path) -> None:
    path = write(tmp_path / LARGE, "gsm8k", [written(0, "4")])
    assert io.load(path).models == (LARGE,)
    assert io.load(path, model="other").models == ("other",)
    assert io.load(tmp_path / LARGE).models == (LARGE,)
    assert io.load(tmp_path, model="other").models == ("other",)


def test_model_names_one_model_only(tmp_path: Path) -> None:
    write(tmp_path / "a", "gsm8k", [written(0, "4")])
    write(tmp_path / "b", "gsm8k", [written(0, "4")])
    with pytest.raises(UsageError, match=r"The option model names one model, but there are 2: a, b\."):
        io.load(tmp_path, model="c")


def test_missing_cells_and_a_model_without_some_items(tmp_path: Path) -> None:
    write(tmp_path / "a", "gsm8k", [written(0, "4", exact_match=None), written(1, "4")])
    write(tmp_path / "b", "gsm8k", [written(0, "4", exact_match=NAN)])
    data = io.load(tmp_path)
    np.testing.assert_array_equal(data.metrics["exact_match"], [[NAN, NAN], [1.0, NAN]])
    assert data.outputs is not None
    assert data.outputs.tolist() == [["4", "4"], ["4", None]]


def test_several_filters(tmp_path: Path) -> None:
    for model, strict in (("a", 0.0), ("b", 1.0)):
        write(
            tmp_path / model,
            "gsm8k",
            [
                written(
                    0, "so it is 4.", filter="strict-match", filtered_resps=["[invalid]"], exact_match=strict
                ),
                written(0, "so it is 4.", filter="flexible-extract", filtered_resps=["4"]),
            ],
        )
    data = io.load(tmp_path)
    assert sorted(data.metrics) == ["exact_match,flexible-extract", "exact_match,strict-match"]
    np.testing.assert_array_equal(data.metrics["exact_match,strict-match"], [[0.0, 1.0]])
    assert data.outputs is not None
    assert data.outputs.tolist() == [["so it is 4."] * 2]
    assert data.cells["filtered,strict-match"].tolist() == [["[invalid]"] * 2]
    assert data.cells["filtered,flexible-extract"].tolist() == [["4"] * 2]

    one = io.load(tmp_path, filter="flexible-extract")
    assert sorted(one.metrics) == ["exact_match"]
    np.testing.assert_array_equal(one.metrics["exact_match"], [[1.0, 1.0]])
    assert one.cells["filtered"].tolist() == [["4"] * 2]

    filtered = io.load(tmp_path, output="filtered")
    assert filtered.outputs is not None
    assert filtered.outputs.tolist() == [["[invalid]"] * 2]


def test_a_filter_is_chosen_only_where_there_are_several(tmp_path: Path) -> None:
    write(tmp_path / "a", "gsm8k", [written(0, "4", filter=name) for name in ("strict", "loose")])
    write(tmp_path / "a", "other", [written(0, "4", filter="none")])
    data = io.load(tmp_path, filter="strict")
    np.testing.assert_array_equal(data.metrics["exact_match"], [[1.0], [1.0]])
    with pytest.raises(UnknownNameError, match='no filter of the task gsm8k "none"'):
        io.load(tmp_path, filter="none")
    with pytest.raises(UnknownNameError, match=r'no filter "strikt"\. Did you mean strict'):
        io.load(write(tmp_path / "b", "x", [written(0, "4", filter="strict")]), filter="strikt")


def test_given_answers(tmp_path: Path) -> None:
    write(tmp_path / "a", "colours", [chosen(0, ["-3.5", "-0.5", "-9.0"])])
    write(tmp_path / "b", "colours", [chosen(0, ["-1.5", "-2.5", "-inf"], acc=0.0, acc_norm=False)])
    data = io.load(tmp_path)
    assert data.outputs is not None
    assert data.outputs.tolist() == [["green", "red"]]
    assert data.sources is not None
    assert data.sources.tolist() == ["Which?\nAnswer:"]
    assert data.references == ()
    assert data.columns["target"].tolist() == ["1"]
    assert data.cells["log_likelihoods"][0].tolist() == [[-3.5, -0.5, -9.0], [-1.5, -2.5, None]]
    np.testing.assert_array_equal(data.metrics["acc_norm"], [[1.0, 0.0]])


def test_answers_asked_without_their_context_are_not_choices(tmp_path: Path) -> None:
    """acc_mutual_info asks about every answer a second time, alone."""
    sample = chosen(0, ["-3.5", "-0.5", "-9.0"])
    alone = {f"gen_args_{place}": {"arg_0": "", "arg_1": " red"} for place in (3, 4, 5)}
    sample["arguments"] |= alone
    sample["filtered_resps"] += [["-0.1", "False"]] * 3
    data = io.load(write(tmp_path / "a", "colours", [sample]))
    assert data.outputs is not None
    assert data.outputs.tolist() == [["green"]]


def test_answers_inside_the_context(tmp_path: Path) -> None:
    sample = chosen(0, ["-2.0", "-1.0"], doc={"sentence": "The _ fell."})
    sample["arguments"] = {
        "gen_args_0": {"arg_0": "The cat", "arg_1": " fell."},
        "gen_args_1": {"arg_0": "The vase", "arg_1": " fell."},
    }
    data = io.load(write(tmp_path / "a", "winogrande", [sample]))
    assert data.outputs is not None
    assert data.outputs.tolist() == [["The vase fell."]]
    assert data.sources is not None
    assert data.sources.tolist() == ['{"sentence": "The _ fell."}']


def test_a_text_whose_likelihood_was_asked_has_no_output(tmp_path: Path) -> None:
    sample = written(0, "-123.4", metrics=["word_perplexity"], word_perplexity=[-123.4, 40], filter="none")
    sample["arguments"] = {"gen_args_0": {"arg_0": "the whole page"}}
    data = io.load(write(tmp_path / "a", "wikitext", [sample]))
    assert data.outputs is None
    assert data.sources is not None
    assert data.sources.tolist() == ["the whole page"]
    assert "word_perplexity" not in data.metrics
    assert data.cells["word_perplexity"].tolist() == [[[-123.4, 40]]]


def test_metrics_that_are_no_numbers(tmp_path: Path) -> None:
    names = ["bleu", "judge", "passed", "single", "bypass"]
    values: dict[str, Any] = {"bleu": ["ref", "out"], "judge": "good", "passed": "True", "single": "0.25"}
    data = io.load(write(tmp_path / "a", "t", [written(0, "4", metrics=names, bypass=999, **values)]))
    assert data.cells["bleu"].tolist() == [[["ref", "out"]]]
    assert data.cells["judge"].tolist() == [["good"]]
    assert {name: scores.tolist() for name, scores in data.metrics.items()} == {
        "passed": [[1.0]],
        "single": [[0.25]],
    }


def test_further_fields_are_kept(tmp_path: Path) -> None:
    data = io.load(write(tmp_path / "a", "t", [written(0, "4", tokens=7)]))
    assert data.cells["tokens"].tolist() == [[7]]


def test_samples_of_older_harnesses(tmp_path: Path) -> None:
    """Arguments as lists, no filter, no list of metrics, and a JSON array instead of lines."""
    sample = written(3, "4", acc=True, arguments=[["Q:", {"until": []}]])
    for name in ("filter", "metrics", "doc_hash", "prompt_hash", "target_hash"):
        del sample[name]
    path = tmp_path / "a" / "samples_t.json"
    path.parent.mkdir()
    path.write_text(json.dumps([sample], indent=2), encoding="utf-8")
    data = io.load(path)
    assert data.items.tolist() == ["t#3"]
    assert sorted(data.metrics) == ["acc", "exact_match"]
    assert data.sources is not None
    assert data.sources.tolist() == ["Q:"]


def test_compressed_samples(tmp_path: Path) -> None:
    path = tmp_path / "a" / f"samples_my_task_{TIME}.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(json.dumps(written(0, "4")).encode()))
    assert io.load(tmp_path).items.tolist() == ["my_task#0"]


def test_tasks_of_one_model_in_several_folders(tmp_path: Path) -> None:
    write(tmp_path / "first" / "a", "x", [written(0, "4")])
    write(tmp_path / "second" / "a", "y", [written(0, "4")])
    data = io.load(tmp_path)
    assert data.models == ("a",)
    assert data.items.tolist() == ["x#0", "y#0"]


def test_two_runs_of_a_task(tmp_path: Path) -> None:
    first = write(tmp_path / "a", "x", [written(0, "old")])
    last = write(tmp_path / "a", "x", [written(0, "new")], "2026-10-06T00-00-00.000000")
    with pytest.raises(InputError) as caught:
        io.load(tmp_path)
    assert str(caught.value) == (
        f'{last}: the model "a" has two runs of the task x, this and {first}. '
        "Move one away, or take the last one with runs=latest."
    )
    data = io.load(tmp_path, runs="latest")
    assert data.outputs is not None
    assert data.outputs.tolist() == [["new"]]


def test_another_document_under_the_same_id(tmp_path: Path) -> None:
    write(tmp_path / "a", "x", [written(0, "4"), written(1, "4")])
    path = write(tmp_path / "b", "x", [written(0, "4"), written(1, "4", doc_hash="another")])
    with pytest.raises(InputError) as caught:
        io.load(tmp_path)
    assert str(caught.value) == (
        f'{path}, line 2, field doc_hash: the item "x#1" is another document than that of the model "a". '
        "Run all models on the same version of the task."
    )


def test_another_prompt_for_the_same_document(tmp_path: Path) -> None:
    other = {"gen_args_0": {"arg_0": "<user>Q?", "arg_1": {}}}
    write(tmp_path / "a", "x", [written(0, "4"), written(1, "4")])
    path = write(
        tmp_path / "b", "x", [written(0, "4", arguments=other, prompt_hash="other"), written(1, "4")]
    )
    with pytest.raises(InputError) as caught:
        io.load(tmp_path)
    assert str(caught.value) == (
        f'{path}, line 1, field prompt_hash: the item "x#0" has another prompt than that of the model "a". '
        "Give all models the same prompt, or allow different ones with prompts=any."
    )
    data = io.load(tmp_path, prompts="any")
    assert data.sources is not None
    assert data.sources.tolist() == ['{"question": "question 0", "answer": "4"}', "Q: question 1\nA:"]
    assert data.cells["prompt"].tolist() == [["Q: question 0\nA:", "<user>Q?"], [None, None]]


def test_the_same_document_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "x", [written(0, "4"), written(0, "4")])
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f'{path}, line 2, field doc_id: the item "x#0" is there twice for the filter "none". '
        "Keep one of them; if no filter is named, log the samples with a newer harness."
    )


def test_a_metric_without_end(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "x", [written(0, "4"), written(1, "4", exact_match=float("inf"))])
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f"{path}, line 2, field exact_match: Infinity is not a finite number. "
        "Write a finite number, or null where it is missing."
    )


def test_a_likelihood_that_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "x", [chosen(0, ["-1.0", "high", "-2.0"])])
    with pytest.raises(InputError, match=r"line 1, field resps: \"high\" is not a log-likelihood\."):
        io.load(path)


def test_a_folder_without_samples(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file samples_TASK_TIME\.jsonl in it"):
        io.load(tmp_path, "lm_eval")


def test_an_option_with_a_wrong_value(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "x", [written(0, "4")])
    with pytest.raises(UnknownNameError, match='There is no value of the option output "filter"'):
        io.load(path, output="filter")


def test_the_order_of_lines_and_folders_does_not_matter(tmp_path: Path) -> None:
    samples = [written(place, str(place)) for place in range(12)]
    for model, order in (("a", 1), ("b", -1)):
        write(tmp_path / "one" / model, "x", samples[::order])
        write(tmp_path / "two" / model, "x", samples[::-order])
    assert io.load(tmp_path / "one").digest() == io.load(tmp_path / "two").digest()
