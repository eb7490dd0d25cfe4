from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.estimate import estimate

SIZES = [1, 2, 3, 5, 9, 10, 30]
TEXT = [f"d{number}" for number, size in enumerate(SIZES) for _ in range(size)]
POSITION = [place for size in SIZES for place in range(size)]
ITEMS = [f"{name}.{place:02d}" for name, place in zip(TEXT, POSITION, strict=True)]


def made(**columns: Any) -> EvalSet:
    scores = np.random.default_rng(1).normal(size=(60, 3))
    return EvalSet.from_arrays(
        ITEMS,
        ["x", "y", "z"],
        aspects={"overall": scores},
        columns={"document": TEXT, "position": POSITION, **columns},
    )


def snippets(chosen: sparingly.Selection) -> Iterator[tuple[str, str, list[int]]]:
    """Yield the unit, the document and the places of every stretch of rows that has one unit."""
    rows = list(chosen)
    while rows:
        unit = rows[0].unit or ""
        inside = [row.item for row in rows if row.unit == unit]
        assert [row.item for row in rows[: len(inside)]] == inside, "rows of a snippet stand together"
        yield unit, inside[0].partition(".")[0], [int(name.partition(".")[2]) for name in inside]
        rows = rows[len(inside) :]


def test_budgeted_snippets_take_their_share_of_every_document() -> None:
    for seed in range(20):
        chosen = select(made(), "snippets", "40%", seed=seed)
        assert len(chosen) == 24
        lengths = {}
        for unit, document, places in snippets(chosen):
            assert places == list(range(places[0], places[0] + len(places))), "contiguous, in order"
            assert unit == f"{document}#{places[0]}"
            lengths[document] = len(places)
        wanted = {"d3": {2}, "d4": {3, 4}, "d5": {4}, "d6": {12}, "d2": {1, 2}}
        assert all(lengths[name] in choices for name, choices in wanted.items())
        assert set(lengths) - set(wanted) <= {"d0", "d1"}


def test_segments_have_their_own_chances() -> None:
    seen: dict[str, float] = {}
    for seed in range(150):
        chosen = select(made(), "snippets", "40%", seed=seed)
        assert chosen.probability is not None
        seen |= dict(zip(chosen.items, chosen.probability.round(2), strict=True))
    ten = [seen[f"d5.{place:02d}"] for place in range(10)]
    assert ten == [0.14, 0.29, 0.43, 0.57, 0.57, 0.57, 0.57, 0.43, 0.29, 0.14]
    assert seen["d0.00"] == 0.4, "a document of one segment is drawn with the share"
    wrapped = select(made(), "snippets:wrap=true", "40%")
    assert wrapped.probability == pytest.approx(0.4)


def test_documents_that_surely_give_are_strata_and_the_others_one() -> None:
    chosen = select(made(), "snippets", "40%", seed=2)
    assert chosen.stratum is not None
    for row in chosen:
        document = row.item.partition(".")[0]
        assert row.stratum == ("(short documents)" if document in ("d0", "d1") else document)
    assert "5 of 7 documents surely give a snippet, the other 2 may." in chosen.notes
    assert select(made(), "snippets:kind=fixed", 20).stratum is None


def test_fixed_snippets_are_of_one_length_or_the_whole_document() -> None:
    for seed in range(20):
        chosen = select(made(), "snippets:kind=fixed,length=4", 12, seed=seed)
        for _, document, places in snippets(chosen):
            assert len(places) == min(4, SIZES[int(document[1:])])
            assert places == list(range(places[0], places[0] + len(places)))
    with pytest.raises(UsageError, match="have 22 items together, fewer than the budget of 23"):
        select(made(), "snippets:kind=fixed,length=4", 23)
    assert len(select(made(), "snippets:kind=fixed,length=4", 22)) == 22


def test_whole_documents_and_single_segments() -> None:
    chosen = select(made(), "snippets:kind=document", 30, seed=3)
    for unit, document, places in snippets(chosen):
        assert unit == document
        assert places == list(range(SIZES[int(document[1:])]))
    single = select(made(), "snippets:kind=segment", 30, seed=3)
    assert single.unit is None
    assert (len(single), len(set(single.items))) == (30, 30)
    assert single.probability == pytest.approx(0.5)


