"""The strategy ``auto``: whom it judges, what it spends, and what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.rounds.auto import BIASED_BY_LABELS, CHANCE, Auto, spread_order
from sparingly.run.rounds.next_round import next_round, state_of
from sparingly.run.rounds.replay import ReplayRound, replay
from sparingly.run.rounds.strategy import Finished, asked_cells


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


@pytest.mark.parametrize("metrics", [True, False])
def test_all_models_are_judged_on_a_beginning_of_one_order(metrics: bool) -> None:
    data = made([1.0, 0.9, 0.0, -1.5], metrics=metrics, documents=metrics)
    looks = play(data, "auto", 40)
    assert [int(look.state.asked[:, 0].sum()) for look in looks] == [8, 16, 24, 32, 40, 40]
    order = spread_order(looks[-1].strategy._visible(data), 2)  # type: ignore[attr-defined]
    for look in looks:
        along = look.state.asked[order]
        assert (along == (np.arange(len(along)) < along[:, 0].sum())[:, None]).all()


def test_rounds_do_not_change_what_is_judged_in_the_end() -> None:
    data = made([1.0, 0.9, 0.0, -1.5])
    one, five, sized = (
        list(replay(data, text, 40, truth="y", seed=2, size=size))[-1]
        for text, size in (("auto:rounds=1", None), ("auto", None), ("auto", 7))
    )
    for other in (five, sized):
        assert (one.state.asked == other.state.asked).all()
        found, again = (look.strategy.estimate(look.state) for look in (one, other))
        np.testing.assert_array_equal(found.scores, again.scores)
        np.testing.assert_array_equal(found.low, again.low)


def test_three_items_and_all_items_are_budgets() -> None:
    data = made([0.5, 0.0, -0.5], 30)
    few = play(data, "auto", 3)[-1].state
    assert few.spent == 9
    assert len(few.rounds) == 1
    last = play(data, "auto", "100%")[-1]
    assert last.state.asked.all()
    assert last.finished == Finished("every item was judged or assigned.")
    found = last.strategy.estimate(last.state)
    np.testing.assert_allclose(found.scores, data.aspects["y"].mean(axis=0))
    assert set(found.intervals) == {"exact"}


@pytest.mark.parametrize("budget", [5, 6, 7, 10])
def test_a_small_budget_is_spent_too(budget: int) -> None:
    data = made([0.3, 0.2, 0.1, 0.0, -0.1, -0.2, -0.3], 60)
    last = play(data, "auto", budget)[-1]
    assert last.state.spent == 7 * budget


def test_one_round_spends_everything_on_all_models() -> None:
    looks = play(made([1.0, 0.0, -1.0]), "auto:rounds=1", 40)
    assert len(looks[-1].state.rounds) == 1
    assert looks[-1].state.rounds[0].models is None
    assert looks[-1].state.asked.sum(axis=0).tolist() == [40, 40, 40]
    assert looks[-1].finished == Finished("the budget is spent.")


def test_the_size_of_a_round_can_be_given() -> None:
    looks = play(made([1.0, 0.0, -1.0]), "auto", 40, size=8)
    spent = [look.state.spent for look in looks]
    assert spent == [24, 48, 72, 96, 120, 120]


def test_answers_that_are_late_or_missing_hold_nothing_up() -> None:
    data = made([0.5, 0.2, 0.0, -1.0])
    labels = np.where(np.random.default_rng(1).random(data.shape) < 0.5, data.aspects["y"], np.nan)
    for known in (labels, np.full(data.shape, np.nan)):
        now, rounds = data.with_aspect("y", known), list[Selection]()
        while not isinstance(picked := next_round(now, "auto", 40, rounds=rounds), Finished):
            rounds.append(picked)
            assert len(rounds) < 9
        assert asked_cells(data, rounds).sum(axis=0).tolist() == [40] * 4


def test_a_model_that_nobody_answers_for_is_still_asked_for() -> None:
    data = made([0.5, 0.2, 0.0, -1.0])
    labels = data.aspects["y"].copy()
    labels[:, 1] = np.nan
    data = data.with_aspect("y", labels)
    last = play(data, "auto", 40)[-1]
    assert last.state.asked.sum(axis=0).tolist() == [40] * 4
    expected = last.strategy.expected(last.state)
    assert expected is not None
    assert np.isfinite(expected.p_values).all()


def test_scores_are_near() -> None:
    data = made([1.0, 0.9, -2.0, -4.0])
    last = play(data, "auto", 40)[-1]
    found = last.strategy.estimate(last.state)
    away = np.abs(found.scores - data.aspects["y"].mean(axis=0))
    assert (away < 5.0 * found.standard_errors).all()
    assert CHANCE in last.state.rounds[0].notes
    assert BIASED_BY_LABELS not in found.notes


def test_without_metrics_scores_are_plain_means() -> None:
    data = made([1.0, 0.9, -2.0, -4.0], metrics=False)
    last = play(data, "auto", 40)[-1]
    right = np.nanmean(np.where(last.state.asked, data.aspects["y"], np.nan), axis=0)
    np.testing.assert_allclose(last.strategy.estimate(last.state).scores, right)


def test_unequal_depths_of_an_earlier_version_are_evened_out() -> None:
    data = made([1.0, 0.9, -2.0, -4.0], metrics=False)
    first = next_round(data, "auto", 40, aspect="y", seed=2)
    assert isinstance(first, Selection)
    models = np.empty(len(first), object)
    models[:] = [data.models[: 2 if row % 2 else 4] for row in range(len(models))]
    rounds = [replace(first, models=models)]
    second = next_round(data, "auto", 40, aspect="y", rounds=rounds, seed=2)
    assert isinstance(second, Selection)
    assert second.models is not None
    left = {item: tuple(names) for item, names in zip(second.items, second.models, strict=True)}
    assert [left[item] for item in first.items[1::2]] == [data.models[2:]] * (len(first) // 2)
    state, method = state_of(data, "auto", 40, aspect="y", rounds=rounds, seed=2)
    found, judged = method.estimate(state), asked_cells(data, rounds)
    right = np.nanmean(np.where(judged, data.aspects["y"], np.nan), axis=0)
    np.testing.assert_allclose(found.scores, right)
    assert BIASED_BY_LABELS in found.notes


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
        ("auto:inflation=0.1", 10, 'no parameter of auto "inflation"'),
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
        (True, False, "spread over 1 metric. "),
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
    assert ("no metrics, so labels alone count" in said) != metrics
    assert "metric and" not in Auto(spread=False).why(data)
