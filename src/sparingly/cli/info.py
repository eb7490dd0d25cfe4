"""``sparingly info``: what is in a file, what is missing, what is odd."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sparingly.cli.options import DEFAULT_READ_OPTIONS, Data, Json, ReadOptions, emit


def info(
    data: Data,
    /,
    *,
    selection: Annotated[
        Path | None, Parameter(help="Show whom this selection over-represents instead.")
    ] = None,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Show what is in an evaluation set, what is missing and what looks odd.

    Shapes, coverage, metrics with their correlation to each aspect (of scores, and of differences between
    models, which is what a ranking depends on), documents, raters, duplicates, suspicious signs.

    ```
    sparingly info wmt23.jsonl.gz
    sparingly info scores.csv -S item=segment -S model=system
    sparingly info data.parquet --json
    sparingly info data.jsonl --selection chosen.json
    ```
    """
    from sparingly.data.describe import describe, representation
    from sparingly.data.selection import Selection
    from sparingly.show.terminal.describe import show_description, show_representation

    evalset = reading.load(data)
    if selection is not None:
        shares = representation(evalset, Selection.load(selection))
        emit(shares.to_dict()) if json else show_representation(shares)
        return
    description = describe(evalset)
    if json:
        emit(description.to_dict())
    else:
        show_description(description)
