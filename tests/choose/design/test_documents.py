from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet

SIZES = [1, 2, 3, 4, 5, 6, 7, 12]
TEXT = [f"d{number}" for number, size in enumerate(SIZES) for _ in range(size)]


def made(**columns: Any) -> EvalSet:
    return EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(40)], ["x", "y"], columns={"document": TEXT, **columns}
    )


def chances(chosen: sparingly.Selection) -> dict[str, float]:
    assert chosen.unit is not None
    assert chosen.probability is not None
    return dict(zip(chosen.unit, chosen.probability, strict=True))


def test_whole_documents_share_their_chance() -> None:
    data = made()
    for seed in range(10):
        chosen = select(data, "documents", "25%", seed=seed)
        names, counts = np.unique(
            data.columns["document"][data.positions(chosen.items)].astype(str), return_counts=True
        )
        assert [SIZES[int(name[1:])] for name in names] == counts.tolist(), "whole ones"
        assert set(chances(chosen)) == set(names)
        assert list(chances(chosen).values()) == pytest.approx([0.25] * len(names))
        assert list(chosen.items) == [
            name for unit in chances(chosen) for name in data.items[data.columns["document"] == unit]
        ]


def test_by_size_long_documents_are_likelier() -> None:
    data, seen = made(), dict[str, float]()
    for seed in range(200):
        seen |= chances(select(data, "documents:chance=size", 15, seed=seed))
    square = sum(size**2 for size in SIZES)
    expected = {f"d{number}": 15 * size / square for number, size in enumerate(SIZES)}
    assert seen == pytest.approx(expected)


def test_the_number_of_items_is_right_on_average_and_what_else_it_can_be_is_said() -> None:
    data = made()
    counts = [len(select(data, "documents", 10, seed=seed)) for seed in range(400)]
    assert np.mean(counts) == pytest.approx(10, abs=4 * float(np.std(counts)) / 20)
    (note,) = [note for note in select(data, "documents", 10).notes if "on average" in note]
    assert note.startswith("a draw like this takes 10 items on average and at most 16")
    assert max(counts) == 12 + 4
    even = EvalSet.from_arrays([*"abcdef"], ["x"], columns={"document": [*"ppqqrr"]})
    assert not any("on average" in note for note in select(even, "documents", 4).notes)


def test_documents_by_importance() -> None:
    data = made(weight=[4.0 if name == "d7" else 1.0 for name in TEXT])
    seen: dict[str, float] = {}
    for seed in range(60):
        seen |= chances(select(data, "documents:weights=weight", 12, seed=seed))
    assert seen["d7"] == pytest.approx(4 * seen["d6"])
    assert sum(seen[f"d{number}"] * size for number, size in enumerate(SIZES)) == pytest.approx(12)


def test_what_is_missing_or_too_little_is_said() -> None:
    data = made(cost=[1.0] * 40)
    with pytest.raises(UsageError, match="A budget of 3 items is less than one document"):
        select(data, "documents", 3)
    with pytest.raises(MissingDataError, match="Choosing whole documents needs documents"):
        select(data.only([]), "documents", 10)
    with pytest.raises(UnknownNameError, match='There is no column "heft"'):
        select(data, "documents:weights=heft", 10)
    with pytest.raises(UsageError, match=r"a cost of 3 is less than one document.*cost of 5\."):
        select(data, "documents", "cost:3")
    with pytest.raises(UsageError, match="larger than everything there is, which costs 40"):
        select(data, "documents", "cost:41")
    with pytest.raises(UsageError, match="A cost budget needs costs"):
        select(made(), "documents", "cost:10")
    assert len(select(data, "documents", "100%")) == 40


COSTS = np.tile([1.0, 5.0, 2.0, 8.0], 10)


@pytest.mark.parametrize("chance", ["equal", "size"])
def test_under_a_cost_the_expected_cost_is_the_budget(chance: str) -> None:
    data = made(price=COSTS)
    whole = np.bincount([int(name[1:]) for name in TEXT], COSTS)
    spent, seen = [], dict[str, float]()
    for seed in range(300):
        chosen = select(data, f"documents:cost=price,chance={chance}", "cost:60", seed=seed)
        seen |= chances(chosen)
        spent.append(chosen.total_cost or 0.0)
        assert chosen.total_cost == sum(whole[int(unit[1:])] for unit in chances(chosen))
    assert sum(seen[f"d{number}"] * whole[number] for number in range(8)) == pytest.approx(60)
    shape = np.ones(8) if chance == "equal" else np.array(SIZES)
    assert [seen[f"d{number}"] / seen["d0"] for number in range(8)] == pytest.approx(shape.tolist())
    (note,) = [note for note in chosen.notes if "on average" in note and "at most" in note]
    most = float(note.split("at most ")[1].split(",")[0])
    assert note.startswith("a draw like this takes 60 on average")
    assert max(spent) == most


def test_costs_are_told_under_a_count_too() -> None:
    chosen = select(made(price=COSTS), "documents:cost=price", 10, seed=1)
    assert chosen.cost is not None
    assert chosen.total_cost == COSTS[[int(name[1:]) for name in chosen.items]].sum()
    assert len(chosen) == len(select(made(), "documents", 10, seed=1))


def test_a_document_that_costs_nothing_is_drawn_all_the_same() -> None:
    data = made(price=[0.0 if name == "d3" else 1.0 for name in TEXT])
    found: dict[str, float] = {}
    for seed in range(80):
        found |= chances(select(data, "documents:cost=price", "cost:12", seed=seed))
    assert found["d3"] == pytest.approx(12 / 36)