def test_context_is_what_stands_before_in_the_document() -> None:
    chosen = select(made(), "snippets:context=3", "40%", seed=1)
    for row in chosen:
        document, _, place = row.item.partition(".")
        before = range(max(0, int(place) - 3), int(place))
        assert row.context == tuple(f"{document}.{at:02d}" for at in before)
    assert max(len(row.context) for row in select(made(), "snippets:kind=segment", 30)) == 10
    assert select(made(), "snippets:context=0", "40%").context is None


def test_long_documents_are_shut_out_listed_and_not_spoken_for(tmp_path: Path) -> None:
    data = made()
    chosen = select(data, "snippets:max_length=9", "40%", never=["d4.00"])
    assert len(chosen) == int(0.4 * (20 - 1))
    listed = [note for note in chosen.notes if note.startswith("max_length=9 shuts out 2 documents with 40")]
    assert len(listed) == 1
    assert "d5 (10), d6 (30); scores do not include them." in listed[0]
    assert set(chosen.never) == {"d4.00"} | {name for name in ITEMS if name[:2] in ("d5", "d6")}
    assert chosen.signature.never is not None
    assert "without the items that are never chosen" in chosen.meaning
    chosen.save(tmp_path / "chosen.json")
    again = sparingly.Selection.load(tmp_path / "chosen.json")
    assert sparingly.verify(again, data).ok
    with pytest.raises(UsageError, match="No document has 1 segments or fewer"):
        select(data.take(items=[name for name in ITEMS if name[1] == "6"]), "snippets:max_length=1", 1)
    assert select(data, "snippets:max_length=30", "40%").never == ()


def test_scores_are_those_of_what_is_left() -> None:
    data = made()
    chosen = select(data, "snippets:max_length=9", "100%")
    short = data.truth("overall")[[name[1] < "5" for name in data.items]]
    found = estimate(data, chosen, "overall", estimator="weighted_mean")
    assert found.size == len(short) == 20
    np.testing.assert_allclose(found.scores, short.mean(axis=0))


def test_items_that_must_not_be_chosen_are_passed_over() -> None:
    data = made()
    barred = [f"d6.{place:02d}" for place in range(5, 25)]
    for seed in range(10):
        chosen = select(data, "snippets:kind=fixed,length=4", 12, seed=seed, never=barred)
        assert not set(chosen.items) & set(barred)
        assert all("d6.24" in row.context for row in chosen if row.item == "d6.25")


def test_every_model_can_have_its_own_draw() -> None:
    data = made()
    chosen = select(data, "snippets:matching=false", "40%", seed=4)
    assert len(chosen) == 3 * 24
    assert chosen.models is not None
    by_model = {name: {row.item for row in chosen if row.models == (name,)} for name in data.models}
    assert {len(items) for items in by_model.values()} == {24}
    assert len({frozenset(items) for items in by_model.values()}) == 3
    assert sparingly.verify(chosen, data).ok
    assert not sparingly.verify(chosen, data.take(models=["x", "y"])).ok
    alone = select(data, "snippets", "40%", seed=4)
    assert select(data, "snippets:matching=false", "40%", seed=4).signature.inputs != alone.signature.inputs
    with pytest.raises(UsageError, match="chooses the models to judge by itself"):
        select(data, "snippets:matching=false", "40%", judge=["x", "y"])


