"""Settings of an encoder's training, and what is said where it cannot be trained."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.base.errors import ExtraMissingError, UsageError
from sparingly.choose.distil.encoder.network import EncoderTraining
from tests.choose.distil.made_past import made_past


def test_settings_are_those_of_the_paper() -> None:
    training = EncoderTraining("xlm-roberta-base")
    assert (training.epochs, training.batch, training.rate) == (5, 128, 1.5e-5)
    assert (training.hidden, training.layer_decay, training.weight_decay) == ((2048, 1024), 0.95, 0.0)


def test_where_a_training_is_kept_changes_nothing() -> None:
    plain = EncoderTraining("base")
    kept = EncoderTraining("base", checkpoints=Path("folder"), every=7, measured=1)
    assert plain.text == kept.text
    assert plain.settings() == kept.settings()
    assert plain.text != EncoderTraining("base", patience=3).text


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"base": ""}, "starts from a transformer"),
        ({"epochs": 0}, "epochs is at least 1"),
        ({"longest": 4}, "longest is at least 8"),
        ({"measured": 0}, "measured is at least 1"),
        ({"hidden": (8, 0)}, "at least 1 unit"),
        ({"rate": 0.0}, "rate is above 0"),
        ({"stop_share": 0.6}, "at most 0.5"),
        ({"dropout": 1.0}, "dropout is at least 0 and below 1"),
        ({"precision": "double"}, "auto or full"),
    ],
)
def test_settings_out_of_range(how: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        EncoderTraining(**{"base": "base", **how})


def test_wrong_calls_are_said() -> None:
    data = made_past()
    with pytest.raises(UsageError, match='add learner="encoder"'):
        sparingly.distil(data, "metric_avg", encoder="base")
    with pytest.raises(UsageError, match="name it or its folder"):
        sparingly.distil(data, "metric_avg", learner="encoder")
    with pytest.raises(UsageError, match="leave out features"):
        sparingly.distil(data, "metric_avg", learner="encoder", encoder="base", features="column:vector")


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ExtraMissingError, match=r"sparingly\[distil,embed\]"):
        sparingly.distil(made_past(), "metric_avg", learner="encoder", encoder="base")
