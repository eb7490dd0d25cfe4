"""The stops on the demo set: what they say, when, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.run.rounds.replay import ReplayEnd, ReplayRound, replay, replay_until
from sparingly.run.rounds.stop.base import Progress, after_rounds, as_stop, first_stop, information

WAYS = "one_shot:selector=(uniform)"


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    data = load_invented()
    return data.only(name for name in data.fields if not name.startswith("metric:"))


@pytest.fixture(scope="module")
def looks(demo: EvalSet) -> list[ReplayRound]:
    return list(replay(demo, WAYS, "100%", truth="overall", size=60, seed=1))


def until(data: EvalSet, stops: str | list[str], **more: int) -> ReplayEnd:
    return replay_until(data, WAYS, "100%", stops, truth="overall", size=60, seed=1, **more)


def test_over_the_set_everything_is_settled_at_the_latest_at_the_end(demo: EvalSet) -> None:
    truth = demo.aspects["overall"].mean(axis=0)
    best = until(demo, "best_settled:target=set")
    assert best.stopped is not None
    assert best.stopped.answer == demo.models[int(truth.argmax())]
    whole = until(demo, "all_settled:target=set")
    assert whole.stopped is not None
    assert best.spent <= whole.spent <= 240 * 8


def test_a_budget_is_spent(demo: EvalSet) -> None:
    ended = replay_until(demo, WAYS, 60, "budget_spent", truth="overall", seed=1)
    assert ended.stopped is not None
    assert "480 of 480 outputs" in ended.stopped.reason


def test_without_an_answer_the_strategy_ends(demo: EvalSet) -> None:
    ended = replay_until(demo, WAYS, 20, "all_settled", truth="overall", seed=1)
    assert ended.stopped is None
    assert ended.look.finished is not None


def test_fixed_is_asked_at_the_end_only(looks: list[ReplayRound]) -> None:
    stop = as_stop("best_settled:valid=fixed,target=set")
    assert stop.check(Progress(looks[-1].state, looks[-1].strategy)) is None
    found = stop.check(Progress(looks[-1].state, looks[-1].strategy, final=True))
    assert found is not None


def test_width(looks: list[ReplayRound]) -> None:
    progress = Progress(looks[1].state, looks[1].strategy)
    widest = max(
        2 * 4 * float(found.standard_errors.max()) for found in progress.estimates("population")[-1:]
    )
    assert as_stop(f"width_reached:w={widest:.3f}").check(progress) is not None
    assert as_stop("width_reached:w=0.1").check(progress) is None
    assert as_stop("width_reached:w=100,valid=fixed").check(progress) is None


def test_margins_of_one_pair(looks: list[ReplayRound], demo: EvalSet) -> None:
    progress = Progress(looks[-1].state, looks[-1].strategy)
    order = np.argsort(demo.aspects["overall"].mean(axis=0))
    low, high = demo.models[order[0]], demo.models[order[-1]]

    def ask(question: str, model: str, against: str, margin: float) -> str | None:
        text = f'margin_settled:margin={margin},question={question},model="{model}",against="{against}"'
        found = as_stop(text).check(progress)
        return None if found is None else found.answer

    assert ask("non-inferior", high, low, 2.0) == "non-inferior"
    assert ask("non-inferior", low, high, 2.0) == "inferior"
    assert ask("equivalent", low, high, 100.0) == "equivalent"
    assert ask("equivalent", low, high, 1.0) == "not equivalent"
    assert as_stop("margin_settled:margin=90").check(progress) is not None
    assert as_stop("margin_settled:margin=0.01").check(progress) is None


def test_futility_names_what_is_left_open(looks: list[ReplayRound]) -> None:
    # Three quarters in, some neighbours cannot be told apart for inputs like these any more.
    progress = Progress(looks[2].state, looks[2].strategy)
    found = as_stop("futility:chance=0.9999").check(progress)
    assert found is not None
    assert found.open
    assert as_stop("futility:chance=0.0001").check(progress) is None
    # Over this very set, judging the rest settles everything.
    assert as_stop("futility:chance=0.9999,target=set").check(progress) is None


def test_the_first_of_several_stops_counts(looks: list[ReplayRound]) -> None:
    progress = Progress(looks[0].state, looks[0].strategy, final=True)
    found = first_stop(["width_reached:w=0.01", "budget_spent"], progress)
    assert found is not None
    assert "budget" in found.reason
    assert first_stop([], progress) is None


def test_earlier_looks_are_those_of_earlier_rounds(looks: list[ReplayRound]) -> None:
    progress = Progress(looks[2].state, looks[2].strategy)
    found = progress.estimates("set")
    assert len(found) == 3
    then = Progress(looks[0].state, looks[0].strategy).estimates("set")
    np.testing.assert_allclose(found[0].scores, then[0].scores)
    assert after_rounds(looks[2].state, 1).spent == looks[0].state.spent
    clocks = [look.clock for look in progress.looks("set")]
    assert clocks == pytest.approx([0.25, 0.5, 0.75])


def test_before_the_first_answer_there_is_nothing_to_look_at(demo: EvalSet, looks: list[ReplayRound]) -> None:
    empty = demo.with_aspect("overall", np.full(demo.shape, np.nan))
    progress = Progress(replace(looks[0].state, data=empty), looks[0].strategy)
    assert progress.looks("set") == ()
    for text in ("best_settled", "all_settled", "futility", "width_reached:w=9", "margin_settled:margin=9"):
        assert as_stop(text).check(progress) is None


def test_information_of_a_set_and_of_a_population() -> None:
    assert information(50, 100, "population") == 50.0
    assert information(50, 100, "set") == 100.0
    assert information(100, 100, "set") == np.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("best_settled:alpha=0", "error rate"),
        ("width_reached:w=0", "width"),
        ("margin_settled:margin=-1", "margin"),
        ("margin_settled:margin=1,model=a", "both model= and against="),
        ("margin_settled:margin=1,question=non-inferior", "model= and against="),
        ("futility:chance=1", "chance"),
        ("uniform", "not a rule to stop"),
    ],
)
def test_what_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        as_stop(text)


def test_an_unknown_model_is_named(looks: list[ReplayRound]) -> None:
    with pytest.raises(UnknownNameError):
        as_stop("margin_settled:margin=1,model=Rowann,against=Birch").check(
            Progress(looks[0].state, looks[0].strategy)
        )
