"""Numbers that nothing can be computed with are refused where a set is built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError
from sparingly.data.evalset import EvalSet

SCORES = np.random.default_rng(0).normal(size=(12, 2))


def made(scores: Any) -> EvalSet:
    return EvalSet.from_arrays([f"i{place}" for place in range(12)], ["a", "b"], metrics={"m": scores})


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1e-200, "below 1e-100"), (1e-310, "below 1e-100"), (1e200, "above 1e.100"), (1e307, "above 1e.100")],
)
def test_numbers_without_a_variance_are_one_sentence(factor: float, words: str) -> None:
    with pytest.raises(DataError, match=f'largest number of the metric "m" .* {words}.* logarithms'):
        made(SCORES * factor)


@pytest.mark.parametrize("factor", [1e-98, 1e98, 0.0])
@pytest.mark.filterwarnings("error")
def test_other_numbers_are_chosen_by(factor: float) -> None:
    for method in ("metric_var", "local_pivotal", "cube", "stratified", "uniform"):
        assert len(sparingly.select(made(SCORES * factor), method, 4)) == 4


def test_small_numbers_beside_usual_ones_are_kept() -> None:
    scores = np.where(SCORES > 0, SCORES, 1e-250)
    assert (made(scores).metrics["m"] == 1e-250).sum() == (SCORES <= 0).sum()


def test_ratings_are_looked_at_too(tmp_path: Path) -> None:
    ratings = [{"model": "a", "rater": "r", "aspect": "q", "score": 1e200}]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"item": "1", "ratings": ratings}), encoding="utf-8")
    with pytest.raises(DataError, match=r"largest number of the scores of ratings is 1e\+200"):
        sparingly.load(path)
