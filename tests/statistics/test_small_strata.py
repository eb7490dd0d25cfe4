"""Strata so small that many stay empty, with scores that hang on their size: no bias, and intervals hold."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly

pytestmark = pytest.mark.statistics

RUNS, DOCUMENTS = 150, 120


def made() -> sparingly.EvalSet:
    """A set of short documents and a few long ones, which are harder."""
    generator = np.random.default_rng(3)
    sizes = np.repeat([1, 2, 8], [60, 40, 20])
    document = np.repeat(np.arange(DOCUMENTS), sizes)
    scores = -0.5 * np.repeat(sizes, sizes)[:, None] + generator.normal(size=(len(document), 4))
    return sparingly.EvalSet.from_arrays(
        items=[f"i{place:03d}" for place in range(len(document))],
        models=list("abcd"),
        aspects={"overall": scores},
        columns={"document": [f"d{one}" for one in document]},
    )


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_scores_of_a_draw_with_empty_strata(share: float) -> None:
    """The mean error is within three standard errors of 0, and 95 % intervals hold at least 91 % of the time.

    600 intervals of 150 draws: the binomial error of a share of 95 % over 150 draws is 1.8 points.
    """
    data = made()
    truth = data.aspects["overall"].mean(axis=0)
    missed, held = [], []
    for seed in range(RUNS):
        chosen = sparingly.select(data, "stratified:by=document", share, seed=seed)
        found = sparingly.estimate(data, chosen, "overall", estimator="stratified_mean", target="set")
        missed.append(found.scores - truth)
        held.append((found.low <= truth) & (truth <= found.high))
    errors = np.array(missed)
    assert (np.abs(errors.mean(axis=0)) < 3.0 * errors.std(axis=0, ddof=1) / np.sqrt(RUNS)).all()
    assert float(np.mean(held)) >= 0.914