def test_important_documents_give_more() -> None:
    data = made(weight=[3.0 if name == "d6" else 1.0 for name in TEXT])
    chosen = select(data, "snippets:weights=weight", 30, seed=1)
    lengths = {document: len(places) for _, document, places in snippets(chosen)}
    # κ(30 + 3·30) = 30: a quarter of the others, three quarters of the important one.
    assert (lengths["d5"], lengths["d6"]) in {(2, 22), (2, 23), (3, 22), (3, 23)}


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("snippets:chance=size", "chance=size goes with kind=document or kind=fixed"),
        ("snippets:kind=segment,wrap=true", "wrap=true goes with kind=fixed or kind=budgeted"),
        ("snippets:kind=fixed,length=30", "less than one snippet: only 0.93"),
    ],
)
def test_what_does_not_go_together_is_said(method: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        select(made(), method, 8)
    with pytest.raises(MissingDataError, match="Choosing whole documents needs documents"):
        select(made().only([]), "snippets", 8)


# --- real documents -----------------------------------------------------------------------------------


def share_of_long(data: EvalSet, method: str, least: int, runs: int = 15) -> tuple[float, Floats]:
    """Return the share of the set's items in long documents, and that of every draw."""
    names, codes = np.unique(data.columns["document"].astype(str), return_inverse=True)
    is_long = np.bincount(codes, minlength=len(names))[codes] >= least
    drawn = [
        is_long[data.positions(select(data, method, "20%", seed=seed).items)].mean() for seed in range(runs)
    ]
    return float(is_long.mean()), np.array(drawn)


def test_long_documents_are_spoken_for_by_budgeted_snippets_and_not_by_fixed_ones(shared_data: Path) -> None:
    data = sparingly.load(shared_data / "wmt20_ende_notext.jsonl.gz").only(
        ["column:document", "column:position"]
    )
    whole, budgeted = share_of_long(data, "snippets", 15)
    assert np.abs(budgeted - whole).max() < 0.02
    # As in Lo and Knowles 2023, Table 4: ten segments each under-represent what is longer.
    assert share_of_long(data, "snippets:kind=fixed", 15)[1].mean() < 0.75 * whole
    assert share_of_long(data, "snippets:kind=document", 15)[1].mean() == pytest.approx(whole, abs=0.04)


def test_talks_of_a_hundred_segments(shared_data: Path) -> None:
    data = sparingly.load(shared_data / "ted21_ende.jsonl.gz")
    documents, counts = np.unique(data.columns["document"].astype(str), return_counts=True)
    chosen = select(data, "snippets", "20%", seed=1)
    found = {unit.rpartition("#")[0]: len(places) for unit, places in _by_unit(data, chosen)}
    assert found == {
        name: pytest.approx(0.2 * count, abs=1.1) for name, count in zip(documents, counts, strict=True)
    }
    for _, places in _by_unit(data, chosen):
        assert np.ptp(places) == len(places) - 1
    assert select(data, "snippets:max_length=100", "20%").signature.n == int(0.2 * (31 + 70))


def _by_unit(data: EvalSet, chosen: sparingly.Selection) -> Iterator[tuple[str, list[int]]]:
    assert chosen.unit is not None
    positions = data.columns["position"][data.positions(chosen.items)]
    for unit in dict.fromkeys(chosen.unit):
        yield unit, [int(place) for place in positions[chosen.unit == unit]]


@pytest.mark.parametrize("kind", ["budgeted", "document", "segment"])
def test_a_length_goes_with_fixed_snippets_only(kind: str) -> None:
    with pytest.raises(UsageError, match=f"length=3 goes with kind=fixed, and the kind here is {kind}"):
        select(made(), f"snippets:kind={kind},length=3", 12)
    assert "length=10" in select(made(), "snippets:kind=fixed", 12).signature.method


def test_a_cost_is_refused_with_what_to_do_instead() -> None:
    with pytest.raises(UsageError, match=r"not cost:20: divide the cost .* or draw whole documents"):
        select(made(), "snippets", "cost:20")


def test_reading_context_is_paid_for() -> None:
    free = select(made(), "snippets:kind=segment", 24)
    assert len(free) == 24
    for kind, context in (("segment", 4), ("budgeted", 4), ("fixed,length=8", 4), ("budgeted,wrap=true", 4)):
        spent: list[float] = []
        for seed in range(40):
            chosen = select(made(), f"snippets:kind={kind},context={context},reading=0.5", 24, seed=seed)
            first: dict[str, Any] = {}
            for row in chosen:
                first.setdefault(row.unit or row.item, row)
            # Of a snippet the context of its first segment is read; the others follow on it.
            read = sum(len(row.context or ()) for row in first.values())
            spent.append(len(chosen) + 0.5 * read)
        assert 20 < np.mean(spent) <= 24.5, kind
    assert "read as context on average, for the price of 24." in " ".join(chosen.notes)


def test_documents_that_may_give_nothing_have_no_context() -> None:
    # A last document of one segment, of which a budget of a tenth seldom takes any.
    data = made().at(range(11))
    assert len(select(data, "snippets:reading=0.5", 2, seed=1)) in (1, 2, 3)


def test_without_context_reading_costs_nothing() -> None:
    one, other = (select(made(), f"snippets:context=0,reading={price}", 24) for price in ("0", "1"))
    assert [row.item for row in one] == [row.item for row in other]
