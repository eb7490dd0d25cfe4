from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError
from sparingly.published.irt import Priors, fit_irt, success
from sparingly.published.irt.model import FitMethod, IrtFit, Response
from tests.published.irt.simulated import log_loss, simulate, with_gaps

NAN = np.nan
FITS = [(method, response) for method in ("map", "variational") for response in ("continuous", "binary")]


def numbers(fit: IrtFit) -> Floats:
    return np.stack([fit.discrimination, fit.difficulty, fit.feasibility])


@pytest.mark.parametrize(("method", "response"), FITS)
def test_same_scores_same_fit(method: FitMethod, response: Response) -> None:
    scores = with_gaps(simulate(Priors(), 50, 6, 1).scores, 0.1, 2)
    before = scores.copy()
    one, other = (fit_irt(scores, method=method, response=response) for _ in range(2))
    np.testing.assert_array_equal(numbers(one), numbers(other))
    np.testing.assert_array_equal(one.ability, other.ability)
    assert one.objective == other.objective
    np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize(("method", "response"), FITS)
def test_no_order_of_items_or_models_matters(method: FitMethod, response: Response) -> None:
    scores = with_gaps(simulate(Priors(), 50, 6, 3).scores, 0.1, 4)
    rows, columns = np.random.default_rng(5).permutation(50), np.random.default_rng(6).permutation(6)
    fit = fit_irt(scores, method=method, response=response)
    other = fit_irt(scores[np.ix_(rows, columns)], method=method, response=response)
    np.testing.assert_allclose(numbers(other), numbers(fit)[:, rows], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.ability, fit.ability[columns], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("method", "response"), FITS)
def test_items_and_models_without_scores_are_unknown(method: FitMethod, response: Response) -> None:
    scores = with_gaps(simulate(Priors(), 30, 5, 7).scores, 0.1, 8)
    wider = np.insert(np.insert(scores, 4, NAN, axis=0), 2, NAN, axis=1)
    fit = fit_irt(scores, method=method, response=response)
    other = fit_irt(wider, method=method, response=response)
    np.testing.assert_array_equal(numbers(other), np.insert(numbers(fit), 4, NAN, axis=1))
    np.testing.assert_array_equal(other.ability, np.insert(fit.ability, 2, NAN))


@pytest.mark.parametrize(("method", "response"), FITS)
def test_missing_cells_cost_little(method: FitMethod, response: Response) -> None:
    drawn = simulate(Priors(), 300, 14, 9)
    whole, holed = (
        fit_irt(scores, method=method, response=response)
        for scores in (drawn.scores, with_gaps(drawn.scores, 0.15, 10))
    )
    assert np.corrcoef(whole.ability, holed.ability)[0, 1] > 0.98
    assert np.corrcoef(whole.difficulty, holed.difficulty)[0, 1] > 0.8


@pytest.mark.parametrize(("method", "response"), FITS)
def test_abilities_follow_the_means_of_models(method: FitMethod, response: Response) -> None:
    for seed in range(3):
        drawn = np.random.default_rng(seed)
        scores = drawn.normal(size=(80, 1)) + np.linspace(0, 0.8, 7) + 0.7 * drawn.normal(size=(80, 7))
        fit = fit_irt(scores, method=method, response=response)
        assert np.corrcoef(fit.ability, scores.mean(axis=0))[0, 1] > (
            0.9 if response == "continuous" else 0.7
        )
        assert np.mean(fit.discrimination > 0) > 0.9


@pytest.mark.parametrize(("method", "response"), FITS)
@pytest.mark.parametrize(
    "scores",
    [
        np.array([[0.3]]),
        np.array([[0.3, 0.7, 0.2]]),
        np.array([[0.3], [0.7], [0.2]]),
        np.full((5, 4), 2.5),
        np.array([[1.0, NAN], [NAN, 1.0]]),
        np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]),
        np.array([[-1e9, 1e9], [0.0, 1e-9]]),
    ],
)
def test_tiny_and_odd_sets_have_finite_fits(method: FitMethod, response: Response, scores: Floats) -> None:
    fit = fit_irt(scores, method=method, response=response)
    assert np.isfinite(numbers(fit)).all()
    assert np.isfinite(fit.ability).all()
    assert fit.noise is None or fit.noise > 0


@settings(max_examples=25, deadline=None)
@given(arrays(np.float64, (6, 4), elements=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0, NAN])))
def test_any_scores_have_finite_fits(scores: Floats) -> None:
    known = ~np.isnan(scores)
    if not known.any():
        return
    for method, response in FITS:
        fit = fit_irt(scores, method=method, response=response)  # type: ignore[arg-type]
        assert (np.isnan(numbers(fit)) == ~known.any(axis=1)).all()
        assert (np.isnan(fit.ability) == ~known.any(axis=0)).all()


def test_no_scores_at_all_are_refused() -> None:
    with pytest.raises(DataError, match=r"needs scores, and there are none\.$"):
        fit_irt(np.full((3, 2), NAN))


def test_a_rising_line_changes_nothing() -> None:
    scores = simulate(Priors(), 40, 5, 11).scores
    fit, moved = (fit_irt(values, method="map") for values in (scores, 8.0 * scores - 3.0))
    np.testing.assert_allclose(numbers(moved), numbers(fit), atol=1e-6)


def test_noise_and_parameters_are_those_of_the_simulation() -> None:
    drawn = simulate(Priors(), 800, 16, 12, noise=0.08)
    fit = fit_irt(drawn.scores, scale=False)
    assert fit.noise == pytest.approx(0.08, rel=0.05)


@pytest.mark.shared_data
def test_log_loss_on_published_scores_is_below_that_of_the_published_fit(shared_data: Path) -> None:
    # py-irt 0.7.1, model 4pl, 1000 epochs, on the same success and failure: 0.214 to 0.217, seed by seed.
    data = sparingly.load(shared_data / "wmt23_ende.jsonl.gz")
    scores = data.metrics["MetricX-23"]
    methods: tuple[FitMethod, FitMethod] = ("map", "variational")
    for method in methods:
        fit = fit_irt(scores, method=method, response="binary")
        assert log_loss(fit.predicted(), success(scores)) < 0.211


@pytest.mark.shared_data
def test_held_out_scores_are_predicted(shared_data: Path) -> None:
    data = sparingly.load(shared_data / "wmt23_ende.jsonl.gz")
    scores = data.metrics["MetricX-23"]
    hidden = np.random.default_rng(3).random(scores.shape) >= 0.8
    observed = success(scores)
    shown = np.where(hidden, NAN, observed)
    # The share of successes of the item, with one of each added, knows nothing of models.
    by_item = (np.nansum(shown, axis=1) + 1) / ((~hidden).sum(axis=1) + 2)
    plain = log_loss(np.repeat(by_item[:, None], scores.shape[1], axis=1)[hidden], observed[hidden])
    methods: tuple[FitMethod, FitMethod] = ("map", "variational")
    for method in methods:
        fit = fit_irt(shown, method=method, response="binary", threshold=0.5)
        assert log_loss(fit.predicted()[hidden], observed[hidden]) < plain
