"""Tables for people to fill in or to keep: CSV, TSV and JSON Lines, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import UsageError
from sparingly.cli.options import write_text
from sparingly.data.files import csv_text, without_formulas

if TYPE_CHECKING:
    from sparingly.run.campaign.questions import Question

_TEXTS = ("source", "output", "first_output", "second_output")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def write_form(questions: Iterable[Question], path: Path) -> None:
    """Write what is to be judged, one row per answer; ``campaign record`` reads it when it is filled in."""
    rows = [row for question in questions for row in question.to_rows()]
    if path.suffix.lower() != ".jsonl":
        # These columns come back unread.
        rows = [without_formulas(row, _TEXTS) for row in rows]
    columns = list(dict.fromkeys(name for row in rows for name in row)) or ["item", "model", "score"]
    write_rows(rows, columns, path)


def write_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], path: Path) -> None:
    """Write rows as the extension of the file says."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        lines = (json.dumps({name: row.get(name) for name in columns}, ensure_ascii=False) for row in rows)
        write_text(path, "".join(f"{line}\n" for line in lines))
        return
    if suffix not in _SEPARATORS:
        raise UsageError(f'The extension "{suffix}" of {path.name} is none of .csv, .tsv and .jsonl.')
    write_text(path, csv_text(rows, columns, _SEPARATORS[suffix]))
