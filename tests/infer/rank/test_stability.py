from __future__ import annotations

import numpy as np
import pytest

from benchmarks.method_studies import stability_over_sets
from sparingly.base.errors import UsageError
from sparingly.infer.rank.compare import stability

FULL = np.array([3.0, 2.0, 1.0])
SAME = [30.0, 20.0, 10.0]
SWAPPED = [2.0, 3.0, 1.0]
TURNED = [1.0, 2.0, 3.0]
ROTATED = [1.0, 3.0, 2.0]


def test_draws_against_the_full_set_and_each_other() -> None:
    result = stability(np.array([SAME, SWAPPED, SWAPPED, ROTATED]), FULL)
    assert result.changes == (0, 2, 2, 3)
    assert result.changed_share == 0.75
    assert (result.best, result.median, result.worst) == (0, 2.0, 3)
    assert result.draws_differ
    assert result.differing_pairs == pytest.approx(5 / 6)


def test_draws_that_agree() -> None:
    result = stability(np.array([SAME, SAME]), FULL)
    assert (result.changed_share, result.draws_differ, result.differing_pairs) == (0.0, False, 0.0)
    turned = stability(np.array([TURNED, TURNED]), FULL)
    assert (turned.changed_share, turned.draws_differ) == (1.0, False)
    assert turned.changes == (2, 2)  # the middle one stays


def test_one_draw() -> None:
    assert stability(np.array([SWAPPED]), FULL).differing_pairs == 0.0


def test_the_last_bits_of_a_mean_change_no_ranking() -> None:
    noisy = np.array([[0.3, 0.1 + 0.2, 0.1], [0.3, 0.3, 0.1]])
    result = stability(noisy, np.array([0.3, 0.3, 0.1]))
    assert result.changes == (0, 0)
    assert not result.draws_differ


def test_over_several_sets_run_by_run() -> None:
    sets = [
        stability(np.array([SAME, SWAPPED, SAME]), FULL),
        stability(np.array([SAME, SWAPPED, ROTATED]), FULL),
        stability(np.array([SAME, SAME, SAME]), FULL),
    ]
    result = stability_over_sets(sets)
    assert (result.sets, result.best, result.median, result.worst) == (3, 0, 1.0, 2)
    assert result.differing_share == pytest.approx(2 / 3)


def test_notebooks_show_both() -> None:
    one = stability(np.array([SAME, SWAPPED]), FULL)
    assert '<td class="numbers">50.0%</td>' in one._repr_html_()
    assert ">2 sets</th>" in stability_over_sets([one, one])._repr_html_()


def test_wrong_calls_get_one_sentence() -> None:
    with pytest.raises(UsageError, match="draws × models"):
        stability(np.array(SAME), FULL)
    with pytest.raises(UsageError, match="as many draws"):
        stability_over_sets([])
    with pytest.raises(UsageError, match="as many draws"):
        stability_over_sets([stability(np.array([SAME]), FULL), stability(np.array([SAME, SAME]), FULL)])
