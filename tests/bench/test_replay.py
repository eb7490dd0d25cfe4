from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest
from scipy.stats import kendalltau

import sparingly
from sparingly.base.arrays import Objects
from sparingly.base.stats.pairs import pair_indices, soft_pairwise_accuracy
from sparingly.bench import replay as replays
from sparingly.bench.grid import entry_of
from sparingly.bench.replay import COMPLETED, FAILED, NOT_APPLICABLE, replay_entry
from sparingly.bench.sets import FullyJudgedSet, ReplayData, replay_data
from sparingly.choose import KMeans
from sparingly.data.synthetic import load_invented
from sparingly.run.rounds import Waves

SHARES = (0.1, 0.25)


@pytest.fixture(scope="module")
def part() -> ReplayData:
    return replay_data(FullyJudgedSet(load_invented(), "overall", "learned"), 0)


def texts_of(part: ReplayData, items: Objects) -> list[int]:
    """How many different texts every item has."""
    assert part.data.outputs is not None
    return [len(set(row)) for row in part.data.outputs[part.data.positions(items)].tolist()]


# --- against the package's own comparison ----------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["random", "metric_var:metric=learned", "kmeans", "pivotal:utility=(metric_var:metric=learned),tau=0.5"],
)
def test_a_selection_is_measured_as_agree_does(part: ReplayData, text: str) -> None:
    cells = replay_entry(part, entry_of(text), SHARES, seed=3)
    for cell, count in zip(cells, (24, 60), strict=True):
        chosen = sparingly.select(part.unlabelled, text, count, seed=3)
        wanted = sparingly.agree(part.data, chosen, "overall").agreement
        assert cell.status == COMPLETED
        assert cell.measures is not None
        assert cell.measures["soft_pairwise_accuracy"] == wanted.soft_pairwise_accuracy
        assert cell.measures["pairwise_accuracy"] == wanted.pairwise_accuracy
        assert cell.measures["kendall_b"] == pytest.approx(wanted.kendall_b)
        assert cell.measures["top1_match"] == wanted.top1_match
        assert cell.measures["rank_changes"] == wanted.rank_changes
        assert cell.measures["mean_absolute_error"] == pytest.approx(wanted.mean_absolute_error)
        assert cell.labels == sum(texts_of(part, chosen.items))
        assert cell.labels < count * 8, "some outputs are equal, and asked about once"
        assert cell.signature == str(chosen.signature)


def test_seconds_of_annotation_are_the_published_line(part: ReplayData) -> None:
    cell = replay_entry(part, entry_of("random"), (0.1,), seed=0)[0]
    chosen = sparingly.select(part.unlabelled, "random", 24, seed=0)
    assert part.data.sources is not None
    words = [len(part.data.sources[row].split()) for row in part.data.positions(chosen.items)]
    by_hand = np.dot(33.7 + 0.15 * np.array(words), texts_of(part, chosen.items))
    assert cell.annotation_seconds == pytest.approx(by_hand)


# --- estimates -------------------------------------------------------------------------------------------


def test_an_estimator_gives_scores_and_intervals(part: ReplayData) -> None:
    cell = replay_entry(part, entry_of("uniform|greg"), (0.25,), seed=5)[0]
    chosen = sparingly.select(part.data, "uniform", 60, seed=5)
    found = sparingly.estimate(part.data, chosen, "overall", estimator="greg", seed=5)
    truth = part.full_outcome.means
    assert cell.measures is not None
    assert cell.measures["mean_absolute_error"] == pytest.approx(np.abs(found.scores - truth).mean())
    assert cell.measures["intervals"] == 8
    assert cell.measures["covered"] == int(((found.low <= truth) & (truth <= found.high)).sum())
    assert cell.measures["width"] == pytest.approx((found.high - found.low).mean())


def test_expected_p_values_are_those_of_the_estimate(part: ReplayData) -> None:
    own, expected = (
        replay_entry(part, entry_of("uniform|greg", p_values=p_values), (0.25,), seed=5)[0].measures
        for p_values in ("own", "full_set")
    )
    chosen = sparingly.select(part.data, "uniform", 60, seed=5)
    found = sparingly.estimate(part.data, chosen, "overall", estimator="greg", seed=5)
    plain = sparingly.agree(part.data, chosen, "overall").agreement
    assert own is not None
    assert expected is not None
    assert own["soft_pairwise_accuracy"] == plain.soft_pairwise_accuracy
    assert expected["soft_pairwise_accuracy"] == pytest.approx(
        float(soft_pairwise_accuracy(found.full_set_p(), part.full_outcome.p_values))
    )
    assert own["significant"] == expected["significant"], "the ranking's test stays the same"


def test_with_too_few_items_the_judged_ones_speak(part: ReplayData) -> None:
    own, expected = (
        replay_entry(part, entry_of("uniform|weighted_mean", p_values=p_values), (0.01,), seed=5)[0].measures
        for p_values in ("own", "full_set")
    )
    assert own == expected, "two items tell no error"


