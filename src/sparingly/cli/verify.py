"""``sparingly verify``: re-derive a selection from its signature."""

from __future__ import annotations

from sparingly.base.errors import EXIT_DONE, EXIT_NO
from sparingly.cli.options import DEFAULT_READING, Data, Json, Reading, SelectionFile, emit


def verify(
    selection: SelectionFile, data: Data, /, *, reading: Reading = DEFAULT_READING, json: Json = False
) -> int:
    """Re-run a selection's method on the data and compare the rows; exit code 1 if they differ.

    The data is the set that it was made from; judgements that came later do not matter.

    ```
    sparingly verify chosen.json wmt23.jsonl.gz
    ```
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
