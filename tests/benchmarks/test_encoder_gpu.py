"""The encoder's benchmark: its sources are what it says, and it says so where torch is missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from benchmarks import encoder_gpu


def test_targets_are_the_share_of_hard_words_with_noise() -> None:
    texts, targets = encoder_gpu.made_sources(400, 3)
    assert encoder_gpu.made_sources(400, 3)[0] == texts
    hard = set(np.random.default_rng(0).permutation(encoder_gpu.WORDS)[: encoder_gpu.HARD_WORDS].tolist())
    words = [[int(word[1:]) for word in text.split()] for text in texts]
    assert {len(row) for row in words} <= set(range(5, 60))
    shares = [np.mean([word in hard for word in row]) for row in words]
    # With noise of half the spread, the best that can be told correlates by 1/√1.25.
    assert np.corrcoef(shares, targets[:, 0])[0, 1] == pytest.approx(1.25**-0.5, abs=0.05)


def test_words_are_tokens_without_the_package() -> None:
    tokens = encoder_gpu.PlainTokens()
    assert tokens.ids(["w0 w7"]) == [[2, 9]]
    [batch] = tokens.batches([[2, 9]], 3, fixed=True)
    assert batch.tokens.shape == (3, 16)
    assert batch.mask.sum(axis=1).tolist() == [2, 1, 1]


def test_missing_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit, match="torch is not installed"):
        encoder_gpu._torch()
