from __future__ import annotations

from dataclasses import replace
from math import hypot, sqrt
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.data.synthetic import load_invented
from sparingly.infer.changes import NO_DIFFERENCE
from sparingly.infer.estimate.intervals import IntervalOutcome
from sparingly.infer.estimate.result import Estimate

DATA = load_invented()


def made(scores: list[float], errors: list[float], **changed: Any) -> Estimate:
    """An estimate by hand."""
    values, spread = np.array(scores), np.array(errors)
    models = changed.pop("models", ("a", "b", "c")[: len(scores)])
    parts: dict[str, Any] = {
        "target": "population",
        "level": 0.95,
        "aspect": "overall",
        "estimator": "mean",
        "n": 50,
        "size": 200,
        **changed,
    }
    return Estimate(
        models=models,
        scores=values,
        standard_errors=spread,
        low=values - 2 * spread,
        high=values + 2 * spread,
        intervals=("t",) * len(values),
        covariance=np.diag(spread**2),
        freedom=np.inf,
        outcome=IntervalOutcome(printed=len(values)),
        **parts,
    )


def ranked(n: int, seed: int = 1, **asked: Any) -> sparingly.Ranking:
    return sparingly.rank(DATA, sparingly.select(DATA, "uniform", n, seed=seed), "overall", **asked)


def test_changes_by_hand_of_results_that_share_nothing_known() -> None:
    found = sparingly.changes(made([10.0, 5.0], [3.0, 3.0]), made([4.0, 14.0], [4.0, 4.0]))
    assert [one.model for one in found.models] == ["b", "a"]
    b, a = found.models
    assert (a.change, a.error) == (-6.0, hypot(3.0, 4.0))
    assert b.change == 9.0
    assert b.ratio == pytest.approx(9.0 / 5.0)
    assert (a.moved, b.moved) == (False, False)
    assert found.shared == "unknown"
    assert sparingly.changes(made([10.0], [1.0]), made([4.0], [1.0])).models[0].moved


@pytest.mark.parametrize(("target", "left"), [("population", 1 / 50), ("set", 1 / 50 - 1 / 200)])
def test_error_of_a_change_of_nested_judgements(target: str, left: float) -> None:
    few, more = made([10.0], [3.0], target=target), made([9.0], [2.0], target=target, n=100)
    expected = 3.0 * sqrt((1 / 50 - 1 / 100) / left)
    assert sparingly.changes(few, more, nested=True).models[0].error == pytest.approx(expected)
    assert sparingly.changes(more, few, nested=True).models[0].error == pytest.approx(expected)


def test_how_far_judgements_are_shared_is_seen_from_the_selections() -> None:
    assert sparingly.changes(ranked(60), ranked(120)).shared == "nested"
    assert sparingly.changes(ranked(60), ranked(60, seed=2)).shared == "partly"
    assert sparingly.changes(ranked(60), ranked(60)).shared == "same"
    first, second = (replace(ranked(60), selection=None, signature=None) for _ in range(2))
    assert sparingly.changes(first, second).shared == "unknown"


def test_the_same_judgements_leave_nothing_to_chance() -> None:
    found = sparingly.changes(ranked(80), ranked(80, estimator="weighted_mean"))
    assert {one.error for one in found.models} == {None}
    assert any(one.change for one in found.models)
    assert found.reasons[0].startswith("Another estimator: greg")
    assert "the same judgements" in found.notes[0]


def test_ranks_and_groups_that_changed_are_told() -> None:
    before, after = ranked(40), ranked(200)
    found = sparingly.changes(before, after)
    ranks = [{one.model: one.ranks for one in held.models} for held in (before, after)]
    for one in found.models:
        assert (one.ranks_before, one.ranks_after) == (ranks[0][one.model], ranks[1][one.model])
        assert one.reranked == (one.ranks_before != one.ranks_after or one.group_before != one.group_after)
    assert str(found).endswith("changed ranks or group")


def test_an_estimate_is_ranked_by_its_own_errors() -> None:
    chosen = sparingly.select(DATA, "uniform", 120, seed=1)
    scores = sparingly.estimate(DATA, chosen, "overall", target="population")
    found = sparingly.changes(scores, ranked(120))
    assert [one.ranks_before for one in found.models] == [one.ranks_after for one in found.models]


def test_scores_without_errors_have_an_order_and_no_groups() -> None:
    chosen = sparingly.select(DATA, "metric_var:metric=learned", 30)
    scores = sparingly.estimate(DATA, chosen, "overall")
    found = sparingly.changes(scores, scores)
    assert [one.ranks_after for one in found.models] == [str(place) for place in range(1, 9)]
    assert {one.group_after for one in found.models} == {None}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"aspect": "fluency"}, "Another aspect, fluency instead of overall: the scores cannot be compared."),
        ({"target": "set"}, "Another target: population before, set after."),
        ({"estimator": "greg"}, "Another estimator: mean before, greg after."),
        ({"n": 70}, "More judged items: 50 before, 70 after."),
        ({"n": 20}, "Fewer judged items: 50 before, 20 after."),
        ({"models": ("a", "d")}, "Added: d; ranks count more models."),
    ],
)
def test_reasons(changed: dict[str, Any], reason: str) -> None:
    found = sparingly.changes(made([1.0, 2.0], [1.0, 1.0]), made([1.0, 2.0], [1.0, 1.0], **changed))
    assert found.reasons[0] == reason


