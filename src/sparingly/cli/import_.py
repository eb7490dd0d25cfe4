"""``sparingly import``: answers of an annotation tool, as ratings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sparingly.base.errors import EXIT_DONE, EXIT_NO, UsageError
from sparingly.cli.export import ToolOptions, campaign_key, pairs_of
from sparingly.cli.options import Json, emit, working
from sparingly.cli.subject import Name, is_campaign

if TYPE_CHECKING:
    from sparingly.run.campaign.answers import RecordedCounts
    from sparingly.run.exchange.report import ImportReport


@Parameter(name="*")
@dataclass(frozen=True)
class AnswerOptions:
    """How answers are read."""

    scale: Annotated[
        str | None, Parameter(help="The scale of the numbers in the files, where it is not the exported one.")
    ] = None
    raters: Annotated[
        str, Parameter(help="Names of raters by what the tool calls them, such as 3=Ada,4=Bo.")
    ] = ""
    rater: Annotated[str | None, Parameter(help="Who answered, where nothing else says.")] = None
    assigned: Annotated[
        bool, Parameter(negative="", help="Take the rater who was assigned for the one who answered.")
    ] = False
    strict: Annotated[bool, Parameter(negative="", help="Refuse files with a score outside the scale.")] = (
        False
    )


@Parameter(name="*")
@dataclass(frozen=True)
class DestinationOptions:
    """Where the ratings go."""

    out: Annotated[
        Path | None,
        Parameter(
            name=["--out", "-o"],
            help="Ratings as .csv or .jsonl; with --into DATA the set with the ratings in it.",
        ),
    ] = None
    into: Annotated[
        str | None, Parameter(help="A campaign to record them in, or data to put them into, with --out.")
    ] = None
    controls: Annotated[
        Path | None, Parameter(help="The control items that were handed out, to put their ratings into.")
    ] = None
    controls_out: Annotated[
        Path | None, Parameter(help="Where to write them, for sparingly raters --controls.")
    ] = None
    name: Name = None

    @property
    def campaign(self) -> str | None:
        """The campaign that takes the answers, if there is one."""
        return self.into if self.into is not None and is_campaign(self.into) else None


DEFAULT_ANSWERS = AnswerOptions()
NO_DESTINATION = DestinationOptions()


def import_(
    files: Annotated[tuple[Path, ...], Parameter(help="What the tool gave back.")],
    /,
    *,
    tool: Annotated[
        str | None, Parameter(name="--from", help="The tool; the one that the key was made for unless given.")
    ] = None,
    key: Annotated[
        Path | None, Parameter(help="The key of the export; a campaign in a file knows its own.")
    ] = None,
    receiving: DestinationOptions = NO_DESTINATION,
    answering: AnswerOptions = DEFAULT_ANSWERS,
    tool_option: ToolOptions = (),
    json: Json = False,
) -> int:
    """Read the answers of an annotation tool; say what was taken and what was left out and why.

    ```
    sparingly import export.json --from label-studio --key for-raters.key.json --out ratings.csv
    sparingly import export.json --key for-raters.key.json --into data.jsonl --out judged.jsonl
    sparingly import export.json --into campaign.db --raters 3=Ada,4=Bo
    ```
    """
    from sparingly.run.exchange.export_import import import_answers
    from sparingly.show.terminal.campaign import show_imported, show_recorded

    with working("reading answers"):
        imported = import_answers(
            files,
            key=_key(key, receiving.campaign),
            tool=tool,
            scale=answering.scale,
            raters=pairs_of(tuple(pair for pair in answering.raters.split(",") if pair)),
            rater=answering.rater,
            assigned=answering.assigned,
            strict=answering.strict,
            options=pairs_of(tool_option),
        )
    _write(imported, receiving)
    recorded = _record(imported, receiving)
    if json:
        emit({**imported.to_dict(), **({} if recorded is None else {"recorded": recorded.to_dict()})})
    else:
        show_imported(imported, receiving.out)
        if recorded is not None:
            show_recorded(recorded)
    return EXIT_NO if recorded is not None and recorded.refused else EXIT_DONE


def _key(path: Path | None, campaign: str | None) -> Path:
    key = path or (None if campaign is None else campaign_key(campaign))
    if key is None:
        raise UsageError("Name the key that the export wrote: --key FOLDER.key.json.")
    return key


def _write(imported: ImportReport, receiving: DestinationOptions) -> None:
    from sparingly.data import io

    data = None if receiving.into is None or receiving.campaign else Path(receiving.into)
    if data is not None and receiving.out is None:
        raise UsageError("Name the file for the set with the ratings: --out judged.jsonl.")
    if (receiving.controls is None) != (receiving.controls_out is None):
        raise UsageError("Ratings of control items need both: --controls FILE and --controls-out FILE.")
    if receiving.controls is not None and receiving.controls_out is not None:
        io.save(imported.controls_into(io.load(receiving.controls)), receiving.controls_out)
    if receiving.out is not None and data is None:
        imported.save(receiving.out)
    elif receiving.out is not None and data is not None:
        io.save(imported.into(io.load(data)), receiving.out)


def _record(imported: ImportReport, receiving: DestinationOptions) -> RecordedCounts | None:
    if receiving.campaign is None:
        return None
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.run.exchange.report import record_answers

    with Campaign(receiving.campaign, receiving.name) as running:
        return record_answers(running, imported)
