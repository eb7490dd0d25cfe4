from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, UsageError
from sparingly.choose import Uniform
from sparingly.choose.design.selector import Chosen
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented
from sparingly.run.rounds.next_round import next_round, state_of
from sparingly.run.rounds.replay import replay, with_truth
from sparingly.run.rounds.strategy import Finished, OneShot, State, Strategy, as_strategy, asked_cells


def rounds_of(data: EvalSet, method: str, budget: Any, **asked: Any) -> list[Selection]:
    found: list[Selection] = []
    while isinstance(one := next_round(data, method, budget, rounds=found, **asked), Selection):
        found.append(one)
    return found


@pytest.mark.parametrize("method", ["uniform", "metric_var:metric=rouge", "documents", "kmeans"])
def test_rounds_of_a_selector_are_its_selection_in_parts(method: str) -> None:
    data = load_invented()
    name = next(iter(data.metrics))
    text = method.replace("rouge", name)
    whole = sparingly.select(data, text, 60, seed=4)
    parts = rounds_of(data, text, 60, aspect="overall", size=25, seed=4)
    assert len(parts) > 1
    assert [item for part in parts for item in part.items] == list(whole.items)
    assert [part.signature.round for part in parts] == list(range(1, len(parts) + 1))


def test_documents_are_never_cut() -> None:
    data = load_invented()
    parts = rounds_of(data, "documents", 90, aspect="overall", size=10)
    seen: set[str] = set()
    for part in parts:
        assert part.unit is not None
        assert not seen & set(part.unit)
        seen |= set(part.unit)


def test_labels_that_no_round_asked_for_are_not_shown() -> None:
    data = load_invented()
    first = next_round(data, "uniform", 40, aspect="overall", size=15)
    assert isinstance(first, Selection)
    state, _ = state_of(data, "uniform", 40, aspect="overall", rounds=[first])
    shown = ~np.isnan(state.labels)
    np.testing.assert_array_equal(shown, asked_cells(data, [first]))
    assert state.spent == 15 * len(data.models)
    assert state.left == 25 * len(data.models)
    assert "ratings" not in state.data.fields


def test_a_round_is_signed_by_what_came_before_it() -> None:
    data = load_invented()
    first = next_round(data, "uniform", 40, aspect="overall", size=15)
    assert isinstance(first, Selection)
    second = next_round(data, "uniform", 40, aspect="overall", size=15, rounds=[first])
    assert isinstance(second, Selection)
    assert first.signature.earlier is None
    assert second.signature.earlier is not None
    changed = replace(first, items=first.items[::-1].copy())
    other = next_round(data, "uniform", 40, aspect="overall", size=15, rounds=[changed])
    assert isinstance(other, Selection)
    assert other.signature.earlier != second.signature.earlier


def test_a_round_survives_its_file(tmp_path: Path) -> None:
    data = load_invented()
    first = next_round(data, "uniform", 40, aspect="overall", size=15)
    assert isinstance(first, Selection)
    first.save(tmp_path / "round.json")
    again = Selection.load(tmp_path / "round.json")
    assert again.signature == first.signature
    assert "round:1|earlier:none|aspect:overall" in str(again.signature)


def test_scores_can_be_estimated_after_every_round_of_a_design() -> None:
    data = load_invented()
    truth = data.truth("overall").mean(axis=0)
    looks = list(replay(data, "uniform", 200, truth="overall", size=50, seed=1))
    errors = [look.strategy.estimate(look.state).standard_errors.mean() for look in looks]
    assert errors == sorted(errors, reverse=True)
    assert looks[-1].finished is not None
    last = looks[-1].strategy.estimate(looks[-1].state, estimator="weighted_mean")
    assert np.abs(last.scores - truth).max() < 5 * last.standard_errors.max()


def test_chances_after_some_units_are_the_share_of_them() -> None:
    data = load_invented()
    look = next(replay(data, "uniform", 80, truth="overall", size=20))
    found = look.strategy.estimate(look.state, estimator="weighted_mean")
    asked = look.state.asked.all(axis=1)
    np.testing.assert_allclose(found.scores, data.truth("overall")[asked].mean(axis=0))
    assert found.n == 20


def test_a_metric_that_is_the_truth_leaves_the_metrics() -> None:
    data = load_invented()
    name = next(iter(data.metrics))
    known, aspect = with_truth(data, name)
    assert aspect == name
    assert name not in known.metrics
    np.testing.assert_array_equal(known.aspects[name], data.metrics[name])


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one item"):
        next_round(load_invented(), "uniform", 10, aspect="overall", size=0)


def test_an_estimator_is_no_strategy() -> None:
    with pytest.raises(UsageError, match="does not choose items"):
        as_strategy("greg")


def test_a_selector_stands_for_a_strategy() -> None:
    assert isinstance(as_strategy("uniform"), OneShot)
    assert as_strategy("one_shot:selector=(uniform),rounds=3") == OneShot(selector=Uniform(), rounds=3)


@dataclass(frozen=True)
class Greedy(Strategy):
    """Asks for the same item over and over, or for more than there is."""

    repeats: bool = True

    def reads(self, data: EvalSet) -> frozenset[str]:
        return frozenset()

    def next_round(self, state: State) -> Chosen | Finished:
        return Chosen(rows=np.arange(1 if self.repeats else len(state.data)))


Greedy.name = "greedy"


def test_a_round_that_asks_again_is_refused() -> None:
    data = load_invented()
    first = next_round(data, Greedy(), 5, aspect="overall")
    assert isinstance(first, Selection)
    with pytest.raises(DataError, match="again"):
        next_round(data, Greedy(), 5, aspect="overall", rounds=[first])


def test_a_round_that_overspends_is_refused() -> None:
    with pytest.raises(DataError, match="the budget leaves 40"):
        next_round(load_invented(), Greedy(repeats=False), 5, aspect="overall")
