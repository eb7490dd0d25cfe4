from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sparingly.signals.embed import embed_texts, texts, tfidf
from sparingly.signals.embed.texts import VARIABLE, VectorCache, cache_folder, text_keys
from tests.signals.embed.test_texts import Letters

TEXTS = [f"text {chr(97 + place)}" for place in range(20)]


class Interrupting(Letters):
    """Is interrupted after some batches."""

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(self.seen) == 17:
            raise KeyboardInterrupt
        return super().__call__(texts)


def test_second_time_nothing_is_embedded() -> None:
    first, second = Letters("one"), Letters("one")
    vectors = embed_texts(TEXTS, first)
    np.testing.assert_array_equal(embed_texts(TEXTS[::-1], second), vectors[::-1])
    assert first.seen
    assert second.seen == []


def test_only_new_texts_are_embedded() -> None:
    embed_texts(TEXTS[:15], Letters("one"))
    model = Letters("one")
    vectors = embed_texts(TEXTS, model)
    assert sorted(model.seen[0]) == TEXTS[15:]
    np.testing.assert_array_equal(vectors, embed_texts(TEXTS, Letters(), cache=False))


@pytest.mark.parametrize("digest", ["two", None])
def test_another_model_does_not_know_them(digest: str | None) -> None:
    embed_texts(TEXTS, Letters("one"))
    model = Letters(digest)
    embed_texts(TEXTS, model)
    assert sum(map(len, model.seen)) == 20


def test_what_was_embedded_before_an_interrupt_is_kept() -> None:
    with pytest.raises(KeyboardInterrupt):
        embed_texts(TEXTS, Interrupting("one"), batch=1)
    model = Letters("one")
    vectors = embed_texts(TEXTS, model)
    assert sum(map(len, model.seen)) == 4
    np.testing.assert_array_equal(vectors, embed_texts(TEXTS, Letters(), cache=False))


def test_a_damaged_file_holds_nothing(cache: Path) -> None:
    embed_texts(TEXTS, Letters("one"))
    files = list(cache.rglob("*.npz"))
    assert len(files) == 1
    files[0].write_bytes(files[0].read_bytes()[:100])
    model = Letters("one")
    embed_texts(TEXTS, model)
    assert sum(map(len, model.seen)) == 20
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".npz"]


def test_nothing_is_kept_when_switched_off(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embed_texts(TEXTS, Letters("one"), cache=False)
    monkeypatch.setenv(VARIABLE, "off")
    embed_texts(TEXTS, Letters("one"))
    assert not cache.exists()


def test_a_folder_that_cannot_be_written_to_is_named_and_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match="cannot be written to"):
        vectors = embed_texts(TEXTS, Letters("one"))
    assert vectors.shape == (20, 26)


def test_a_large_fit_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_FEWEST_CACHED", 10)
    vectors = embed_texts(TEXTS)
    assert len(list(cache.rglob("*.npz"))) == 1
    monkeypatch.setattr(tfidf, "tfidf_vectors", None)
    np.testing.assert_array_equal(embed_texts(TEXTS), vectors)
    with pytest.raises(TypeError):
        # A fit depends on all of its texts, so that of fewer texts is another one.
        embed_texts(TEXTS[1:])


def test_small_fits_leave_no_files(cache: Path) -> None:
    embed_texts(TEXTS)
    assert not cache.exists()


def test_folders_of_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == tmp_path / ".cache" / "sparingly"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "sparingly"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "sparingly"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder() == tmp_path / "local" / "sparingly" / "cache"


def test_keys_tell_texts_apart() -> None:
    keys = text_keys(["a", "b", "a", "\ud800"])
    assert len({key.tobytes() for key in keys}) == 3
    assert keys[0] == keys[2]


def test_an_empty_cache_finds_nothing(tmp_path: Path) -> None:
    assert VectorCache(tmp_path / "none").find(text_keys(["a"])) == {}
