"""One small transformer, and one encoder that started from it, for all tests here."""

from __future__ import annotations

from pathlib import Path

import pytest

import sparingly
from sparingly.choose.distil.model import DistilledModel
from tests.choose.distil.encoder.made_base import quick, save_base
from tests.choose.distil.made_past import made_past


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a transformer."""
    return save_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="session")
def model(base: Path) -> DistilledModel:
    """An encoder of two utilities, with a third of the items held out."""
    return sparingly.distil(
        made_past(items=210),
        ["hard=metric_avg", "aspect:overall"],
        learner="encoder",
        encoder=quick(base, epochs=10),
        folds=3,
        languages=["en"],
    )


@pytest.fixture
def file(model: DistilledModel, tmp_path: Path) -> Path:
    """That encoder as a file."""
    model.save(tmp_path / "model.encoder")
    return tmp_path / "model.encoder"
