"""``sparingly info``: what is in a file, what is missing, what is odd."""

from __future__ import annotations

from sparingly.cli.options import Json, Verbose, emit
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources


def info(
    sources: Sources,
    /,
    *,
    source: SourceOptions = DEFAULT_SOURCE,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Show what is in a file: columns, models, labels, gaps and oddities.

    ```
    sparingly info responses.csv
    ```

    What each column was taken for, one item as raters would see it, what is odd, and what to do next. With
    -v: shapes, missing values, documents, raters, and each metric's correlation with people (over scores, and
    over differences between models, which a ranking depends on). With a selection: what it over-represents.

    ```
    sparingly info responses.csv --role score=human --role latency=ignored
    sparingly info data.parquet --json
    sparingly info data.jsonl chosen.json
    sparingly info campaign.db
    ```
    """
    from sparingly.data.describe import describe, representation
    from sparingly.show.terminal.describe import show_description, show_representation

    with source.open(sources, show_roles=False) as subject:
        data = subject.data
    if subject.selection is not None:
        shares = representation(data, subject.selection)
        emit(shares.to_dict()) if json else show_representation(shares, typed=subject.typed)
        return
    description = describe(data)
    if json:
        emit(description.to_dict())
    else:
        show_description(description, data, typed=subject.typed, verbose=verbose)
