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
from sparingly.data.describe import representation
from sparingly.data.describe.representation import WEIGHTS_NOTE, BlindSpots, MeanOfModel, Share
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature

NAN = float("nan")


def talks() -> EvalSet:
    """Eight items: a document of one, one of two, one of five; news and talks."""
    return EvalSet.from_arrays(
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
    data = EvalSet.from_arrays(list("abcd"), ["m"], columns={"words": np.array([5.0, 10.0, 20.0, 40.0])})
    found = representation(data, ["d"]).source_lengths
    assert [(share.group.split(" (")[0], share.selected) for share in found][-1] == ("longest quarter", 1)
    assert "words" in found[0].group


def test_quarters_of_a_metric_are_those_of_item_means() -> None:
    (found,) = representation(talks(), ["a", "h"]).metrics
    # Means of items: 5, 5.5, then 2 to 7 of the only model that has a score.
    assert [(share.group, share.items, share.selected) for share in found.quarters] == [
        ("lowest quarter (up to 3.75)", 2, 0),
        ("second quarter (up to 5)", 3, 1),
        ("third quarter (up to 5.625)", 1, 0),
        ("highest quarter (over 5.625)", 2, 1),
    ]
    assert found.shift == pytest.approx(0.5 * (0.25 + 0.125 + 0.125 + 0.25))
    constant = EvalSet.from_arrays(["a", "b"], ["m"], metrics={"x": [[1.0], [1.0]], "none": [[NAN], [NAN]]})
    assert representation(constant, ["a"]).metrics == ()


def metrics_and_people() -> EvalSet:
    """Two metrics: both like the last two items, of which people find one bad; nobody judged the first."""
    return EvalSet.from_arrays(
        list("abcdef"),
        ["m"],
        metrics={
            "x": [[1.0], [9.0], [8.0], [2.0], [7.0], [7.0]],
            "y": [[9.0], [1.0], [2.0], [8.0], [7.0], [7.0]],
        },
        aspects={"people": [[NAN], [5.0], [5.0], [1.0], [5.0], [0.0]]},
    )


def test_flags_and_blind_spots_by_hand() -> None:
    found = representation(metrics_and_people(), ["a", "d", "f"])
    assert [(share.group, share.items, share.selected) for share in found.flags] == [
        ("no metric flags it", 2, 1),
        ("some metric flags it", 4, 2),
    ]
    (spots,) = found.blind_spots
    assert (spots.low, spots.missed, spots.selected_low, spots.selected_missed) == (2, 1, 2, 1)
    assert [(share.group, share.items, share.selected) for share in spots.groups] == [
        ("low though no metric flags it", 1, 1),
        ("low as some metric says", 1, 1),
        ("not low", 3, 0),
    ]


def test_some_metrics_flag_less() -> None:
    found = representation(metrics_and_people(), ["b"], metrics=["x"])
    assert [share.items for share in found.flags] == [4, 2]
    with pytest.raises(UnknownNameError, match="no metric"):
        representation(metrics_and_people(), ["b"], metrics=["z"])


def test_the_best_score_is_never_low() -> None:
    data = EvalSet.from_arrays(
        list("abcd"), ["m"], metrics={"x": np.arange(4.0)[:, None]}, aspects={"y": np.ones((4, 1))}
    )
    (spots,) = representation(data, ["a"]).blind_spots
    assert spots == BlindSpots("y", 0, 0, 0, 0, (Share("not low", 4, 1, 1.0, 1.0, 1.0),))


def test_coverage_by_hand() -> None:
    found = representation(talks(), ["a", "b", "h"]).coverage
    assert [(part.what, part.selected, part.of) for part in found] == [
        ("items", 3, 8),
        ("documents", 3, 3),
        ("domains", 1, 2),
    ]
    assert found[0].share == 3 / 8


def test_coverage_of_models_that_are_judged_on_items_of_their_own() -> None:
    signature = Signature(
        method="random", budget="2", seed=0, n=2, of=8, inputs="0", labels=None, version="1"
    )
    asked = np.empty(2, object)
    asked[:] = [("m",), None]
    chosen = Selection(np.array(["a", "b"], object), signature, models=asked)
    found = representation(talks(), chosen).coverage[-3:]
    assert [(part.what, part.selected, part.of) for part in found] == [
        ("outputs", 3, 16),
        ("outputs of m", 2, 8),
        ("outputs of n", 1, 8),
    ]


def halves(n: int) -> EvalSet:
    """A set of 2n items: half of each domain."""
    return EvalSet.from_arrays(
        [f"{place:04d}" for place in range(2 * n)], ["m"], columns={"domain": ["x"] * n + ["y"] * n}
    )


def test_a_group_that_is_left_out_is_warned_of_when_chance_does_not_explain_it() -> None:
    data = halves(100)
    few = representation(data, data.items[:8])
    assert few.domains[0].ratio == 2.0
    assert few.leanings == ()  # 8 items of one domain: p = 0.007
    many = representation(data, data.items[:30])
    (leaning,) = many.leanings
    assert (leaning.by, leaning.group, leaning.ratio) == ("domain", "y", 0.0)
    assert "domain, y: badly under-represented, 0.0 % of the chosen against 50.0 % of the set" in leaning.text
    chances = [(100 - place) / (200 - place) for place in range(30)]
    assert leaning.p_value == pytest.approx(2 * np.prod(chances))


def test_a_group_of_which_there_is_more_but_not_twice_as_much_is_no_warning() -> None:
    data = halves(500)
    mostly = [*data.items[:300], *data.items[500:700]]
    assert representation(data, mostly).leanings == ()


def test_unequal_probabilities_are_said_to_be_weighed() -> None:
    signature = Signature(
        method="pivotal", budget="30", seed=0, n=30, of=200, inputs="0", labels=None, version="1"
    )
    data = halves(100)
    chances = np.linspace(0.1, 0.2, 30)
    drawn = Selection(data.items[:30].copy(), signature, probability=chances)
    assert representation(data, drawn).notes == (WEIGHTS_NOTE,)
    assert representation(data, list(drawn.items)).notes == ()


def test_a_bare_set_has_nothing_to_compare() -> None:
    found = representation(EvalSet.from_arrays(["a", "b"], ["m"]), ["a"])
    assert (found.domains, found.document_lengths, found.source_lengths, found.cost) == ((), (), (), None)
    assert (found.metrics, found.flags, found.blind_spots, found.leanings) == ((), (), (), ())


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
