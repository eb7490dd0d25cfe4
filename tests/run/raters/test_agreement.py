"""Agreement of raters with each other and with themselves, predictability, slopes and standardised scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import sparingly
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.stats.krippendorff import krippendorff_alpha
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.rater_effects import rater_scores
from sparingly.run.raters.agreement import predictability, rater_agreement, share_that_beats
from tests.infer.estimate.test_severity import Row, rated_set

DEMO = load_invented()


def two_raters(seed: int = 0) -> sparingly.EvalSet:
    random = np.random.default_rng(seed)
    quality = random.normal(50, 10, (20, 2))
    rows: list[Row] = [
        (item, model, rater, float(np.round(quality[item, model] + shift + random.normal(0, 5))))
        for item in range(20)
        for model in range(2)
        for rater, shift in (("a", 0.0), ("b", 4.0))
    ]
    return rated_set(rows)


# --- agreement ---------------------------------------------------------------------------------------


def test_pairs_are_those_of_scipy() -> None:
    data = two_raters()
    values, _ = rater_scores(data).table()
    found = rater_agreement(data, draws=10).pairs[0]
    x, y = values.T
    assert (found.first, found.second, found.n) == ("a", "b", 40)
    assert found.pearson == pytest.approx(stats.pearsonr(x, y).statistic)
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found.kendall == pytest.approx(stats.kendalltau(x, y).statistic)
    assert found.exact == pytest.approx((x == y).mean())
    assert found.difference == pytest.approx((x - y).mean())


def test_alpha_is_over_outputs_and_its_interval_over_items() -> None:
    data = two_raters()
    values, _ = rater_scores(data).table()
    found = rater_agreement(data, draws=200)
    assert found.alpha.alpha == pytest.approx(krippendorff_alpha(values))
    assert found.alpha.units == 40
    assert found.alpha.low < found.alpha.alpha < found.alpha.high
    assert rater_agreement(data, draws=200).alpha == found.alpha
    assert rater_agreement(data, draws=200, level="ordinal").alpha.alpha != found.alpha.alpha


def test_own_agreement_from_repeats() -> None:
    rows: list[Row] = [(item, 0, "a", float(item % 4)) for item in range(12)] * 2
    rows += [(item, 0, "b", float(item * again % 5)) for item in range(12) for again in (1, 2)]
    own = {one.rater: one for one in rater_agreement(rated_set(rows, 1), draws=10).own}
    assert (own["a"].n, own["a"].alpha, own["a"].change) == (12, 1.0, 0.0)
    table = np.array([[item % 5, item * 2 % 5] for item in range(12)], float)
    assert own["b"].alpha == pytest.approx(krippendorff_alpha(table))


def test_names_have_no_mean() -> None:
    rows: list[Row] = [(item, 0, rater, float(item % 3)) for item in range(9) for rater in "ab"]
    rows += [(0, 0, "a", 2.0), (1, 0, "b", 1.0)]
    found = rater_agreement(rated_set(rows, 1), level="nominal", draws=10)
    assert found.alpha.alpha == pytest.approx(1.0)
    assert found.alpha.units == 8
    assert rater_agreement(rated_set(rows, 1), draws=10).alpha.alpha < 1.0


def test_nobody_in_common() -> None:
    rows: list[Row] = [(item, 0, "ab"[item % 2], float(item)) for item in range(8)]
    found = rater_agreement(rated_set(rows, 1))
    assert found.pairs == ()
    assert np.isnan(found.alpha.alpha)
    assert "no output has two ratings" in found.notes[0]
    assert predictability(rated_set(rows, 1)).raters == ()


def test_two_common_outputs_give_no_correlation() -> None:
    rows: list[Row] = [(item, 0, rater, float(item)) for item in range(2) for rater in "ab"]
    found = rater_agreement(rated_set(rows, 1), draws=10).pairs[0]
    assert np.isnan(found.pearson)
    assert found.exact == 1.0


# --- predictability ----------------------------------------------------------------------------------


def test_error_from_the_others_by_hand() -> None:
    scores = {"a": [[1, 5], [3, 5]], "b": [[2, 4], [2, 6]], "c": [[3, 9], [5, 9]]}
    rows: list[Row] = [
        (item, model, rater, float(given[item][model]))
        for rater, given in scores.items()
        for item in range(2)
        for model in range(2)
    ]
    rows += [(2, 0, "a", 77.0)]
    found = {one.rater: one for one in predictability(rated_set(rows)).raters}
    # a gives 2 and 5 on average; b and c together 3 and 7.
    assert found["a"].error == pytest.approx((1 + 2) / 2)
    assert found["a"].n == 4
    assert found["c"].error == pytest.approx((2 + 4) / 2)


def test_share_of_own_ratings_is_what_a_simulation_finds() -> None:
    random = np.random.default_rng(0)
    own = random.normal(0, 2, 200)
    error = 0.25
    share = share_that_beats(error, np.array([own.std(ddof=1)]), np.array([200.0]))
    count = round(share * 200)
    errors = [abs(random.permutation(own)[:count].mean() - own.mean()) for _ in range(4000)]
    assert np.mean(errors) == pytest.approx(error, rel=0.06)
    assert share_that_beats(0.0, np.array([1.0]), np.array([50.0])) == 1.0
    assert share_that_beats(1.0, np.array([0.0]), np.array([50.0])) == 0.02


def test_slopes_are_those_of_scipy() -> None:
    found = predictability(DEMO, "overall", metric="learned").slopes
    held = rater_scores(DEMO, "overall")
    one = next(slope for slope in found if (slope.rater, slope.model) == ("Bo", "Juniper"))
    rows = (held.rater == held.raters.index("Bo")) & (held.model == DEMO.models.index("Juniper"))
    metric = DEMO.metrics["learned"][held.item[rows], held.model[rows]]
    score = held.score[rows][~np.isnan(metric)]
    metric = metric[~np.isnan(metric)]
    line = stats.linregress(metric, score)
    assert one.n == len(metric)
    assert one.slope == pytest.approx(line.slope)
    assert one.correlation == pytest.approx(line.rvalue)
    assert one.error == pytest.approx(np.abs(score - line.intercept - line.slope * metric).mean())
    with pytest.raises(UnknownNameError, match="metric"):
        predictability(DEMO, "overall", metric="lerned")


# --- standardised scores -----------------------------------------------------------------------------


def test_standardised_scores() -> None:
    data = sparingly.standardised(two_raters())
    values, _ = rater_scores(two_raters()).table()
    by_hand = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    assert data.aspects["overall_z"].ravel() == pytest.approx(by_hand.mean(axis=1))
    assert np.array_equal(data.aspects["overall"], two_raters().aspects["overall"])
    with pytest.raises(UsageError, match="already"):
        sparingly.standardised(data)
    assert "z" in sparingly.standardised(data, "overall", "z").aspects


def test_a_rater_who_always_gives_the_same_gets_zero() -> None:
    rows: list[Row] = [(item, 0, "a", 0.1) for item in range(3)] + [
        (item, 0, "b", float(item)) for item in range(3)
    ]
    data = sparingly.standardised(rated_set(rows, 1))
    assert data.aspects["overall_z"].ravel() == pytest.approx([-0.5, 0.0, 0.5])
