from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import digest_ids
from sparingly.data.tables import Ratings
from sparingly.run.verify import Verification

OLD = "0.0.1"


def made(**changed: Any) -> EvalSet:
    drawn = np.random.default_rng(3)
    parts: dict[str, Any] = {
        "metrics": {"m": drawn.normal(size=(40, 3)), "other": drawn.normal(size=(40, 3))},
        "aspects": {"overall": drawn.normal(size=(40, 3))},
        "sources": [f"source {'w ' * (place % 7)}" for place in range(40)],
        "columns": {"domain": ["news", "social"] * 20, "cost": [1.0 + place % 5 for place in range(40)]},
        "ratings": timed(20),
    }
    return EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(40)], ["x", "y", "z"], **{**parts, **changed}
    )


def timed(count: int) -> Ratings:
    return Ratings(
        item=np.arange(count, dtype=np.int32),
        model=np.zeros(count, np.int32),
        rater=np.zeros(count, np.int32),
        aspect=np.zeros(count, np.int32),
        score=np.ones(count),
        seconds=np.array([10.0 + place % 7 for place in range(count)]),
        raters=("anna",),
        aspects=("overall",),
    )


@pytest.fixture(scope="module")
def data() -> EvalSet:
    return made()


def problems(selection: Selection, data: EvalSet) -> tuple[str, ...]:
    return sparingly.verify(selection, data).problems


def with_items(selection: Selection, items: list[str]) -> Selection:
    return replace(selection, items=np.array(items, object))


# --- it passes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "budget", "design"),
    [
        ("metric_var:metric=m", 7, {}),
        ("metric_cons:metric=m", "1/3", {}),
        ("random", "25%", {"balance": "domain"}),
        ("random", "cost:30", {}),
        ("metric_avg:metric=m", "5min", {"cost": "length"}),
        ("metric_avg:metric=m", "5min", {"cost": "fit"}),
        ("mix:of=(metric_avg:metric=m)+(metric_var:metric=other)", 0.1, {"balance": "domain"}),
    ],
)
def test_what_was_chosen_passes(
    data: EvalSet, tmp_path: Path, method: str, budget: Any, design: dict[str, Any]
) -> None:
    amount = 1 / 3 if budget == "1/3" else budget
    chosen = sparingly.select(data, method, amount, seed=5, never=["i01", "elsewhere"], **design)
    assert sparingly.verify(chosen, data) == Verification(())
    chosen.save(tmp_path / "chosen.json")
    result = sparingly.verify(Selection.load(tmp_path / "chosen.json"), data)
    assert result.ok
    assert result.to_dict() == {"ok": True, "partial": False, "problems": [], "notes": []}


def test_later_judgements_and_other_metrics_do_not_matter(data: EvalSet) -> None:
    chosen = sparingly.select(data, "metric_var:metric=m", 7)
    later = made(aspects={"overall": np.ones((40, 3))}, ratings=timed(40))
    assert sparingly.verify(chosen, later).ok
    assert sparingly.verify(chosen, data.with_metric("new", np.ones((40, 3)))).ok
    assert sparingly.verify(chosen, data.without_labels()).ok


def test_later_ratings_do_not_change_a_cost_that_was_fitted_to_the_earlier_ones(data: EvalSet) -> None:
    chosen = sparingly.select(data, "metric_var:metric=m", "5min", cost="fit")
    assert "cost=line:" in chosen.signature.method
    assert problems(chosen, made(ratings=timed(40))) == ()


def test_another_version_with_the_same_answer_passes_with_a_note(data: EvalSet) -> None:
    chosen = sparingly.select(data, "random", 7)
    older = replace(chosen, signature=replace(chosen.signature, version=OLD))
    result = sparingly.verify(older, data)
    assert result.ok
    assert result.notes == (f"The selection was made by version {OLD}; this is {sparingly.__version__}.",)


# --- it fails ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["metric_var:metric=m", "random"])
def test_an_item_put_in_by_hand_is_found(data: EvalSet, method: str) -> None:
    chosen = sparingly.select(data, method, 7)
    stranger = next(name for name in data.items if name not in set(chosen.items))
    assert problems(with_items(chosen, [stranger, *chosen.items[1:]]), data) == (
        f'1 item should not be there, such as "{stranger}".',
        f'1 item missing, such as "{chosen.items[0]}".',
    )


def test_another_order_is_found(data: EvalSet) -> None:
    chosen = sparingly.select(data, "metric_var:metric=m", 7)
    assert problems(with_items(chosen, list(chosen.items[::-1])), data) == (
        "The items are the right ones, but in another order.",
    )


def test_rows_taken_away_are_found(data: EvalSet) -> None:
    chosen = sparingly.select(data, "metric_var:metric=m", 7)
    found = problems(replace(chosen, items=chosen.items[:6], utility=None), data)
    assert "There are 6 rows, but the signature says 7." in found