def test_what_was_judged_is_shared_by_entries_that_judge_the_same(
    part: ReplayData, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    real = sparingly.estimate

    def counted(*given: Any, **more: Any) -> object:
        calls.append(given)
        return real(*given, **more)

    monkeypatch.setattr(replays, "estimate", counted)
    for p_values in ("own", "full_set"):
        replay_entry(part, entry_of("uniform|weighted_mean", p_values=p_values), (0.3, 0.4), seed=77)
    assert len(calls) == 2


def test_labels_that_were_not_asked_for_are_not_seen(part: ReplayData) -> None:
    """Other judgements of the rest of the set change the truth, but not what is estimated."""
    chosen = sparingly.select(part.unlabelled, "uniform", 60, seed=5)
    inside = np.isin(part.data.items, chosen.items)
    scores = np.where(inside[:, None], part.data.truth("overall"), 0.0)
    other = replay_data(FullyJudgedSet(part.data.with_aspect("overall", scores), "overall", "learned"), 0)
    entry = entry_of("uniform|greg", p_values="full_set").plan
    here, there = (replays._judge_at_budget(one, entry, 60, 5)[0].estimate for one in (part, other))
    assert here is not None
    assert there is not None
    assert np.array_equal(here.scores, there.scores)


# --- strategies ------------------------------------------------------------------------------------------


def test_a_strategy_is_played_in_its_rounds(part: ReplayData) -> None:
    held = replays._judge_at_budget(part, entry_of("waves", rounds=3).plan, 60, 1)[0]
    looks = list(sparingly.replay(part.data, "waves:waves=3", 60, truth="overall", seed=1))
    assert len(looks[-1].state.rounds) == 3
    wanted = looks[-1].strategy.estimate(looks[-1].state, target="population", interval="none", seed=1)
    assert held.estimate is not None
    assert np.array_equal(held.estimate.scores, wanted.scores)
    assert held.signature == str(looks[-1].state.rounds[-1].signature)


def test_a_strategy_without_chances_is_scored_by_its_items(part: ReplayData) -> None:
    cell = replay_entry(part, entry_of("casf:metric=learned,regressor=linear"), (0.1,), seed=1)[0]
    assert cell.measures is not None
    assert cell.measures["intervals"] == 0
    assert cell.labels is not None
    assert 24 < cell.labels < 24 * 8


def test_a_stop_ends_a_strategy(part: ReplayData) -> None:
    entry = entry_of("waves:regressor=none", rounds=10, stop="best_settled:target=set")
    cell = replay_entry(part, entry, (1.0,), seed=0)[0]
    assert cell.stopped_at == cell.labels
    assert cell.labels is not None
    assert 0 < cell.labels < 240 * 8
    plain = replay_entry(part, entry_of("waves:regressor=none"), (0.1,), seed=0)[0]
    assert plain.stopped_at is None


def test_what_a_strategy_expects_is_its_ranking(part: ReplayData, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = len(pair_indices(8)[0])
    order = -np.arange(8.0)
    said = SimpleNamespace(p_values=np.full(pairs, 0.5), scores=order)
    monkeypatch.setattr(Waves, "expected", lambda self, state: said)
    entry = entry_of("waves:regressor=none", p_values="full_set", rounds=2)
    cell = replay_entry(part, entry, (0.2,), seed=9)[0]
    assert cell.measures is not None
    undecided = soft_pairwise_accuracy(np.full(pairs, 0.5), part.full_outcome.p_values)
    assert cell.measures["soft_pairwise_accuracy"] == pytest.approx(float(undecided))
    truth = part.full_outcome.means
    assert cell.measures["kendall_b"] == pytest.approx(kendalltau(order, truth).statistic)
    assert cell.measures["top1_match"] == float(np.argmax(truth) == 0)
    own = replay_entry(part, entry_of("waves:regressor=none", rounds=2), (0.2,), seed=9)[0].measures
    assert own is not None
    assert own["mean_absolute_error"] == cell.measures["mean_absolute_error"], "scores stay the estimate's"


# --- what cannot be done ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("metric_var:metric=absent", 'no metric "absent"'),
        ("residual_size", "residual_size"),
        ("metric_var:metric=learned|greg", "without known probabilities"),
        ("waves|greg", "in its own way"),
        ("d_optimal", ""),
    ],
)
def test_what_a_set_cannot_serve_is_told(part: ReplayData, text: str, reason: str) -> None:
    cells = replay_entry(part, entry_of(text), SHARES, seed=0)
    assert [cell.status for cell in cells] == [NOT_APPLICABLE] * 2
    assert all(reason in (cell.reason or "") for cell in cells)
    assert all(cell.measures is None for cell in cells)


def test_a_set_without_metrics(part: ReplayData) -> None:
    bare = replay_data(FullyJudgedSet(part.data.only(["aspect:overall"]), "overall", None), 0)
    cell = replay_entry(bare, entry_of("metric_var:metric={metric}"), (0.1,), seed=0)[0]
    assert cell.status == NOT_APPLICABLE
    assert cell.reason == (
        "The method takes a metric, and the data set has none: name a method without one, such as random."
    )
    plain = replay_entry(bare, entry_of("random"), (0.1,), seed=0)[0]
    assert (plain.status, plain.annotation_seconds) == (COMPLETED, None)


def test_a_method_that_fails_does_not_end_the_run(part: ReplayData, monkeypatch: pytest.MonkeyPatch) -> None:
    def choose(*given: object) -> NoReturn:
        raise ZeroDivisionError("nothing\nis left")

    monkeypatch.setattr(KMeans, "choose", choose)
    cell = replay_entry(part, entry_of("kmeans"), (0.1,), seed=0)[0]
    assert cell.status == FAILED
    assert cell.reason == "ZeroDivisionError: nothing is left"
