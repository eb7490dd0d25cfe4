"""``sparingly report`` and ``sparingly writeup``: an evaluation as one page, or a paragraph for a paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from sparingly.cli.estimate import Aspect, EstimatorText
from sparingly.cli.options import (
    Json,
    Level,
    ScaleText,
    Seed,
    SelectionFile,
    Target,
    emit,
    scale_ends,
    working,
)
from sparingly.cli.parameters import about, flag, options, several
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources


@options
class ReportOptions:
    """What is told, and how."""

    aspect: Aspect = None
    estimator: EstimatorText = None
    target: Target = None
    level: Level = 0.95
    scale: ScaleText = None
    title: Annotated[str | None, about("The title.")] = None
    figures: Annotated[bool, about("Draw pictures, which needs the extra report.")] = True
    curve: Annotated[bool, about("If everything is judged: replay the method over budgets.")] = True
    seed: Seed = 0
    rater_names: Annotated[bool, flag("Name the raters; else they are numbers.")] = False


DEFAULT_OPTIONS = ReportOptions()


def report(
    sources: Sources,
    /,
    *,
    out: Annotated[
        tuple[Path, ...],
        several("The file to write: .html, .md, .tex, .json, or a slide: .png, .svg", "--out", "-o"),
    ] = (Path("report.html"),),
    options: ReportOptions = DEFAULT_OPTIONS,
    source: SourceOptions = DEFAULT_SOURCE,
    json: Json = False,
) -> None:
    """Write a report of an evaluation as one HTML file.

    ```
    sparingly report judged.jsonl chosen.json --aspect overall --out report.html
    ```

    The page needs no network, prints well, and comes in light and dark.

    ```
    sparingly report outputs.jsonl chosen.json --labels ratings.csv -o report.html -o report.md
    sparingly report campaign.db --out report.html
    ```
    """
    from sparingly.show.report.report import report as tell
    from sparingly.show.report.report import report_kind
    from sparingly.show.terminal.console import line, wrapped

    for target in out:
        report_kind(target)
    values = {**vars(options), "scale": scale_ends(options.scale)}
    with source.open(sources) as subject:
        subject.check_answered()
        if subject.campaign is None:
            data = subject.data
            if not (
                subject.compares or (subject.selection is not None and subject.selection.pairs is not None)
            ):
                values["aspect"], data = subject.scores(options.aspect)
            with working("writing the report"):
                page = tell(data, subject.selection, **values)
        else:
            with working("writing the report"):
                page = tell(subject.campaign, data=source.campaign.data, at=source.campaign.at, **values)
    files = [path for target in out for path in page.save(target)]
    if json:
        emit({"written": [str(path) for path in files], **page.to_dict()})
        return
    line(page.title, style="bold")
    for sentence in page.lead:
        plain = sentence.replace("`", "")
        if plain.startswith("Next: "):
            plain = plain.replace("CAMPAIGN", subject.typed).replace("DATA", subject.typed)
        wrapped(plain)
    for path in files:
        line(f"written to {path}")


def writeup(
    selection: SelectionFile,
    /,
    *,
    format: Annotated[Literal["markdown", "latex"], about("How it is written.")] = "markdown",
    json: Json = False,
) -> None:
    """Print a paragraph and a table about a selection, for a paper.

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
