"""The strategy ``auto``: whom it judges, what it spends, and what it says."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.rounds.auto import CHANCE, Auto, spread_order
from sparingly.run.rounds.next_round import next_round
from sparingly.run.rounds.replay import ReplayRound, replay
from sparingly.run.rounds.strategy import Finished, asked_cells

QUESTIONS = ("ranking", "best", "scores")


def made(gaps: list[float], items: int = 121, metrics: bool = True, documents: bool = False) -> EvalSet:
    draw = np.random.default_rng(8)
    scores = np.array(gaps) + draw.normal(size=(items, 1)) + draw.normal(size=(items, len(gaps)))
    return EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(items)],
        [f"m{place}" for place in range(len(gaps))],
        metrics={"metric": scores + draw.normal(size=scores.shape)} if metrics else {},
        aspects={"y": scores},
        columns={"document": [f"d{row // 6}" for row in range(items)]} if documents else {},
    )


def play(data: EvalSet, text: str, budget: int | str, **more: int) -> list[ReplayRound]:
    return list(replay(data, text, budget, truth="y", **{"seed": 2, **more}))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("metrics", [True, False])
def test_every_model_is_judged_on_a_beginning_of_every_fold_of_one_order(
    question: str, metrics: bool
) -> None:
    data = made([1.0, 0.9, 0.0, -1.5], metrics=metrics, documents=metrics)
    looks = play(data, f"auto:question={question}", 40)
    last = looks[-1]
    assert len(last.state.rounds) == 5
    assert last.state.limit - 4 < last.state.spent <= last.state.limit
    order = spread_order(last.strategy._visible(data), 2)  # type: ignore[attr-defined]
    folds = 1 if question == "scores" else 4
    for look in looks:
        for fold in range(folds):
            along = look.state.asked[order[fold::folds]]
            assert (along == (np.arange(len(along))[:, None] < along.sum(axis=0))).all()
    first = looks[0].state
    assert (first.asked.sum(axis=0) == 12).all()
    if question == "scores":
        assert np.ptp(last.state.asked.sum(axis=0)) == 0


def test_labels_go_to_the_models_that_are_hard_to_tell_apart() -> None:
    data = made([1.0, 0.95, -4.0, -9.0], 300)
    deep = {one: play(data, f"auto:question={one}", 60)[-1].state.asked.sum(axis=0) for one in QUESTIONS}
    assert deep["best"][:2].min() > 2 * deep["best"][2:].max()
    # For the ranking, scores count too: depths differ less.
    assert deep["ranking"][:2].min() > 1.3 * deep["ranking"][2:].max()
    assert (1.0 / deep["ranking"]).mean() < 1.07 / 60
    free = play(data, "auto:inflation=9", 60)[-1].state.asked.sum(axis=0)
    assert free[:2].min() > 2 * free[2:].max()
    assert deep["scores"].tolist() == [60, 60, 60, 60]


def test_for_the_best_only_the_leader_s_pairs_count() -> None:
    data = made([2.5, 2.4, -2.0, -2.05], 300)
    best, ranking = (
        play(data, f"auto:question={one}", 60)[-1].state.asked.sum(axis=0) for one in QUESTIONS[1::-1]
    )
    assert best[2:].max() < ranking[2:].min()


@pytest.mark.parametrize("question", QUESTIONS)
def test_three_items_and_all_items_are_budgets(question: str) -> None:
    data = made([0.5, 0.0, -0.5], 30)
    few = play(data, f"auto:question={question}", 3)[-1].state
    assert few.spent == 9
    assert len(few.rounds) == 1
    last = play(data, f"auto:question={question}", "100%")[-1]
    assert last.state.asked.all()
    found = last.strategy.estimate(last.state)
    np.testing.assert_allclose(found.scores, data.aspects["y"].mean(axis=0))


@pytest.mark.parametrize("budget", [5, 6, 7, 10])
def test_a_small_budget_is_spent_too(budget: int) -> None:
    data = made([0.3, 0.2, 0.1, 0.0, -0.1, -0.2, -0.3], 60)
    last = play(data, "auto", budget)[-1]
    assert 7 * budget - 7 < last.state.spent <= 7 * budget


def test_one_round_spends_everything_on_all_models() -> None:
    looks = play(made([1.0, 0.0, -1.0]), "auto:rounds=1", 40)
    assert len(looks[-1].state.rounds) == 1
    assert looks[-1].state.rounds[0].models is None
    assert looks[-1].state.asked.sum(axis=0).tolist() == [40, 40, 40]
    assert looks[-1].finished == Finished("the budget is spent.")


def test_the_size_of_a_round_can_be_given() -> None:
    looks = play(made([1.0, 0.0, -1.0]), "auto", 40, size=8)
    spent = [look.state.spent for look in looks]
    assert spent[0] == 24
    assert all(0 < later - before <= 24 for before, later in pairwise(spent[:-1]))


def test_answers_that_are_late_or_missing_hold_nothing_up() -> None:
    data = made([0.5, 0.2, 0.0, -1.0])
    labels = np.where(np.random.default_rng(1).random(data.shape) < 0.5, data.aspects["y"], np.nan)
    for known in (labels, np.full(data.shape, np.nan)):
        now, rounds = data.with_aspect("y", known), list[Selection]()
        while not isinstance(picked := next_round(now, "auto", 40, rounds=rounds), Finished):
            rounds.append(picked)
            assert len(rounds) < 9
        asked = asked_cells(data, rounds)
        assert 156 < asked.sum() <= 160
    # Nothing came in at all: nothing tells models apart, so all go equally deep.
    assert np.ptp(asked.sum(axis=0)) <= 1


def test_a_model_that_nobody_answers_for_is_still_asked_for() -> None:
    data = made([0.5, 0.2, 0.0, -1.0])
    labels = data.aspects["y"].copy()
    labels[:, 1] = np.nan
    data = data.with_aspect("y", labels)
    last = play(data, "auto", 40)[-1]
    assert last.state.asked.sum(axis=0).min() >= 12
    expected = last.strategy.expected(last.state)
    assert expected is not None
    assert np.isfinite(expected.p_values).all()


@pytest.mark.parametrize("question", QUESTIONS)
def test_scores_are_near_whatever_the_depths(question: str) -> None:
    data = made([1.0, 0.9, -2.0, -4.0])
    last = play(data, f"auto:question={question}", 40)[-1]
    found = last.strategy.estimate(last.state)
    away = np.abs(found.scores - data.aspects["y"].mean(axis=0))
    assert (away < 5.0 * found.standard_errors).all()
    assert CHANCE in last.state.rounds[0].notes


def test_depths_in_a_fold_do_not_follow_its_own_labels() -> None:
    data = made([1.0, 0.9, 0.0, -0.5], metrics=False)
    first = next_round(data, "auto", 40, aspect="y", seed=2)
    assert isinstance(first, Selection)
    order = spread_order(Auto()._visible(data), 2)
    own = np.isin(np.arange(len(data)), order[1::4])[:, None]
    changed = data.with_aspect("y", np.where(own, -5.0 * data.aspects["y"], data.aspects["y"]))
    before, after = (
        asked_cells(data, [picked])
        for known in (data, changed)
        if isinstance(picked := next_round(known, "auto", 40, aspect="y", rounds=[first], seed=2), Selection)
    )
    assert (before[order[1::4]] == after[order[1::4]]).all()
    assert (before != after).any()


def test_every_fold_counts_by_its_number_of_items() -> None:
    data = made([1.0, 0.9, -2.0, -4.0], metrics=False)
    last = play(data, "auto", 40)[-1]
    order = spread_order(Auto()._visible(data), 2)
    labels = np.where(last.state.asked, data.aspects["y"], np.nan)
    by_hand = sum(len(order[fold::4]) * np.nanmean(labels[order[fold::4]], axis=0) for fold in range(4))
    assert np.ptp(last.state.asked.sum(axis=0)) > 5
    np.testing.assert_allclose(last.strategy.estimate(last.state).scores, by_hand / len(data))


def test_a_fold_without_answers_is_stood_for_by_the_others() -> None:
    data = made([1.0, 0.9, -2.0, -4.0], metrics=False)
    last = play(data, "auto", 40)[-1]
    order = spread_order(Auto()._visible(data), 2)
    gone = np.isin(np.arange(len(data)), order[2::4])[:, None]
    labels = np.where(last.state.asked & ~gone, data.aspects["y"], np.nan)
    state = replace(last.state, data=data.with_aspect("y", labels))
    rest = [order[fold::4] for fold in (0, 1, 3)]
    by_hand = sum(len(one) * np.nanmean(labels[one], axis=0) for one in rest) / sum(map(len, rest))
    np.testing.assert_allclose(last.strategy.estimate(state).scores, by_hand)


def test_expected_p_values_are_those_of_expect() -> None:
    data = made([1.0, 0.9, -2.0, -4.0])
    last = play(data, "auto", 40)[-1]
    right = sparingly.expect(data, np.where(last.state.asked, data.aspects["y"], np.nan)).p_values
    found = last.strategy.expected(last.state)
    assert found is not None
    np.testing.assert_allclose(found.p_values, right)


@pytest.mark.parametrize(
    ("text", "budget", "sentence"),
    [
        ("auto", "cost:100", "counts items: give a number or a share, not a cost"),
        ("auto:pilot=0", 10, r"The pilot of auto is a share above 0, such as 0\.3, not 0\."),
        ("auto:inflation=-0.1", 10, r"inflation"),
        ("auto:floor=1.5", 10, r"The floor of auto is a share above 0"),
        ("auto:rounds=0", 10, "must be at least 1"),
    ],
)
def test_what_cannot_be_gets_one_sentence(text: str, budget: int | str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        next_round(made([1.0, 0.0]), text, budget)


@pytest.mark.parametrize(
    ("metrics", "documents", "words"),
    [
        (True, True, "spread over 1 metric and documents"),
        (True, False, "spread over 1 metric, "),
        (False, True, "spread over documents"),
        (False, False, "nothing to spread it over"),
    ],
)
def test_it_says_in_two_sentences_what_it_does(metrics: bool, documents: bool, words: str) -> None:
    data = made([1.0, 0.0], metrics=metrics, documents=documents)
    said = Auto().why(data)
    assert words in said
    assert said.count(". ") == 1
    assert said.endswith(".")
    assert ("Without metrics, labels alone speak" in said) != metrics
    assert "all models on the same items" in Auto(question="scores").why(data)
    assert "metric and" not in Auto(spread=False).why(data)


@pytest.mark.parametrize("two_valued", [True, False])
def test_a_model_that_was_judged_on_everything_is_exact(two_valued: bool) -> None:
    data = made([1.0, 0.95, -6.0, -9.0], 40)
    if two_valued:
        data = data.with_aspect("y", (data.aspects["y"] > 0).astype(float))
    last = play(data, "auto:floor=0.1,inflation=9", 30)[-1]
    judged = last.state.asked.sum(axis=0)
    whole = judged == len(data)
    found = last.strategy.estimate(last.state)
    if not two_valued:
        assert whole.any()
        assert not whole.all()
    truth = data.aspects["y"].mean(axis=0)
    np.testing.assert_allclose(found.low[whole], truth[whole])
    np.testing.assert_allclose(found.high[whole], truth[whole])
    assert [kind == "exact" for kind in found.intervals] == whole.tolist()
    assert not any("gave the same" in note for note in found.notes)
    assert "exact" not in last.strategy.estimate(last.state, target="population").intervals
    if two_valued:
        assert (found.low[~whole] >= 0).all()
        assert (found.high[~whole] <= 1).all()
