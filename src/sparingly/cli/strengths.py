"""``sparingly strengths``: how strong models are, from comparisons of two outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from sparingly.base.errors import UsageError
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Data, Json, Level, ReadOptions, Verbose, emit, working
from sparingly.cli.parameters import about, several


def strengths(
    data: Data,
    /,
    *,
    aspect: Annotated[str | None, about("Use the preferences of this aspect only.", "--aspect", "-a")] = None,
    from_scores: Annotated[
        str | None, about("An aspect or a metric: derive the preferences from its scores.")
    ] = None,
    tie: Annotated[float, about("With --from-scores: how far apart scores are tied.")] = 0.0,
    ties: Annotated[
        Literal["davidson", "half"] | None,
        about("Ties have a parameter (unless preferences are soft), or count half a win."),
    ] = None,
    covariate: Annotated[tuple[str, ...], several("What else may sway people: length, or a metric")] = (),
    rounds: Annotated[
        tuple[Path, ...], several("Files of the rounds that drew the comparisons, to weigh them")
    ] = (),
    level: Level = 0.95,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Estimate how strong many models are from pairwise preferences.

    ```
    sparingly strengths judged.jsonl
    ```

    The log-odds that one model is preferred to another are the difference of their strengths. For two models
    it prints the win rate, as sparingly compare does.

    ```
    sparingly strengths judged.jsonl --covariate length --ties half
    sparingly strengths judged.jsonl --from-scores overall --tie 2
    ```
    """
    from sparingly.data.selection import Selection
    from sparingly.infer.compare.compare import compare_votes
    from sparingly.infer.compare.head_to_head import HeadToHead
    from sparingly.infer.compare.strengths import judged_strengths
    from sparingly.show.terminal.console import show_summary

    evalset = reading.load(data)
    if from_scores is not None:
        evalset = evalset.with_preferences_from(from_scores, tie)
    elif tie:
        raise UsageError("A tie margin is about scores: name them, too, with --from-scores.")
    elif not len(evalset.preferences):
        raise UsageError("The evaluation set has no preferences: derive them with --from-scores ASPECT.")
    with working("estimating"):
        selections = [Selection.load(path) for path in rounds]
        if len(evalset.models) == 2 and not (covariate or selections or ties):
            pair = compare_votes(evalset, aspect=aspect, alpha=round(1 - level, 12))
            if isinstance(pair, HeadToHead):
                emit(pair.to_dict()) if json else show_summary(pair.summary(), str(data), verbose=verbose)
                return
        result = judged_strengths(
            evalset, aspect, ties=ties, covariates=covariate, rounds=selections, level=level
        ).strengths
    emit(result.to_dict()) if json else show_summary(result.summary(), str(data), verbose=verbose)
