from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import wilcoxon

from sparingly.base.errors import UsageError
from sparingly.infer.rank.measures import significance_groups


def by_algorithm_1(scores: np.ndarray) -> tuple[tuple[int, ...], ...]:
    order = sorted(range(scores.shape[1]), key=lambda model: -scores[:, model].mean())
    groups = [[order[0]]]
    for model in order[1:]:
        last = groups[-1][-1]
        if wilcoxon(scores[:, model] - scores[:, last], alternative="less").pvalue < 0.05:
            groups.append([model])
        else:
            groups[-1].append(model)
    return tuple(tuple(group) for group in groups)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("items", [9, 40, 200])
def test_as_the_algorithm_written_out(seed: int, items: int) -> None:
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(items, 7)) + generator.normal(scale=0.4, size=7)
    groups = significance_groups(scores)
    assert groups == by_algorithm_1(scores)
    assert sorted(model for group in groups for model in group) == list(range(7))


def test_far_apart_models_stand_alone_and_alike_models_together() -> None:
    base = np.random.default_rng(0).normal(size=(60, 1))
    scores = np.hstack([base, base + 5.0, base + 5.0, base - 3.0])
    assert significance_groups(scores) == ((1, 2), (0,), (3,))


def test_models_that_never_differ_share_a_group() -> None:
    scores = np.repeat(np.random.default_rng(0).normal(size=(30, 1)), 4, axis=1)
    assert significance_groups(scores) == ((0, 1, 2, 3),)


def test_too_few_items_tell_nothing_apart() -> None:
    assert significance_groups(np.array([[5.0, 1.0], [5.0, 1.0]])) == ((0, 1),)


def test_models_without_scores_belong_to_no_group() -> None:
    scores = np.random.default_rng(0).normal(size=(40, 3))
    scores[:, 1] = np.nan
    assert {model for group in significance_groups(scores) for model in group} == {0, 2}
    assert significance_groups(np.full((3, 2), np.nan)) == ()


def test_pairs_are_compared_on_the_items_that_both_were_judged_on() -> None:
    scores = np.random.default_rng(0).normal(size=(80, 2)) + np.array([0.0, 0.6])
    gappy = scores.copy()
    gappy[40:, 0] = np.nan
    expected = wilcoxon(scores[:40, 0] - scores[:40, 1], alternative="less").pvalue < 0.05
    assert (len(significance_groups(gappy)) == 2) == expected


def test_weights_move_the_means_and_so_the_order() -> None:
    scores = np.array([[1.0, 0.0], [0.0, 1.5]])
    assert significance_groups(scores) == ((1, 0),)
    assert significance_groups(scores, weights=np.array([3.0, 1.0])) == ((0, 1),)


def test_a_stricter_level_makes_fewer_groups() -> None:
    scores = np.random.default_rng(1).normal(size=(100, 6)) + 0.3 * np.arange(6)
    assert len(significance_groups(scores, alpha=1e-6)) < len(significance_groups(scores, alpha=0.2))
    with pytest.raises(UsageError, match="between 0 and 1"):
        significance_groups(scores, alpha=0.0)
