"""Plain numbers are read many at a time: with the same result, and the same errors, as one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError
from sparingly.data.io.builder import EvalSetBuilder

MODELS = ("a", "b", "c")
Scores = dict[str, Any]


def lines(count: int = 6) -> list[Scores]:
    draw = np.random.default_rng(1)
    return [
        {model: {"human": int(draw.integers(100)), "BLEU": float(draw.normal())} for model in MODELS}
        for _ in range(count)
    ]


def written(path: Path, scores: list[Scores], kind: str) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for number, cells in enumerate(scores):
            record: dict[str, Any] = {"i": f"i{number}", "scores": cells}
            if kind == "own":
                record = {"item": f"i{number}"}
                for field, name in (("aspects", "human"), ("metrics", "BLEU")):
                    inside = {
                        model: {k: v for k, v in cell.items() if k == name} for model, cell in cells.items()
                    }
                    record[field] = inside
            file.write(json.dumps(record) + "\n")
    return path


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EvalSetBuilder, "_plain_scores", lambda *_: False)


Change = Callable[[list[Scores]], object]
CHANGES: dict[str, Change] = {
    "nothing": lambda scores: None,
    "a missing model": lambda scores: scores[3].pop("b"),
    "a new model": lambda scores: scores[4].__setitem__("d", {"human": 1, "BLEU": 0.5}),
    "models in another order": lambda scores: scores.__setitem__(3, dict(reversed(scores[3].items()))),
    "a missing score": lambda scores: scores[2]["c"].pop("BLEU"),
    "null": lambda scores: scores[2]["c"].update(BLEU=None),
    "large numbers": lambda scores: scores[2]["b"].update(human=10**20),
    "NaN": lambda scores: scores[2]["b"].update(BLEU=float("nan")),
}
MISTAKES: dict[str, Change] = {
    "a number as text": lambda scores: scores[3]["b"].update(human="12.5"),
    "a word": lambda scores: scores[3]["a"].update(human="good"),
    "true": lambda scores: scores[3]["a"].update(human=True),
    "infinity": lambda scores: scores[3]["a"].update(BLEU=float("inf")),
    "a list": lambda scores: scores[3]["a"].update(BLEU=[1]),
    "no mapping": lambda scores: scores.__setitem__(3, {"a": 3}),
    "too large": lambda scores: scores[3]["a"].update(human=10**400),
    "too large, and as much below zero": lambda scores: [
        scores[3][model].update(human=number) for model, number in (("a", 10**400), ("b", -(10**400)))
    ],
}


@pytest.mark.parametrize("kind", ["own", "subset2evaluate"])
@pytest.mark.parametrize("change", CHANGES)
def test_the_same_scores_are_read(
    change: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = lines()
    CHANGES[change](scores)
    path = written(tmp_path / "data.jsonl", scores, kind)
    quickly = sparingly.load(path)
    one_by_one(monkeypatch)
    slowly = sparingly.load(path)
    assert quickly.digest() == slowly.digest()
    assert quickly.aspects["human"].shape == slowly.aspects["human"].shape
    assert np.array_equal(quickly.metrics["BLEU"], slowly.metrics["BLEU"], equal_nan=True)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named_as_they_are_one_by_one(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = lines()
    MISTAKES[mistake](scores)
    path = written(tmp_path / "data.jsonl", scores, "subset2evaluate")
    with pytest.raises(InputError) as quickly:
        sparingly.load(path)
    one_by_one(monkeypatch)
    with pytest.raises(InputError) as slowly:
        sparingly.load(path)
    assert str(quickly.value) == str(slowly.value)
    assert "4" in str(quickly.value)


def test_most_lines_of_a_large_file_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, answers = EvalSetBuilder._plain_scores, []

    def noted(*given: Any) -> bool:
        answers.append(plain(*given))
        return answers[-1]

    monkeypatch.setattr(EvalSetBuilder, "_plain_scores", noted)
    sparingly.load(written(tmp_path / "data.jsonl", lines(20), "subset2evaluate"))
    assert answers == [False] + [True] * 19


def test_of_many_sets_of_models_each_item_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = [f"m{number}" for number in range(9)]
    every = {model: {"human": number, "BLEU": number / 7} for number, model in enumerate(models)}
    # All models, then some of them in 300 ways.
    scores = [
        every,
        *({m: every[m] for place, m in enumerate(models) if way >> place & 1} for way in range(1, 301)),
    ]
    path = written(tmp_path / "data.jsonl", [*scores, *scores[1:]], "subset2evaluate")
    quickly = sparingly.load(path)
    one_by_one(monkeypatch)
    assert quickly.digest() == sparingly.load(path).digest()


def test_two_scores_of_one_output_are_an_error() -> None:
    builder = EvalSetBuilder(Path("x.jsonl"))
    item = builder.new_item("i")
    for model in MODELS:
        builder.metric(item, builder.model(model), "BLEU", 1.0, "BLEU")
    assert builder._plain_scores(item, {"b": {"BLEU": 2.0}}, lambda name: "metric")
    with pytest.raises(InputError, match='"i" has two scores for the model "b"'):
        builder.build()


def test_a_model_that_was_a_number_is_not_taken_for_a_text() -> None:
    builder = EvalSetBuilder(Path("x.jsonl"))
    item = builder.new_item("i")
    builder.metric(item, builder.model(1), "BLEU", 1.0, "BLEU")
    assert not builder._plain_scores(builder.new_item("j"), {"1": {"BLEU": 2.0}}, lambda name: "metric")
