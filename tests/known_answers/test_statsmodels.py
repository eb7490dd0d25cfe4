"""Tests and errors against statsmodels 0.15.0: every number by ``python tests/known_answers/peers.py``."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.stats.pairs import holm
from sparingly.base.stats.proportion import proportion_interval
from sparingly.infer.estimate.bradley_terry import fit_strengths
from sparingly.infer.estimate.estimate import estimate_scores
from sparingly.infer.rank.decisions import margin_test
from tests.known_answers.tables import columns
from tests.known_answers.test_choix import comparisons

THEIRS = {
    "holm_0": 0.055,
    "holm_1": 0.012,
    "holm_2": 0.12,
    "holm_3": 0.3,
    "holm_4": 0.12,
    "holm_5": 0.055,
    "tost_p": 0.0152036936169,
    "non_inferior_p": 0.0189089278564,
    "exact_low_18_20": 0.683017285981,
    "exact_high_18_20": 0.98765147283,
    "exact_low_20_20": 0.831566529017,
    "exact_high_20_20": 1,
    "exact_low_98_100": 0.929616067529,
    "exact_high_98_100": 0.997568663176,
    "cluster_mean_first": 3.42166666667,
    "cluster_se_first": 0.306343225349,
    "cluster_mean_second": 3.082,
    "cluster_se_second": 0.323315682117,
    "lead_1": 0.584320097553,
    "lead_se_1": 0.494897137959,
    "lead_2": 0.865409302312,
    "lead_se_2": 0.422087416455,
    "lead_3": 1.00497187775,
    "lead_se_3": 0.403966951039,
    "lead_4": 1.2077099134,
    "lead_se_4": 0.50886676619,
}


def test_holm() -> None:
    found = holm(np.array([0.011, 0.002, 0.04, 0.3, 0.0495, 0.012]))
    assert found == pytest.approx([THEIRS[f"holm_{place}"] for place in range(6)])


def test_equivalence_and_non_inferiority() -> None:
    items = columns("items.csv")
    drawn = items["simple"] == 1
    scores = np.column_stack([items["first"], items["second"]])[drawn]
    gap = estimate_scores(scores, size=10**9, target="population").difference("model 0", "model 1")
    known = (gap.difference, gap.standard_error)
    equivalent = margin_test("equivalent", *known, margin=1.0, degrees=19.0)
    assert equivalent.p_value == pytest.approx(THEIRS["tost_p"], rel=1e-6)
    inferior = margin_test("non-inferior", *known, margin=0.5, degrees=19.0)
    assert inferior.p_value == pytest.approx(THEIRS["non_inferior_p"], rel=1e-6)


@pytest.mark.parametrize(("count", "n"), [(18, 20), (20, 20), (98, 100)])
def test_intervals_of_proportions_lie_within_the_exact_ones(count: int, n: int) -> None:
    """Clopper and Pearson's count the whole chance of what was seen, ours 0.58 of it."""
    low, high = (float(end) for end in proportion_interval(count, n))
    assert THEIRS[f"exact_low_{count}_{n}"] < low < THEIRS[f"exact_low_{count}_{n}"] + 0.6 / n
    assert THEIRS[f"exact_high_{count}_{n}"] - 0.6 / n < high <= THEIRS[f"exact_high_{count}_{n}"]


def test_a_mean_with_errors_by_document() -> None:
    items = columns("items.csv")
    scores = np.column_stack([items["first"], items["second"]])
    found = estimate_scores(scores, documents=items["document"], target="population")
    for place, name in enumerate(("first", "second")):
        assert found.scores[place] == pytest.approx(THEIRS[f"cluster_mean_{name}"])
        # (n − 1)/(n − k) is 1 for a mean.
        assert found.standard_errors[place] == pytest.approx(THEIRS[f"cluster_se_{name}"], rel=1e-9)


def test_bradley_terry_with_errors_by_item() -> None:
    found = fit_strengths(comparisons(), 5, "half")
    # Theirs multiplies by (n − 1)/(n − k) as well: 120 comparisons, four leads.
    factor = np.sqrt(119 / 116)
    for place in range(1, 5):
        lead = found.strengths[place] - found.strengths[0]
        assert lead == pytest.approx(THEIRS[f"lead_{place}"], rel=1e-8)
        own = found.covariance
        error = np.sqrt(own[0, 0] + own[place, place] - 2 * own[0, place])
        assert factor * error == pytest.approx(THEIRS[f"lead_se_{place}"], rel=1e-6)
