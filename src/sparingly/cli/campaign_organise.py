"""``sparingly campaign pause|resume|hours|release``: what an organiser does beside the rounds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from sparingly.cli.campaign import At, Name, Where, opened
from sparingly.cli.campaign_expect import campaign
from sparingly.cli.options import Json, emit, working

__all__ = ["campaign", "hours", "pause", "release", "resume"]


@campaign.command
def pause(
    where: Where,
    /,
    *,
    reason: Annotated[str, Parameter(help="Why, for those who look it up.")] = "",
    name: Name = None,
    json: Json = False,
) -> None:
    """Hand out no more questions; answers are still taken.

    ```
    sparingly campaign pause wmt.db --reason "new instructions"
    ```
    """
    from sparingly.run.campaign.pause import pause as begin_pause

    with opened(where, name) as running:
        _told("paused", running.name, begin_pause(running, reason), json)


@campaign.command
def resume(where: Where, /, *, name: Name = None, json: Json = False) -> None:
    """Hand out questions again.

    ```
    sparingly campaign resume wmt.db
    ```
    """
    from sparingly.run.campaign.pause import resume as end_pause

    with opened(where, name) as running:
        _told("resumed", running.name, end_pause(running), json)


def _told(what: str, campaign: str, seq: int, json: bool) -> None:
    if json:
        emit({"campaign": campaign, what: seq})
    else:
        sys.stdout.write(f"{what}: {campaign}, at entry {seq}\n")


@campaign.command
def hours(
    where: Where,
    /,
    *,
    out: Annotated[
        Path | None, Parameter(name=["--out", "-o"], help="The sheet: .csv, .tsv or .jsonl.")
    ] = None,
    rate: Annotated[
        float | None, Parameter(help="What an hour is paid with: the sheet says what is due.")
    ] = None,
    at: At = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Say how long every rater worked, by the seconds that came with the answers.

    ```
    sparingly campaign hours wmt.db
    sparingly campaign hours wmt.db --rate 18.50 -o hours.csv
    ```
    """
    from sparingly.cli.forms import write_rows
    from sparingly.data.files import without_formulas
    from sparingly.run.campaign.hours import hours as worked
    from sparingly.run.campaign.hours import sheet
    from sparingly.show.terminal.organise import show_hours

    with opened(where, name) as running:
        columns, rows = sheet(worked(running, at=at), rate)
    if out is not None:
        write_rows([without_formulas(row, ("rater",)) for row in rows], columns, out)
    if json:
        emit(rows)
    else:
        show_hours(rows, None if out is None else str(out))


@campaign.command
def release(
    where: Where,
    out: Annotated[Path, Parameter(help="The folder to make, or a .zip file.")],
    /,
    *,
    licence: Annotated[str, Parameter(help="The licence, such as CC-BY-4.0; it goes into the data card.")],
    title: Annotated[str | None, Parameter(help="What the data card calls it.")] = None,
    comments: Annotated[
        bool, Parameter(negative="", help="Also give away what raters wrote: read it first.")
    ] = False,
    no_texts: Annotated[
        bool, Parameter(negative="", help="Without the data sets: ratings and rounds, by ids.")
    ] = False,
    seed: Annotated[
        int | None,
        Parameter(
            help="Settles who gets which number; a secret, new random one unless given.", show_default=False
        ),
    ] = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Write an anonymised release: data card, ratings with raters as numbers, rounds with probabilities.

    ```
    sparingly campaign release wmt.db wmt-release --licence CC-BY-4.0
    sparingly campaign release wmt.db wmt-release.zip --licence CC-BY-4.0 --title "Our evaluation"
    ```
    """
    from sparingly.run.campaign.release import release as write_release
    from sparingly.show.terminal.organise import show_release

    asked: dict[str, Any] = {"licence": licence, "title": title, "comments": comments, "seed": seed}
    with opened(where, name) as running, working("writing"):
        made = write_release(running, out, texts=not no_texts, **asked)
    if json:
        emit(made.to_dict())
    else:
        show_release(made)