def test_other_data_is_found(data: EvalSet) -> None:
    chosen = sparingly.select(data, "metric_var:metric=m", 7)
    scores = data.metrics["m"].copy()
    scores[3, 1] += 1e-6
    (problem,) = problems(chosen, data.with_metric("m", scores))
    assert problem.startswith("The data that the method reads is different: digest ")
    for other in (data.take(items=data.items[1:]), data.take(models=["x", "y"])):
        assert "is different" in problems(chosen, other)[0]


@pytest.mark.parametrize("change", [{"seed": 1}, {"budget": "8"}, {"of": 41}, {"n": 6}])
def test_another_signature_is_found(data: EvalSet, change: dict[str, Any]) -> None:
    chosen = sparingly.select(data, "random", 7)
    assert problems(replace(chosen, signature=replace(chosen.signature, **change)), data)


@pytest.mark.parametrize(
    ("column", "name"),
    [("probability", "inclusion probabilities"), ("cost", "costs"), ("utility", "utilities")],
)
def test_other_numbers_are_found(data: EvalSet, column: str, name: str) -> None:
    method = "metric_var:metric=m" if column == "utility" else "random"
    chosen = sparingly.select(data, method, 7, cost="cost")
    wrong: dict[str, Any] = {column: getattr(chosen, column) * 0.999}
    missing: dict[str, Any] = {column: None}
    expected = (f"The {name} are not those that the method gives.",)
    assert problems(replace(chosen, **wrong), data) == expected
    assert problems(replace(chosen, **missing), data) == expected


def test_probabilities_that_the_method_does_not_give_are_found(data: EvalSet) -> None:
    chosen = sparingly.select(data, "metric_var:metric=m", 7)
    assert problems(replace(chosen, probability=np.full(7, 0.5)), data) == (
        "The inclusion probabilities are not those that the method gives.",
    )


def test_another_never_list_is_found(data: EvalSet) -> None:
    chosen = sparingly.select(data, "random", 7, never=["i01"])
    expected = ("The never-select list is not the one of the signature.",)
    assert problems(replace(chosen, never=()), data) == expected
    assert problems(replace(chosen, never=("i01", "i02")), data) == expected
    unlisted = replace(chosen.signature, never=digest_ids(["i02"]))
    assert problems(replace(chosen, signature=unlisted), data) == expected


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"method": "metric_vra"}, 'There is no method "metric_vra"'),
        ({"method": "metric_var:metric=gone"}, 'There is no metric "gone"'),
        ({"budget": "41"}, "is larger than the 40"),
        ({"budget": "much"}, "is not a budget"),
    ],
)
def test_a_method_that_cannot_be_run_is_said(data: EvalSet, change: dict[str, Any], reason: str) -> None:
    chosen = sparingly.select(data, "metric_var:metric=m", 7)
    (problem,) = problems(replace(chosen, signature=replace(chosen.signature, **change)), data)
    assert problem.startswith("The method cannot be run on this data: ")
    assert reason in problem


# --- two phases -------------------------------------------------------------------------------------


@pytest.fixture
def phases(data: EvalSet) -> tuple[Selection, Selection]:
    first = sparingly.select(data, "random", 20, seed=1)
    return first, sparingly.select(data, "random", 5, seed=2, pool=first)


def test_two_phases_pass(data: EvalSet, phases: tuple[Selection, Selection], tmp_path: Path) -> None:
    phases[1].save(tmp_path / "second.json")
    assert sparingly.verify(Selection.load(tmp_path / "second.json"), data) == Verification(())


def test_a_pool_picked_by_hand_is_found(data: EvalSet, phases: tuple[Selection, Selection]) -> None:
    first, second = phases
    stranger = next(name for name in data.items if name not in set(first.items))
    pool = np.array(sorted([stranger, *first.items[1:]]), object)
    assert problems(replace(second, pool=pool), data) == ("The pool is not what its signature gives.",)


def test_a_pool_without_a_signature_is_found(data: EvalSet, phases: tuple[Selection, Selection]) -> None:
    first, second = phases
    bare = replace(second, signature=replace(second.signature, pool=None))
    assert problems(bare, data) == ("The selection lists a pool, but its signature names none.",)
    assert problems(replace(second, pool=None), data) == (
        "The signature names a pool, but the selection lists none.",
    )
    short = replace(second, pool=np.array(sorted(first.items)[:19], object))
    assert problems(short, data) == ("The pool has 19 items, but its signature says 20.",)


def test_probabilities_of_two_phases_are_compared(data: EvalSet, phases: tuple[Selection, Selection]) -> None:
    second = phases[1]
    assert second.probability is not None
    assert problems(replace(second, probability=second.probability * 2), data) == (
        "The inclusion probabilities are not those that the method gives.",
    )


def test_probabilities_of_the_pool_are_compared(data: EvalSet, phases: tuple[Selection, Selection]) -> None:
    second = phases[1]
    assert second.pool_probability is not None
    expected = ("The probabilities of the pool are not those that the method gives.",)
    assert problems(replace(second, pool_probability=second.pool_probability / 2), data) == expected
    silent = replace(second, pool_probability=None)
    assert problems(silent, data) == expected
    older = replace(silent, signature=replace(silent.signature, version=OLD))
    assert problems(older, data) == (), "older versions did not write them"


