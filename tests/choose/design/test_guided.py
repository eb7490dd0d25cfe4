from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base import rng
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import RANKING_ONLY


def made(count: int = 120) -> EvalSet:
    drawn = np.random.default_rng(2)
    human = drawn.normal(size=(count, 6)) + np.linspace(0, 0.5, 6)
    return EvalSet.from_arrays(
        [f"item {place:03d}" for place in range(count)],
        list("abcdef"),
        metrics={"COMET": human + drawn.normal(size=human.shape)},
        aspects={"mqm": human},
        columns={"document": [f"d{place // 8:02d}" for place in range(count)]},
        outputs=[["word " * (place % 5 + model) for model in range(6)] for place in range(count)],
        sources=["source"] * count,
    )


def test_the_best_of_the_draws_is_kept() -> None:
    data = made()
    chosen = select(data, "guided:design=uniform,k=8", 20, seed=5)
    seeds = rng.seed_list(5, 8, "guided")
    draws = [set(select(data, "uniform", 20, seed=seed).items) for seed in seeds]
    accuracy = [
        sparingly.agree(
            data, select(data, "uniform", 20, seed=seed), "metric:COMET", test="analytic"
        ).agreement.soft_pairwise_accuracy
        for seed in seeds
    ]
    assert set(chosen.items) == draws[int(np.argmax(accuracy))]
    assert (
        f"{max(accuracy):.4f}, the best of 8 draws; their median is {np.median(accuracy):.4f}."
        in chosen.notes[0]
    )


def test_kendall_is_that_of_the_means() -> None:
    data = made()
    chosen = select(data, "guided:design=random,k=6,agreement=kendall", 15, seed=2)
    scores = data.metrics["COMET"]
    full = scores.mean(axis=0)
    found = []
    for seed in rng.seed_list(2, 6, "guided"):
        means = scores[data.positions(select(data, "random", 15, seed=seed).items)].mean(axis=0)
        first, second = np.triu_indices(6, 1)
        found.append(np.mean(np.sign(full[first] - full[second]) * np.sign(means[first] - means[second])))
    assert f"{max(found):.4f}, the best of 6 draws" in chosen.notes[0]


def test_it_is_for_rankings_only_and_keeps_the_rest() -> None:
    data = made()
    chosen = select(data, "guided:design=(snippets:context=2,max_length=8),k=3", "20%")
    assert chosen.probability is None
    assert chosen.meaning == RANKING_ONLY
    assert chosen.unit is not None
    assert chosen.context is not None
    assert any("cube balances a draw" in note for note in chosen.notes)
    assert "design=(snippets:kind=budgeted," in chosen.signature.method
    assert "under=COMET" in chosen.signature.method
    assert sparingly.verify(chosen, data).ok


def test_shut_documents_stay_shut() -> None:
    data = made(124)
    chosen = select(data, "guided:design=(snippets:kind=document,max_length=7),k=3", 4)
    assert chosen.never == tuple(data.items[:120])
    assert set(chosen.items) == set(data.items[120:])


def test_draws_of_their_own_go_with_kendall() -> None:
    data = made()
    method = "guided:design=(snippets:matching=false),k=4"
    with pytest.raises(UsageError, match="compares models on the same items"):
        select(data, method, "20%")
    chosen = select(data, f"{method},agreement=kendall", "20%", seed=3)
    assert chosen.models is not None
    scores, means = data.metrics["COMET"], []
    for column, model in enumerate(data.models):
        rows = data.positions([row.item for row in chosen if row.models == (model,)])
        means.append(scores[rows, column].mean())
    first, second = np.triu_indices(6, 1)
    full = scores.mean(axis=0)
    signs = np.sign(full[first] - full[second]) * np.sign(np.array(means)[first] - np.array(means)[second])
    assert f"{signs.mean():.4f}, the best of 4 draws" in chosen.notes[0]


def test_weights_of_clusters_count() -> None:
    chosen = select(made(), "guided:design=(kmeans:features=output,weighted=true),k=2", 10)
    assert chosen.cluster_weight is not None


def test_any_selector_draws_and_nothing_else_does() -> None:
    data = made()
    for inner in ("random", "cube", "(pivotal:utility=(metric_var))", "(stratified:by=metrics,size=20)"):
        assert len(select(data, f"guided:design={inner},k=2", 20)) == 20
    with pytest.raises(UnknownNameError, match='There is no selector or design "metric_var"'):
        select(data, "guided:design=metric_var", 20)
    with pytest.raises(UsageError, match="needs the parameter design="):
        select(data, "guided", 20)


def test_what_is_missing_is_said() -> None:
    data = made()
    assert len(select(data, "guided:design=uniform,under=output_length,k=2", 10)) == 10
    with pytest.raises(UnknownNameError, match='There is no metric "BLEU"'):
        select(data, "guided:design=uniform,under=BLEU", 10)
    with pytest.raises(MissingDataError, match="The method guided needs one"):
        select(data.only([]), "guided:design=uniform", 10)
    with pytest.raises(DataError, match="compares models, and there are fewer than two"):
        select(data.take(models=["a"]), "guided:design=uniform", 10)
    with pytest.raises(DataError, match="No item has a score of empty"):
        select(data.with_metric("empty", np.full((120, 6), np.nan)), "guided:design=uniform,under=empty", 10)
