"""What Pearmut would log: every document judged, with a score that follows from the text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sparingly.run.exchange.pearmut import GUARD
from tests.run.exchange.asked import ITEMS, MODELS, Fake, score_for

Entry = dict[str, Any]


def documents(folder: Path) -> list[tuple[str, int, list[Any]]]:
    """Return user, number and items of every document, as Pearmut hands them out."""
    made = json.loads((folder / "campaign.json").read_text(encoding="utf-8"))
    if made["info"]["assignment"] == "single-stream":
        return [("anna", number, document) for number, document in enumerate(made["data"])]
    return [
        (user, number, document)
        for user, task in zip(made["info"]["users"], made["data"], strict=True)
        for number, document in enumerate(task)
    ]


def log_entry(user: str, number: int | str, items: list[Any], answers: Any, start: float = 1000.0) -> Entry:
    return {
        "annotation": answers,
        "actions": [{"time": start + gap, "action": "score"} for gap in (0.0, 10.0, 200.0)],
        "item": items,
        "user_id": user,
        "item_i": number,
    }


def scored(item: dict[str, Any]) -> dict[str, Any]:
    return {
        token: {"score": score_for(text.removeprefix(GUARD)), "error_spans": [], "textfield": None}
        for token, text in item["tgt"].items()
    }


def log_entries(folder: Path) -> list[Entry]:
    return [
        log_entry(user, number, items, [scored(item) for item in items], start=1000.0 * (at + 1))
        for at, (user, number, items) in enumerate(documents(folder))
    ]


def log(folder: Path, entries: list[Entry]) -> list[Path]:
    path = folder / "sparingly-1.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return [path]


def answering(change: Any = lambda entries: entries) -> Fake:
    return lambda folder: log(folder, change(log_entries(folder)))


def expected(texts: Any, rater: str = "anna", aspect: str = "overall") -> dict[Any, float]:
    return {
        (item, model, aspect, rater): float(score_for(text))
        for item, row in zip(ITEMS, texts, strict=True)
        for model, text in zip(MODELS, row, strict=True)
    }
