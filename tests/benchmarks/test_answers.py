"""Answers are compared as the tables say."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers.data import MODELS, arrays, item_ids, model_ids, responses, vectors
from benchmarks.peers.rows import ROWS, compare_answers

BY_NAME = {row.name: row for row in ROWS}


def test_diversity_is_compared_without_pairs_of_an_output_with_itself() -> None:
    ours = -np.array([10.0, 20.0, 70.0])
    theirs = (MODELS * (MODELS - 1) * ours - MODELS * 100.0) / MODELS**2
    found = compare_answers(BY_NAME["diversity_chrf"], 3, ours.tolist(), theirs.tolist())
    assert found["difference"] == pytest.approx(0.0, abs=1e-12)
    assert found["rank_correlation"] == pytest.approx(1.0)


def test_log_loss_of_what_is_certain_and_of_a_coin() -> None:
    seen = responses(arrays(50)["metric"])
    assert seen.mean() == 0.5
    coin = np.full(seen.shape, 0.5)
    found = compare_answers(BY_NAME["irt_map"], 50, [seen.tolist()], [coin.tolist(), (1 - seen).tolist()])
    assert found["ours"] == pytest.approx(0.0, abs=1e-9)
    assert found["theirs"] == pytest.approx(np.log(2.0)), "the better of two"
    assert found["is_better"]


def test_held_out_cells_are_those_that_were_hidden() -> None:
    metric = arrays(50)["metric"]
    hidden = np.isnan(responses(metric, held_out=True))
    assert 0.05 < hidden.mean() < 0.15
    known = np.where(hidden, responses(metric), 0.5)
    wrong = np.where(hidden, 0.5, 1.0 - responses(metric))
    found = compare_answers(BY_NAME["irt_held_out"], 50, [known.tolist()], [wrong.tolist()])
    assert found["ours"] == pytest.approx(0.0, abs=1e-9)
    assert found["theirs"] == pytest.approx(np.log(2.0)), "cells that were seen do not count"


def test_cheaper_sets_must_fit_and_be_worth_as_much() -> None:
    utility, cost = arrays(40)["metric"].var(axis=1), arrays(40)["cost"]
    best = [item_ids(40)[row] for row in np.argsort(-utility)]
    row, fitting = BY_NAME["cost_aware"], int(0.1 * cost.sum() // cost.max())
    assert compare_answers(row, 40, best[:fitting], best[1 : fitting + 1])["is_better"]
    assert not compare_answers(row, 40, best[1 : fitting + 1], best[:fitting])["is_better"]
    assert not compare_answers(row, 40, best, best[:fitting])["is_better"], "it does not fit"


def test_items_near_to_chosen_ones_are_near() -> None:
    names = item_ids(80)
    found = compare_answers(BY_NAME["kmeans"], 80, names[:40], names[:4])
    assert 0.0 < found["ours"] < found["theirs"]
    spread = compare_answers(BY_NAME["kmeans"], 80, names[:4], names)
    assert spread["theirs"] == pytest.approx(0.0, abs=1e-6)


def test_items_of_one_cluster_are_not_of_two() -> None:
    points = vectors(60, "output vectors").reshape(60, MODELS, -1)
    assert points.shape[1] == len(model_ids())
    names = item_ids(60)
    whole = compare_answers(BY_NAME["diffuse"], 60, names, names)
    assert whole["same_clusters"] == whole["common"] == 60
    again = compare_answers(BY_NAME["diffuse"], 60, names[:2], [names[0], names[0]])
    assert again["same_clusters"] == 1


def test_a_good_subset_agrees_with_the_whole() -> None:
    names = item_ids(40)
    found = compare_answers(BY_NAME["search"], 40, names, names[:4])
    assert found["ours"] == pytest.approx(1.0)
    assert found["theirs"] < 1.0
