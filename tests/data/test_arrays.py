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
from sparingly.signals.predict.features import standard_columns

SCORES = np.random.default_rng(0).normal(size=(12, 2))


def made(scores: Any) -> EvalSet:
    return EvalSet.from_arrays([f"i{place}" for place in range(12)], ["a", "b"], metrics={"m": scores})


@pytest.mark.parametrize("factor", [1e101, 1e200, 1e307])
def test_numbers_without_a_variance_are_one_sentence(factor: float) -> None:
    with pytest.raises(DataError, match=r'metric "m" holds the number .* above 1e\+100.* logarithms'):
        made(SCORES * factor)


@pytest.mark.parametrize("factor", [5e-324, 1e-310, 1e-200, 1e-98, 1e98, 0.0])
@pytest.mark.filterwarnings("error")
def test_other_numbers_are_chosen_by(factor: float) -> None:
    for method in ("metric_var", "local_pivotal", "cube", "stratified", "uniform"):
        assert len(sparingly.select(made(SCORES * factor), method, 4)) == 4


@pytest.mark.filterwarnings("error")
def test_predictions_do_not_hang_on_the_unit_of_a_metric() -> None:
    rows = slice(0, 12)
    (usual,) = standard_columns(made(SCORES), None, lengths=False)
    for factor in (1e-200, 1e-300, 1e90):
        (column,) = standard_columns(made(SCORES * factor), None, lengths=False)
        np.testing.assert_allclose(column.at(rows), usual.at(rows), rtol=1e-9)


def test_ratings_are_looked_at_too(tmp_path: Path) -> None:
    ratings = [{"model": "a", "rater": "r", "aspect": "q", "score": 1e200}]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"item": "1", "ratings": ratings}), encoding="utf-8")
    with pytest.raises(DataError, match=r"The table of ratings holds the number 1e\+200"):
        sparingly.load(path)
