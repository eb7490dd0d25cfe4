"""The tables of this folder as columns, and an empty cell as NaN."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from sparingly.base.arrays import Floats

FOLDER = Path(__file__).resolve().parent


def columns(name: str) -> dict[str, Floats]:
    """Return the columns of a table by name."""
    with (FOLDER / name).open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def cells(name: str) -> Floats:
    """Return a table without a head."""
    rows = [line.split(",") for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
    return np.array([[float(value) if value else np.nan for value in row] for row in rows])
