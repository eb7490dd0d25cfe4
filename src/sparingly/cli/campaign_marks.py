"""``sparingly campaign marks``: the errors that raters marked in outputs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sparingly.cli.campaign import At, Name, Where, opened
from sparingly.cli.campaign_organise import campaign
from sparingly.cli.options import Json, emit

__all__ = ["campaign", "marks"]
_COLUMNS = ("seq", "data", "round", "rater", "item", "model", "aspect", "score", "corrects", "marks")


@campaign.command
def marks(
    where: Where,
    out: Annotated[Path, Parameter(help="A JSON Lines file: one rating a line, with its marks.")],
    /,
    *,
    at: At = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Write the errors that raters marked: start and end in code points, the end not included, and severity.

    ```
    sparingly campaign marks wmt.db marks.jsonl
    ```
    """
    from sparingly.base.errors import UsageError
    from sparingly.cli.forms import write_rows
    from sparingly.run.campaign.marks import marked_rows

    if out.suffix.lower() != ".jsonl":
        raise UsageError(f'Marks are written as JSON Lines: name the file "{out.stem}.jsonl".')
    with opened(where, name) as running:
        seq = running.status(at).seq
        with running.database.reading() as connection:
            rows = marked_rows(connection, running.name, seq)
    write_rows(rows, _COLUMNS, out)
    if json:
        emit({"ratings": len(rows), "written": str(out)})
    else:
        sys.stdout.write(f"written: {out}\n")
