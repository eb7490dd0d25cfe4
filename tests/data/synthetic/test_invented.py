"""The invented set: the same from its seed on, and neither too easy nor too hard to select from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from sparingly.base.arrays import Floats
from sparingly.data.describe import describe
from sparingly.data.io import load
from sparingly.data.synthetic import load_invented

DIGEST = "ff6d371db1353e0a"
SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


def test_it_is_the_same_everywhere_and_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "invented.jsonl"
    subprocess.run([sys.executable, "-m", "sparingly.data.synthetic", path], check=True)
    assert load_invented().name == "invented"
    assert load_invented().digest() == DIGEST
    assert load(path).digest() == DIGEST


def test_it_has_what_real_files_have() -> None:
    data, found = load_invented(), describe(load_invented())
    assert data.shape == (240, 8)
    assert any({" ", "+", "("} <= set(model) for model in data.models)
    assert {part.field: part.of - part.present for part in found.coverage if part.share < 1}.keys() == {
        "metric:judge"
    }
    assert found.texts is not None
    share = found.texts.identical_share
    assert share is not None
    assert 0.05 < share < 0.3
    assert found.ratings is not None
    assert len(found.ratings.raters) == 5
    assert found.ratings.repeated_share == pytest.approx(0.25, abs=0.03)
    assert found.ratings.seconds is not None
    assert found.documents is not None
    assert found.documents.in_order
    assert len(found.domains) == 4
    assert found.absent == ("preferences",)
    assert found.odd == ()


def one_sided_p(scores: Floats) -> Floats:
    """P-values of all pairs of models under random signs, in the normal limit."""
    first, second = np.triu_indices(scores.shape[1], 1)
    gaps = scores[:, first] - scores[:, second]
    return np.asarray(norm.cdf(gaps.sum(axis=0) / np.sqrt((gaps * gaps).sum(axis=0))))


def soft_pairwise_accuracy(scores: Floats, order: NDArray[np.int64]) -> float:
    """Mean over budgets of 1 - mean |p of the full set - p of the first items|."""
    full = one_sided_p(scores)
    sizes = [int(share * len(scores)) for share in SHARES]
    return float(np.mean([1 - np.abs(full - one_sided_p(scores[order[:size]])).mean() for size in sizes]))


@pytest.mark.statistics
def test_a_good_metric_selects_better_than_chance_and_a_weak_one_does_not() -> None:
    data = load_invented()
    truth = data.aspects["overall"]
    draws = [np.random.default_rng(seed).permutation(len(data)) for seed in range(40)]
    chance = float(np.mean([soft_pairwise_accuracy(truth, order) for order in draws]))
    gain = {
        name: soft_pairwise_accuracy(truth, np.argsort(-np.nanvar(data.metrics[name], axis=1))) - chance
        for name in ("learned", "noisy")
    }
    assert 0.9 < chance < 0.95
    assert 0.015 < gain["learned"] < 0.06
    assert gain["noisy"] < 0.01
