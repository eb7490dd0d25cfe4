"""``sparingly verify``: re-derive a selection from its signature."""

from __future__ import annotations

from pathlib import Path

from sparingly.base.errors import EXIT_DONE, EXIT_NO
from sparingly.cli.options import DEFAULT_READING, Json, Reading, emit


def verify(selection: Path, data: Path, /, *, reading: Reading = DEFAULT_READING, json: Json = False) -> int:
    """Re-run a selection's method on the data and compare the rows; exit code 1 if they differ.

    ```
    sparingly verify chosen.json wmt23.jsonl.gz
    ```

    Args:
        selection: The selection's file.
        data: The evaluation set that it was made from; judgements that came later do not matter.
    """
    from sparingly.data.selection import Selection
    from sparingly.run.verify import verify as rederive
    from sparingly.show.terminal.verification import show_verification

    chosen = Selection.load(selection)
    result = rederive(chosen, reading.load(data))
    if json:
        emit(result.to_dict())
    else:
        show_verification(result, chosen)
    return EXIT_DONE if result.ok else EXIT_NO
