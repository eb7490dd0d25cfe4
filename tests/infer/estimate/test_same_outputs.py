"""Skipped items with the same outputs: differences of the whole set, and no scores."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.data.evalset import EvalSet
from tests.choose.same_data import ITEMS, MODELS, SAME, skipping


def blinded(data: EvalSet, chosen: sparingly.Selection) -> EvalSet:
    """Return the set with the judgements of the chosen items only."""
    human = data.aspects["human"].copy()
    rows = np.ones(len(data), bool)
    rows[data.positions(chosen.items)] = False
    human[rows] = np.nan
    return EvalSet.from_arrays(
        list(data.items), list(data.models), metrics=dict(data.metrics), aspects={"human": human}
    )


def relative(data: EvalSet) -> Floats:
    means = data.aspects["human"].mean(axis=0)
    return np.asarray(means - means.mean())


@pytest.mark.parametrize("estimator", ["weighted_mean", "greg"])
def test_everything_else_judged_leaves_no_error(estimator: str) -> None:
    data = skipping()
    chosen = sparingly.select(data, "uniform:same_outputs=skip", "100%")
    assert len(chosen) == ITEMS - len(SAME)
    found = sparingly.estimate(blinded(data, chosen), chosen, "human", estimator=estimator)
    np.testing.assert_allclose(found.scores, relative(data), atol=1e-12)
    assert found.standard_errors.tolist() == [0.0] * MODELS
    assert found.n == len(chosen)
    assert found.size == ITEMS


def test_the_weighted_mean_by_hand() -> None:
    data = skipping()
    chosen = sparingly.select(data, "uniform:same_outputs=skip", 60, seed=1)
    found = sparingly.estimate(data, chosen, "human", estimator="weighted_mean")
    human = data.aspects["human"][data.positions(chosen.items)]
    apart = human[:, 3] - human[:, 0]
    rest = ITEMS - len(SAME)
    gap = found.difference("m3", "m0")
    # The skipped items are a part of the set in which nothing differs.
    assert gap.difference == pytest.approx(apart.mean() * rest / ITEMS)
    error = np.sqrt((1 - 60 / rest) * apart.var(ddof=1) / 60) * rest / ITEMS
    assert gap.standard_error == pytest.approx(error)


def test_it_says_that_scores_are_not_told() -> None:
    data = skipping()
    chosen = sparingly.select(data, "uniform:same_outputs=skip", 60, seed=1)
    found = sparingly.estimate(data, chosen, "human")
    assert f"{len(SAME)} items on which all models wrote the same were not judged" in found.notes[0]
    assert "scores of the set are unknown" in found.notes[0]
    assert found.scores.mean() == pytest.approx(0.0, abs=1e-9)
    ranking = sparingly.rank(data, chosen, "human")
    assert found.notes[0] in ranking.notes
    assert [row.model for row in ranking.models] == [found.models[place] for place in found.order]


@cache
def draws(design: str) -> list[tuple[EvalSet, sparingly.Selection]]:
    """Return sixty sets, each with a draw by the design."""
    sets = [skipping(seed) for seed in range(60)]
    return [
        (data, sparingly.select(data, design, 60, seed=seed, same_outputs="skip"))
        for seed, data in enumerate(sets)
    ]


@pytest.mark.parametrize("design", ["uniform", "local_pivotal", "pivotal:utility=(metric_var)"])
@pytest.mark.parametrize("target", ["set", "population"])
@pytest.mark.parametrize("estimator", ["weighted_mean", "greg"])
def test_differences_are_right_on_average_and_their_errors_too(
    design: str, estimator: str, target: str
) -> None:
    missed, errors = [], []
    truth = 0.2 * 3 * (ITEMS - len(SAME)) / ITEMS
    for seed, (data, chosen) in enumerate(draws(design)):
        found = sparingly.estimate(data, chosen, "human", estimator=estimator, target=target, seed=seed)  # type: ignore[arg-type]
        whole = relative(data)
        gap = found.difference("m3", "m0")
        missed.append(gap.difference - (whole[3] - whole[0] if target == "set" else truth))
        errors.append(gap.standard_error)
    assert abs(np.mean(missed)) < 4 * np.std(missed) / np.sqrt(60)
    # The standard deviation of 60 numbers is known to a tenth.
    assert np.sqrt(np.mean(np.square(errors))) / np.std(missed) == pytest.approx(1.0, abs=0.35)


def test_documents_are_drawn_without_them() -> None:
    data = skipping(documents=True)
    chosen = sparingly.select(data, "uniform:same_outputs=skip,unit=document", 90, seed=1)
    found = sparingly.estimate(data, chosen, "human", target="population")
    assert np.isfinite(found.standard_errors).all()
    assert found.size == ITEMS


def test_items_on_the_never_list_stay_out() -> None:
    data = skipping()
    never = [*SAME[:5], "i000", "i002"]
    chosen = sparingly.select(data, "uniform:same_outputs=skip", "100%", never=never)
    assert chosen.same_outputs == tuple(SAME[5:])
    found = sparingly.estimate(data, chosen, "human", estimator="weighted_mean")
    rows = ~np.isin(data.items.astype(str), never)
    means = data.aspects["human"][rows].mean(axis=0)
    np.testing.assert_allclose(found.scores, means - means.mean(), atol=1e-12)
    assert found.size == ITEMS - len(never)


def test_models_must_be_judged_together() -> None:
    data = skipping()
    chosen = sparingly.select(data, "uniform:same_outputs=skip", 40)
    seen = blinded(data, chosen)
    human = seen.aspects["human"].copy()
    human[data.positions(chosen.items[:1]), 2] = np.nan
    gappy = EvalSet.from_arrays(list(seen.items), list(seen.models), aspects={"human": human})
    with pytest.raises(DataError, match="all models must be judged"):
        sparingly.estimate(gappy, chosen, "human")
    with pytest.raises(UsageError, match="leave out the scale"):
        sparingly.estimate(data, chosen, "human", scale=(-20, 20))


def test_a_pilot_of_the_others_plans_for_the_others() -> None:
    data = skipping()
    chosen = sparingly.select(data, "uniform:same_outputs=skip", 60)
    assert sparingly.plan(data, chosen, aspect="human").size == ITEMS - len(SAME)
