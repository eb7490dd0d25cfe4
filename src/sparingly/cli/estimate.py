"""``sparingly estimate``: scores of the whole set from what was judged."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from sparingly.cli.options import (
    DEFAULT_READ_OPTIONS,
    Data,
    Json,
    OutFile,
    ReadOptions,
    ScaleText,
    Seed,
    emit,
    scale_ends,
    the_aspect,
    working,
)

if TYPE_CHECKING:
    from sparingly.infer.estimate.result import Estimate

Chosen = Annotated[Path | None, Parameter(help="The selection's file; all that is judged unless given.")]
Aspect = Annotated[
    str | None, Parameter(name=["--aspect", "-a"], help="What was judged: an aspect, or sum:of=[one,other].")
]
EstimatorText = Annotated[
    str | None, Parameter(name=["--estimator", "-e"], help="Such as weighted_mean, greg, control_variate:….")
]
TableFormat = Annotated[Literal["text", "markdown", "latex"], Parameter(help="How the table is written.")]


@Parameter(name="*")
@dataclass(frozen=True)
class Intervals:
    """How sure the scores are."""

    target: Annotated[
        Literal["set", "population"], Parameter(help="Scores on this set, or on inputs like these.")
    ] = "set"
    level: Annotated[float, Parameter(help="How often intervals are to hold the truth.")] = 0.95
    interval: Annotated[
        Literal["auto", "t", "bootstrap", "betting", "hoeffding", "bernstein", "none"],
        Parameter(help="The kind of interval."),
    ] = "auto"
    scale: ScaleText = None


DEFAULT_INTERVALS = Intervals()


def estimate(
    data: Data,
    selection: Chosen = None,
    /,
    *,
    aspect: Aspect = None,
    estimator: EstimatorText = None,
    by: Annotated[str | None, Parameter(help="A column: also estimate its groups.")] = None,
    raters: Annotated[
        bool, Parameter(negative=(), help="Let errors count that other raters would have scored otherwise.")
    ] = False,
    format: TableFormat = "text",
    seed: Seed = 0,
    intervals: Intervals = DEFAULT_INTERVALS,
    out: OutFile = None,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Estimate the models' scores over the whole set from the items that were judged.

    A selection with inclusion probabilities gives scores of the set; one without gives scores of the chosen
    items, and says so.

    ```
    sparingly estimate judged.jsonl chosen.json --aspect overall --out scores.json
    sparingly estimate judged.jsonl chosen.json -a mqm --target population --by domain
    sparingly estimate judged.jsonl chosen.json -a esa --scale 0,100 --interval betting
    sparingly estimate judged.jsonl chosen.json -a esa --target population --raters
    sparingly estimate judged.jsonl chosen.json -a mqm --format latex > scores.tex
    ```
    """
    from sparingly.data.selection import Selection
    from sparingly.infer.estimate.estimate import estimate as infer
    from sparingly.infer.estimate.rater_effects import with_rater_errors

    evalset = reading.load(data)
    name = the_aspect(evalset, aspect)
    chosen = None if selection is None else Selection.load(selection)
    with working("estimating"):
        result = infer(
            evalset,
            chosen,
            name,
            estimator=estimator,
            target=intervals.target,
            level=intervals.level,
            interval=intervals.interval,
            scale=scale_ends(intervals.scale),
            by=by,
            seed=seed,
        )
        result = with_rater_errors(result, evalset) if raters else result
    _tell(result, format, out, json)


def _tell(
    result: Estimate, format: Literal["text", "markdown", "latex"], out: Path | None, json: bool
) -> None:
    """Write an estimate to its file, and print it."""
    from sparingly.show.report.score_tables import score_table
    from sparingly.show.terminal.scores import show_estimate

    if out is not None:
        result.save(out)
    if json:
        emit(result.to_dict())
    elif format == "text":
        show_estimate(result, out)
    else:
        sys.stdout.write(score_table(result, format))
