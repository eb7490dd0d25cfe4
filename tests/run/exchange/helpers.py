"""A small set with awkward names and texts, and selections of it."""

from __future__ import annotations

from typing import Any

import numpy as np

import sparingly
from sparingly.data.selection import Selection
from sparingly.run.exchange.tasks import Tasks

MODELS = ('say "hi"', "7", "GPT-4 (beam = 4)", "a+b", "模型", "نموذج")
ITEMS = ("a,b", "doc#0", "1", "日本", "x/y", "plain")
TEXTS = (
    "two\nlines, and a comma",
    '=SUM(A1:A9) "quoted"',
    "😀 emoji 🇩🇪 before the end",
    "مرحبا بالعالم",
    "你好，世界",
    "<script>alert(1)</script> & more",
)


def awkward(outputs: Any = None) -> sparingly.EvalSet:
    """Return six items of two documents and one of none; on the first item two models wrote the same."""
    texts = np.array([[f"{TEXTS[(row + at) % 6]} {row}{at}" for at in range(6)] for row in range(6)], object)
    texts[0, 1] = texts[0, 0]
    return sparingly.EvalSet.from_arrays(
        items=ITEMS,
        models=MODELS,
        sources=[f"source {item}\nof {text}" for item, text in zip(ITEMS, TEXTS, strict=True)],
        outputs=texts if outputs is None else outputs,
        references={"ref": [f"reference {item}" for item in ITEMS]},
        columns={
            "document": ["one", "two", "one", "two", "one", None],
            "position": [2.0, 1.0, 0.0, 0.0, 1.0, np.nan],
            "domain": ["news", "chat", "news", "chat", "news", "chat"],
        },
    )


def all_of(data: sparingly.EvalSet, seed: int = 0) -> Selection:
    """Choose five of the items with known chances."""
    return sparingly.select(data, "uniform", len(data) - 1, seed=seed)


def pairs_of(data: sparingly.EvalSet, pairs: list[tuple[str, str, str]]) -> Selection:
    """Choose pairs of models: item, first, second."""
    drawn = all_of(data)
    held = np.empty(len(pairs), object)
    held[:] = [(first, second) for _, first, second in pairs]
    return Selection(
        items=np.array([item for item, _, _ in pairs], object),
        signature=drawn.signature,
        pairs=held,
        probability=np.full(len(pairs), 0.25),
    )


def texts_in(folder: Any) -> str:
    """Return everything that an export wrote, as one text."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.iterdir()))


def slots(tasks: Tasks) -> int:
    """Return how many answers tasks ask for, counted by hand."""
    shown = [1 if tasks.kind in ("pair", "ranking") else len(task.outputs) for task in tasks]
    return sum(shown) * max(1, len(tasks.aspects))
