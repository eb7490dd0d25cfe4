"""``sparingly writeup``: the paragraph and the table for a paper."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from sparingly.cli.options import Json, SelectionFile, emit


def writeup(
    selection: SelectionFile,
    /,
    *,
    format: Annotated[Literal["markdown", "latex"], Parameter(help="How it is written.")] = "markdown",
    json: Json = False,
) -> None:
    """Print the paragraph, the table and the list of items that a paper should have about its selection.

    ```
    sparingly writeup chosen.json
    sparingly writeup chosen.json --format latex > selection.tex
    ```
    """
    from sparingly.data.selection import Selection
    from sparingly.show.report.writeup import paragraph, table_rows
    from sparingly.show.report.writeup import writeup as write

    chosen = Selection.load(selection)
    if json:
        emit({"paragraph": paragraph(chosen), "table": dict(table_rows(chosen)), "items": list(chosen.items)})
    else:
        sys.stdout.write(write(chosen, format))
