"""Labels to settle: ``auto`` is played, and the table says what they needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparingly
from benchmarks.labels_to_settle import QUESTIONS, Part, block, run
from sparingly.data.evalset import EvalSet


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = np.random.default_rng(4)
    scores = np.linspace(0.0, 6.0, 5) + draw.normal(size=(60, 1)) + draw.normal(size=(60, 5))
    models = [f"m{place}" for place in range(5)]
    data = EvalSet.from_arrays([f"i{row}" for row in range(60)], models, aspects={"y": scores})
    sparingly.save(data, tmp_path / "made.jsonl.gz")
    return tmp_path


def test_clear_models_are_settled_early_and_without_an_error(folder: Path) -> None:
    parts = [Part("made", question, 1, 5) for question in QUESTIONS]
    rows = {part: run(part, folder) for part in parts}
    for part, row in rows.items():
        assert row["share"] <= 0.6, part
        assert not row["wrong"]
        assert row["claimed"] >= (10 if part.question == "ranking" else 4)
    text = block(rows, 1)
    assert "| set | all pairs | the best model |" in text
    assert "| runs with an error | 0.0 | 0.0 |" in text
