"""``sparingly info``: what is in a file, what is missing, what is odd."""

from __future__ import annotations

from pathlib import Path

from sparingly.cli.options import DEFAULT_READING, Json, Reading, emit


def info(data: Path, *, reading: Reading = DEFAULT_READING, json: Json = False) -> None:
    """Show what is in an evaluation set, what is missing and what looks odd.

    Shapes, coverage, metrics with their correlation to each aspect (of scores, and of differences between
    models, which is what a ranking depends on), documents, raters, duplicates, suspicious signs.

    ```
    sparingly info wmt23.jsonl.gz
    sparingly info scores.csv -S item=segment -S model=system
    sparingly info data.parquet --json
    ```

    Args:
        data: The file or directory.
    """
    from sparingly.data.describe import describe
    from sparingly.show.terminal.description import show_description

    description = describe(reading.load(data))
    if json:
        emit(description.to_dict())
    else:
        show_description(description)
