"""Langfuse's traces in the shapes of its API, its SDK and its pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from sparingly.data import io

NAN = np.nan


def trace(number: int, question: str, answer: str, **changed: Any) -> dict[str, Any]:
    """A trace as ``GET /api/public/traces/{id}`` returns it."""
    return {
        "id": f"trace-{number}",
        "timestamp": "2026-05-01T10:00:00.000Z",
        "name": "support-bot",
        "input": {"messages": [{"role": "user", "content": question}]},
        "output": {"role": "assistant", "content": answer},
        "sessionId": None,
        "release": "1.4",
        "version": None,
        "userId": "u1",
        "metadata": {"topic": "billing"},
        "tags": [],
        "public": False,
        "htmlPath": "/project/p/traces/t",
        "latency": 1.2,
        "totalCost": 0.001,
        "observations": [],
        "scores": [],
        **changed,
    }


def score(name: str, value: Any, source: str, **changed: Any) -> dict[str, Any]:
    return {
        "id": "s",
        "traceId": "t",
        "name": name,
        "value": value,
        "source": source,
        "dataType": "NUMERIC",
    } | changed


def test_traces_of_one_application(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    helpful = score("helpful", 1, "ANNOTATION", dataType="BOOLEAN", authorUserId="ana", comment="clear")
    scores = [score("helpfulness", 0.8, "EVAL"), helpful]
    tone = [score("tone", None, "API", dataType="CATEGORICAL", stringValue="warm")]
    path.write_text(
        json.dumps(
            [
                trace(1, "Where is my bill?", "In your mail.", scores=scores),
                trace(2, "Hello", "Hi!", scores=tone),
            ]
        )
    )
    assert io.recognise(path).name == "langfuse"
    data = io.load(path)
    assert data.items.tolist() == ["trace-1", "trace-2"]
    assert data.models == ("1.4",)
    assert data.sources is not None
    assert data.outputs is not None
    assert data.sources.tolist() == ["Where is my bill?", "Hello"]
    assert data.outputs.ravel().tolist() == ["In your mail.", "Hi!"]
    np.testing.assert_array_equal(data.metrics["helpfulness"].ravel(), [0.8, NAN])
    np.testing.assert_array_equal(data.aspects["helpful"].ravel(), [1, NAN])
    assert data.ratings.raters == ("ana",)
    assert data.truth_scale("helpful") == (0, 1)
    assert data.cells["tone"].ravel().tolist() == [None, "warm"]
    assert data.columns["topic"].tolist() == ["billing"] * 2


def test_two_models_on_the_same_inputs_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    calls = [[{"type": "SPAN"}, {"type": "GENERATION", "model": name}] for name in ("gpt-5", "claude")]
    lines = [trace(number, "Hello", "Hi!", observations=call) for number, call in enumerate(calls)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    data = io.load(path)
    assert data.models == ("claude", "gpt-5")
    assert len(data) == 1
    assert data.cells["trace"].tolist() == [["trace-1", "trace-0"]]


def test_a_page_of_the_api_and_names_in_snake_case(tmp_path: Path) -> None:
    path = tmp_path / "page.json"
    record = trace(1, "a", "b", scores=["score-id"])
    snake = {
        "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name): v
        for name, v in record.items()
    }
    path.write_text(json.dumps({"data": [snake], "meta": {"page": 1}}))
    data = io.load(path)
    assert data.shape == (1, 1)
    assert not data.metrics


def test_an_export_from_the_pages_as_csv(tmp_path: Path) -> None:
    path = tmp_path / "traces.csv"
    path.write_text(
        "id,timestamp,name,userId,sessionId,release,version,input,output,metadata,latency,judge,thumbs\n"
        't1,2026-05-01,bot,u,s,r,v,"""Hello""","{""content"": ""Hi!""}",'
        '"{""model"": ""gpt-5""}",1.5,[0.5],["yes"]\n'
        't2,2026-05-02,bot,u,s,r,v,plain,"answer, too","{""model"": ""gpt-5""}",2.5,"[1, 0]",\n'.replace(
            '["yes"]', '"[""yes""]"'
        )
    )
    assert io.recognise(path).name == "langfuse"
    data = io.load(path, roles={"thumbs": "human"})
    assert data.models == ("gpt-5",)
    assert data.sources is not None
    assert data.outputs is not None
    assert data.sources.tolist() == ["Hello", "plain"]
    assert data.outputs.ravel().tolist() == ["Hi!", "answer, too"]
    assert data.metrics["judge"].ravel().tolist() == [0.5, 0.5]
    assert list(data.metrics) == ["judge"]
    np.testing.assert_array_equal(data.aspects["thumbs"].ravel(), [1, NAN])


def test_an_export_with_the_least_in_it(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    first = {"id": "t1", "name": "bot", "input": "Hi", "output": "Hello", "scores": []}
    scores = [
        {"name": "quality", "value": 4, "source": "ANNOTATION"},
        {"name": "judge", "value": 0.7, "source": "EVAL"},
    ]
    path.write_text(json.dumps([first, {**first, "id": "t2", "scores": scores}], indent=1))
    assert io.recognise(path).name == "langfuse"
    data = io.load(path)
    assert (list(data.aspects), list(data.metrics), data.models) == (["quality"], ["judge"], ("bot",))
