"""Models compared, in the terminal: two in sentences, many as strengths and a matrix of wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparingly.show.terminal.console import fixed, line, notes, percent, show_table

if TYPE_CHECKING:
    from sparingly.infer.compare.head_to_head import HeadToHead
    from sparingly.infer.compare.strengths import WinMatrix

# A matrix of more models fits no terminal.
_MOST_COLUMNS = 8


def show_head_to_head(result: HeadToHead) -> None:
    """Print who is ahead, what would settle it, and what to mind."""
    first, *rest = result.sentences
    line(first, style="bold")
    for sentence in rest:
        line(sentence)
    notes(result.notes)


def show_win_matrix(matrix: WinMatrix) -> None:
    """Print who may be best, the strengths with their intervals, and who won against whom."""
    first, *rest = matrix.sentences
    line(first, style="bold")
    for sentence in rest:
        line(sentence)
    found = matrix.strengths
    places = [found.models.index(name) for name in matrix.models]
    columns = (found.strengths, found.low, found.high)
    ranks = {row.model: row.ranks for row in matrix.ranking.models}
    rows = [
        (ranks.get(name, "-"), name, *(fixed(column[place]) for column in columns))
        for name, place in zip(matrix.models, places, strict=True)
    ]
    level = percent(found.level, 0)
    show_table(("ranks", "model", "strength", f"{level} from", "to"), rows, numbers=3)
    if len(matrix.models) <= _MOST_COLUMNS:
        _show_matrix(matrix)
    notes(matrix.notes)


def _show_matrix(matrix: WinMatrix) -> None:
    """Print wins and ties of every model against every other."""
    rows = []
    for row, name in enumerate(matrix.models):
        cells = [
            "·"
            if row == column
            else f"{_number(matrix.wins[row, column])} + {_number(matrix.ties[row, column])}"
            for column in range(len(matrix.models))
        ]
        rows.append((f"{row + 1} {name}", *cells))
    numbers = [str(number) for number in range(1, len(matrix.models) + 1)]
    show_table(("wins + ties against", *numbers), rows, numbers=len(numbers))


def _number(value: float) -> str:
    return str(round(value)) if np.isclose(value, round(value)) else f"{value:.1f}"