def test_nothing_that_differs_is_said() -> None:
    same = made([1.0, 2.0], [1.0, 1.0])
    assert sparingly.changes(same, same).reasons == (NO_DIFFERENCE,)


def test_models_that_came_and_went() -> None:
    found = sparingly.changes(made([1.0, 2.0], [1, 1]), made([3.0, 2.0], [1, 1], models=("z", "a")))
    assert [(one.model, one.before, one.after) for one in found.models] == [
        ("z", None, 3.0),
        ("a", 1.0, 2.0),
        ("b", 2.0, None),
    ]
    assert "Gone: b; ranks count fewer models." in found.reasons


def test_labels_by_model() -> None:
    scores = made([1.0, 2.0], [1.0, 1.0])
    even = sparingly.changes(scores, scores, labels=({"a": 5, "b": 5}, {"a": 9, "b": 9}))
    assert even.reasons == ("Labels by model: +4 on every model.",)
    uneven = sparingly.changes(scores, scores, labels=({"a": 5, "b": 5}, {"a": 5, "b": 9}))
    assert uneven.reasons == ("Labels by model: b +4.",)
    assert (uneven.models[0].labels_before, uneven.models[0].labels_after) == (5, 9)


def test_changed_data_and_changed_judgements_are_seen_from_the_digests() -> None:
    before = ranked(60)
    chosen = before.selection
    assert chosen is not None
    aspects = {**DATA.aspects, "overall": DATA.aspects["overall"] + 1.0}
    metrics = {**DATA.metrics, "learned": DATA.metrics["learned"] * 2.0}
    other = sparingly.rank(DATA.with_parts(aspects=aspects), chosen, "overall")
    assert any(
        one.startswith("The judgements themselves changed")
        for one in sparingly.changes(before, other).reasons
    )
    other = sparingly.rank(DATA.with_parts(metrics=metrics), chosen, "overall")
    assert any(
        one.startswith("The data changed: the digest") for one in sparingly.changes(before, other).reasons
    )


def test_scores_of_two_aspects_are_not_subtracted() -> None:
    chosen = sparingly.select(DATA, "uniform", 60, seed=1)
    found = sparingly.changes(*(sparingly.rank(DATA, chosen, name) for name in ("overall", "fluency")))
    assert found.shared == "other aspect"
    assert {(one.change, one.error, one.moved) for one in found.models} == {(None, None, False)}
    assert None not in {one.ranks_before for one in found.models}


def test_other_data_with_the_same_ids_are_not_taken_for_the_same_judgements() -> None:
    half = DATA.take(items=DATA.items[:120])
    few = sparingly.estimate(
        half, sparingly.select(half, "uniform", 60), "overall", estimator="weighted_mean"
    )
    more = sparingly.estimate(
        DATA, sparingly.select(DATA, "uniform", 200), "overall", estimator="weighted_mean"
    )
    found = sparingly.changes(few, more)
    assert found.shared == "other data"
    assert "The set has 240 items instead of 120." in found.reasons
    for one in found.models:
        errors = [held.standard_errors[held.models.index(one.model)] for held in (few, more)]
        assert one.error == pytest.approx(hypot(*errors))


def test_the_same_items_judged_otherwise_are_said_to_be_so() -> None:
    before = ranked(60)
    assert before.selection is not None
    aspects = {**DATA.aspects, "overall": DATA.aspects["overall"] + 1.0}
    found = sparingly.changes(
        before, sparingly.rank(DATA.with_parts(aspects=aspects), before.selection, "overall")
    )
    assert found.shared == "again"
    assert found.notes[0].startswith("the same items, judged otherwise")


def test_another_estimator_is_no_addition_of_judgements() -> None:
    few, more = made([10.0], [3.0]), made([9.0], [4.0], n=100, estimator="greg")
    assert sparingly.changes(few, more, nested=True).models[0].error == 5.0


def test_picked_items_have_no_error_of_a_change() -> None:
    lists = [sparingly.select(DATA, "metric_var:metric=learned", count) for count in (40, 80)]
    found = sparingly.changes(*(sparingly.rank(DATA, one, "overall") for one in lists))
    assert {one.error for one in found.models} == {None}
    assert not any(one.moved for one in found.models)
    assert any("picked, not sampled" in note for note in found.notes)


def test_plain_values_hold_no_nan() -> None:
    told = sparingly.changes(ranked(40), ranked(80)).to_dict()
    assert told["models"][0].keys() >= {"model", "before", "after", "moved", "reranked"}
    assert all(value == value for one in told["models"] for value in one.values())
