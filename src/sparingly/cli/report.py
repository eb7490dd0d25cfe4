"""``sparingly report`` and ``sparingly writeup``: an evaluation as one page, or a paragraph for a paper."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from sparingly.base.errors import UsageError
from sparingly.cli.campaign import At, DataName, Name, is_campaign, opened
from sparingly.cli.estimate import Aspect, Chosen, EstimatorText
from sparingly.cli.options import (
    DEFAULT_READ_OPTIONS,
    Json,
    ReadOptions,
    ScaleText,
    Seed,
    SelectionFile,
    emit,
    scale_ends,
    working,
)

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet
    from sparingly.show.report.report import Report


# --- report ---------------------------------------------------------------------------------------


@Parameter(name="*")
@dataclass(frozen=True)
class ReportOptions:
    """What is told, and how."""

    aspect: Aspect = None
    estimator: EstimatorText = None
    target: Annotated[
        Literal["set", "population"] | None,
        Parameter(
            help="What all numbers speak of: this set, or inputs like these (population). Unless given, "
            "scores are of this set, ranks of inputs like these."
        ),
    ] = None
    level: Annotated[float, Parameter(help="How often intervals are to hold the truth.")] = 0.95
    scale: ScaleText = None
    title: Annotated[str | None, Parameter(help="The title.")] = None
    figures: Annotated[bool, Parameter(help="Draw pictures, which needs the extra report.")] = True
    curve: Annotated[
        bool, Parameter(help="Play the method again over budgets, where everything is judged.")
    ] = True
    seed: Seed = 0

    def values(self) -> dict[str, Any]:
        """Return all of it by name, the scale as numbers."""
        return {**vars(self), "scale": scale_ends(self.scale)}


@Parameter(name="*")
@dataclass(frozen=True)
class InCampaign:
    """What of a campaign is told."""

    data: DataName = None
    at: At = None
    name: Name = None

    def check_unused(self) -> None:
        """Raise UsageError if one of these is given without a campaign."""
        if any(value is not None for value in vars(self).values()):
            raise UsageError("--data, --at and --name are for campaigns.")


DEFAULT_OPTIONS, NO_CAMPAIGN = ReportOptions(), InCampaign()


def report(
    source: Annotated[str, Parameter(help="The judged evaluation set; or a campaign: its file or URL.")],
    selection: Chosen = None,
    /,
    *,
    ratings: Annotated[
        Path | None,
        Parameter(help="A table of ratings for a set that holds none: rater, item, model, score."),
    ] = None,
    out: Annotated[Path, Parameter(name=["--out", "-o"], help="The file to write.")] = Path("report.html"),
    format: Annotated[
        str | None,
        Parameter(help="html, md, tex, json, or several: html,md. The ending of --out unless given."),
    ] = None,
    options: ReportOptions = DEFAULT_OPTIONS,
    campaign: InCampaign = NO_CAMPAIGN,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Write a report: question, data, selection, scores, ranks, pairs, raters, costs, how to verify.

    The page needs no network, prints well, and comes in light and dark.

    ```
    sparingly report judged.jsonl chosen.json --aspect overall --out report.html
    sparingly report outputs.jsonl chosen.json --ratings ratings.csv --format html,md,tex,json
    sparingly report campaign.db --out report.html
    ```
    """
    with working("writing the report"):
        if is_campaign(source):
            page = _of_campaign(source, selection, ratings, options, campaign)
        else:
            campaign.check_unused()
            page = _of_files(Path(source), selection, ratings, options, reading)
        files = page.save(out, None if format is None else [part.strip() for part in format.split(",")])
    if json:
        emit({"written": [str(path) for path in files], **page.to_dict()})
        return
    from sparingly.show.terminal.console import line

    for sentence in (page.title, *page.lead, *(f"written to {path}" for path in files)):
        line(sentence.replace("`", ""))


def _of_campaign(
    source: str, selection: Path | None, ratings: Path | None, options: ReportOptions, campaign: InCampaign
) -> Report:
    from sparingly.show.report.report import report as tell

    if selection is not None or ratings is not None:
        raise UsageError("A campaign knows its selections and ratings: give nothing but the campaign.")
    with opened(source, campaign.name) as running:
        return tell(running, data=campaign.data, at=campaign.at, **options.values())


def _of_files(
    source: Path, selection: Path | None, ratings: Path | None, options: ReportOptions, reading: ReadOptions
) -> Report:
    from sparingly.data.selection import Selection
    from sparingly.show.report.report import report as tell

    evalset = _judged(reading.load(source), ratings)
    return tell(evalset, None if selection is None else Selection.load(selection), **options.values())


def _judged(evalset: EvalSet, ratings: Path | None) -> EvalSet:
    if ratings is None:
        return evalset
    from sparingly.data import io
    from sparingly.run.raters.ratings import with_ratings_of

    return with_ratings_of(evalset, io.load(ratings))


# --- writeup --------------------------------------------------------------------------------------


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
