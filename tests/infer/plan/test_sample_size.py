"""Plans by formula, against published tables, brute force and simulation."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparingly
from sparingly.base.errors import UsageError
from sparingly.base.stats.proportion import proportion_interval
from sparingly.infer.plan.power import items_for
from sparingly.infer.plan.sample_size import (
    MOST_LABELS,
    Quantity,
    binomial_power,
    chance_text,
    comparisons_for,
    expected_half_width,
    outputs_for,
    parse_share,
    pass_rate_items,
    percent_text,
    points_text,
    sample_size,
)

AS_TEXT: dict[str, Any] = {"pass_rate": "90%", "width": "4%"}


@pytest.mark.parametrize("n", [10, 47, 198])
@pytest.mark.parametrize("rate", [0.35, 0.6, 0.8])
def test_the_power_is_that_of_the_printed_interval_to_exclude_one_half(n: int, rate: float) -> None:
    counts = np.arange(n + 1)
    low, high = proportion_interval(counts, n)
    excluded = low > 0.5 if rate > 0.5 else high < 0.5
    expected = stats.binom.pmf(counts, n, rate)[excluded].sum()
    assert binomial_power(n, rate, 0.05) == pytest.approx(expected, abs=1e-12)


def test_from_the_planned_comparisons_on_the_power_never_falls_below() -> None:
    n = comparisons_for(0.6, 0.05, 0.8)
    later = binomial_power(np.arange(n, 3 * n), 0.6, 0.05)
    assert (later >= 0.8).all()
    assert binomial_power(n - 1, 0.6, 0.05) < 0.8
    # Fleiss, Levin and Paik (2003, section 2.4): 194 by the normal approximation.
    assert 190 <= n <= 205
    assert comparisons_for(0.4, 0.05, 0.8) == n


def test_small_and_exact_sizes_meet_the_formula_for_large_ones() -> None:
    reach = stats.norm.isf(0.025) / 2 + stats.norm.ppf(0.8) * math.sqrt(0.51 * 0.49)
    assert comparisons_for(0.51, 0.05, 0.8) == pytest.approx((reach / 0.01) ** 2, rel=0.005)
    assert comparisons_for(0.501, 0.05, 0.8) == pytest.approx(100 * (reach / 0.01) ** 2, rel=0.001)


def test_the_planned_outputs_are_the_fewest() -> None:
    for rate, width, of in ((0.9, 0.04, None), (0.5, 0.03, None), (0.9, 0.04, 1000), (0.99, 0.01, 5000)):
        n = outputs_for(rate, width, of, 0.95)
        assert expected_half_width(rate, n, of, 0.95) <= width < expected_half_width(rate, n - 1, of, 0.95)
    assert outputs_for(0.9, 0.04, 1000, 0.95) < outputs_for(0.9, 0.04, None, 0.95)
    assert outputs_for(0.9, 0.001, 300, 0.95) == 300
    assert outputs_for(0.9, 0.4, 7, 0.95) == 7


def test_the_planned_half_width_is_the_printed_one() -> None:
    """Simulated: the mean half-width of the intervals that 400 samples would print."""
    drawn = np.random.default_rng(0)
    for rate, n, of in ((0.9, 100, None), (0.7, 40, None), (0.9, 100, 500)):
        counts = drawn.binomial(n, rate, 400) if of is None else drawn.hypergeometric(450, 50, n, 400)
        low, high = proportion_interval(counts, n, np.inf if of is None else of)
        planned = expected_half_width(rate, n, of, 0.95)
        assert planned == pytest.approx((high - low).mean() / 2, rel=0.02)


def test_answers_come_first_and_say_plus_minus() -> None:
    found = sample_size(**AS_TEXT)
    n = outputs_for(0.9, 0.04, None, 0.95)
    assert str(found).startswith(
        f"Judge {n} outputs: a 95 % interval of ± 4 points around a pass rate of 90 %.\n"
    )
    assert {row.goal for row in found.alternatives} >= {"± 2 points around 90 %", "± 8 points around 90 %"}
    assert found == sample_size(pass_rate=0.9, width=0.04)
    half = 100 * expected_half_width(0.6, sample_size(win_rate="60%").n, None, 0.95)
    assert f"a win rate of 60 % (± {half:.2g} points) then" in sample_size(win_rate="60%").answer
    nearly = sample_size(pass_rate=0.9, width=0.01, of=300)
    assert nearly.answer.endswith("nearly everything: judge them all, sampling saves too little.")


def test_all_pairs_of_several_models() -> None:
    found = sample_size(detect="0.3sd", models=5)
    assert found.n == items_for(0.3, 5, 0.95, 0.8, MOST_LABELS)
    assert f"({5 * found.n} labels)" in found.answer
    assert "corrected for all 10 pairs (0.5 % for each)" in found.notes[-1]
    assert sample_size(win_rate=0.6, models=3).n == comparisons_for(0.6, 0.05 / 3, 0.8)
    assert "3 pairs of 3 models" in sample_size(win_rate=0.6, models=3).answer


def test_ties_are_mentioned() -> None:
    found = sample_size(win_rate="60%")
    assert found.notes[0].startswith("Ties are left out of the win rate")
    assert f"get {math.ceil(found.n / 0.8)} comparisons" in found.notes[0]


def test_as_plain_values() -> None:
    found = sample_size(win_rate="60%")
    values = json.loads(json.dumps(found.to_dict()))
    assert values["n"] == found.n
    assert values["alternatives"][1] == {"goal": "win rate 60 %", "n": found.n}
    assert found._repr_html_().count("<tr>") == len(found.alternatives) + 1
    assert repr(found) == f"SampleSize({found.answer})"
    assert sparingly.sample_size is sample_size


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({}, "ask one question"),
        ({"win_rate": 0.6, "detect": "0.3sd"}, "ask one question"),
        ({"pass_rate": 0.9}, "A pass rate needs a width"),
        ({"win_rate": 0.6, "width": 0.1}, "A width is for a pass rate alone"),
        ({"win_rate": 0.5}, "not a difference"),
        ({"win_rate": 60}, "write 60%"),
        ({"win_rate": "100%"}, "between 0 and 100 %"),
        ({"win_rate": "much"}, "is not a number"),
        ({"pass_rate": "90%", "width": "50%"}, "says nothing"),
        ({"pass_rate": "90%", "width": "4%", "models": 3}, "one model"),
        ({"pass_rate": "90%", "width": "4%", "of": 0}, "at least one output"),
        ({"win_rate": "60%", "of": 100}, "pass rate only"),
        ({"detect": "5"}, 'write "5sd"'),
        ({"detect": "5%"}, "--pass-rate 80% --detect 5%"),
        ({"pass_rate": "80%", "detect": "0.3sd"}, "in points: 5%"),
        ({"pass_rate": "80%", "detect": "90%"}, "leave no other rate"),
        ({"pass_rate": "80%", "detect": "5%", "width": "4%"}, "for a pass rate alone"),
        ({"pass_rate": "80%", "detect": "5%", "of": 100}, "pass rate only"),
        ({"detect": "0sd"}, "above zero"),
        ({"detect": "0.00001sd"}, "more than 10,000,000"),
        ({"win_rate": 0.50001}, "more than 10,000,000"),
        ({"detect": "0.3sd", "models": 1}, "at least 2 models"),
        ({"detect": "0.3sd", "power": 1.0}, "power is a probability"),
        ({"detect": "0.3sd", "level": 95.0}, "level"),
    ],
)
def test_wrong_questions_get_one_sentence(question: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sample_size(**question)


def test_quantities() -> None:
    assert Quantity.parse(" 0.3 SD ") == Quantity(0.3, "sd")
    assert parse_share("4%", "width") == 0.04
    assert parse_share("0.1%", "width") == 0.001
    assert percent_text(0.125) == "12.5 %"
    assert (points_text(0.01), points_text(0.025)) == ("1 point", "2.5 points")
    assert [chance_text(value) for value in (0.0, 0.004, 0.5, 0.994, 0.9999, 1.0)] == [
        "under 1 %",
        "under 1 %",
        "50 %",
        "99 %",
        "over 99 %",
        "100 %",
    ]


def test_levels_of_many_pairs_have_two_digits() -> None:
    assert "(0.0028 % for each)" in sample_size(detect="0.3sd", models=60).notes[-1]
    assert "(0.5 % for each)" in sample_size(detect="0.3sd", models=5).notes[-1]


def test_a_win_rate_says_how_to_ask_for_it_and_what_prints_it() -> None:
    found = sample_size(win_rate="60%")
    assert found.commands == (
        f"sparingly campaign new c.db DATA --ask pairs --budget {found.n}",
        "sparingly compare c.db",
    )
    assert found.notes[-1].startswith("compare prints the win rate")


@pytest.mark.parametrize(
    ("rate", "other", "correlation"), [(0.8, 0.85, 0.0), (0.8, 0.85, 0.5), (0.6, 0.8, 0.0)]
)
@pytest.mark.statistics
def test_the_planned_items_find_a_difference_of_pass_rates(
    rate: float, other: float, correlation: float
) -> None:
    """Of 4,000 data sets, McNemar's test by mid-p finds the difference in as many as planned."""
    n = pass_rate_items(rate, other, correlation, 0.05, 0.9)
    both = rate * other + correlation * np.sqrt(rate * (1 - rate) * other * (1 - other))
    cells = [rate - both, other - both, 1 - rate - other + 2 * both]
    first, second, _ = np.random.default_rng(0).multinomial(n, cells, 4000).T
    most, total = np.maximum(first, second), first + second
    p = np.minimum(1, 2 * stats.binom.sf(most, total, 0.5) + stats.binom.pmf(most, total, 0.5))
    assert np.mean(p < 0.05) == pytest.approx(0.9, abs=0.02)


def test_a_difference_of_pass_rates_comes_first() -> None:
    found = sample_size(pass_rate=0.8, detect="5%", power=0.9)
    assert found.answer == (
        f"Judge {found.n:,} items with both models ({2 * found.n:,} labels): a difference of 5 points in "
        "pass rate (80 % against 85 %) is then significant with a probability of about 90 %."
    )
    assert found.n == pass_rate_items(0.8, 0.85, 0.0, 0.05, 0.9)
    assert "97 % against 92 %" in sample_size(pass_rate=0.97, detect="5%").answer
    assert "all 3 models" in sample_size(pass_rate=0.8, detect="5%", models=3).answer
