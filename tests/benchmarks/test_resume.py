from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from benchmarks.resume import FinishedParts, _logic, logic_digest

_CODE, _BESIDE = ("base/rng.py", "base/stats"), ("resume.py",)


def test_finished_parts_are_read_and_others_computed(tmp_path: Path) -> None:
    runs: list[int] = []

    def compute() -> dict[str, Any]:
        runs.append(1)
        return {"n": len(runs)}

    assert FinishedParts(tmp_path, _CODE, _BESIDE).row({"a": 1}, compute) == {"n": 1}
    assert FinishedParts(tmp_path, _CODE, _BESIDE).row({"a": 1}, compute) == {"n": 1}
    assert FinishedParts(tmp_path, _CODE, _BESIDE).row({"a": 2}, compute) == {"n": 2}
    # Other code may give other figures.
    assert FinishedParts(tmp_path, _CODE[:1], _BESIDE).row({"a": 1}, compute) == {"n": 3}


def test_rows_come_in_the_order_of_their_parts(tmp_path: Path) -> None:
    finished = FinishedParts(tmp_path, _CODE, _BESIDE)
    for _ in range(2):
        rows = finished.rows([3, 1, 2], lambda part: {"part": part}, lambda part: {"square": part**2}, 1)
        assert [row["square"] for row in rows] == [9, 1, 4]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_part_counts_as_long_as_its_first_draws_come_out_the_same(tmp_path: Path) -> None:
    finished, key = FinishedParts(tmp_path), {"a": 1}
    assert finished.saved(key) is None
    assert finished.row(key, lambda: {"n": 1}, lambda: {"draws": [0.1 + 0.2, 1.0]}) == {"n": 1}
    # Rounding is no other figure.
    assert finished.row(key, lambda: {"n": 2}, lambda: {"draws": [0.3, 1.0]}) == {"n": 1}
    assert finished.saved(key) == {"n": 1}
    assert finished.row(key, lambda: {"n": 3}, lambda: {"draws": [0.3, 1.001]}) == {"n": 3}
    assert finished.row(key, lambda: {"n": 4}, lambda: {"draws": [0.3]}) == {"n": 4}


_MODULE = """
def area(width: float, name: str = "to scale") -> float:
    return 2.0 * width + len(f"{name} of it")
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("    return", "    # Twice.\n    return", True),
        ("    return", '    """Return twice the width of what was given."""\n    return', True),
        ("2.0 * width", "2.0*width", True),
        ("2.0", "3.0", False),
        ("to scale", "by eye", False),
        ("to scale", "as it was drawn on the map", False),
        ("of it", "of all", False),
        ("width + len", "width - len", False),
    ],
)
def test_what_code_does_is_told_from_what_it_says(old: str, new: str, same: bool) -> None:
    def logic(text: str) -> list[str]:
        return list(_logic(ast.parse(text)))

    assert old in _MODULE
    assert (logic(_MODULE) == logic(_MODULE.replace(old, new))) == same


def test_other_prose_is_the_same_logic() -> None:
    told, retold = (
        list(_logic(ast.parse(f'NOTE = "{text}"')))
        for text in ("a note of five words", "another, which has as many as six")
    )
    assert told == retold


def test_modules_and_folders_have_a_digest() -> None:
    assert logic_digest(_CODE, _BESIDE) == logic_digest(_CODE, _BESIDE)
    assert logic_digest(_CODE, _BESIDE) != logic_digest(_CODE[:1], _BESIDE)