def test_a_pool_that_is_not_in_the_data(data: EvalSet, phases: tuple[Selection, Selection]) -> None:
    gone = phases[0].items[0]
    rest = data.take(items=[name for name in data.items if name != gone])
    assert problems(phases[1], rest) == (f'1 item of the pool not in the data, such as "{gone}".',)


def test_a_first_phase_by_sources_alone(data: EvalSet) -> None:
    # The sources were there first; the models' outputs and scores came for the pool only.
    early = EvalSet.from_arrays(
        list(data.items), ["x"], sources=list(data.sources if data.sources is not None else ())
    )
    first = sparingly.select(early, "metric_avg:metric=source_length", 20)
    second = sparingly.select(data, "metric_var:metric=m", 5, pool=first)
    result = sparingly.verify(second, data)
    assert result.ok
    assert result.notes == (), "what was chosen by sources alone stays verifiable when outputs arrive"
    assert sparingly.verify(first, early).ok
    other = EvalSet.from_arrays(list(data.items), ["x"], sources=[f"{name} and more" for name in data.items])
    elsewhere = sparingly.select(other, "metric_avg:metric=source_length", 20)
    second = sparingly.select(data, "metric_var:metric=m", 5, pool=elsewhere)
    result = sparingly.verify(second, data)
    assert result.notes == ("The first phase read other data than this: verify its own selection.",)


def test_a_first_phase_that_cannot_be_run_here_is_noted(data: EvalSet) -> None:
    first = sparingly.select(data.with_metric("early", np.ones((40, 3))), "metric_avg:metric=early", 20)
    second = sparingly.select(data, "metric_var:metric=m", 5, pool=first)
    result = sparingly.verify(second, data)
    assert result.ok
    assert result.notes[0].startswith(
        'The first phase cannot be re-derived from this data: There is no metric "early"'
    )


def test_a_pools_own_pool_is_left_to_it(data: EvalSet, phases: tuple[Selection, Selection]) -> None:
    third = sparingly.select(data, "random", 2, seed=3, pool=phases[1])
    result = sparingly.verify(third, data)
    assert result.ok
    assert result.notes == ("The pool's own pool or never-select list is not here: verify it too.",)
    assert problems(with_items(third, list(third.items[::-1])), data)


def test_an_older_pool_is_noted_once(data: EvalSet, phases: tuple[Selection, Selection]) -> None:
    signature = phases[1].signature
    assert signature.pool is not None
    older = replace(signature, version=OLD, pool=replace(signature.pool, version=OLD))
    result = sparingly.verify(replace(phases[1], signature=older), data)
    assert result.ok
    assert len(result.notes) == 1


def test_a_large_selection_is_verified_quickly() -> None:
    data = EvalSet.from_arrays([f"i{place}" for place in range(50_000)], ["x"])
    chosen = sparingly.select(data, "random", 40_000)
    assert sparingly.verify(chosen, data).ok


# --- every column counts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("cluster_weight", np.full(7, 2.0)),
        ("models", np.array([("x",)] * 7 + [None], object)[:7]),
        ("pairs", np.array([("x", "y")] * 7 + [None], object)[:7]),
        ("context", np.array([("i01",)] * 7 + [None], object)[:7]),
        ("stratum", np.array(["news"] * 7, object)),
        ("unit", np.array(["d1"] * 7, object)),
        ("pool_probability", np.full(7, 0.5)),
        ("reason", "because"),
        ("notes", ("edited",)),
        ("cost_unit", "euros"),
    ],
)
def test_an_edited_column_is_found(data: EvalSet, column: str, value: object) -> None:
    chosen = sparingly.select(data, "random", 7)
    edited = replace(chosen, **{column: value})  # type: ignore[arg-type]
    assert len(problems(edited, data)) == 1


def test_edited_weights_and_totals_are_refused(data: EvalSet) -> None:
    chosen = sparingly.select(data, "random", 7)
    values = chosen.to_dict()
    values["rows"][0]["weight"] *= 2
    with pytest.raises(InputError, match="the weights are not one over the probabilities"):
        Selection.from_dict(values)
    with pytest.raises(InputError, match="the total cost is not the sum"):
        Selection.from_dict({**chosen.to_dict(), "cost": 5})


@pytest.mark.parametrize("method", ["auto:question=ranking", "allocate"])
def test_a_round_of_an_earlier_rule_is_not_verified(data: EvalSet, method: str) -> None:
    drawn = sparingly.next_round(data, "auto", 10, aspect=next(iter(data.aspects)), seed=1)
    assert isinstance(drawn, sparingly.Selection)
    assert sparingly.verify(drawn, data).ok
    named = replace(drawn, signature=replace(drawn.signature, method=method))
    result = sparingly.verify(named, data)
    assert not result.ok
    assert "was made by an earlier rule and cannot be derived again" in result.problems[0]
