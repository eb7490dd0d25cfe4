"""``sparingly verify``: re-derive a selection, an estimate, a ranking or a whole campaign."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from sparingly.base.errors import EXIT_DONE, EXIT_NO, UsageError
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Json, ReadOptions, Verbose, emit, working
from sparingly.cli.parameters import about
from sparingly.cli.subject import Name, is_campaign, opened, own_format


def verify(
    sources: Annotated[
        tuple[str, ...],
        about("The file of a selection, an estimate or a ranking, and its data; or a campaign."),
    ],
    /,
    *,
    earlier: Annotated[
        tuple[Path, ...], about("For a round of several, the files of the rounds before it.")
    ] = (),
    name: Name = None,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    verbose: Verbose = False,
    json: Json = False,
) -> int:
    """Check that a result follows from its data.

    ```
    sparingly verify chosen.json wmt23.jsonl.gz
    ```

    A selection needs the set that it was made from; judgements that came later do not matter. Scores and
    rankings need the set with the judgements, and their selection is verified with them. A campaign
    contains all that is needed: every round is drawn again from what was known then.

    ```
    sparingly verify scores.json judged.jsonl
    sparingly verify round-2.json judged.jsonl --earlier round-1.json
    sparingly verify campaign.db
    ```
    """
    from sparingly.data.selection import Selection
    from sparingly.run.verify import load_result
    from sparingly.run.verify import verify as rederive
    from sparingly.show.terminal.campaign import show_campaign_verification
    from sparingly.show.terminal.results import show_verification

    if is_campaign(sources[0]):
        with opened(sources[0], name) as running, working("drawing every round again"):
            result, current = running.verify(), running.status()
        emit(result.to_dict()) if json else show_campaign_verification(result, current)
        return EXIT_DONE if result.ok else EXIT_NO
    results = [source for source in sources if own_format(source)]
    if not results and Path(sources[0]).suffix != ".json" and Path(sources[0]).is_file():
        typed = shlex.join(sources)
        raise UsageError(
            f"Name the selection, estimate or ranking, too: sparingly verify RESULT.json {typed}"
        )
    results = results or [sources[0]]
    if len(results) > 1:
        raise UsageError(f"There are two results to verify, {results[0]} and {results[1]}: give one.")
    files = [Path(source) for source in sources if source != results[0]]
    artefact = load_result(results[0])
    if not files and isinstance(artefact, Selection):
        files = [Path(results[0]).parent / file for file in artefact.data_files]
    if not files:
        raise UsageError(f"Name the data, too: sparingly verify {results[0]} DATA")
    loaded = reading.load(*files)
    with working("verifying"):
        result = rederive(artefact, loaded, earlier=[Selection.load(path) for path in earlier])
    emit(result.to_dict()) if json else show_verification(result, artefact, verbose=verbose)
    return EXIT_DONE if result.ok else EXIT_NO
