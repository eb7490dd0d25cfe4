"""Digests change when, and only when, the content does; signatures can be read back."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sparingly.base.errors import InputError, UnknownNameError
from sparingly.base.text import Items, parse_call, text_value
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import Signature, digest_ids
from sparingly.data.tables import Preferences, Ratings
from tests.data.hand_made import DATA, full_set

NAN = np.nan

# --- when the content changes -----------------------------------------------------------------------------

numbers = st.floats(allow_infinity=False)
# Larger scores are refused.
scores = st.floats(-1e100, 1e100) | st.just(float("nan"))
values = st.none() | st.booleans() | st.integers() | numbers | st.text() | st.lists(st.integers() | st.text())


def one_column(value: Any, other: Any) -> EvalSet:
    return EvalSet.from_arrays(["a", "b"], ["m"], columns={"c": [value, other]})


def plainly_equal(one: Any, other: Any) -> bool:
    """Equal as data: 1 is 1.0, NaN and None are both missing, but true is not 1."""
    missing = [value is None or (isinstance(value, float) and math.isnan(value)) for value in (one, other)]
    if any(missing):
        return all(missing)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(plainly_equal, one, other))
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


@given(values, values, values)
def test_a_column_changes_the_digest_if_and_only_if_it_changes(one: Any, other: Any, beside: Any) -> None:
    same = one_column(one, beside).digest() == one_column(other, beside).digest()
    assert same == plainly_equal(one, other)


@given(scores, scores)
def test_a_score_changes_the_digest_if_and_only_if_it_changes(one: float, other: float) -> None:
    digests = [EvalSet.from_arrays(["a"], ["m"], metrics={"x": [[score]]}).digest() for score in (one, other)]
    assert (digests[0] == digests[1]) == (one == other or (math.isnan(one) and math.isnan(other)))


@given(st.none() | st.text(), st.none() | st.text())
def test_a_text_changes_the_digest_if_and_only_if_it_changes(one: str | None, other: str | None) -> None:
    digests = [EvalSet.from_arrays(["a"], ["m"], outputs=[[text]]).digest() for text in (one, other)]
    assert (digests[0] == digests[1]) == (one == other)


CHANGES: dict[str, dict[str, Any]] = {
    "a metric's score": {"metrics": {"chrF": [[1.0, 2.0], [3.0, NAN], [5.0, 6.5]], "both": [[0.0] * 2] * 3}},
    "a metric's name": {"metrics": {"chrf": [[1.0, 2.0], [3.0, NAN], [5.0, 6.0]], "both": [[0.0] * 2] * 3}},
    "an aspect": {"aspects": {"fluency": [[0.0] * 2] * 3}},
    "a source": {"sources": ["source c", "source a", ""]},
    "an output": {"outputs": [["cs", "cl"], ["as", ""], ["bs", ""]]},
    "a reference's text": {"references": {"refB": ["bc", "ba", "bb"], "refA": ["ac", None, "aB"]}},
    "a reference's name": {"references": {"refB": ["bc", "ba", "bb"], "refC": ["ac", None, "ab"]}},
    "what people said of a reference": {
        "reference_aspects": {"fluency": [[7.0, 8.0], [7.5, 1.0], [9.0, 9.5]]}
    },
    "a column": {"columns": {"topic": ["x", "y", "w"]}},
    "a column's name": {"columns": {"Topic": ["x", "y", "z"]}},
    "a cell": {"cells": {"seed": [[1, 2], [3, None], [5, 7]]}},
    "no ratings": {"ratings": Ratings()},
    "no preferences": {"preferences": Preferences()},
}


@pytest.mark.parametrize("what", CHANGES)
def test_everything_is_in_the_digest(what: str) -> None:
    assert full_set(**CHANGES[what]).digest() != DATA.digest()


RATINGS = DATA.ratings
CHANGED_RATINGS: dict[str, dict[str, Any]] = {
    "score": {"score": np.array([1.0, 2.0, 3.0, 4.5])},
    "seconds": {"seconds": np.array([10.0, NAN, 30.0, 41.0])},
    "rater": {"rater": np.array([0, 0, 0, -1], np.int32)},
    "rater's name": {"raters": ("ann", "rob")},
    "aspect's name": {"aspects": ("tone",)},
    "comment": {"comment": np.array([None, "bad", None, None], object)},
    "comment elsewhere": {"comment": np.array(["good", None, None, None], object)},
    "further field": {"extra": {"hit": np.array([1, 2, 3, 5], object)}},
    "name of a further field": {"extra": {"hits": np.array([1, 2, 3, 4], object)}},
    "rated reference": {"model": np.array([0, 1, 3, 3], np.int32)},
}


@pytest.mark.parametrize("what", CHANGED_RATINGS)
def test_every_part_of_a_rating_is_in_the_digest(what: str) -> None:
    base: dict[str, Any] = {
        "item": np.array([0, 1, 2, 2], np.int32),
        "model": np.array([0, 1, 2, 3], np.int32),
        "rater": np.array([0, 1, 0, -1], np.int32),
        "aspect": np.zeros(4, np.int32),
        "score": np.array([1.0, 2.0, 3.0, 4.0]),
        "seconds": np.array([10.0, NAN, 30.0, 40.0]),
        "comment": np.array([None, "good", None, None], object),
        "raters": ("ann", "bob"),
        "aspects": ("style",),
        "extra": {"hit": np.array([1, 2, 3, 4], object)},
    }
    unchanged = full_set(ratings=Ratings(**base))
    changed = full_set(ratings=Ratings(**{**base, **CHANGED_RATINGS[what]}))
    assert unchanged.digest(["ratings"]) == DATA.digest(["ratings"])
    assert changed.digest(["ratings"]) != unchanged.digest(["ratings"])


def test_shapes_are_in_the_digest() -> None:
    """The same values in a row are another set with other ids."""
    scores = [1.0, 2.0]
    wide = EvalSet.from_arrays(["a"], ["b", "c"], metrics={"x": [scores]})
    tall = EvalSet.from_arrays(["a", "b"], ["c"], metrics={"x": [[score] for score in scores]})
    assert wide.digest() != tall.digest()
    assert wide.digest([]) != tall.digest([])


# --- and when it does not -------------------------------------------------------------------------------


def test_names_without_content_do_not_matter() -> None:
    """Where a set came from, the order of its file, names of raters who rated nothing."""
    assert full_set(name="another").digest() == DATA.digest()
    # Documents without positions get theirs from the order of the file, which is then content.
    kept = {"columns": {"topic": ["x", "y", "z"]}}
    assert full_set(file_order=np.array([2, 1, 0]), **kept).digest() == full_set(**kept).digest()
    view = DATA.take(["a", "b"])
    assert view.ratings.raters == DATA.ratings.raters
    rebuilt = EvalSet.from_arrays(
        ["b", "a"],
        list(DATA.models),
        columns={"topic": ["z", "y"]},
        metrics={"chrF": DATA.metrics["chrF"][[1, 0]]},
    )
    names = ["metric:chrF", "column:topic"]
    assert rebuilt.digest(names) == view.digest(names)


@given(st.randoms(use_true_random=False))
def test_the_order_of_judgements_does_not_matter(shuffler: random.Random) -> None:
    rows = list(range(40))
    table = Ratings(
        item=np.array([row % 3 for row in rows], np.int32),
        model=np.array([row % 2 for row in rows], np.int32),
        rater=np.array([row % 3 - 1 for row in rows], np.int32),
        aspect=np.zeros(40, np.int32),
        score=np.array([float(row % 5) if row % 4 else NAN for row in rows]),
        seconds=np.full(40, NAN),
        comment=np.array([f"remark {row % 7}" if row % 3 else None for row in rows], object),
        raters=("ann", "bob"),
        aspects=("style",),
        extra={"wave": np.array([row % 2 if row % 5 else "x" for row in rows], object)},
    )
    shuffler.shuffle(rows)
    assert full_set(ratings=table.take(np.array(rows))).digest() == full_set(ratings=table).digest()


def test_the_order_of_references_does_not_matter() -> None:
    other = full_set(
        references={"refA": ["ac", None, "ab"], "refB": ["bc", "ba", "bb"]},
        reference_aspects={"fluency": [[8.0, 7.0], [NAN, 7.5], [9.5, 9.0]]},
        ratings=Ratings(),
    )
    assert other.digest() == full_set(ratings=Ratings()).digest()


def test_ratings_that_arrive_later_do_not_change_the_digest_of_the_inputs() -> None:
    inputs = full_set(ratings=Ratings(), preferences=Preferences(), aspects={}, reference_aspects={})
    assert inputs.without_labels().digest() == DATA.without_labels().digest()
    assert DATA.digest(["metric:chrF", "outputs"]) == inputs.digest(["metric:chrF", "outputs"])
    assert inputs.digest() != DATA.digest()


def test_the_order_of_the_names_does_not_matter() -> None:
    assert DATA.digest(["sources", "outputs"]) == DATA.digest(["outputs", "sources", "outputs"])
    assert DATA.digest(["sources"]) != DATA.digest(["outputs"])


def test_unknown_fields_are_errors() -> None:
    for name in ("metric:x", "metric:", "nothing", "column:x"):
        with pytest.raises(UnknownNameError):
            DATA.digest([name])


def test_digests_do_not_change_between_versions() -> None:
    """A selection that was registered years ago is checked against these."""
    assert DATA.digest() == "3070ad7ace4d3331"
    assert digest_ids(["b", "a"]) == digest_ids(["a", "b"]) == "7bffed92df4eb33e"


@given(st.lists(st.text(), unique=True), st.lists(st.text(), unique=True))
def test_digests_of_ids(one: list[str], other: list[str]) -> None:
    assume(sorted(one) != sorted(other))
    assert digest_ids(one) != digest_ids(other)


# --- signatures -----------------------------------------------------------------------------------------

SIGNATURE = Signature(
    method="random:balance=none",
    budget="10",
    seed=3,
    n=10,
    of=100,
    inputs="ab12",
    labels=None,
    version="0.1.0",
)


def test_a_signature_is_one_line() -> None:
    assert str(SIGNATURE) == (
        "random:balance=none|budget:10|seed:3|n:10|of:100|inputs:ab12|labels:none|version:0.1.0"
    )


def test_a_signature_names_its_pool_and_what_was_never_to_be_chosen() -> None:
    values = {**SIGNATURE.to_dict(), "never": "cd34", "labels": "ef56", "pool": SIGNATURE.to_dict()}
    nested = Signature.from_dict(values)
    assert str(nested) == (
        "random:balance=none|budget:10|seed:3|n:10|of:100|inputs:ab12|labels:ef56|never:cd34|version:0.1.0"
        f"|pool:[{SIGNATURE}]"
    )


def test_signatures_can_be_read_back() -> None:
    assert Signature.from_dict(SIGNATURE.to_dict()) == SIGNATURE
    nested = Signature.from_dict({**SIGNATURE.to_dict(), "pool": SIGNATURE.to_dict()})
    assert nested.pool == SIGNATURE
    assert Signature.from_dict(nested.to_dict()) == nested
    assert nested.to_dict()["text"] == str(nested)


def test_a_signature_without_its_seed() -> None:
    values = SIGNATURE.to_dict()
    del values["seed"]
    with pytest.raises(InputError, match='field signature: the signature has no "seed"'):
        Signature.from_dict(values)


# --- crowds ---------------------------------------------------------------------------------------------


def signed(**sides: Any) -> Signature:
    return Signature("random", "5", 0, 5, 9, "0" * 16, None, "1.0", **sides)


@given(st.lists(st.text(min_size=1), min_size=1, unique=True), st.none() | st.just("f" * 16))
def test_a_crowd_of_any_names_is_read_back(names: list[str], judged: str | None) -> None:
    signature = signed(crowd=tuple(names), judged=judged)
    held = signature.to_dict()
    assert held["crowd"] == names
    assert Signature.from_dict(held) == signature
    assert parse_call(f"any:crowd={signature.crowd_text}").values == (
        ("crowd", Items(tuple(text_value(name, inside_list=True) for name in names))),
    )
    assert str(signature).endswith(f"|crowd:{signature.crowd_text}|judged:{judged or 'all'}|version:1.0")


def test_without_a_crowd_a_signature_is_as_it_was() -> None:
    assert str(signed()).endswith("|labels:none|version:1.0")
    assert not {"crowd", "judged"} & set(signed().to_dict())
    assert str(signed(judged="f" * 16)).endswith(f"|labels:none|judged:{'f' * 16}|version:1.0")
