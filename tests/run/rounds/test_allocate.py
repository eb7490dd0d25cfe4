"""``allocate``: who is judged, with which chances, and that scores stay honest."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.allocate import (
    movable_weights,
    pair_deviations,
    rank_weights,
)
from sparingly.run.rounds.next_round import next_round, state_of
from sparingly.run.rounds.replay import ReplayRound, replay
from sparingly.run.rounds.stop.sequential import Look


def made(gaps: list[float], items: int = 200) -> EvalSet:
    draw = np.random.default_rng(8)
    hard = draw.normal(size=(items, 1))
    scores = np.array(gaps) + hard + draw.normal(size=(items, len(gaps)))
    return EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(items)],
        [f"m{place}" for place in range(len(gaps))],
        aspects={"y": scores},
    )


def play(data: EvalSet, text: str, budget: int | str = "100%", **more: int) -> list[ReplayRound]:
    return list(replay(data, text, budget, truth="y", seed=2, **more))


def test_models_out_of_reach_are_judged_no_more() -> None:
    data = made([0.0, 0.1, -3.0, -4.0])
    last = play(data, "allocate:question=best,rounds=5")[-1]
    judged = last.state.asked.sum(axis=0)
    assert judged[2] == judged[3] == 50
    assert judged[0] == judged[1] > 100
    assert last.state.rounds[1].models is not None
    assert set(last.state.rounds[1].models) == {("m0", "m1")}
    found = last.strategy.estimate(last.state)
    truth = data.aspects["y"].mean(axis=0)
    assert (np.abs(found.scores - truth) < 5 * found.standard_errors + 1e-9).all()


def test_freed_labels_go_to_those_that_are_left() -> None:
    data = made([0.0, 0.05, -3.0, -4.0, -5.0, -6.0], 300)
    last = play(data, "allocate:question=best,rounds=4", 60)[-1]
    judged = last.state.asked.sum(axis=0)
    assert judged[0] > 90
    assert last.state.spent <= 60 * 6


def test_a_clear_winner_ends_it() -> None:
    last = play(made([3.0, 0.0, -3.0]), "allocate:question=best")[-1]
    assert last.finished is not None
    assert last.finished.answer == "m0"
    assert last.state.spent == 50 * 3


def test_all_ranks_go_on_while_any_pair_is_open() -> None:
    last = play(made([3.0, 0.0, -0.02, -5.0]), "allocate:rounds=6")[-1]
    judged = last.state.asked.sum(axis=0)
    assert judged[0] == judged[3] < judged[1] == judged[2]


@pytest.mark.parametrize("rule", ["rank_weighted", "movable"])
@pytest.mark.parametrize("question", ["best", "ranking"])
def test_by_weights_every_model_has_its_share(rule: str, question: str) -> None:
    data = made([0.3, 0.2, 0.0, -0.1, -2.0])
    looks = play(data, f"allocate:rule={rule},question={question},rounds=4,floor=0.2", 100)
    last = looks[-1]
    assert last.state.spent <= 500
    judged = last.state.asked.sum(axis=0)
    # But for one item of each fold, by rounding.
    assert judged.min() >= 0.2 * judged.max() - 4
    assert np.ptp(judged) > 0
    found = last.strategy.estimate(last.state)
    truth = data.aspects["y"].mean(axis=0)
    assert (np.abs(found.scores - truth) < 5 * found.standard_errors).all()
    assert (np.linalg.eigvalsh(found.covariance) > -1e-12).all()


def test_a_model_that_is_withdrawn_changes_nothing_for_the_others() -> None:
    data = made([0.0, 0.1, -3.0, -4.0])
    last = play(data, "allocate:question=best,rounds=5", 100)[-1]
    whole = last.strategy.estimate(last.state)
    state, strategy = state_of(
        data.take(models=["m0", "m1", "m2"]),
        "allocate:question=best,rounds=5",
        100,
        aspect="y",
        rounds=last.state.rounds,
        seed=2,
        all_fields=True,
    )
    part = strategy.estimate(state)
    np.testing.assert_allclose(part.scores, whole.scores[:3])
    np.testing.assert_allclose(part.covariance, whole.covariance[:3, :3], rtol=1e-9)


def test_weights_of_the_rules() -> None:
    known = Look(np.array([1.0, 0.9, -1.0]), np.eye(3) * 0.01, 50.0, 0.5, 50.0, 100.0, np.zeros(3, bool))
    assert rank_weights(known, "best").tolist() == [1.0, 0.5, pytest.approx(1 / 3)]
    assert rank_weights(known, "all")[2] == pytest.approx(1 / 3)
    moves = movable_weights(known, np.ones((3, 3)), 100, "all")
    assert moves.max() == 1.0
    assert moves[2] < moves[1]
    assert movable_weights(known, np.ones((3, 3)), 100, "best")[0] == 1.0
    assert movable_weights(known, np.zeros((3, 3)), 100, "all").tolist() == [1.0, 1.0, 1.0]


def test_deviations_of_pairs_are_over_what_both_were_judged_on() -> None:
    labels = np.random.default_rng(0).normal(size=(30, 3))
    labels[:5, 1] = np.nan
    found = pair_deviations(labels)
    assert found[0, 1] == pytest.approx((labels[5:, 0] - labels[5:, 1]).std(ddof=1))
    assert found[0, 2] == pytest.approx((labels[:, 0] - labels[:, 2]).std(ddof=1))


@pytest.mark.parametrize(
    ("text", "message"), [("allocate:floor=0", "floor"), ("allocate:alpha=1", "error rate")]
)
def test_what_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        next_round(made([0.0, 1.0], 30), text, 10, aspect="y")


def test_for_a_ranking_scores_keep_their_errors() -> None:
    data = made([0.0, 0.05, 0.1, -3.0, -4.0, -5.0], 120)
    judged = play(data, "allocate", 40)[-1].state.asked.sum(axis=0)
    free = play(data, "allocate:inflation=9", 40)[-1].state.asked.sum(axis=0)
    variance, equal = (1 / judged - 1 / 120).mean(), 1 / judged.mean() - 1 / 120
    assert variance <= 1.08 * equal
    assert free.min() < judged.min()
