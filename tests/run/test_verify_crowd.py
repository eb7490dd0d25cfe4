"""Selections made on a crowd are re-derived from their signature, as all others are."""

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
from sparingly.run.verify import Verification

MODELS = ["a, b", 'c "d"', "e", "f|g", "h"]
CROWD = ["a, b", "f|g"]
NOT_THOSE = ("The models to judge are not those of the signature.",)


def made(models: list[str], change: float = 0.0) -> EvalSet:
    drawn = np.random.default_rng(3)
    scores = {name: drawn.normal(size=40) for name in [*MODELS, "new"]}
    scores["e"] = scores["e"] + change
    matrix = np.stack([scores[name] for name in models], axis=1)
    return EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(40)], models, metrics={"m": matrix}, aspects={"overall": -matrix}
    )


@pytest.fixture(scope="module")
def data() -> EvalSet:
    return made(MODELS)


@pytest.fixture
def chosen(data: EvalSet) -> Selection:
    return sparingly.select(data, "metric_var", 7, crowd=CROWD)


def problems(selection: Selection, data: EvalSet) -> tuple[str, ...]:
    return sparingly.verify(selection, data).problems


@pytest.mark.parametrize("judge", ["rest", "all", ["e", "f|g"]])
@pytest.mark.parametrize("method", ["metric_var", "metric_avg", "random"])
def test_what_was_chosen_passes(data: EvalSet, tmp_path: Path, method: str, judge: Any) -> None:
    chosen = sparingly.select(data, method, 7, seed=5, crowd=CROWD, judge=judge)
    assert sparingly.verify(chosen, data) == Verification(())
    chosen.save(tmp_path / "chosen.json")
    again = Selection.load(tmp_path / "chosen.json")
    assert again.to_dict() == chosen.to_dict()
    assert again.signature == chosen.signature
    assert sparingly.verify(again, data) == Verification(())


def test_models_that_arrive_later_do_not_matter(data: EvalSet, chosen: Selection) -> None:
    later = made([*MODELS, "new"])
    assert sparingly.verify(chosen, later) == Verification(())
    everyone = sparingly.select(data, "metric_var", 7, crowd=MODELS, judge="all")
    assert sparingly.verify(everyone, later) == Verification(())
    unpinned = sparingly.select(data, "metric_var", 7)
    assert "is different" in problems(unpinned, later)[0], "without a crowd, new models are other data"


def test_scores_outside_the_crowd_do_not_matter_and_inside_do(data: EvalSet, chosen: Selection) -> None:
    assert problems(chosen, made(MODELS, change=1.0)) == ()
    inside = sparingly.select(data, "metric_var", 7, crowd=["e", "h"])
    assert "is different" in problems(inside, made(MODELS, change=1.0))[0]


def test_other_models_to_judge_are_found(data: EvalSet, chosen: Selection) -> None:
    fewer = np.empty(7, object)
    fewer[:] = [("e", "h")] * 7
    assert problems(replace(chosen, models=fewer), data) == NOT_THOSE
    assert problems(replace(chosen, models=None), data) == NOT_THOSE
    signature = replace(chosen.signature, judged=digest_ids(["e", "h"]))
    assert problems(replace(chosen, signature=signature), data) == NOT_THOSE
    assert problems(replace(chosen, models=fewer, signature=signature), data) == (), "as judge= names them"


def test_models_that_differ_from_row_to_row_are_found(data: EvalSet, chosen: Selection) -> None:
    assert chosen.models is not None
    uneven = chosen.models.copy()
    uneven[3] = ("e", "h")
    assert chosen.judged == replace(chosen, models=uneven).judged
    assert problems(replace(chosen, models=uneven), data) == (
        "The models are not those that the method gives.",
    )


def test_another_crowd_is_found(data: EvalSet, chosen: Selection) -> None:
    other = replace(chosen, signature=replace(chosen.signature, crowd=("a, b", "e")))
    assert "is different" in problems(other, data)[0]
    none = replace(chosen, signature=replace(chosen.signature, crowd=()))
    assert "is different" in problems(none, data)[0]
    gone = replace(chosen, signature=replace(chosen.signature, crowd=("a, b", "x")))
    assert problems(gone, data) == (
        'The method cannot be run on this data: There is no model "x". There are: a, b, c "d", e, f|g, h.',
    )


def test_a_warning_that_was_taken_out_is_found(data: EvalSet) -> None:
    chosen = sparingly.select(data, "metric_avg", 7, crowd=CROWD, judge="all")
    assert problems(replace(chosen, notes=()), data) == ("The notes are not those that the method gives.",)


# --- two phases ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("second", [{}, {"crowd": ["e", "h"]}])
def test_a_first_phase_on_a_crowd_is_re_derived(
    data: EvalSet, second: dict[str, Any], tmp_path: Path
) -> None:
    first = sparingly.select(data, "metric_var", 20, crowd=CROWD)
    sparingly.select(data, "random", 5, seed=2, pool=first, **second).save(tmp_path / "second.json")
    chosen = Selection.load(tmp_path / "second.json")
    assert chosen.signature.pool == first.signature
    assert sparingly.verify(chosen, data) == Verification(())
    assert chosen.pool is not None
    stranger = next(name for name in data.items if name not in set(first.items))
    swapped = np.array(sorted([stranger, *chosen.pool[1:]]), object)
    assert problems(replace(chosen, pool=swapped), data) == ("The pool is not what its signature gives.",)


# --- files --------------------------------------------------------------------------------------------------


def test_older_files_have_no_crowd(data: EvalSet) -> None:
    held = sparingly.select(data, "metric_var", 7).to_dict()
    assert not {"crowd", "judged"} & set(held["signature"])
    assert Selection.from_dict(held).signature.crowd == ()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("crowd", "e", r'field signature\.crowd: expected a list \[…\], not "e"'),
        ("crowd", ["e", None], r"field signature\.crowd\[1\]:"),
        ("judged", 7, r"field signature\.judged: 7 is not text"),
    ],
)
def test_a_file_with_a_wrong_crowd_is_refused(
    chosen: Selection, name: str, value: Any, sentence: str
) -> None:
    held = chosen.to_dict()
    held["signature"][name] = value
    with pytest.raises(InputError, match=sentence):
        Selection.from_dict(held)


def test_names_in_the_line_are_quoted_where_they_must_be(chosen: Selection) -> None:
    assert '|crowd:["a, b","f|g"]|judged:' in str(chosen.signature)
    assert chosen.to_dict()["signature"]["crowd"] == CROWD
