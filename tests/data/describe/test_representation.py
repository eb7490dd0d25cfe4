"""Whom a selection over-represents, by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.build import build
from sparingly.data.describe import representation
from sparingly.data.describe.representation import MeanOfModel, Share
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature

NAN = float("nan")


def talks() -> EvalSet:
    """Eight items: a document of one, one of two, one of five; news and talks."""
    return build(
        list("abcdefgh"),
        ["m", "n"],
        metrics={"x": [[place, 10.0 if place < 2 else NAN] for place in range(8)]},
        sources=["s" * (10 * place) for place in range(1, 9)],
        columns={
            "document": ["d1", "d2", "d2", "d3", "d3", "d3", "d3", "d3"],
            "domain": ["news", "news", "talk", "talk", "talk", "talk", "talk", None],
            "cost": [1.0, 2, 3, 4, 5, 6, 7, 8],
        },
    )


def test_shares_by_hand() -> None:
    found = representation(talks(), ["a", "b", "h", "a"])
    assert (found.n, found.of) == (3, 8)
    assert found.domains == (
        Share("talk", 5, 0, 5 / 7, 0.0, 0.0),
        Share("news", 2, 2, 2 / 7, 1.0, 3.5),
    )
    assert [(share.group, share.items, share.selected) for share in found.document_lengths] == [
        ("1", 1, 1),
        ("2-3", 2, 1),
        ("4-7", 5, 1),
    ]
    assert found.cost is not None
    assert list(found.cost) == pytest.approx([4.5, 11 / 3])


def test_a_selection_is_taken_for_its_items() -> None:
    @dataclass(frozen=True)
    class Chosen:
        items: tuple[str, ...]

    by_ids = representation(talks(), ["a", "b", "h"])
    selection: Any = Chosen(("a", "b", "h"))
    assert representation(talks(), selection) == by_ids
    assert representation(talks(), talks().take(["a", "b", "h"]).items) == by_ids
    assert representation(talks(), dict.fromkeys(["a", "b", "h"])) == by_ids


def test_a_real_selection_is_taken_for_its_items() -> None:
    signature = Signature(
        method="random", budget="2", seed=0, n=2, of=8, inputs="0", labels=None, version="1"
    )
    chosen = Selection(np.array(["h", "b"], object), signature)
    assert representation(talks(), chosen) == representation(talks(), ["b", "h"])


def test_quarters_of_source_lengths() -> None:
    found = representation(talks(), ["a", "b", "h"]).source_lengths
    assert [(share.group, share.items, share.selected) for share in found] == [
        ("shortest quarter (up to 27.5 characters)", 2, 2),
        ("second quarter (up to 45 characters)", 2, 0),
        ("third quarter (up to 62.5 characters)", 2, 0),
        ("longest quarter (over 62.5 characters)", 2, 1),
    ]


def test_metric_means_of_the_set_and_of_the_selection() -> None:
    assert representation(talks(), ["g", "h"]).means == (
        MeanOfModel("x", "m", 3.5, 6.5),
        MeanOfModel("x", "n", 10.0, None),
    )


def test_bands_as_the_user_wants_them() -> None:
    found = representation(talks(), ["a"], document_bands=(1, 5)).document_lengths
    assert [(share.group, share.items) for share in found] == [("1-4", 3), ("5 and more", 5)]
    assert [
        share.group for share in representation(talks(), ["a"], document_bands=(2, 5)).document_lengths
    ] == [
        "2-4",
        "5 and more",
    ]


def test_words_stand_in_for_sources() -> None:
    data = build(list("abcd"), ["m"], columns={"words": np.array([5.0, 10.0, 20.0, 40.0])})
    found = representation(data, ["d"]).source_lengths
    assert [(share.group.split(" (")[0], share.selected) for share in found][-1] == ("longest quarter", 1)
    assert "words" in found[0].group


def test_a_bare_set_has_nothing_to_compare() -> None:
    found = representation(build(["a", "b"], ["m"]), ["a"])
    assert (found.domains, found.document_lengths, found.source_lengths, found.cost) == ((), (), (), None)


def test_unknown_items_and_falling_bands_are_errors() -> None:
    with pytest.raises(UnknownNameError, match="zzz"):
        representation(talks(), ["a", "zzz"])
    with pytest.raises(UsageError, match="must ascend"):
        representation(talks(), ["a"], document_bands=(5, 1))


@given(st.sets(st.sampled_from("abcdefgh")))
def test_shares_add_up_and_go_into_json(chosen: set[str]) -> None:
    found = representation(talks(), sorted(chosen))
    for shares in (found.document_lengths, found.source_lengths):
        assert sum(share.full_share for share in shares) == pytest.approx(1.0)
        assert sum(share.selected_share for share in shares) == pytest.approx(1.0 if chosen else 0.0)
    json.dumps(found.to_dict(), allow_nan=False)
