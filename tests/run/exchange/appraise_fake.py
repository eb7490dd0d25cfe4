"""What Appraise would export: every item judged, with a score that follows from the text."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.run.exchange.asked import ITEMS, MODELS, Fake, score_for

LANGUAGES = {"source": "eng", "target": "deu"}
USER = "engdeu0101"
Row = list[str]
Rows = Callable[[Path], list[Row]]


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def batch_items(folder: Path) -> list[dict[str, Any]]:
    return [item for batch in read(folder, "batches.json") for item in batch["items"]]


def lead(item: dict[str, Any], system: str, text: str, user: str = USER) -> Row:
    score = str(score_for(text))
    return [user, system, str(item["itemID"]), item["itemType"], "eng", "deu", score]


def times(place: int) -> Row:
    return [str(1000.5 + 100 * place), str(1012.5 + 100 * place)]


def direct(folder: Path) -> list[Row]:
    """Return the seven columns and the times, with joined systems expanded into a row each."""
    return [
        [*lead(item, system, item["targetText"]), *times(place)]
        for place, item in enumerate(batch_items(folder))
        for system in item["targetID"].split("+")
    ]


def documents(folder: Path) -> list[Row]:
    return [
        [
            *lead(item, item["targetID"], item["targetText"]),
            item["documentID"],
            str(item["isCompleteDocument"]),
            "[]",
            *times(place),
        ]
        for place, item in enumerate(batch_items(folder))
    ]


def pairs(folder: Path) -> list[Row]:
    return [
        [*lead(item, system, target["targetText"]), "", "None", *times(place)]
        for place, item in enumerate(batch_items(folder))
        for target in item["targets"]
        for system in target["targetID"].split("+")
    ]


def answering(rows: Rows, change: Callable[[list[Row]], list[Row]] = lambda rows: rows) -> Fake:
    def fake(folder: Path) -> list[Path]:
        path = folder / "scores.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_MINIMAL).writerows(change(rows(folder)))
        return [path, folder / "batches.json"]

    return fake


def expected(texts: Any, rater: str = USER) -> dict[Any, float]:
    return {
        (item, model, "overall", rater): float(score_for(text))
        for item, row in zip(ITEMS, texts, strict=True)
        for model, text in zip(MODELS, row, strict=True)
    }
