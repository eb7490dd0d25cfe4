"""Variance components against a likelihood written down with full matrices, and against the truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.crossed_effects import fit_crossed_effects


class Made(NamedTuple):
    score: Floats
    model: Ints
    rater: Ints
    item: Ints
    severity: Floats


# Standard deviations of severity, taste, item, output and noise.
USUAL = (1.0, 0.5, 1.0, 0.6, 0.5)
# Outputs that differ so much that a taste is hard to see.
HARD = (0.6, 0.35, 1.5, 2.5, 1.0)


def made(
    items: int,
    models: int,
    raters: int,
    overlap: float,
    seed: int,
    spread: tuple[float, float, float, float, float] = USUAL,
) -> Made:
    random = np.random.default_rng(seed)
    severity, taste = random.normal(0, spread[0], raters), random.normal(0, spread[1], (raters, models))
    quality = random.normal(0, spread[2], (items, 1)) + random.normal(0, spread[3], (items, models))
    quality += np.arange(models)
    rows = [
        (item, model, rater)
        for item in range(items)
        for rater in random.choice(raters, 2 if random.random() < overlap else 1, replace=False)
        for model in range(models)
    ]
    item, model, rater = np.array(rows).T
    noise = random.normal(0, spread[4], len(rows))
    score = quality[item, model] + severity[rater] + taste[rater, model] + noise
    return Made(score, model, rater, item, severity)


def full_likelihood(held: Made, variances: Floats) -> float:
    """−2 log of the restricted likelihood, up to a constant."""
    noise, output, item, rater, taste = variances
    models = int(held.model.max()) + 1
    cell, liked = held.item * models + held.model, held.rater * models + held.model
    covariance = noise * np.eye(len(held.score))
    for part, codes in ((output, cell), (item, held.item), (rater, held.rater), (taste, liked)):
        covariance += part * (codes[:, None] == codes)
    inverse = np.linalg.inv(covariance)
    means = np.eye(models)[held.model]
    inner = means.T @ inverse @ means
    left = inverse - inverse @ means @ np.linalg.solve(inner, means.T @ inverse)
    volume = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(inner)[1]
    return float(volume + held.score @ left @ held.score)


def test_finds_the_maximum_of_the_full_likelihood() -> None:
    held = made(25, 3, 4, 0.5, 1)
    found = fit_crossed_effects(held.score, held.model, held.rater, [held.item * 3 + held.model, held.item])
    ours = np.array([found.noise, *found.nested, found.rater, found.taste])

    def of_logarithms(logs: Floats) -> float:
        return full_likelihood(held, np.exp(logs))

    best = minimize(of_logarithms, np.log(np.maximum(ours, 1e-6)) + 0.3, method="Nelder-Mead", tol=1e-7)
    assert full_likelihood(held, np.maximum(ours, 1e-12)) == pytest.approx(best.fun, abs=1e-5)
    assert ours == pytest.approx(np.exp(best.x), rel=0.02, abs=0.005)


@pytest.mark.parametrize(("seed", "gain"), [(51, 32.8), (136, 2.75)])
def test_a_component_at_zero_is_tried_again_from_above(seed: int, gain: float) -> None:
    """A search from 0.5 alone stops where the taste (and, in the first, the item) is 0: above the optimum."""
    held = made(60, 4, 4, 0.2, seed, HARD)
    cell = held.item * 4 + held.model
    found = fit_crossed_effects(held.score, held.model, held.rater, [cell, held.item])
    ours = np.array([found.noise, *found.nested, found.rater, found.taste])
    assert (ours > 0).all()
    without = fit_crossed_effects(held.score, held.model, held.rater, [cell, held.item], taste=False)
    stopped = np.array([without.noise, *without.nested, without.rater, 0.0])
    if seed == 51:
        flat = fit_crossed_effects(held.score, held.model, held.rater, [cell], taste=False)
        stopped = np.array([flat.noise, flat.nested[0], 0.0, flat.rater, 0.0])
    assert full_likelihood(held, stopped) - full_likelihood(held, ours) == pytest.approx(gain, abs=0.06)


def test_severity_is_that_of_least_squares_with_full_matrices() -> None:
    held = made(25, 3, 4, 0.5, 2)
    cell, liked = held.item * 3 + held.model, held.rater * 3 + held.model
    found = fit_crossed_effects(held.score, held.model, held.rater, [cell, held.item])
    covariance = found.noise * np.eye(len(held.score)) + found.taste * (liked[:, None] == liked)
    for part, codes in zip(found.nested, (cell, held.item), strict=True):
        covariance += part * (codes[:, None] == codes)
    # The last rater's effect is minus the sum of the others.
    raters = np.eye(4)[held.rater]
    columns = np.c_[np.eye(3)[held.model], raters[:, :3] - raters[:, [3]]]
    inverse = np.linalg.inv(covariance)
    errors = np.linalg.inv(columns.T @ inverse @ columns)
    known = errors @ columns.T @ inverse @ held.score
    assert found.severity[:3] == pytest.approx(known[3:], rel=1e-6)
    assert found.severity.sum() == pytest.approx(0, abs=1e-9)
    assert np.diag(found.severity_covariance)[:3] == pytest.approx(np.diag(errors)[3:], rel=1e-6)


def test_order_of_judgements_does_not_matter() -> None:
    held = made(40, 3, 5, 0.3, 3)
    order = np.random.default_rng(0).permutation(len(held.score))
    straight, mixed = (
        fit_crossed_effects(
            held.score[rows], held.model[rows], held.rater[rows], [held.item[rows]], taste=False
        )
        for rows in (np.arange(len(order)), order)
    )
    assert mixed.severity == pytest.approx(straight.severity, rel=1e-4, abs=1e-5)
    assert mixed.rater == pytest.approx(straight.rater, rel=1e-3)


def test_comes_near_the_truth() -> None:
    found, near = [], []
    for seed in range(12):
        held = made(150, 3, 10, 0.2, seed)
        fit = fit_crossed_effects(held.score, held.model, held.rater, [held.item * 3 + held.model, held.item])
        found.append([fit.noise, *fit.nested, fit.rater, fit.taste])
        errors = np.sqrt(np.diag(fit.severity_covariance))
        near += (np.abs(fit.severity - held.severity + held.severity.mean()) < 2 * errors).tolist()
    assert np.mean(found, axis=0) == pytest.approx([0.25, 0.36, 1.0, 1.0, 0.25], rel=0.3)
    assert np.mean(near) > 0.88


def test_no_raters_effect_is_found_where_there_is_none() -> None:
    random = np.random.default_rng(4)
    item, model, rater = np.repeat(np.arange(200), 2), np.tile([0, 1], 200), random.integers(0, 4, 400)
    score = random.normal(size=200)[item] + random.normal(size=400)
    found = fit_crossed_effects(score, model, rater, [item])
    assert found.rater < 0.05
    assert found.taste < 0.05
