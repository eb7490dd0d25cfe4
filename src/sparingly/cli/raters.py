"""``sparingly raters``: how severe raters are, how well they agree, and who is far from the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from sparingly.cli.options import Json, ReadOptions, Seed, Verbose, emit, working
from sparingly.cli.parameters import about
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources


def raters(
    sources: Sources,
    /,
    *,
    aspect: Annotated[
        str | None, about("The aspect that people judged; default: the only one.", "--aspect", "-a")
    ] = None,
    scores_are: Annotated[
        Literal["nominal", "ordinal", "interval", "ratio"], about("The level of measurement, for agreement.")
    ] = "interval",
    metric: Annotated[str | None, about("A metric: also show its slope by rater and model.")] = None,
    controls: Annotated[
        Path | None, about("The control items with their ratings: a file or a directory.")
    ] = None,
    alpha: Annotated[float, about("The probability of any wrong flag.")] = 0.05,
    seed: Seed = 0,
    source: SourceOptions = DEFAULT_SOURCE,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Check the raters: severity, agreement and outliers.

    ```
    sparingly raters judged.jsonl --aspect overall
    sparingly raters campaign.db
    sparingly raters judged.jsonl -a mqm --metric COMET
    sparingly raters judged.jsonl -a overall --controls controls-judged.jsonl
    sparingly raters judged.jsonl -a category --scores-are nominal --json
    ```
    """
    from sparingly.run.raters.report import rater_report
    from sparingly.show.terminal.results import show_raters

    with source.open(sources) as subject:
        subject.check_answered()
        evalset = subject.data
        aspect = aspect if subject.campaign is None else subject.aspect(aspect)
        drift = []
        if subject.campaign is not None:
            from sparingly.run.campaign.results import rater_drift

            drift = rater_drift(subject.campaign, subject.part.data, at=subject.part.at)
    checked = None if controls is None else ReadOptions().load(controls)
    with working("comparing raters"):
        result = rater_report(
            evalset, aspect, level=scores_are, metric=metric, controls=checked, alpha=alpha, seed=seed
        )
    if json:
        emit({**result.to_dict(), **({"drift": [one.to_dict() for one in drift]} if drift else {})})
    else:
        drifted = [one.sentence for one in drift if aspect in (None, one.aspect)]
        show_raters(result, drifted, subject.with_aspect(aspect), verbose=verbose)
