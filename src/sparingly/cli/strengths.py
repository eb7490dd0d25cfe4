"""``sparingly strengths``: how strong models are, from comparisons of two outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from sparingly.base.errors import UsageError
from sparingly.cli.options import Json, Level, Verbose, emit, working
from sparingly.cli.parameters import about, several
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources


def strengths(
    sources: Sources,
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
    source: SourceOptions = DEFAULT_SOURCE,
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
    sparingly strengths campaign.db
    sparingly strengths judged.jsonl --covariate length --ties half
    sparingly strengths judged.jsonl --from-scores overall --tie 2
    ```
    """
    from sparingly.data.selection import Selection
    from sparingly.infer.compare.compare import compare_votes
    from sparingly.infer.compare.head_to_head import HeadToHead
    from sparingly.infer.compare.strengths import judged_strengths
    from sparingly.show.terminal.console import show_summary

    with source.open(sources) as subject, working("estimating"):
        data = subject.data
        if from_scores is not None:
            data = data.with_preferences_from(from_scores, tie)
        elif tie:
            raise UsageError("A tie margin is about scores: name them, too, with --from-scores.")
        else:
            subject.check_answered()
            if not len(data.preferences):
                raise UsageError(
                    "The evaluation set has no preferences: derive them with --from-scores ASPECT."
                )
        drawn = [Selection.load(path) for path in rounds]
        drawn += [] if subject.selection is None else [subject.selection]
        result: Any = None
        alpha, is_plain = round(1 - level, 12), not (covariate or drawn or ties or from_scores)
        if subject.campaign is not None:
            name = subject.campaign.settings.data_named(source.campaign.data)
            drawn += subject.campaign.rounds(name, at=source.campaign.at)
            if len(data.models) == 2 and is_plain:
                result = subject.campaign.compare(name, at=source.campaign.at, alpha=alpha)
        elif len(data.models) == 2 and is_plain:
            result = compare_votes(data, aspect=aspect, alpha=alpha)
        if not isinstance(result, HeadToHead):
            result = judged_strengths(
                data, aspect, ties=ties, covariates=covariate, rounds=drawn, level=level
            ).strengths
    emit(result.to_dict()) if json else show_summary(result.summary(), subject.typed, verbose=verbose)
