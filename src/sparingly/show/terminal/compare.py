"""Many models compared, in the terminal: strengths, and a matrix of wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparingly.show.terminal.console import line, show_summary, show_table

if TYPE_CHECKING:
    from sparingly.infer.compare.strengths import WinMatrix

# A matrix of more models fits no terminal.
_MOST_COLUMNS = 8


def show_win_matrix(matrix: WinMatrix, typed: str = "DATA", *, verbose: bool = False) -> None:
    """Print who may be best, the strengths with their intervals, and who won against whom."""
    is_small = len(matrix.models) <= _MOST_COLUMNS
    show = (lambda: _show_matrix(matrix)) if is_small else None
    show_summary(matrix.summary(), typed, verbose=verbose, details=show)


def _show_matrix(matrix: WinMatrix) -> None:
    """Print wins and ties of every model against every other."""
    rows = []
    for row, name in enumerate(matrix.models):
        cells = [
            "·"
            if row == column
            else f"{_number(matrix.wins[row, column])}+{_number(matrix.ties[row, column])}"
            for column in range(len(matrix.models))
        ]
        rows.append((f"{row + 1} {name}", *cells))
    numbers = [str(number) for number in range(1, len(matrix.models) + 1)]
    line("")
    show_table(("wins+ties against", *numbers), rows, numbers=len(numbers))


def _number(value: float) -> str:
    return str(round(value)) if np.isclose(value, round(value)) else f"{value:.1f}"
