"""How a result begins wherever it is shown: the answer, one picture, and what to do next; details after."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sparingly.base.errors import UsageError
from sparingly.base.format import cell_text
from sparingly.base.lazy import pl

_SVG = (160, 14)


class IntervalCell(NamedTuple):
    """A score with its interval, to be drawn on the scale of its column; what is unknown is NaN."""

    low: float
    value: float
    high: float


Cell = str | IntervalCell


@dataclass(frozen=True)
class Summary:
    """What is shown of a result."""

    sentences: tuple[str, ...]  # the answer, and what else everybody should read
    columns: tuple[str, ...] = ()  # the heads of the table
    rows: tuple[tuple[Cell, ...], ...] = ()  # its cells: texts, or scores to be drawn
    texts: int = 1  # how many columns, from the left, hold texts; the others are numbers
    more: int = 0  # how many rows there are beyond these
    # Sentences, and commands that begin with "sparingly"; DATA stands for the files.
    next_steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what to mind
    method: tuple[str, ...] = ()  # how it was found, in sentences
    signature: str = ""  # from which it can be derived again

    def html(self) -> str:
        """Return it for a notebook: method and signature are folded."""
        first, *further = self.sentences or ("",)
        parts = [f"<p><b>{escape(first)}</b> {escape(' '.join(further))}</p>"] if first else []
        if self.rows:
            parts.append(self.table_html())
        if self.more:
            parts.append(f"<p>… and {self.more:,} more.</p>")
        if self.next_steps:
            steps = " ".join(
                f"<code>{escape(step)}</code>" if step.startswith("sparingly ") else escape(step)
                for step in self.next_steps
            )
            parts.append(f"<p>Next: {steps}</p>")
        parts += [f"<p>{escape(note)}</p>" for note in self.notes]
        folded = [
            *map(escape, self.method),
            *([f"<code>{escape(self.signature)}</code>"] * bool(self.signature)),
        ]
        if folded:
            parts.append(f"<details><summary>Method</summary>{'<br>'.join(folded)}</details>")
        return "".join(parts)

    def table_html(self) -> str:
        """Return its table, intervals drawn, for a page or a notebook."""
        columns = [
            scale_of(cells) if any(isinstance(cell, IntervalCell) for cell in cells) else None
            for cells in zip(*self.rows, strict=True)
        ]
        # Numbers stand to the right, on pages by their style.
        kinds = ["" if at < self.texts or ends else ' class="numbers"' for at, ends in enumerate(columns)]
        rows = "".join(f"<tr>{''.join(map(_html_cell, row, columns, kinds))}</tr>" for row in self.rows)
        names = zip(self.columns, kinds, strict=True)
        head = "".join(f"<th{kind}>{escape(name)}</th>" if name else "<td></td>" for name, kind in names)
        return f'<table class="data"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def html_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "", after: str = ""
) -> str:
    """Return a small result for a notebook: a line, a table, and what to mind."""
    rows = [tuple(row) for row in rows]
    is_text = [all(isinstance(row[at], str) for row in rows) for at in range(len(columns))]
    texts = is_text.index(False) if False in is_text else len(is_text)
    cells = tuple(tuple(map(cell_text, row)) for row in rows)
    return Summary((title,), tuple(columns), cells, texts, notes=(after,) if after else ()).html()


def scale_of(cells: Iterable[object]) -> tuple[float, float]:
    """Return the ends of the scale that all cells of a column are drawn on."""
    values = [
        value for cell in cells if isinstance(cell, IntervalCell) for value in cell if math.isfinite(value)
    ]
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def drawn_with_letters(cells: Sequence[IntervalCell], width: int) -> list[str]:
    """Return the cells as lines of letters, such as ``  ──●───``."""
    low, high = scale_of(cells)

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (width - 1))

    lines = []
    for cell in cells:
        letters = [" "] * width
        if math.isfinite(cell.value):
            start, end = (place(end if math.isfinite(end) else cell.value) for end in (cell.low, cell.high))
            letters[start : end + 1] = "─" * (end - start + 1)
            letters[place(cell.value)] = "●"
        lines.append("".join(letters).rstrip())
    return lines


def _html_cell(cell: Cell, ends: tuple[float, float] | None, kind: str) -> str:
    if isinstance(cell, IntervalCell):
        return f"<td>{'' if ends is None else interval_svg(cell, ends)}</td>"
    text = cell_text(cell)
    direction = "" if text.isascii() else ' dir="auto"'
    return f"<td{kind}{direction}>{escape(text)}</td>"


def interval_svg(cell: IntervalCell, ends: tuple[float, float]) -> str:
    """Return a cell as a picture on the scale of its column."""
    width, height = _SVG
    middle = height / 2

    def place(value: float) -> float:
        return round(5 + (value - ends[0]) / (ends[1] - ends[0]) * (width - 10), 1)

    if not math.isfinite(cell.value):
        return ""
    start, end = (place(end if math.isfinite(end) else cell.value) for end in (cell.low, cell.high))
    line = f'<line x1="{start}" x2="{end}" y1="{middle}" y2="{middle}" stroke="#0072B2" stroke-width="2"/>'
    dot = f'<circle cx="{place(cell.value)}" cy="{middle}" r="4" fill="#0072B2"/>'
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" aria-hidden="true">{line}{dot}</svg>'


# --- Results as tables ---


class Framed:
    """A result whose rows can be had as a frame."""

    if TYPE_CHECKING:

        def rows(self) -> list[dict[str, Any]]:
            """Return the rows as plain values by column."""

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a polars frame; what is not known is null."""
        return pl.DataFrame(self.rows(), infer_schema_length=None)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas frame; pandas is no dependency of ours."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise UsageError("A pandas frame needs pandas: pip install pandas.") from None
        return pandas.DataFrame(self.rows())


class Tabular(Framed):
    """A result that can be had as a frame, and that has a picture.

    ``rows_key`` names the rows among the values of ``to_dict``, so that a frame holds the numbers of the
    result's file and of ``--json``.
    """

    rows_key: ClassVar[str]

    if TYPE_CHECKING:

        def to_dict(self) -> dict[str, Any]:
            """Return plain values."""

        def summary(self) -> Summary:
            """Return the answer, one table or picture, what to do next, and then the rest."""

    def _repr_html_(self) -> str:
        return self.summary().html()

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as plain values by column."""
        return list(self.to_dict()[self.rows_key])

    def plot(self) -> Any:
        """Draw the picture that belongs to the result, an Altair chart; needs the extra ``report``."""
        # By name, since rooms of results know nothing of pictures.
        return import_module("sparingly.show.figures.charts").figure(self)
