"""Small tables as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "", after: str = ""
) -> str:
    """Return a table with an optional line above and below it; every text is escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(shown(cell))}</td>' for cell in row)}</tr>" for row in rows)
    above = f"<p><b>{escape(title)}</b></p>" if title else ""
    below = f"<p>{escape(after)}</p>" if after else ""
    return f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def shown(cell: object) -> str:
    """Return a cell's text: short numbers, nothing for None and NaN."""
    if cell is None or cell != cell:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
