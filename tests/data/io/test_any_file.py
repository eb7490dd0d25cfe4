"""Whatever is in a file, it is read or refused in one line, and what was read can be written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparingly.base.errors import InputError, SparinglyError
from sparingly.data import io
from tests.data.io.bad_lines import lines

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(
    [
        *("source", "references", "outputs", "metrics", "aspects", "reference_aspects", "cells", "columns"),
        *("ratings", "preferences", "document", "position", "cost", "scores", "human", "human_reference"),
        *("comparisons", "comments", "reference", "doc"),
    ]
)


def read_or_refused(path: Path, format: str) -> None:
    try:
        data = io.load(path, format)
    except SparinglyError as error:
        assert isinstance(error, InputError)  # noqa: PT017 - what is checked is its shape
        assert len(str(error).splitlines()) == 1  # noqa: PT017
        assert str(path) in str(error)  # noqa: PT017
        return
    again = path.parent / "again.jsonl"
    io.save(data, again)
    assert io.load(again).digest() == data.digest()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            keys,
            anything
            | st.lists(
                st.dictionaries(
                    st.sampled_from(
                        [
                            "model",
                            "reference",
                            "rater",
                            "aspect",
                            "score",
                            "first",
                            "second",
                            "value",
                            "left",
                            "right",
                            "winner",
                        ]
                    ),
                    anything,
                    max_size=4,
                ),
                max_size=2,
            ),
            max_size=4,
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["jsonl", "collection"]),
)
def test_any_json_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], format: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "set.jsonl"
    path.write_text(
        lines(*({"item": str(place), **record} for place, record in enumerate(records))), encoding="utf-8"
    )
    read_or_refused(path, format)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["a.jsonl", "a.json", "a.csv", "a.tsv", "a.txt", "a"]))
def test_any_bytes_are_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, name: str
) -> None:
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(raw)
    try:
        io.load(path)
    except SparinglyError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017 - what is checked is its shape


SAMPLE_KEYS = st.sampled_from(
    [
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "acc", "more"),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.dictionaries(SAMPLE_KEYS, anything, max_size=4), min_size=1, max_size=2))
def test_any_samples_are_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("any") / "samples_task.jsonl"
    good = {"arguments": [["prompt", {}]], "resps": [["text"]], "metrics": ["acc"], "acc": 1}
    path.write_text(
        lines(*({"doc_id": place, **good, **record} for place, record in enumerate(records))),
        encoding="utf-8",
    )
    read_or_refused(path, "lm_eval")


RUN_KEYS = st.sampled_from(["id", "input", "references", "perturbation", "split", "stats", "result", "tags"])
RUN_KEYS |= st.sampled_from(
    ["name", "mean", "train_trial_index", "reference_index", "output_mapping", "args"]
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(RUN_KEYS, anything, max_size=4))
def test_any_run_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, changed: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("any")

    def some(**good: Any) -> dict[str, Any]:
        return {key: changed.get(key, value) for key, value in good.items()}

    answers = some(references=[some(output={"text": "4"}, tags=["correct"])])
    instance = some(id="id1", input={"text": "q"}, **answers, split="test", perturbation=None)
    state = some(instance=instance, train_trial_index=0, reference_index=None, output_mapping=None)
    state |= some(result={"completions": [{"text": "4"}]})
    contents = {
        "run_spec": {"name": "x", "scenario_spec": some(args={}), "adapter_spec": {"model": "m"}},
        "scenario_state": {"request_states": [state]},
        "per_instance_stats": [some(instance_id="id1", stats=[some(name={"name": "acc"}, mean=1.0)])],
    }
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    read_or_refused(folder, "helm")
