"""``sparingly estimate``: scores of the whole set from what was judged."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sparingly.base.errors import UsageError, listing
from sparingly.cli.options import (
    Json,
    Level,
    OutFile,
    ScaleText,
    Seed,
    Target,
    Verbose,
    emit,
    scale_ends,
    working,
)
from sparingly.cli.parameters import about, flag, options
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet
    from sparingly.data.selection import Selection

Aspect = Annotated[
    str | None, about("The aspect that people judged, or sum:of=[one,other].", "--aspect", "-a")
]
EstimatorText = Annotated[
    str | None, about("Such as weighted_mean, greg, control_variate:….", "--estimator", "-e")
]
FormatOption = Annotated[Literal["text", "markdown", "latex"], about("How the table is written.")]


@options
class IntervalOptions:
    """How sure the scores are."""

    target: Target = None
    level: Level = 0.95
    interval: Annotated[
        Literal["auto", "t", "bootstrap", "betting", "hoeffding", "bernstein", "none"],
        about("The kind of interval."),
    ] = "auto"
    scale: ScaleText = None


DEFAULT_INTERVALS = IntervalOptions()


def estimate(
    sources: Sources,
    /,
    *,
    aspect: Aspect = None,
    estimator: EstimatorText = None,
    by: Annotated[str | None, about("A column: also estimate its groups.")] = None,
    rater_errors: Annotated[
        bool, flag("Add to the errors that other raters might have scored differently.")
    ] = False,
    format: FormatOption = "text",
    seed: Seed = 0,
    intervals: IntervalOptions = DEFAULT_INTERVALS,
    out: OutFile = None,
    source: SourceOptions = DEFAULT_SOURCE,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Estimate each model's score on the whole set from the judged part.

    ```
    sparingly estimate judged.csv
    ```

    A random sample gives scores of the whole set; a list of top items gives scores of those items only, and
    says so. A campaign gives scores of what is judged so far; from comparisons, the win rate of two models or
    the strengths of many.

    ```
    sparingly estimate judged.jsonl chosen.json --aspect overall --out scores.json
    sparingly estimate campaign.db
    sparingly estimate judged.jsonl chosen.json -a mqm --target population --by domain
    sparingly estimate judged.jsonl chosen.json -a esa --scale 0,100 --interval betting
    sparingly estimate judged.jsonl chosen.json -a esa --target population --rater-errors
    sparingly estimate judged.jsonl chosen.json -a mqm --format latex > scores.tex
    ```
    """
    from sparingly.infer.estimate.estimate import estimate as infer
    from sparingly.infer.estimate.rater_effects import with_rater_errors
    from sparingly.infer.estimate.result import Estimate
    from sparingly.show.report.score_tables import score_table
    from sparingly.show.terminal.console import show_summary
    from sparingly.show.terminal.results import show_estimate

    settings: dict[str, Any] = {**vars(intervals), "estimator": estimator, "by": by}
    settings["target"] = intervals.target or "set"
    settings["scale"] = scale_ends(intervals.scale)
    results: dict[str, Any] = {}
    with source.open(sources) as subject:
        if subject.compares and aspect is None:
            check_strengths({**settings, "target": "set"}, format)
            check_unselected(subject.selection)
            results[""] = _compared(subject.data, intervals)
        elif (running := subject.campaign) is None:
            name, data = subject.scores(aspect)
            with working("estimating"):
                results[""] = infer(data, subject.selection, name, seed=seed, **settings)
                results[""] = with_rater_errors(results[""], data) if rater_errors else results[""]
        else:
            if rater_errors:
                raise UsageError(
                    f"--rater-errors is for files: sparingly campaign export {subject.typed} data.jsonl"
                )
            subject.aspect(aspect)
            subject.check_answered()
            at = running.last_seq() if source.campaign.at is None else source.campaign.at
            with working("estimating"):
                for set_name in subject.set_names:
                    if running.compares(set_name):
                        check_strengths({**settings, "target": "set"}, format)
                        if len(running.data(set_name, at=at, judged=False).models) == 2:
                            about = intervals.target or "population"
                            found = running.compare(set_name, at=at, target=about, alpha=_alpha(intervals))
                            results[set_name] = found
                        else:
                            _check_population(intervals)
                            results[set_name] = running.strengths(set_name, at=at, level=intervals.level)
                    else:
                        results[set_name] = running.estimate(set_name, at=at, seed=seed, **settings)
    if out is not None:
        only_result(results, out).save(out)
    if json:
        emit(as_json(results))
        return
    for set_name, result in results.items():
        if len(results) > 1:
            sys.stdout.write(f"{set_name}\n")
        if not isinstance(result, Estimate):
            show_summary(result.summary(), subject.typed, verbose=verbose)
        elif format == "text":
            show_estimate(result, out, subject.with_aspect(aspect), verbose=verbose)
        else:
            sys.stdout.write(score_table(result, format))


def _alpha(intervals: IntervalOptions) -> float:
    return round(1 - intervals.level, 12)


def _check_population(intervals: IntervalOptions) -> None:
    if intervals.target == "set":
        raise UsageError("Strengths describe inputs like these: leave out --target set.")


def _compared(data: EvalSet, intervals: IntervalOptions) -> Any:
    """Return what comparisons say: who won, of two models; strengths of many."""
    from sparingly.infer.compare.compare import compare_votes
    from sparingly.infer.compare.strengths import judged_strengths

    if len(data.models) == 2:
        return compare_votes(data, target=intervals.target or "population", alpha=_alpha(intervals))
    _check_population(intervals)
    return judged_strengths(data, level=intervals.level).strengths


def only_result(results: Mapping[str, Any], out: Path) -> Any:
    """Return the only result, for its file."""
    if len(results) > 1:
        raise UsageError(f"{out} takes one data set: name it with --data, one of {listing(results)}.")
    result = next(iter(results.values()))
    if not hasattr(result, "save"):
        raise UsageError(
            "Comparisons have no file of results: leave out --out, or print them with --json > FILE."
        )
    return result


def as_json(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the only result, or of each by its data set."""
    values = {name: result.to_dict() for name, result in results.items()}
    return values if len(values) > 1 else next(iter(values.values()))


def check_unselected(selection: Selection | None) -> None:
    """Refuse comparisons with a selection: all of them would be counted, drawn or not."""
    from sparingly.infer.compare.compare import SELECTION_OF_ITEMS

    if selection is not None:
        raise UsageError(SELECTION_OF_ITEMS)


def check_strengths(options: Mapping[str, Any], format: str) -> None:
    """Refuse options that mean nothing for strengths: they must not be lost in silence."""
    usual = {"target": "set", "interval": DEFAULT_INTERVALS.interval}
    for name, value in options.items():
        if name != "level" and value != usual.get(name):
            raise UsageError(f"Comparisons give strengths, which have no {name}: leave out --{name}.")
    if format != "text":
        raise UsageError("Strengths are printed as text, or with --json: leave out --format.")
