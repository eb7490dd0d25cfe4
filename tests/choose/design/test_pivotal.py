from __future__ import annotations

import numpy as np

import sparingly
from tests.choose.design.draws_data import made


def test_the_likelier_are_taken_more_often() -> None:
    data = made()
    utility = data.metrics["m"].var(axis=1)
    counts = np.zeros(60)
    for seed in range(300):
        chosen = sparingly.select(data, "pivotal:utility=(metric_var:metric=m),tau=0.9", 12, seed=seed)
        counts[data.positions(chosen.items)] += 1
    order = np.argsort(utility)
    assert counts[order[-15:]].mean() > 3 * counts[order[:15]].mean()


def test_weighted_means_do_not_drift_as_the_top_of_the_list_does() -> None:
    data = made()
    scores = data.metrics["m"].mean(axis=1)
    text = "metric_avg:metric=m"
    top = scores[data.positions(sparingly.select(data, text, 12).items)].mean()
    found = []
    for seed in range(200):
        chosen = sparingly.select(data, f"pivotal:utility=({text})", 12, seed=seed)
        assert chosen.weight is not None
        found.append((scores[data.positions(chosen.items)] * chosen.weight).sum() / 60)
    error = np.std(found) / np.sqrt(200)
    assert abs(np.mean(found) - scores.mean()) < 4 * error
    assert abs(top - scores.mean()) > 20 * error
