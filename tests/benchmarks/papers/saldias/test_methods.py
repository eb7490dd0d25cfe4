"""The published methods: their draws have the right chances, and their scores are those of the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.papers.saldias.cases import Case, Cases
from benchmarks.papers.saldias.draws import (
    Strata,
    count_of,
    sample_of_draw,
    stratified_draws,
    uniform_draws,
)
from benchmarks.papers.saldias.errors import groups
from benchmarks.papers.saldias.methods import (
    BASE,
    PUBLISHED,
    Published,
    Variates,
    draws_of,
    published_scores,
)
from sparingly.infer.estimate.estimators import ControlVariate


@pytest.mark.parametrize(
    "strata", [None, Strata("document"), Strata("metrics"), Strata("metrics", "optimal", "published")]
)
@pytest.mark.parametrize("variate", ["one", "mean", "several", "knn"])
def test_published_scores_are_those_of_the_estimator(
    case: Case, cases: Cases, strata: Strata | None, variate: Any
) -> None:
    method = Published(strata, variate)
    variates = Variates(case, cases)
    metrics = {"one": (), "mean": cases.metrics_of("best")}.get(variate, cases.best)
    estimator = ControlVariate(
        metric=cases.one if variate == "one" else None,
        variate=variate,
        metrics=metrics,
        covariance="published",
        crossfit=False,
        guard=False,
    )
    # Few judged items, and so many that neighbours are looked for along the whole order.
    for share in (0.2, 0.6):
        sample = sample_of_draw(case, draws_of(case, cases, share, method)(7))
        expected = estimator.linear(sample, case.data, 0).scores(sample)
        assert published_scores(method, sample, variates) == pytest.approx(expected, abs=1e-9)


def test_systems_are_drawn_apart_with_the_right_chances(case: Case, cases: Cases) -> None:
    share, runs = 0.2, 400
    for draw in (
        uniform_draws(case, share),
        stratified_draws(case, share, Strata("document"), ()),
        stratified_draws(case, share, Strata("metrics", "optimal"), cases.metrics_of("best")),
    ):
        drawn = [draw(seed) for seed in range(runs)]
        counts = np.stack([one.taken.sum(axis=0) for one in drawn])
        assert (counts == count_of(case, share)).all()
        assert not (drawn[0].taken[:, 0] == drawn[0].taken[:, 1]).all()
        chance = drawn[0].chance
        seen = np.mean([one.taken for one in drawn], axis=0)
        away = (seen - chance) / np.sqrt(np.maximum(chance * (1 - chance), 1e-9) / runs)
        assert np.abs(away).max() < 5.0


def test_methods_that_share_draws_go_together() -> None:
    found = groups(PUBLISHED)
    assert sorted(name for group in found for name in group) == sorted(PUBLISHED)
    uniform = next(group for group in found if BASE in group)
    assert "cv-knn" in uniform
    assert "docs-prop" not in uniform
