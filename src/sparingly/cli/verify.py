"""``sparingly verify``: re-derive a selection, an estimate, a ranking or a whole campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sparingly.base.errors import EXIT_DONE, EXIT_NO, UsageError
from sparingly.cli.campaign import is_campaign, verify_campaign
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Data, Json, ReadOptions, emit, working

ResultFile = Annotated[
    str, Parameter(help="The file of a selection, an estimate or a ranking; or a campaign: its file or URL.")
]


Earlier = Annotated[
    tuple[Path, ...], Parameter(help="For a round of several, the files of the rounds before it.")
]


def verify(
    file: ResultFile,
    /,
    data: Data | None = None,
    *,
    earlier: Earlier = (),
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> int:
    """Do again on the data what a signature says, and compare; exit code 1 if the answer differs.

    A selection needs the set that it was made from; judgements that came later do not matter. Scores and
    rankings need the set with the judgements, and their selection is verified with them. A campaign holds all
    that it needs: every round is drawn again from what was known then.

    ```
    sparingly verify chosen.json wmt23.jsonl.gz
    sparingly verify scores.json --data judged.jsonl
    sparingly verify round-2.json judged.jsonl --earlier round-1.json
    sparingly verify campaign.db
    ```
    """
    if is_campaign(file):
        return verify_campaign(file, json=json)
    if data is None:
        raise UsageError("Name the evaluation set, too: sparingly verify FILE DATA.")
    from sparingly.data.selection import Selection
    from sparingly.run.verify import load_result
    from sparingly.run.verify import verify as rederive
    from sparingly.show.terminal.selection import show_verification

    artefact = load_result(file)
    loaded = reading.load(data)
    with working("verifying"):
        result = rederive(artefact, loaded, earlier=[Selection.load(path) for path in earlier])
    if json:
        emit(result.to_dict())
    else:
        show_verification(result, artefact)
    return EXIT_DONE if result.ok else EXIT_NO
