from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.cli.app import run
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented


def rounds_of(method: str, size: int | None = None) -> list[Selection]:
    data = load_invented()
    found: list[Selection] = []
    while len(found) < 3:
        one = sparingly.next_round(data, method, 60, aspect="overall", rounds=found, size=size, seed=2)
        assert isinstance(one, Selection)
        found.append(one)
    return found


@pytest.mark.parametrize(
    ("method", "size"),
    [
        ("uniform", 20),
        ("documents", 12),
        ("casf:metric=learned", None),
        ("waves", None),
        ("d_optimal:first=20", 10),
        ("auto", None),
        ("auto", 10),
        ("auto:rounds=8", 7),
    ],
)
def test_every_round_follows_from_those_before_it(method: str, size: int | None) -> None:
    data, rounds = load_invented(), rounds_of(method, size)
    for place, one in enumerate(rounds):
        found = sparingly.verify(one, data, earlier=rounds[:place])
        assert found.ok, found.problems


def test_judgements_that_changed_are_seen() -> None:
    data, rounds = load_invented(), rounds_of("waves")
    scores = data.aspects["overall"].copy()
    scores[data.positions(rounds[0].items)[0], 0] += 1
    changed = data.only([name for name in data.fields if name != "ratings"]).with_aspect("overall", scores)
    found = sparingly.verify(rounds[1], changed, earlier=rounds[:1])
    assert "labels" in found.problems[0]


def test_the_rounds_before_it_are_needed_and_must_be_the_right_ones() -> None:
    data, rounds = load_invented(), rounds_of("uniform", 20)
    assert "round 2" in sparingly.verify(rounds[1], data).problems[0]
    other = replace(rounds[0], items=np.array(rounds[0].items[::-1]))
    assert "not those of the signature" in sparingly.verify(rounds[1], data, earlier=[other]).problems[0]


def test_items_picked_by_hand_are_found() -> None:
    data, rounds = load_invented(), rounds_of("uniform", 20)
    items = rounds[0].items.copy()
    items[0] = next(name for name in data.items if name not in set(items))
    found = sparingly.verify(replace(rounds[0], items=items), data)
    assert any("should not be there" in said for said in found.problems)


def test_a_model_left_out_by_hand_is_found() -> None:
    data, rounds = load_invented(), rounds_of("auto")
    assert rounds[1].models is None
    models = np.empty(len(rounds[1]), object)
    models[:] = [data.models[row == 0 :] for row in range(len(models))]
    found = sparingly.verify(replace(rounds[1], models=models), data, earlier=rounds[:1])
    assert not found.ok


@pytest.mark.parametrize(("method", "size"), [("uniform", 20), ("auto", None)])
def test_on_the_command_line(
    method: str, size: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sparingly.save(load_invented(), "data.jsonl")
    for place, one in enumerate(rounds_of(method, size), start=1):
        one.save(f"round-{place}.json")
    assert run(["verify", "round-2.json", "data.jsonl", "--earlier", "round-1.json"]) == 0
    assert run(["verify", "round-2.json", "data.jsonl"]) == 1
