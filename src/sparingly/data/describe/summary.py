"""An evaluation set on one line, and as a small table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sparingly.base.format import counted, html_table
from sparingly.data import fields
from sparingly.data.evalset import EvalSet

_MOST_NAMES = 3
_SHOWN_NAMES = 2
_LONGEST_NAME = 32


def one_line(data: EvalSet) -> str:
    """Say in one line what is in a set."""
    parts = [f"{counted(len(data), 'item')} x {counted(len(data.models), 'model')}"]
    parts += [f"{kind}: {_names(names)}" for kind, names in _named(data)]
    if texts := _texts(data):
        parts.append(", ".join(texts))
    parts += [f"{kind}: {count}" for kind, count in _counts(data)]
    return f"EvalSet({'; '.join(parts)})"


def as_html(data: EvalSet) -> str:
    """Show a set as a small table in a notebook."""
    rows = [("items", str(len(data))), ("models", _long_names(data.models))]
    rows += [(kind, _long_names(names)) for kind, names in _named(data)]
    if texts := _texts(data):
        rows.append(("texts", ", ".join(texts)))
    if data.columns:
        rows.append(("columns", _long_names(data.columns)))
    rows += [(kind, str(count)) for kind, count in _counts(data)]
    return html_table(("part", "what is in it"), rows, data.name)


def _named(data: EvalSet) -> Iterator[tuple[str, Iterable[str]]]:
    if data.metrics:
        yield "metrics", data.metrics
    if data.aspects:
        yield "aspects", data.aspects


def _texts(data: EvalSet) -> list[str]:
    there = {
        "outputs": data.outputs is not None,
        "sources": data.sources is not None,
        "references": data.reference_texts is not None,
    }
    return [kind for kind, held in there.items() if held]


def _counts(data: EvalSet) -> Iterator[tuple[str, int]]:
    counts = {
        "documents": len(_values(data, fields.DOCUMENT)),
        "ratings": len(data.ratings),
        "preferences": len(data.preferences),
    }
    return ((kind, count) for kind, count in counts.items() if count)


def _values(data: EvalSet, column: str) -> set[str]:
    return set(data.columns[column]) - {None} if column in data.columns else set()


def _names(names: Iterable[str]) -> str:
    known = [name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in names]
    if len(known) <= _MOST_NAMES:
        return ", ".join(known)
    return f"{', '.join(known[:_SHOWN_NAMES])} … ({len(known)})"


def _long_names(names: Iterable[str], most: int = 12) -> str:
    known = list(names)
    rest = f" … ({len(known)})" if len(known) > most else ""
    return ", ".join(known[:most]) + rest
