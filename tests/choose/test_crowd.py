"""Artificial crowds: what a method sees, who is judged, and when a model is on both sides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparingly
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.choose.crowd import ModelSides, sides_of
from sparingly.choose.design.random import Random
from sparingly.choose.design.selector import Chosen
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import digest_ids
from sparingly.data.synthetic import load_invented
from sparingly.data.tables import Ratings
from tests.contracts.examples import chooser_texts, designs_of
from tests.contracts.made import MODELS, made_set

CROWD = ("base", "large (beam = 4)", "tiny")
REST = ("SWSS+METEOR", "zero|shot")


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


# --- nothing of the other models is seen, whatever the method ----------------------------------------------


def with_other_strangers() -> EvalSet:
    """The made set with other scores, outputs and ratings of the models outside the crowd."""
    data = made_set()
    outside = [place for place, name in enumerate(data.models) if name in REST]
    drawn = np.random.default_rng(9)
    metric, human = data.metrics["score"].copy(), data.aspects["overall"].copy()
    metric[:, outside], human[:, outside] = drawn.normal(size=(2, 48, 2))
    assert data.outputs is not None
    assert data.sources is not None
    assert data.reference_texts is not None
    outputs = data.outputs.copy()
    outputs[:, outside] = [[f"quite another text {'yes ' * (row % 5)}", f"{row}"] for row in range(48)]
    return EvalSet.from_arrays(
        list(data.items),
        list(data.models),
        metrics={"score": metric},
        aspects={"overall": human},
        sources=list(data.sources),
        outputs=outputs,
        references={"A": list(data.reference_texts[:, 0])},
        columns=dict(data.columns),
        ratings=with_slow_strangers(data.ratings, outside),
    )


def with_slow_strangers(ratings: Ratings, outside: list[int]) -> Ratings:
    """Ratings of the models outside the crowd take other times, which a fitted cost must not see."""
    strange = np.isin(ratings.model, outside)
    assert strange.any()
    return replace(ratings, seconds=np.where(strange, 500.0, ratings.seconds))


def without_the_crowds_signature(chosen: Selection) -> dict[str, Any]:
    held = chosen.to_dict()
    for name in ("crowd", "judged", "text"):
        held["signature"].pop(name, None)
    for row in held["rows"]:
        row.pop("models", None)
    return held


@pytest.mark.parametrize("text", chooser_texts())
def test_no_method_sees_the_models_outside_its_crowd(text: str) -> None:
    data, other = made_set(), with_other_strangers()
    for design in designs_of(text):
        how: dict[str, Any] = {"seed": 3, "crowd": CROWD, **design}
        budget = "50min" if design.get("cost") in ("length", "fit") else "cost:60" if "cost" in design else 12
        if sparingly.select(data, text, budget, seed=3, **design).models is not None:
            with pytest.raises(UsageError, match="chooses the models to judge by itself"):
                sparingly.select(data, text, budget, **how)
            continue
        chosen = sparingly.select(data, text, budget, **how)
        assert sparingly.select(other, text, budget, **how).to_dict() == chosen.to_dict(), design
        assert chosen.judged == REST
        # It is what the method gives on a set that has no other models.
        alone = sparingly.select(data.take(models=CROWD), text, budget, seed=3, **design)
        ours, plain = without_the_crowds_signature(chosen), without_the_crowds_signature(alone)
        assert {**ours, "notes": []} == {**plain, "notes": []}, design


def test_the_check_above_can_fail() -> None:
    """The other set is told apart by methods that see all models."""
    for text in ("metric_var", "diversity", "search:n=20", "heuristic"):
        whole, other = (sparingly.select(data, text, 12) for data in (made_set(), with_other_strangers()))
        assert whole.signature.inputs != other.signature.inputs
        assert list(whole.items) != list(other.items)


scores = st.lists(st.lists(st.integers(0, 20).map(float), min_size=5, max_size=5), min_size=3, max_size=8)


@given(scores, st.sets(st.sampled_from("abcde"), min_size=2, max_size=3))
def test_the_variance_is_that_of_the_crowds_scores(matrix: list[list[float]], crowd: set[str]) -> None:
    data = EvalSet.from_arrays(
        [f"i{row}" for row in range(len(matrix))], list("abcde"), metrics={"m": matrix}
    )
    chosen = sparingly.select(data, "metric_var", "100%", crowd=crowd)
    places = ["abcde".index(name) for name in sorted(crowd)]
    expected = np.var(np.array(matrix)[:, places], axis=1)
    assert chosen.utility == pytest.approx(expected[data.positions(chosen.items)])
    assert chosen.judged == tuple(sorted(set("abcde") - crowd))


def test_the_order_of_names_and_doubles_do_not_matter(demo: EvalSet) -> None:
    first = sparingly.select(demo, "metric_var:metric=learned", 9, crowd=["Rowan", "Birch", "Rowan"])
    second = sparingly.select(demo, "metric_var:metric=learned", 9, crowd=("Birch", "Rowan"))
    assert first.to_dict() == second.to_dict()
    assert first.signature.crowd == ("Birch", "Rowan")


def test_numbers_stand_for_their_digits() -> None:
    data = EvalSet.from_arrays(["a", "b"], [1, 2, 3, 4], metrics={"m": [[1, 2, 3, 4], [1, 5, 3, 4]]})
    assert sparingly.select(data, "metric_var", 1, crowd=[1, 2]).judged == ("3", "4")  # type: ignore[list-item]


# --- who is judged -----------------------------------------------------------------------------------------


def test_the_rest_is_judged_unless_said(demo: EvalSet) -> None:
    chosen = sparingly.select(demo, "metric_var:metric=learned", 4, crowd=["Birch", "Rowan"])
    rest = tuple(name for name in demo.models if name not in ("Birch", "Rowan"))
    assert [row.models for row in chosen] == [rest] * 4
    assert chosen.signature.judged == digest_ids(rest)
    assert "|crowd:[Birch,Rowan]|judged:" in str(chosen.signature)


def test_all_or_named_models_are_judged(demo: EvalSet) -> None:
    how: dict[str, Any] = {"crowd": ["Birch", "Rowan"]}
    everyone = sparingly.select(demo, "metric_var:metric=learned", 4, judge="all", **how)
    named = sparingly.select(demo, "metric_var:metric=learned", 4, judge=["Rowan", "Juniper"], **how)
    assert everyone.models is None
    assert everyone.judged is None
    assert str(everyone.signature).count("|crowd:[Birch,Rowan]|judged:all|") == 1
    assert named.judged == ("Juniper", "Rowan")
    assert list(everyone.items) == list(named.items)


def test_named_models_need_no_crowd(demo: EvalSet) -> None:
    plain = sparingly.select(demo, "metric_var:metric=learned", 4)
    named = sparingly.select(demo, "metric_var:metric=learned", 4, judge=["Rowan", "Juniper"])
    assert named.judged == ("Juniper", "Rowan")
    assert named.signature.crowd == ()
    assert named.signature.inputs == plain.signature.inputs
    assert list(named.items) == list(plain.items)


def test_without_a_crowd_nothing_is_said_of_it(demo: EvalSet) -> None:
    plain = sparingly.select(demo, "metric_var:metric=learned", 4)
    assert plain.to_dict() == sparingly.select(demo, "metric_var:metric=learned", 4, judge="all").to_dict()
    assert "crowd" not in plain.to_dict()["signature"]
    assert "crowd" not in str(plain.signature)


def test_everyone_may_be_in_the_crowd_when_all_are_judged(demo: EvalSet) -> None:
    plain = sparingly.select(demo, "metric_cons:metric=learned", 9)
    pinned = sparingly.select(demo, "metric_cons:metric=learned", 9, crowd=demo.models, judge="all")
    assert list(pinned.items) == list(plain.items)
    assert pinned.signature.inputs == plain.signature.inputs
    assert pinned.signature.crowd == demo.models


@pytest.mark.parametrize(
    ("sides", "error", "sentence"),
    [
        ({"crowd": []}, UsageError, "The crowd is empty: name at least one model, or leave it out"),
        ({"crowd": "Birch"}, UsageError, "The crowd is a list of names, not the text 'Birch'"),
        ({"crowd": ["Brich"]}, UnknownNameError, r'no model "Brich"\. Did you mean Birch\?'),
        ({"crowd": ["Birch"], "judge": "some"}, UnknownNameError, 'no choice of models to judge "some"'),
        ({"crowd": ["Birch"], "judge": ["Rwan"]}, UnknownNameError, 'no model "Rwan".* Rowan'),
        ({"judge": "Rowan"}, UnknownNameError, 'no choice of models to judge "Rowan"'),
        ({"judge": ["Birch"]}, UsageError, "Only Birch is left to judge, and a ranking needs two models"),
        ({"judge": []}, UsageError, "No model is left to judge, and a ranking needs two models"),
    ],
)
def test_sides_that_cannot_be(
    demo: EvalSet, sides: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence) as caught:
        sparingly.select(demo, "random", 5, **sides)
    assert "\n" not in str(caught.value)


def test_a_crowd_leaves_two_models_to_judge(demo: EvalSet) -> None:
    with pytest.raises(UsageError, match="No model is left to judge"):
        sparingly.select(demo, "random", 5, crowd=demo.models)
    with pytest.raises(UsageError, match=r"Only Alder 70B is left to judge.* or judge its models too"):
        sparingly.select(demo, "random", 5, crowd=demo.models[1:])
    assert sides_of(demo, demo.models[2:], "rest") == ModelSides(demo.models[2:], demo.models[:2])


# --- a crowd of one ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "metric_var:metric=learned",
        "metric_cons:metric=learned",
        "irt:metric=learned",
        "mix:of=(metric_avg:metric=learned)+(irt:metric=learned)",
        "diversity:similarity=unigram",
        "max_norm",
    ],
)
def test_a_utility_that_compares_models_needs_two(demo: EvalSet, text: str) -> None:
    with pytest.raises(UsageError, match=r"With the crowd of Birch alone, .* Name two models or more\."):
        sparingly.select(demo, text, 5, crowd=["Birch"])
    assert len(sparingly.select(demo, text, 5, crowd=["Birch", "Rowan"])) == 5


@pytest.mark.parametrize("text", ["diffuse", "search:under=learned", "search:oracle=true,truth=overall"])
def test_a_selector_that_compares_models_needs_two(demo: EvalSet, text: str) -> None:
    with pytest.raises(DataError, match="two"):
        sparingly.select(demo, text, 5, crowd=["Birch"])


@pytest.mark.parametrize("text", ["metric_avg:metric=learned", "random", "kmeans", "heuristic"])
def test_other_methods_are_content_with_one(demo: EvalSet, text: str) -> None:
    assert len(sparingly.select(demo, text, 5, crowd=["Birch"])) == 5


def test_a_method_that_names_models_finds_them_in_the_crowd_only(demo: EvalSet) -> None:
    with pytest.raises(UnknownNameError, match=r'no model "Rowan"\. There are: Birch\.'):
        sparingly.select(demo, "kmeans:features=output,model=Rowan", 5, crowd=["Birch"])


def test_a_method_that_chooses_the_models_itself_takes_no_crowd(
    demo: EvalSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Random.choose

    def of_one_model(*given: Any) -> Chosen:
        chosen = whole(*given)
        models = np.empty(len(chosen.rows), object)
        models[:] = [("Birch",)] * len(models)
        return replace(chosen, models=models)

    monkeypatch.setattr(Random, "choose", of_one_model)
    assert sparingly.select(demo, "random", 5).judged == ("Birch",)
    with pytest.raises(UsageError, match="The method random chooses the models to judge by itself"):
        sparingly.select(demo, "random", 5, crowd=["Rowan"])


# --- on both sides with metric_avg -------------------------------------------------------------------------

BOTH = "metric_avg was computed on models that are judged too: Birch, Rowan; each is at a disadvantage"
EVERYONE = "metric_avg was computed on the models that are judged"
WITH_AVERAGE = [
    "metric_avg:metric=learned",
    "top:utility=(metric_avg:metric=learned)",
    "mix:of=(metric_var:metric=learned)+(0.5*metric_avg:metric=learned)",
    "mix:of=(metric_var:metric=learned)+(mix:of=(metric_avg:metric=learned))",
    "metric_avg:metric=output_length",
]
WITHOUT_AVERAGE = ["metric_var:metric=learned", "random", "metric_avg:metric=source_length"]


@pytest.mark.parametrize("text", WITH_AVERAGE)
def test_a_model_on_both_sides_is_warned_of(demo: EvalSet, text: str) -> None:
    crowd = ["Birch", "Rowan"]
    assert not any("disadvantage" in note for note in sparingly.select(demo, text, 5, crowd=crowd).notes)
    (note,) = sparingly.select(demo, text, 5, crowd=crowd, judge="all").notes
    assert note.startswith(BOTH)
    assert note.endswith("(Zouhar et al. 2025, section 5.3).")
    one = sparingly.select(demo, text, 5, crowd=crowd, judge=["Rowan", "Juniper"])
    assert "are judged too: Rowan; each is at" in one.notes[-1]


@pytest.mark.parametrize("text", WITH_AVERAGE)
def test_without_a_crowd_all_models_are_on_both_sides(demo: EvalSet, text: str) -> None:
    assert sparingly.select(demo, text, 5).notes[-1].startswith(EVERYONE)
    assert sparingly.select(demo, text, 5, judge=["Birch", "Rowan"]).notes[-1].startswith(EVERYONE)


@pytest.mark.parametrize("text", WITHOUT_AVERAGE)
def test_other_methods_warn_of_nothing(demo: EvalSet, text: str) -> None:
    for sides in ({}, {"crowd": ["Birch", "Rowan"], "judge": "all"}):
        assert sparingly.select(demo, text, 5, **sides).notes == ()  # type: ignore[arg-type]


def test_a_metric_may_be_called_source_length() -> None:
    data = EvalSet.from_arrays(["a", "b"], ["x", "y"], metrics={"source_length": [[1, 2], [3, 4]]})
    assert sparingly.select(data, "metric_avg", 1).notes[-1].startswith(EVERYONE)


def test_the_warning_tells_the_truth(demo: EvalSet) -> None:
    """Alone in the crowd, a model falls behind the others on what is chosen, whichever model it is."""
    for name in demo.models:
        chosen = sparingly.select(demo, "metric_avg:metric=learned", "20%", crowd=[name], judge="all")
        lead = {True: 0.0, False: 0.0}
        for one in sparingly.agree(demo, chosen, "overall", test="analytic").models:
            share = 1.0 if one.model == name else -1.0 / (len(demo.models) - 1)
            lead[True] += share * one.full_mean
            lead[False] += share * one.mean
        assert lead[False] < lead[True], name


# --- pools -------------------------------------------------------------------------------------------------


def test_a_pool_made_with_a_crowd_is_a_first_phase(demo: EvalSet) -> None:
    first = sparingly.select(demo, "random", 60, crowd=["Birch", "Rowan"])
    second = sparingly.select(demo, "random", 15, pool=first)
    assert set(second.items) <= set(first.items)
    assert second.judged is None, "the second phase says who is judged"
    assert second.probability == pytest.approx([15 / 240] * 15)
    assert second.signature.pool == first.signature
    assert "|pool:[random:" in str(second.signature)
    assert "crowd:[Birch,Rowan]" in str(second.signature)


def test_the_average_of_a_first_phase_is_warned_of_too(demo: EvalSet) -> None:
    crowd = ["Birch", "Rowan"]
    first = sparingly.select(demo, "metric_avg:metric=learned", 60, crowd=crowd)
    assert first.notes == ()
    second = sparingly.select(demo, "metric_var:metric=learned", 15, pool=first)
    assert second.notes[-1].startswith(
        "metric_avg of the pool was computed on models that are judged too: Bi"
    )
    third = sparingly.select(demo, "random", 5, pool=second)
    assert third.notes[-1] == second.notes[-1]
    apart = sparingly.select(demo, "random", 15, pool=first, crowd=crowd)
    assert apart.notes == ()


def test_a_first_phase_by_a_method_that_is_not_here(demo: EvalSet) -> None:
    first = sparingly.select(demo, "metric_avg:metric=learned", 60)
    unknown = replace(first, signature=replace(first.signature, method="loudness:metric=learned"))
    assert sparingly.select(demo, "random", 5, pool=unknown).notes == ()


def test_models_of_the_made_set_are_both_sides() -> None:
    assert sorted((*CROWD, *REST)) == sorted(MODELS)
