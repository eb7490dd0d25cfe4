"""``verdicts``: what to label to audit a judge."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, UsageError
from sparingly.choose.design.stratified import Verdicts, _variances
from tests.infer.judge.populations import judged_outputs


def test_what_was_failed_is_labelled_more_often_and_both_are() -> None:
    data = judged_outputs(1, size=2000, labels=None, pass_rate=0.9, sensitivity=0.95, specificity=0.5)
    chosen = sparingly.select(data, budget=100, question="judge", seed=3)
    assert chosen.why.startswith("auto draws by the judge's verdicts")
    passed = data.metrics["verdict"][data.positions(chosen.items), 0] == 1
    assert len(chosen) == 100
    assert 20 < (~passed).sum() < 60
    share = (~passed).mean() / (data.metrics["verdict"] == 0).mean()
    assert share > 2
    assert chosen.probability is not None
    assert len(np.unique(chosen.probability.round(12))) == 2


def test_probabilities_are_those_of_the_strata() -> None:
    """Over 400 draws every item comes as often as its probability says."""
    data = judged_outputs(2, size=60, labels=None)
    counts, said = np.zeros(60), np.full(60, np.nan)
    for seed in range(400):
        chosen = sparingly.select(data, "verdicts", 15, seed=seed)
        rows = data.positions(chosen.items)
        counts[rows] += 1
        assert chosen.probability is not None
        said[rows] = chosen.probability
    assert np.abs(counts / 400 - said).max() < 4.5 * np.sqrt(0.25 / 400)
    assert said.sum() == pytest.approx(15)


def test_variances_by_hand() -> None:
    """W = ¾, ¼ with p = .8, .4: G = .7, Se = .6/.7, Sp = .15/.3 = ½."""
    share, verdict, good = np.array([0.75, 0.25]), np.array([1.0, 0.0]), np.array([0.8, 0.4])
    spread = share**2 * good * (1 - good)
    of_se = spread * np.array([1 / 7, 6 / 7]) ** 2 / 0.7**2
    of_sp = spread * np.array([0.5, 0.5]) ** 2 / 0.3**2
    expected = of_se / (of_se / share).sum() + of_sp / (of_sp / share).sum()
    assert _variances(share, verdict, good) == pytest.approx(expected)


def test_derivatives_of_the_rates_are_those_in_the_docstring() -> None:
    """∂Se/∂p_h = W_h(v_h − Se)/G and ∂Sp/∂p_h = W_h(Sp − (1 − v_h))/F, beside differences."""
    share, verdict, good = np.array([0.5, 0.3, 0.2]), np.array([1.0, 1.0, 0.0]), np.array([0.9, 0.6, 0.3])

    def rates(p: object) -> np.ndarray:
        p = np.asarray(p)
        return np.array(
            [(share * verdict) @ p / (share @ p), (share * (1 - verdict)) @ (1 - p) / (share @ (1 - p))]
        )

    se, sp = rates(good)
    for place in range(3):
        step = np.zeros(3)
        step[place] = 1e-6
        slope = (rates(good + step) - rates(good - step)) / 2e-6
        assert slope[0] == pytest.approx(share[place] * (verdict[place] - se) / (share @ good))
        assert slope[1] == pytest.approx(share[place] * (sp - (1 - verdict[place])) / (share @ (1 - good)))


def test_grades_are_cut_into_bands_within_a_verdict() -> None:
    random = np.random.default_rng(3)
    data = judged_outputs(3, labels=None)
    data = data.with_metric("verdict", random.integers(1, 11, (len(data), 1)).astype(float))
    chosen = sparingly.select(data, Verdicts(cut=7), 90)
    assert chosen.stratum is not None
    assert {str(name).partition(",")[0] for name in chosen.stratum} == {"passed", "failed"}
    assert 4 <= len(set(chosen.stratum)) <= 6


def test_outputs_without_a_verdict_are_drawn_too() -> None:
    data = judged_outputs(4, labels=None)
    half = np.where(np.arange(len(data))[:, None] < 500, np.nan, data.metrics["verdict"])
    chosen = sparingly.select(data.with_metric("verdict", half), "verdicts", 100)
    assert chosen.stratum is not None
    assert "no score" in set(chosen.stratum)
    with pytest.raises(DataError, match="run the judge first"):
        sparingly.select(
            data.with_metric("verdict", np.full((1000, 1), np.nan)), "verdicts:metric=verdict", 9
        )


def test_several_judges_have_to_be_named() -> None:
    data = judged_outputs(5, labels=None)
    data = data.with_metric("other", data.metrics["verdict"])
    with pytest.raises(UsageError, match="Name the judge: verdicts:metric="):
        sparingly.select(data, budget=50, question="judge")


@pytest.mark.statistics
def test_the_pass_rate_stays_unbiased_and_its_interval_holds() -> None:
    """500 draws of 100 labels by verdict: the mean estimate is the truth, 93 % of intervals hold it."""
    data = judged_outputs(6, size=2000, labels=None, pass_rate=0.86, sensitivity=0.93, specificity=0.6)
    truth = float(data.aspects["ok"].mean())
    scores, held = [], 0
    for seed in range(500):
        found = sparingly.estimate(data, sparingly.select(data, "verdicts", 100, seed=seed), seed=seed)
        scores.append(float(found.scores[0]))
        held += found.low[0] <= truth <= found.high[0]
    error = np.std(scores) / np.sqrt(500)
    assert abs(np.mean(scores) - truth) < 3.5 * error
    assert held >= 0.93 * 500
