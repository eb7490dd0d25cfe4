"""Handing out: equal loads, whole items and documents, connected raters, and nothing hangs on an order."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparingly
from sparingly.base.errors import InputError, MissingDataError, UnknownNameError, UsageError
from sparingly.data.synthetic import load_invented
from sparingly.run.raters.assignment import TaskUnit, hand_out

DEMO = load_invented()
RATERS = ["Ada", "Bo", "Chidi", "Dana"]


def chosen(count: int = 60, seed: int = 1) -> sparingly.Selection:
    return sparingly.select(DEMO, "random", count, seed=seed)


def holders(handed: sparingly.Assignment) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for task in handed:
        found.setdefault(task.item, []).append(task.rater)
    return found


def is_one_piece(handed: sparingly.Assignment) -> bool:
    """Whether walking from rater to rater over shared items reaches everybody."""
    reached, edges = {handed.raters[0]}, [set(names) for names in holders(handed).values()]
    for _ in handed.raters:
        reached |= set().union(*(edge for edge in edges if edge & reached))
    return reached == set(handed.raters)


@given(
    units=st.integers(1, 60),
    raters=st.integers(1, 8),
    overlap=st.floats(0, 1),
    unit=st.sampled_from(["item", "document"]),
    seed=st.integers(0, 5),
)
@settings(max_examples=60)
def test_what_always_holds(units: int, raters: int, overlap: float, unit: str, seed: int) -> None:
    selection = chosen(units)
    names = [f"r{place}" for place in range(raters)]
    handed = sparingly.assign(selection, names, data=DEMO, overlap=overlap, unit=unit, seed=seed)  # type: ignore[arg-type]
    found = holders(handed)
    assert sorted(found) == sorted(selection.items)
    assert all(len(set(who)) == len(who) <= 2 for who in found.values())
    assert all(sorted(task.models) == list(DEMO.models) for task in handed)
    documents = dict(zip(DEMO.items, DEMO.columns["document"], strict=True))
    sizes = [1] if unit == "item" else np.unique([documents[item] for item in found], return_counts=True)[1]
    if unit == "item":
        assert max(handed.loads.values()) - min(handed.loads.values()) <= max(sizes)
        assert sum(handed.loads.values()) == units + (round(overlap * units) if raters > 1 else 0)
    count = len(sizes) if unit == "document" else units
    shared = round(overlap * count) if raters > 1 else 0
    assert handed.is_connected is is_one_piece(handed)
    assert handed.is_connected or shared < raters - 1
    assert bool(handed.notes) is not handed.is_connected


@given(
    sizes=st.lists(st.integers(1, 12), min_size=12, max_size=60),
    raters=st.integers(1, 5),
    seed=st.integers(0, 3),
)
def test_loads_of_documents_differ_by_one_document_at_most(sizes: list[int], raters: int, seed: int) -> None:
    units = [
        TaskUnit(f"u{at}", tuple(f"{at}.{part}" for part in range(size))) for at, size in enumerate(sizes)
    ]
    names = [f"r{place}" for place in range(raters)]
    lists, _, _ = hand_out(units, names, 0, dict.fromkeys(names, float("inf")), seed)
    loads = [sum(len(unit) for unit in lists[name]) for name in names]
    assert max(loads) - min(loads) <= max(sizes)
    assert sum(loads) == sum(sizes)


def test_same_seed_same_answer_whatever_the_order() -> None:
    selection = chosen()
    first = sparingly.assign(selection, RATERS, data=DEMO, seed=3)
    turned = replace(selection, items=selection.items[::-1].copy(), probability=None, utility=None)
    again = sparingly.assign(turned, RATERS[::-1], data=DEMO, seed=3)
    assert again.tasks == first.tasks
    assert sparingly.assign(selection, RATERS, data=DEMO, seed=4).tasks != first.tasks


def test_outputs_are_shown_in_a_drawn_order() -> None:
    handed = sparingly.assign(chosen(), RATERS, data=DEMO)
    first = [task.models[0] for task in handed]
    assert set(first) == set(DEMO.models)
    assert max(first.count(model) for model in DEMO.models) < 0.35 * len(first)


def test_documents_stay_together_and_in_order() -> None:
    handed = sparingly.assign(chosen(120), RATERS, data=DEMO, unit="document")
    place = dict(zip(DEMO.items, DEMO.columns["position"], strict=True))
    document = dict(zip(DEMO.items, DEMO.columns["document"], strict=True))
    for rater in RATERS:
        tasks = handed.of(rater)
        names = [document[task.item] for task in tasks]
        changes = sum(one != other for one, other in pairwise(names))
        assert changes == len(set(names)) - 1
        for name in set(names):
            inside = [place[task.item] for task in tasks if document[task.item] == name]
            assert inside == sorted(inside)
    shared = {task.unit for task in handed if task.shared}
    assert all(len({t.rater for t in handed if t.unit == name}) == 2 for name in shared)


def test_capacity() -> None:
    handed = sparingly.assign(chosen(40), RATERS, data=DEMO, load={"Ada": 3}, overlap=0.1)
    assert handed.loads["Ada"] == 3
    assert sorted(handed.loads.values())[1:] == [13, 14, 14]
    with pytest.raises(UsageError, match="take 40 items together, and 44 are to be judged"):
        sparingly.assign(chosen(40), RATERS, data=DEMO, load=10)
    with pytest.raises(UsageError, match="at least one item"):
        sparingly.assign(chosen(40), RATERS, data=DEMO, load=0)
    with pytest.raises(UnknownNameError, match="rater"):
        sparingly.assign(chosen(40), RATERS, data=DEMO, load={"Adam": 3})


def test_documents_that_do_not_fit() -> None:
    units = [TaskUnit(name, tuple(f"{name}{part}" for part in range(5))) for name in "xyz"]
    with pytest.raises(UsageError, match="No rater has room for"):
        hand_out(units, ["a", "b"], 0, {"a": 8.0, "b": 8.0}, 0)
    with pytest.raises(UsageError, match="No rater has room for"):
        hand_out(units, ["a", "b"], 1, {"a": 18.0, "b": 3.0}, 0)


def test_rows_of_one_item_go_to_one_rater() -> None:
    """Where models have rows of their own, a rater still sees all of an item."""
    whole = chosen(10)
    models = np.empty(20, object)
    models[:10], models[10:] = [DEMO.models[:2]] * 10, [DEMO.models[2:5]] * 10
    split = sparingly.Selection(
        items=np.concatenate([whole.items, whole.items]), signature=whole.signature, models=models
    )
    handed = sparingly.assign(split, RATERS, data=DEMO, overlap=0)
    assert all(len(who) == 1 for who in holders(handed).values())
    assert all(sorted(task.models) == list(DEMO.models[:5]) for task in handed)


def test_too_little_overlap_is_said() -> None:
    handed = sparingly.assign(chosen(20), RATERS, data=DEMO, overlap=0.1)
    assert not handed.is_connected
    assert "do not connect 4 raters" in handed.notes[0]


def test_control_items_go_to_a_rater_of_their_original_and_far_from_it() -> None:
    selection = chosen()
    controls = sparingly.control_items(DEMO, selection, share=0.2)
    handed = sparingly.assign(selection, RATERS, data=DEMO, controls=controls)
    original = dict(zip(controls.items, controls.columns["control_of"], strict=True))
    found = [task for task in handed if task.control is not None]
    assert sorted(task.item for task in found) == sorted(controls.items)
    for task in found:
        tasks = handed.of(task.rater)
        places = [one.place for one in tasks if one.item == original[task.item]]
        assert places
        assert abs(places[0] - task.place) > len(tasks) // 4
    assert sum(handed.loads.values()) == 66
    assert sum(handed.controls.values()) == len(controls)
    other = sparingly.select(DEMO, "random", 5, seed=9)
    with pytest.raises(UsageError, match="which no rater has"):
        sparingly.assign(other, RATERS, data=DEMO, controls=controls)


def test_raters_without_control_items_are_named() -> None:
    selection = chosen()
    controls = sparingly.control_items(DEMO, selection, kinds=["repeat"], share=0.02)
    handed = sparingly.assign(selection, RATERS, data=DEMO, controls=controls)
    without = [name for name, count in handed.controls.items() if not count]
    assert without
    assert handed.notes == (f"no control items for {', '.join(without)}: make more of them.",)
    more = sparingly.control_items(DEMO, selection, share=1.0)
    assert sparingly.assign(selection, RATERS, data=DEMO, controls=more).notes == ()


def test_file(tmp_path: Path) -> None:
    selection = chosen()
    controls = sparingly.control_items(DEMO, selection)
    handed = sparingly.assign(selection, RATERS, data=DEMO, controls=controls, unit="document")
    handed.save(tmp_path / "tasks.json")
    again = sparingly.Assignment.load(tmp_path / "tasks.json")
    assert again.to_dict() == handed.to_dict()
    assert again.tasks == handed.tasks
    text = (tmp_path / "tasks.json").read_text(encoding="utf-8")
    (tmp_path / "newer.json").write_text(text.replace('"version": 1,', '"version": 2,', 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"newer\.json.*version 2 is newer"):
        sparingly.Assignment.load(tmp_path / "newer.json")


def test_what_cannot_be_asked() -> None:
    with pytest.raises(UsageError, match="Name the raters"):
        sparingly.assign(chosen(), [], data=DEMO)
    with pytest.raises(UsageError, match="share between 0 and 1"):
        sparingly.assign(chosen(), RATERS, data=DEMO, overlap=10)
    with pytest.raises(UnknownNameError, match="unit"):
        sparingly.assign(chosen(), RATERS, data=DEMO, unit="page")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="rater"):
        sparingly.assign(chosen(), RATERS, data=DEMO).of("Eve")
    plain = sparingly.EvalSet.from_arrays(["a", "b"], ["m"])
    everything = sparingly.select(plain, "random", 2)
    with pytest.raises(MissingDataError, match="no documents"):
        sparingly.assign(everything, RATERS, data=plain, unit="document")
