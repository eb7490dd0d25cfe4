from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.tables import Preferences
from sparingly.published.diffuse_iterative import INCONCLUSIVE, DiffuseIterative, Step, standing_points
from sparingly.run.rounds.next_round import next_round
from sparingly.run.rounds.replay import replay
from sparingly.run.rounds.strategy import Finished
from sparingly.signals.embed.evalset import Embedded, embed_outputs

TWO = "diffuse_iterative:models=[a,b]"


def made(lead: float, items: int = 80, models: str = "ab", seed: int = 0, **changed: Any) -> EvalSet:
    """Outputs of many words, and scores by which the first model wins on a share of the items."""
    drawn = np.random.default_rng(seed)
    words = np.array([f"w{place}" for place in range(40)])
    scores = np.zeros((items, len(models)))
    scores[:, 0] = np.where(drawn.random(items) < lead, 1.0, -1.0)
    parts: dict[str, Any] = {
        "outputs": [[" ".join(drawn.choice(words, 12)) for _ in models] for _ in range(items)],
        "aspects": {"good": scores},
    }
    return EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(items)], list(models), **{**parts, **changed}
    )


def ended(data: EvalSet, text: str, budget: Any = "100%", **asked: Any) -> tuple[Finished, list[Selection]]:
    last = list(replay(data, text, budget, truth="good", **asked))[-1]
    assert last.finished is not None
    return last.finished, list(last.state.rounds)


def test_a_clear_winner_is_found_with_the_fewest_labels() -> None:
    finished, rounds = ended(made(1.0), TWO)
    assert finished.answer == "a"
    assert [len(one) for one in rounds] == [5]
    assert "5 to 0 of 5 labels" in finished.reason


def test_the_other_model_can_win() -> None:
    assert ended(made(0.0), TWO)[0].answer == "b"


def test_ties_count_as_labels_but_not_as_votes() -> None:
    data = made(1.0, aspects={"good": np.zeros((80, 2))})
    finished, rounds = ended(data, f"{TWO},most=11")
    assert finished.answer == INCONCLUSIVE
    assert [len(one) for one in rounds] == [5, 2, 2, 2]
    assert "0 to 0 of 8 labels" in finished.reason


def test_the_most_labels_are_never_exceeded() -> None:
    data = made(1.0, aspects={"good": np.zeros((80, 2))})
    finished, rounds = ended(data, f"{TWO},most=12")
    # A split takes two labels: the twelfth alone is of no use.
    assert sum(len(one) for one in rounds) == 11
    assert finished.answer == INCONCLUSIVE


def test_the_budget_is_never_exceeded() -> None:
    data = made(1.0, aspects={"good": np.zeros((80, 2))})
    _, rounds = ended(data, TWO, 10)
    assert sum(len(one) for one in rounds) == 9


def test_without_anything_left_it_is_inconclusive() -> None:
    data = made(1.0, items=9, aspects={"good": np.zeros((9, 2))})
    finished, rounds = ended(data, TWO)
    assert finished.answer == INCONCLUSIVE
    assert sorted(item for one in rounds for item in one.items) == sorted(data.items)


def test_given_preferences_count_before_scores() -> None:
    data = made(1.0)
    against = Preferences(
        item=np.arange(80, dtype=np.int32),
        first=np.ones(80, np.int32),
        second=np.zeros(80, np.int32),
        value=np.ones(80),
        rater=np.full(80, -1, np.int32),
        aspect=np.zeros(80, np.int32),
        seconds=np.full(80, np.nan),
        aspects=("good",),
    )
    assert ended(made(1.0, preferences=against), TWO)[0].answer == "b"
    assert ended(data, TWO)[0].answer == "a"


def test_several_models_are_compared_pair_by_pair() -> None:
    data = made(1.0, models="abc")
    finished, rounds = ended(data, "diffuse_iterative:most=7")
    # b and c have equal scores everywhere, so their pair runs out of labels.
    assert finished.answer == "a beats b; a beats c"
    assert "1 are inconclusive" in finished.reason
    first = rounds[0]
    assert first.pairs is not None
    assert sorted(set(first.pairs)) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert rounds[1].pairs is not None
    assert set(rounds[1].pairs) == {("b", "c")}


def test_unjudged_comparisons_are_asked_to_be_recorded() -> None:
    data = made(1.0)
    first = next_round(data, TWO, "100%", aspect="good")
    assert isinstance(first, Selection)
    unjudged = data.with_aspect("good", np.full(data.shape, np.nan))
    with pytest.raises(DataError, match="record the earlier rounds first"):
        next_round(unjudged, TWO, "100%", aspect="good", rounds=[first])


def test_points_that_were_split_leave_the_vote() -> None:
    steps = [Step(None, (4, 7)), Step(7, (1, 2)), Step(None, (3,))]
    assert standing_points(steps).tolist() == [4, 1, 2, 3]


def test_a_stricter_risk_asks_for_more() -> None:
    data = made(0.75, items=200, seed=3)
    labels = [sum(map(len, ended(data, f"{TWO},p={p}")[1])) for p in (0.3, 0.1, 0.02)]
    assert labels == sorted(labels)
    assert labels[0] < labels[-1]


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("diffuse_iterative:models=[a,z]", UnknownNameError, "z"),
        (f"{TWO},p=1", UsageError, "between 0 and 1"),
        (f"{TWO},least=9,most=3", UsageError, "at most as large"),
        ("diffuse_iterative:models=[a]", DataError, "fewer than two"),
    ],
)
def test_bad_parameters_are_one_sentence(text: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        next_round(made(1.0), text, 30, aspect="good")


def test_it_gives_no_scores() -> None:
    look = next(replay(made(1.0), TWO, "100%", truth="good"))
    with pytest.raises(UsageError, match="gives no scores"):
        look.strategy.estimate(look.state)


def test_it_is_written_and_read() -> None:
    method = DiffuseIterative(models=("a", "b"), p=0.1)
    assert sparingly.parse_method(method.full_text) == method


def test_clusters_are_made_once_although_every_round_reads_the_data_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def embed(view: EvalSet, embedding: str) -> Embedded:
        calls.append(view.models)
        return embed_outputs(view, embedding)

    monkeypatch.setattr("sparingly.published.diffuse_iterative.embed_outputs", embed)
    rounds: list[Selection] = []
    for _ in range(3):
        data = made(0.5, models="abcdef", seed=77)
        picked = next_round(data, "diffuse_iterative:p=0.001", 400, aspect="good", rounds=rounds)
        assert isinstance(picked, Selection)
        rounds.append(picked)
    assert len(calls) == len(set(calls)) == 15


def test_pairs_with_a_model_that_left_are_asked_no_more() -> None:
    data = made(0.5, models="abc")
    how: dict[str, Any] = {"aspect": "good", "withdrawn": ["c"]}
    first = next_round(data, "diffuse_iterative:p=0.001", 60, aspect="good")
    assert isinstance(first, Selection)
    second = next_round(data, "diffuse_iterative:p=0.001", 60, rounds=[first], **how)
    assert isinstance(second, Selection)
    assert {row.pair for row in second} == {("a", "b")}
    left = next_round(data, "diffuse_iterative:p=0.001", len(first), rounds=[first], **how)
    assert isinstance(left, Finished), "what was asked about a model that left stays spent"
    gone = next_round(data, TWO, 60, rounds=[], aspect="good", withdrawn=["a"])
    assert gone == Finished("the models to compare were withdrawn.", INCONCLUSIVE)
