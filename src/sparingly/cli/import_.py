"""``sparingly import``: answers of an annotation tool, as ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sparingly.base.errors import EXIT_DONE, EXIT_NO, UsageError
from sparingly.base.syntax import command_with
from sparingly.cli.export import ToolOptions, campaign_key
from sparingly.cli.options import Json, ReadOptions, emit, pairs_of, parts_of, working
from sparingly.cli.parameters import about, flag
from sparingly.cli.subject import Name, is_campaign, opened, subject_of


def import_(
    files: Annotated[tuple[Path, ...], about("The files that the tool wrote.")],
    /,
    *,
    tool: Annotated[
        str | None, about("The tool that wrote the files; default: the one of the key.", "--from")
    ] = None,
    key: Annotated[Path | None, about("The key of the export; a campaign in a file knows its own.")] = None,
    out: Annotated[
        Path | None,
        about("Ratings as .csv or .jsonl; with --into DATA the set with the ratings in it.", "--out", "-o"),
    ] = None,
    into: Annotated[
        str | None, about("A campaign to record them in, or data to put them into, with --out.")
    ] = None,
    controls: Annotated[
        Path | None, about("The control items of the assignment, to put their ratings into.")
    ] = None,
    controls_out: Annotated[
        Path | None, about("Where to write them, for sparingly raters --controls.")
    ] = None,
    name: Name = None,
    scale: Annotated[
        str | None, about("The scale of the numbers in the files, if not the exported one.")
    ] = None,
    raters: Annotated[str, about("Names of raters by what the tool calls them, such as 3=Ada,4=Bo.")] = "",
    rater: Annotated[str | None, about("The rater, where the file names none.")] = None,
    assigned: Annotated[bool, flag("Take the assigned rater to be the one who answered.")] = False,
    strict: Annotated[bool, flag("Refuse files with a score outside the scale.")] = False,
    tool_option: ToolOptions = (),
    json: Json = False,
) -> int:
    """Read the answers from an annotation tool.

    ```
    sparingly import export.json --from label-studio --key for-raters.key.json --out ratings.csv
    sparingly import export.json --key for-raters.key.json --into data.jsonl --out judged.jsonl
    sparingly import export.json --into campaign.db --raters 3=Ada,4=Bo
    ```
    """
    from sparingly.data import io
    from sparingly.run.exchange.export_import import import_answers
    from sparingly.run.exchange.reading import record_answers
    from sparingly.show.terminal.campaign import show_imported, show_recorded

    campaign = into if into is not None and is_campaign(into) else None
    if key is None and campaign is not None:
        key = campaign_key(campaign)
        if key is not None and not key.exists():
            raise UsageError(
                f"Nothing was exported from {campaign} yet: "
                f"sparingly export {campaign} --to {tool or 'TOOL'} --out FOLDER"
            )
    if key is None:
        raise UsageError(f"Name the key that the export wrote: {command_with('--key', 'FOLDER.key.json')}")
    with working("reading answers"):
        imported = import_answers(
            files,
            key=key,
            tool=tool,
            scale=scale,
            raters=pairs_of(parts_of(raters)),
            rater=rater,
            assigned=assigned,
            strict=strict,
            options=pairs_of(tool_option),
        )
    data = None
    if into is not None and campaign is None:
        with subject_of((into,), ReadOptions()) as subject:
            data = subject.data
    if data is not None and out is None:
        raise UsageError("Name the file for the set with the ratings: --out judged.jsonl.")
    if (controls is None) != (controls_out is None):
        raise UsageError("Ratings of control items need both: --controls FILE and --controls-out FILE.")
    if controls is not None and controls_out is not None:
        io.save(imported.controls_into(io.load(controls)), controls_out)
    if out is not None and data is None:
        imported.save(out)
    elif out is not None and data is not None:
        io.save(imported.into(data), out)
    recorded = None
    if campaign is not None:
        with opened(campaign, name) as running:
            recorded = record_answers(running, imported)
    if json:
        emit({**imported.to_dict(), **({} if recorded is None else {"recorded": recorded.to_dict()})})
    else:
        show_imported(imported, out)
        if recorded is not None:
            show_recorded(recorded)
    return EXIT_NO if recorded is not None and recorded.refused else EXIT_DONE
