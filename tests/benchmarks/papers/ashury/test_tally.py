"""Curves over budgets and how iterative runs end, pair by pair."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sparingly
from benchmarks.papers.ashury.sets import (
    BUDGETS,
    DEMO_SOURCE,
    HUMAN,
    RISKS,
    Curve,
    Ends,
    added,
    drawn_pairs,
    metric_curves,
    pair_figures,
    truths,
)
from benchmarks.papers.work import Work
from sparingly.base.stats.pairs import chance_of_lead
from sparingly.choose.design.budget import Budget
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank.winners import pair_margins, subsample
from sparingly.published.diffuse import DiffUse


def test_a_set_that_is_used_up_keeps_its_answer() -> None:
    for sign in (1.0, -1.0):
        curve = Curve()
        curve.add(sign * np.arange(1.0, 8.0), 1.0)
        assert curve.hits.tolist() == [float(sign > 0)] * len(BUDGETS)


def test_the_bias_is_towards_the_winner() -> None:
    curve = Curve()
    # Of 10 items the loser has 1 and the winner 7: 0.6 on the sample, 0.2 on the full set.
    curve.add(-np.linspace(0.6, 6.0, 10), -0.2)
    assert curve.bias[BUDGETS.index(10)] == pytest.approx(0.4)
    assert curve.squares[BUDGETS.index(10)] == pytest.approx(0.16)


def test_runs_end_in_one_of_three_ways() -> None:
    ends = Ends()
    ends.add(np.full(len(RISKS), 7.0), np.ones(len(RISKS)), 0.25)
    ends.add(np.full(len(RISKS), 9.0), -np.ones(len(RISKS)), 0.5)
    ends.add(np.full(len(RISKS), 9.0), np.zeros(len(RISKS)), -0.5)
    assert ends.runs == 3
    assert ends.ended[0].tolist() == [1, 1, 1]
    assert ends.distance[0].tolist() == [0.25, 0.5, 0.5]
    assert ends.labels[0] == 25


def test_sums_of_nests_take_over_what_only_one_has() -> None:
    assert added({"a": [1, [2]], "b": 1}, {"a": [3, [4]], "c": 5}) == {"a": [4, [6]], "b": 1, "c": 5}


def test_pairs_are_drawn_by_their_names_alone() -> None:
    models = ("a", "b", "c", "d")
    assert drawn_pairs(models, None) == drawn_pairs(models, 6)
    assert len(drawn_pairs(models, None)) == 6
    some = {(models[one], models[other]) for one, other in drawn_pairs(models, 3)}
    more = ("a", "b", "c", "d", "e")
    again = {(more[one], more[other]) for one, other in drawn_pairs(more, 9)}
    assert len(some) == 3
    assert len(some & again) >= 2


def test_truths_are_the_aspect_and_every_metric_without_a_gap(small: Work) -> None:
    data = small.load("demo")
    rows = np.arange(len(data))
    whole = [name for name in data.metrics if not np.isnan(data.metrics[name]).any()]
    assert [name for name, _ in truths(data, "overall", rows)] == [HUMAN, *whole]


def test_seeds_add_up_and_are_computed_once(small: Work, tmp_path: Path) -> None:
    small = replace(small, kept=tmp_path)
    one, two = (pair_figures(small, DEMO_SOURCE, seeds=[seed]) for seed in (0, 1))
    both = pair_figures(small, DEMO_SOURCE, seeds=[0, 1])
    assert both["curves"] == added(one["curves"], two["curves"])
    assert both["ends"] == added(one["ends"], two["ends"])
    assert (both["pairs"], both["items"], both["seeds"]) == (6, 64, 2)
    assert len(list(tmp_path.iterdir())) == 2


class TwoModels(Work):
    """Work on two models of the demo set, so that an embedding sees no others."""

    def load(self, name: str) -> sparingly.EvalSet:
        demo = load_invented()
        return demo.at(range(0, len(demo), 3)).take(models=(demo.models[0], demo.models[2]))


def test_curves_are_those_of_diffuse() -> None:
    work = TwoModels(Path(), is_demo=True)
    found = pair_figures(work, DEMO_SOURCE, seeds=range(4))["curves"][HUMAN]["diffuse"]
    data, hits, bias = work.load("demo"), 0, 0.0
    for seed in range(4):
        rows = subsample(data.keys, seed, 0.8)
        chosen = DiffUse().choose(data, Budget.parse(20), rows, seed).rows
        full, part = (pair_margins(data.truth("overall")[which])[0] for which in (rows, chosen))
        hits += np.sign(full) == np.sign(part)
        bias += np.sign(full) * part - abs(full)
    assert found["hits"][BUDGETS.index(20)] == hits
    assert found["bias"][BUDGETS.index(20)] == pytest.approx(bias)


def test_all_metrics_together(small: Work) -> None:
    found = pair_figures(small, DEMO_SOURCE, seeds=[0])
    together = metric_curves(found)
    assert together is not None
    parts = [curves["random"]["runs"] for name, curves in found["curves"].items() if name != HUMAN]
    assert together["random"]["runs"] == sum(parts)
    assert metric_curves({"curves": {HUMAN: {}}}) is None


def test_a_stop_at_a_risk_needs_a_lead_that_chance_does_not_give(small: Work) -> None:
    found = pair_figures(small, DEMO_SOURCE, seeds=[0])["ends"][f"random hypergeometric {HUMAN}"]
    labels = np.array(found["labels"]) / found["runs"]
    assert (np.diff(labels) >= 0).all()
    # Five of five is the first lead at which p = 0.05 can stop.
    assert float(chance_of_lead(64, np.array(5), np.array(5))) < 0.05
    assert labels[0] >= 5
