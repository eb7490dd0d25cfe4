"""Sets with names and texts that tools stumble over, and the way of answers there and back."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import sparingly
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.exchange.export_import import export_tasks, import_answers
from sparingly.run.exchange.reading import ImportReport
from sparingly.run.forms.answer import Answer

MODELS = ("1", "sys+2 (large)", 'the "best" <b>')
ITEMS = ("seg 1", "2", "x/3", "ü-4")
TEXTS = (
    ("Ein 😀 Haus.", "Ein 😀 Haus.", "<img src=x onerror=alert(1)> 家"),
    ("שלום עולם", "two\nlines & more", "a\tb, \"c\"; 'd'"),
    ("好好好。", "  spaces around  ", "A"),
    ("plain", "a bit longer than the others", ""),
)
# Half of a pair and an empty text are no texts to judge; the rest is fair.
outputs = st.lists(
    st.lists(st.text(min_size=1, max_size=8), min_size=len(MODELS), max_size=len(MODELS)),
    min_size=len(ITEMS),
    max_size=len(ITEMS),
)

Fake = Callable[[Path], Sequence[Path]]


def asked_set(texts: Sequence[Sequence[str]] = TEXTS, *, documents: bool = True) -> EvalSet:
    """Return four items of three models; the first three are one document."""
    columns: dict[str, Any] = (
        {"document": ["doc a", "doc a", "doc a", "doc b"], "position": [1, 2, 3, 1]} if documents else {}
    )
    return EvalSet.from_arrays(
        list(ITEMS),
        list(MODELS),
        outputs=[list(row) for row in texts],
        sources=[f"source of {item} <&>" for item in ITEMS],
        columns=columns,
    )


def everything(data: EvalSet) -> Selection:
    """Return a selection of all items."""
    return sparingly.select(data, "uniform", len(data), seed=1)


def paired(data: EvalSet) -> Selection:
    """Return a selection of all items, each with a pair of models."""
    chosen = everything(data)
    pairs = np.empty(len(chosen), object)
    for place in range(len(chosen)):
        pairs[place] = (MODELS[place % 3], MODELS[(place + 1) % 3])
    return replace(chosen, pairs=pairs)


def there_and_back(
    tool: str,
    fake: Fake,
    data: EvalSet | None = None,
    selection: Selection | None = None,
    *,
    options: dict[str, str] | None = None,
    raters: dict[str, str] | None = None,
    scale: Any = None,
    **asked: Any,
) -> ImportReport:
    """Export to a tool, let it be answered, and import the answers."""
    held = asked_set() if data is None else data
    chosen = everything(held) if selection is None else selection
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "tasks"
        export = export_tasks(
            held, chosen, to=tool, folder=folder, options=options, scale=scale, seed=7, **asked
        )
        assert export.key is not None
        return import_answers(fake(folder), key=export.key, raters=raters)


def adds_up(taken: ImportReport) -> bool:
    """Say whether every answer that was read was taken or left out."""
    return taken.read == len(taken.answers) + sum(taken.left_out.values())


def score_for(*parts: object) -> int:
    """Return the score from 0 to 100 that the fake rater gives to a text."""
    return sum(map(ord, "|".join(map(str, parts)))) % 101


def scores_by_cell(taken: ImportReport) -> dict[tuple[str, str, str, str], float]:
    """Return the scores by item, model, aspect and rater."""
    return {(row["item"], row["model"], row["aspect"], row["rater"]): row["score"] for row in taken.rows()}


def spans_of(judgements: Sequence[Answer]) -> set[tuple[str, str, int, int, str]]:
    """Return the spans as item, models, start, end and severity."""
    return {
        (one.item, "+".join(one.models), span.start, span.end, span.severity)
        for one in judgements
        for span in one.marks or ()
    }
