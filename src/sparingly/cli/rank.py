"""``sparingly rank``: which models are better, and how sure that is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

from sparingly.base.errors import MissingDataError, UsageError
from sparingly.cli.estimate import (
    Aspect,
    EstimatorText,
    FormatOption,
    as_json,
    check_strengths,
    check_unselected,
    only_result,
)
from sparingly.cli.options import Json, OutFile, ScaleText, Seed, Target, Verbose, emit, scale_ends, working
from sparingly.cli.parameters import about, flag, options
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources

if TYPE_CHECKING:
    from sparingly.infer.rank.ranking import Ranking


@options
class DecisionOptions:
    """How pairs of models are decided."""

    target: Target = None
    test: Annotated[Literal["t", "permutation", "wilcoxon"], about("The test of each pair of models.")] = "t"
    groups_by: Annotated[
        Literal["decisions", "algorithm1", "mt_metrics_eval"],
        about("Groups from the decisions, or by a published rule without correction."),
    ] = "decisions"
    alpha: Annotated[float, about("The error rate of all decisions together.")] = 0.05
    scale: ScaleText = None
    expect: Annotated[bool, flag("Also predict what judging everything would show.")] = False
    seed: Seed = 0


DEFAULT_DECISIONS = DecisionOptions()


def rank(
    sources: Sources,
    /,
    *,
    aspect: Aspect = None,
    estimator: EstimatorText = None,
    format: FormatOption = "text",
    deciding: DecisionOptions = DEFAULT_DECISIONS,
    out: OutFile = None,
    source: SourceOptions = DEFAULT_SOURCE,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Rank the models, and say which differences are significant.

    ```
    sparingly rank judged.csv
    ```

    For two models, or a release gate, use sparingly compare.

    ```
    sparingly rank judged.jsonl chosen.json --aspect overall --out ranking.json
    sparingly rank campaign.db
    sparingly rank judged.jsonl chosen.json -a overall --expect
    sparingly rank judged.jsonl -a mqm --groups-by algorithm1 --format markdown
    ```
    """
    from sparingly.infer.compare.compare import compare_votes
    from sparingly.infer.rank.rank import rank as order
    from sparingly.show.report.score_tables import ranking_table
    from sparingly.show.terminal.results import show_ranking

    if deciding.expect and format != "text":
        raise UsageError("What is expected is printed as text or JSON: leave out --expect or --format.")
    how = {**vars(deciding), "scale": scale_ends(deciding.scale), "estimator": estimator}
    rankings: dict[str, Ranking] = {}
    with source.open(sources) as subject:
        if subject.compares and aspect is None:
            check_strengths(
                {"estimator": estimator, "test": deciding.test if deciding.test != "t" else None}, "text"
            )
            check_unselected(subject.selection)
            target = deciding.target or "population"
            rankings[""] = compare_votes(subject.data, target=target, alpha=deciding.alpha).ranking
        elif (running := subject.campaign) is None:
            if len(subject.data.models) == 1:
                raise MissingDataError(
                    f"{subject.title} has one model, {subject.data.models[0]}; a ranking needs two. For its "
                    f"score: sparingly estimate {subject.typed}"
                )
            name, data = subject.scores(aspect)
            with working("ranking"):
                rankings[""] = order(data, subject.selection, name, **how)
        else:
            subject.aspect(aspect)
            for part in ("test", "groups_by"):
                if how.pop(part) != getattr(DEFAULT_DECISIONS, part):
                    option = f"--{part.replace('_', '-')}"
                    file = f"sparingly campaign export {subject.typed} data.jsonl"
                    raise UsageError(f"{option} is for files: {file}")
            subject.check_answered()
            with working("ranking"):
                for set_name in subject.set_names:
                    rankings[set_name] = running.rank(set_name, at=source.campaign.at, **how)
    if out is not None:
        only_result(rankings, out).save(out)
    if json:
        emit(as_json(rankings))
    for set_name, ranking in {} if json else rankings.items():
        if len(rankings) > 1:
            sys.stdout.write(f"{set_name}\n")
        if format == "text":
            show_ranking(ranking, out, subject.with_aspect(aspect), verbose=verbose)
        else:
            sys.stdout.write(ranking_table(ranking, format))
