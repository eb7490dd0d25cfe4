from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.data.tables import Preferences
from sparingly.infer.rank.winners import winners

Row = tuple[int, int, int, float]


def table(rows: list[Row], aspect: list[int] | None = None, aspects: tuple[str, ...] = ()) -> Preferences:
    item, first, second, value = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Preferences(
        item=np.array(item, np.int32),
        first=np.array(first, np.int32),
        second=np.array(second, np.int32),
        value=np.array(value, np.float64),
        rater=np.full(len(rows), -1, np.int32),
        aspect=np.array([-1] * len(rows) if aspect is None else aspect, np.int32),
        seconds=np.full(len(rows), np.nan),
        aspects=aspects,
    )


# Item 0: two people prefer a to b, one the reverse; item 1: b, softly; item 2: a tie of a and b, c over a.
ROWS: list[Row] = [
    (0, 0, 1, 1.0),
    (0, 0, 1, 1.0),
    (0, 1, 0, 1.0),
    (1, 1, 0, 0.5),
    (2, 0, 1, 0.0),
    (2, 2, 0, 1.0),
]


def made(preferences: Preferences) -> EvalSet:
    return EvalSet.from_arrays(["x", "y", "z"], ["a", "b", "c"], preferences=preferences)


def test_winners_by_the_sets_own_preferences() -> None:
    data = made(table(ROWS))
    found = winners(data)
    pair = found.between("b", "a")
    assert (pair.first, pair.second, pair.winner, pair.items) == ("a", "b", "b", 3)
    assert pair.distance == pytest.approx(1 / 18)
    assert (found.between("a", "c").winner, found.between("a", "c").distance) == ("c", 1.0)
    nobody = found.between("b", "c")
    assert (nobody.winner, nobody.items) == (None, 0)
    assert np.isnan(nobody.distance)
    assert repr(found) == "Winners(by preferences: 2 of 3 pairs have a winner, 0 tie)"
    assert "<td>c</td>" in found._repr_html_()
    assert found.to_dict()["pairs"][2]["distance"] is None
    assert winners(data, ["x"]).between("a", "b").winner == "a"
    assert len(found) == 3


def test_soft_votes_that_cancel_are_a_tie() -> None:
    data = made(table([(0, 0, 1, 0.1), (1, 0, 1, 0.2), (2, 1, 0, 0.3)]))
    assert winners(data).between("a", "b").winner is None
    assert winners(data).between("a", "b").distance == 0.0


def test_scores_as_the_truth_with_a_tie_width() -> None:
    scores = np.array([[3.0, 1.0, 1.0], [2.0, 1.5, np.nan], [0.0, 1.5, 1.0]])
    data = EvalSet.from_arrays(["x", "y", "z"], ["a", "b", "c"], aspects={"quality": scores})
    found = winners(data, truth="quality")
    assert found.between("a", "b").winner == "a"
    assert found.between("a", "b").distance == pytest.approx(1 / 3)
    assert found.between("a", "c").winner is None
    assert found.between("a", "c").items == 2
    assert winners(data, truth="quality", tie=0.5).between("a", "b").winner is None


def test_one_of_several_aspects_is_chosen() -> None:
    data = made(table([*ROWS[:1], (0, 1, 0, 1.0)], [0, 1], ("style", "facts")))
    assert winners(data, aspect="style").between("a", "b").winner == "a"
    assert winners(data, aspect="facts").between("a", "b").winner == "b"
    with pytest.raises(UsageError, match="several aspects"):
        winners(data)
    with pytest.raises(UnknownNameError, match="stile"):
        winners(data, aspect="stile")


def test_votes_of_people_on_59_models(shared_data: Path) -> None:
    data = sparingly.load(shared_data / "llmfao_pairwise.jsonl.gz")
    found = winners(data)
    assert len(found) == 59 * 58 // 2
    preferences = data.preferences
    compared = {
        frozenset(pair) for pair in zip(preferences.first.tolist(), preferences.second.tolist(), strict=True)
    }
    assert sum(one.items > 0 for one in found.pairs) == len(compared)
    pair = max(found.pairs, key=lambda one: (one.items, one.distance))
    places = data.models.index(pair.first), data.models.index(pair.second)
    by_item: dict[int, list[float]] = {}
    for item, first, second, value in zip(
        preferences.item, preferences.first, preferences.second, preferences.value, strict=True
    ):
        if {int(first), int(second)} == set(places):
            by_item.setdefault(int(item), []).append(float(value if first == places[0] else -value))
    margin = np.mean([np.mean(votes) for votes in by_item.values()])
    assert pair.items == len(by_item) > 0
    assert pair.distance == pytest.approx(abs(margin))
    some = winners(data, list(data.items[:5]))
    assert sum(one.items for one in some.pairs) < sum(one.items for one in found.pairs)


def test_wrong_calls_get_one_sentence() -> None:
    data = made(table(ROWS))
    with pytest.raises(MissingDataError, match="no preferences"):
        winners(made(table([])))
    with pytest.raises(UsageError, match="goes with a truth"):
        winners(data, tie=1.0)
    with pytest.raises(UsageError, match="not both"):
        winners(data, truth="quality", aspect="style")
    with pytest.raises(UsageError, match="at least one item"):
        winners(data, [])
    with pytest.raises(UnknownNameError, match="model"):
        winners(data).between("a", "d")
    with pytest.raises(UsageError, match="two models"):
        winners(data).between("a", "a")


def test_winners_of_a_selection_are_among_the_models_that_it_has_judged() -> None:
    data = load_invented()
    crowd = ["Rowan", "Birch", "Juniper"]
    chosen = sparingly.select(data, "metric_var:metric=learned", 20, crowd=crowd)
    found = sparingly.winners(data, chosen, truth="overall")
    assert len(found) == 10
    assert not any({pair.first, pair.second} & set(crowd) for pair in found.pairs)
