"""What a published table is here: its name, what it needs, how it is computed and how it is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.papers.work import Work

Figures = dict[str, Any]


@dataclass(frozen=True)
class PaperTable:
    """A published table or figure that is computed anew.

    Attributes:
        name: As it is asked for, such as ``s0-table5``.
        title: The paper, the number and what it shows: ``Zouhar et al. 2025, Table 5: …``.
        sets: The names of the data sets it is computed on.
        figures: Computes the figures, as plain values for a JSON file.
        text: Shows them as Markdown, next to the published ones, and explains the differences.
    """

    name: str
    title: str
    sets: tuple[str, ...]
    figures: Callable[[Work], Figures]
    text: Callable[[Figures], str]
