from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from sparingly.base.stats.discordant import discordant_interval, discordant_p, effective_votes


def chances(n: int, decided: float, rate: float) -> np.ndarray:
    """Return the chance of every number of wins and losses: n + 1 × n + 1."""
    total = np.arange(n + 1)
    square = np.zeros((n + 1, n + 1))
    for count, chance in zip(total, binom.pmf(total, n, decided), strict=True):
        wins = np.arange(count + 1)
        square[wins, count - wins] += chance * binom.pmf(wins, count, rate)
    return square


def test_mcnemar_exact_and_mid_p_are_those_of_statsmodels() -> None:
    """statsmodels 0.14: mcnemar([[0, 21], [10, 0]], exact=True).pvalue; mid-p is less that of 21 itself."""
    assert float(discordant_p(21, 10, 40, share=1.0)) == pytest.approx(0.0707550, abs=1e-6)
    assert float(discordant_p(21, 10, 40, share=0.5)) == pytest.approx(0.0501025, abs=1e-6)
    for wins, losses, expected in ((5, 0, 0.0625), (3, 3, 1.0), (1, 8, 0.0390625)):
        assert float(discordant_p(wins, losses, 40, share=1.0)) == pytest.approx(expected)


def test_the_interval_leaves_0_out_just_where_the_test_rejects() -> None:
    wins, losses = np.meshgrid(np.arange(31), np.arange(31), indexing="ij")
    possible = wins + losses <= 30
    for size in (np.inf, 30.0, 75.0, 4000.0):
        p_values = discordant_p(wins[possible], losses[possible], 30, size)
        low, high = discordant_interval(wins[possible], losses[possible], 30, size)
        assert (((low > 1e-12) | (high < -1e-12)) == (p_values < 0.05)).all()
        difference = (wins - losses)[possible] / 30
        assert ((low <= difference + 1e-12) & (difference <= high + 1e-12)).all()


def test_the_other_way_round_is_the_mirror() -> None:
    low, high = discordant_interval([7, 2, 0, 5], [2, 7, 0, 0], 40)
    assert (low[0], high[0]) == pytest.approx((-high[1], -low[1]))
    assert low[2] == -high[2]
    assert float(discordant_p(7, 2, 40)) == float(discordant_p(2, 7, 40))


def test_a_known_set_leaves_nothing_to_chance() -> None:
    low, high = discordant_interval([5, 3], [1, 3], 20, 20)
    assert np.allclose(low, [0.2, 0.0])
    assert np.allclose(high, [0.2, 0.0])
    assert discordant_p([5, 3], [1, 3], 20, 20).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("n", [10, 20, 40, 100])
def test_the_interval_of_a_difference_holds_however_few_speak(n: int) -> None:
    """By exact sums over all outcomes, with 2 to 100 % of the items speaking for one of the models."""
    wins, losses = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    possible = wins + losses <= n
    low, high = discordant_interval(np.where(possible, wins, 0), np.where(possible, losses, 0), n)
    rejected = possible & (discordant_p(np.where(possible, wins, 0), np.where(possible, losses, 0), n) < 0.05)
    coverage = []
    for decided in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0):
        for rate in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
            chance, truth = chances(n, decided, rate), decided * (2 * rate - 1)
            coverage.append(chance[possible & (low <= truth + 1e-9) & (truth - 1e-9 <= high)].sum())
            if rate == 0.5:
                # Where all items speak their number is fixed, and the steps of the binomial show.
                assert chance[rejected].sum() <= (0.05 if decided < 1.0 else 0.058)
    assert min(coverage) >= 0.93
    assert np.mean(coverage) >= 0.95


@pytest.mark.statistics
def test_in_a_finite_set_it_errs_no_more() -> None:
    random = np.random.default_rng(1)
    coverage = []
    for size, n in ((60, 20), (120, 40), (400, 100)):
        for wins, losses in ((0.05, 0.05), (0.2, 0.2), (0.2, 0.05), (0.1, 0.0)):
            first, second = round(wins * size), round(losses * size)
            drawn = random.multivariate_hypergeometric([first, second, size - first - second], n, 4000)
            low, high = discordant_interval(drawn[:, 0], drawn[:, 1], n, size)
            truth = (first - second) / size
            coverage.append(float(((low <= truth + 1e-9) & (truth - 1e-9 <= high)).mean()))
            if first == second:
                assert (discordant_p(drawn[:, 0], drawn[:, 1], n, size) < 0.05).mean() <= 0.056
    assert min(coverage) >= 0.92
    assert np.mean(coverage) >= 0.95


def test_a_difference_off_its_scale_has_an_interval() -> None:
    """Predictions may move two rates that are nearly 1 and 0 apart by more than 1."""
    array = np.array
    wins, losses, labels = effective_votes(
        array([1.02, -1.02]),
        array([0.05, 0.05]),
        (array([0.9, 0.0]), array([0.0, 0.9])),
        array([18.0, 18.0]),
        array([20.0, 20.0]),
        100.0,
        freedom=19.0,
    )
    low, high = discordant_interval(wins, losses, labels, np.inf)
    assert (low > [0.4, -1.0 - 1e-12]).all()
    assert (high < [1.0 + 1e-12, -0.4]).all()
