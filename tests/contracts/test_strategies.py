"""One contract suite over every registered strategy and stop: what is registered is tested."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import UsageError
from sparingly.base.registry import parse_method
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.rounds.next_round import next_round, state_of
from sparingly.run.rounds.replay import ReplayRound, replay
from sparingly.run.rounds.stop.base import Progress, Stop, Stopped, as_stop
from sparingly.run.rounds.strategy import Finished, Strategy, asked_cells
from tests.contracts.examples import all_texts
from tests.contracts.made import MODELS, build, made_set, scores

BUDGET, SIZE, SEED = 36, 9, 3
STRATEGIES = [text for text in all_texts() if isinstance(parse_method(text), Strategy)]
STOPS = [text for text in all_texts() if isinstance(parse_method(text), Stop)]


@cache
def looks(text: str, shuffled: int | None = None) -> tuple[ReplayRound, ...]:
    """Return the looks of a replay on the made set."""
    return tuple(replay(made_set(shuffled=shuffled), text, BUDGET, truth="overall", size=SIZE, seed=SEED))


def rounds_of(text: str, shuffled: int | None = None) -> tuple[Selection, ...]:
    return looks(text, shuffled)[-1].state.rounds


def rows_of(rounds: Sequence[Selection]) -> list[list[tuple[Any, ...]]]:
    """Return what rounds ask for, in any order within a round."""
    return [
        sorted(
            (
                row.item,
                None if row.models is None else tuple(sorted(row.models)),
                None if row.pair is None else tuple(sorted(row.pair)),
                None if row.probability is None else round(row.probability, 12),
            )
            for row in one
        )
        for one in rounds
    ]


def with_other_labels(data: EvalSet, rounds: Sequence[Selection]) -> EvalSet:
    """Return the set with other labels where no round has asked."""
    asked = asked_cells(data, rounds)
    made = np.random.default_rng(17).normal(50.0, 9.0, data.shape)
    return data.with_aspect("overall", np.where(asked, data.aspects["overall"], made))


# --- strategies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", STRATEGIES)
def test_the_same_seed_gives_the_same_rounds(text: str) -> None:
    fresh = list(replay(build(scores()), text, BUDGET, truth="overall", size=SIZE, seed=SEED))
    again = fresh[-1]
    assert [one.to_dict() for one in again.state.rounds] == [one.to_dict() for one in rounds_of(text)]
    assert again.finished == looks(text)[-1].finished


@pytest.mark.parametrize("text", STRATEGIES)
def test_another_seed_or_none_is_no_error(text: str) -> None:
    picked = next_round(made_set(), text, BUDGET, aspect="overall", seed=SEED + 1)
    assert isinstance(picked, Selection)
    assert picked.signature.round == 1


@pytest.mark.parametrize("text", STRATEGIES)
def test_order_in_the_file_does_not_matter(text: str) -> None:
    assert rows_of(rounds_of(text, 8)) == rows_of(rounds_of(text))


@pytest.mark.parametrize("text", STRATEGIES)
def test_nothing_is_asked_twice_and_the_budget_holds(text: str) -> None:
    data, asked = made_set(), np.zeros(made_set().shape, np.int64)
    rounds = rounds_of(text)
    assert rounds
    pairs: list[tuple[Any, ...]] = []
    for number, one in enumerate(rounds, start=1):
        assert len(one) > 0
        assert one.signature.round == number
        assert (one.signature.earlier is None) == (number == 1)
        if one.pairs is None:
            asked += asked_cells(data, [one])
        else:
            pairs += [(row.item, *sorted(row.pair or ())) for row in one]
    assert asked.max() <= 1
    assert len(pairs) == len(set(pairs))
    assert asked.sum() <= BUDGET * len(data.models)
    assert len(pairs) <= BUDGET * len(data.models)
    assert looks(text)[-1].finished is not None


@pytest.mark.parametrize("text", STRATEGIES)
def test_labels_that_nobody_asked_for_are_not_looked_at(text: str) -> None:
    data = made_set()
    rounds = rounds_of(text)
    for count in range(len(rounds)):
        earlier = rounds[:count]
        again = next_round(
            with_other_labels(data, earlier),
            text,
            BUDGET,
            aspect="overall",
            rounds=earlier,
            size=SIZE,
            seed=SEED,
        )
        assert isinstance(again, Selection)
        assert again.to_dict() == rounds[count].to_dict()


@pytest.mark.parametrize("text", STRATEGIES)
def test_it_reads_what_it_says_and_no_more(text: str) -> None:
    data, rounds = made_set(), rounds_of(text)
    _, made = state_of(data, text, BUDGET, aspect="overall", rounds=rounds[:1], seed=SEED)
    read = made.reads(data.without_labels())
    assert read <= set(data.fields)
    shown = (read | made.label_fields(data, "overall")) & set(data.fields)
    again = next_round(
        data.only(shown), made, BUDGET, aspect="overall", rounds=rounds[:1], size=SIZE, seed=SEED
    )
    if isinstance(again, Finished):
        assert len(rounds) == 1
    else:
        assert rows_of([again]) == rows_of([rounds[1]])


@pytest.mark.parametrize("text", STRATEGIES)
def test_chances_are_chances(text: str) -> None:
    for one in rounds_of(text):
        if one.probability is not None:
            assert ((one.probability > 0) & (one.probability <= 1)).all()


@pytest.mark.parametrize("text", STRATEGIES)
def test_scores_do_not_hang_on_the_order_in_the_file(text: str) -> None:
    first, second = looks(text)[-1], looks(text, 8)[-1]
    if not first.strategy.gives_scores:
        return
    found, again = (look.strategy.estimate(look.state, seed=SEED) for look in (first, second))
    assert found.models == again.models
    assert found.target == "set"
    np.testing.assert_allclose(found.scores, again.scores, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.covariance, again.covariance, rtol=1e-6, atol=1e-9)
    assert found.signature is not None


@pytest.mark.parametrize("text", STRATEGIES)
def test_the_input_is_unchanged(text: str) -> None:
    data = made_set()
    before = data.digest()
    next_round(data, text, BUDGET, aspect="overall", rounds=rounds_of(text)[:1], size=SIZE, seed=SEED)
    assert data.digest() == before == build(scores()).digest()


# --- stops --------------------------------------------------------------------------------------------


def progress_of(look: ReplayRound, *, final: bool) -> Progress:
    return Progress(look.state, look.strategy, final)


@pytest.mark.parametrize("text", STOPS)
def test_a_stop_says_why_in_a_sentence_or_goes_on(text: str) -> None:
    for look in looks("waves:regressor=none")[:-1]:
        before = look.state.data.digest()
        found = as_stop(text).check(progress_of(look, final=False))
        assert found is None or isinstance(found, Stopped)
        assert look.state.data.digest() == before
        if found is not None:
            assert re.fullmatch(r".*\.", found.reason)
            assert "\n" not in found.reason


@pytest.mark.parametrize("text", STOPS)
def test_a_stop_says_the_same_again_and_in_any_order_of_the_file(text: str) -> None:
    first, second = (looks("waves:regressor=none", shuffled)[-1] for shuffled in (None, 8))
    one, other = (as_stop(text).check(progress_of(look, final=True)) for look in (first, second))
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one.answer == other.answer
        assert one.open == other.open


@pytest.mark.parametrize("text", STOPS)
def test_only_a_heuristic_or_the_budget_stops_after_rounds_without_chances(text: str) -> None:
    stop = as_stop(text)
    look = next(iter(replay(made_set(), "top:utility=(metric_var)", 12, truth="overall", seed=SEED)))
    progress = progress_of(look, final=False)
    if stop.heuristic or stop.name == "budget_spent":
        stop.check(progress)
        return
    with pytest.raises(UsageError, match="no known probabilities"):
        stop.check(progress)


def test_the_registry_has_strategies_and_stops() -> None:
    assert {"waves", "auto", "one_shot"} <= {text.partition(":")[0] for text in STRATEGIES}
    assert {"budget_spent", "best_settled", "all_settled"} <= {text.partition(":")[0] for text in STOPS}
    assert len(MODELS) > 2
