"""The simulation of labels to settle answers every question, and its uniform side is the plain mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import labels_to_settle
from benchmarks.labels_to_settle import STRATEGIES, Run, looks_at, teach
from sparingly.base.arrays import Floats


def made(items: int = 60, models: int = 5) -> tuple[Floats, Floats]:
    draw = np.random.default_rng(4)
    scores = np.linspace(0.0, 6.0, models) + draw.normal(size=(items, 1)) + draw.normal(size=(items, models))
    features = np.stack([scores + draw.normal(size=scores.shape), draw.normal(size=scores.shape)], axis=2)
    return scores, features


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_question_is_answered(strategy: str) -> None:
    labels, features = made()
    rows = labels_to_settle.answers("made", labels, features, 1, strategy)
    assert {(row["goal"], row["target"]) for row in rows} == {
        (goal, target) for goal in ("best", "all") for target in ("set", "population")
    }
    for row in rows:
        assert 20 * 5 <= row["cells"] <= row["of"] == 300
        assert not row["wrong"]
        assert row["settled"]


def test_uniform_waves_are_the_plain_mean() -> None:
    labels, _ = made()
    run = Run(labels, None, 3, False)
    for count in (20, 15):
        run.wave(count, np.ones(5, bool))
    seen = run.before[:, 0]
    assert seen.sum() == 35
    np.testing.assert_allclose(run.known("set")[0], labels[seen].mean(axis=0), atol=1e-9)
    covariance = np.cov(labels[seen].T)
    np.testing.assert_allclose(np.diag(run.known("population")[1]), np.diag(covariance) / 35, rtol=0.25)


def test_looks_end_with_everything() -> None:
    assert looks_at(400)[:2] == [20, 40]
    assert looks_at(400)[-1] == 400
    assert looks_at(60)[0] == 20


def test_predictions_are_held_out_and_follow_the_features() -> None:
    labels, features = made(200)
    seen = np.where(np.arange(200)[:, None] < 120, labels, np.nan)
    lesson = teach(features, seen, np.ones(200), np.ones(5, bool), 0)
    left = labels[120:] - lesson.predicted[120:]
    assert left.std() < 0.9 * (labels[120:] - np.nanmean(seen, axis=0)).std()
    flat = teach(None, seen, np.ones(200), np.ones(5, bool), 0)
    np.testing.assert_allclose(flat.predicted[0], np.nanmean(seen, axis=0))
    assert flat.tau == 0.0


def test_tables_are_printed_from_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    labels, features = made()
    kept = tmp_path / "kept.jsonl"
    rows = [row for name in STRATEGIES for row in labels_to_settle.answers("made", labels, features, 1, name)]
    kept.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    labels_to_settle.table(kept, None)
    printed = capsys.readouterr().out
    assert "| made |" in printed
    assert "**median**" in printed
