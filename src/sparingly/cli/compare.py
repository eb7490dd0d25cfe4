"""``sparingly compare``: which of two models is better, and whether that is settled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from sparingly.base.errors import EXIT_DONE, EXIT_NO, UsageError
from sparingly.cli.estimate import Aspect, EstimatorText
from sparingly.cli.options import (
    DEFAULT_READ_OPTIONS,
    Json,
    ReadOptions,
    ScaleText,
    Seed,
    Target,
    Verbose,
    emit,
    scale_ends,
    working,
)
from sparingly.cli.parameters import about, flag
from sparingly.cli.subject import WHOLE_CAMPAIGN, InCampaign, Subject, subject_of

Subjects = Annotated[
    tuple[str, ...],
    about("The data (two runs join by item) or a campaign, then two models unless there are just two."),
]


def compare(
    sources: Subjects,
    /,
    *,
    aspect: Aspect = None,
    margin: Annotated[
        str | None, about("Is the first model worse by at most this? 2% for rates and wins, else a number.")
    ] = None,
    gate: Annotated[bool, flag("With --margin: exit with 0 for yes, with 1 for no or not yet.")] = False,
    target: Target = None,
    judge: Annotated[
        str | None, about("The judge (a metric or rater with votes on everything); default: all metrics.")
    ] = None,
    estimator: EstimatorText = None,
    scale: ScaleText = None,
    alpha: Annotated[float, about("The error rate of the test.")] = 0.05,
    seed: Seed = 0,
    campaign: InCampaign = WHOLE_CAMPAIGN,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    verbose: Verbose = False,
    json: Json = False,
) -> int:
    """Compare two models: who wins, by how much, and how many more labels would settle it.

    ```
    sparingly compare data.jsonl new current
    sparingly compare run-a.eval run-b.eval
    sparingly compare campaign.db
    sparingly compare data.jsonl new current --gate --margin 2%
    ```

    From comparisons it counts wins, losses and ties; otherwise it uses scores. For many compared models it
    prints strengths and who beat whom.
    """
    from sparingly.infer.compare.head_to_head import HeadToHead
    from sparingly.show.terminal.compare import show_win_matrix
    from sparingly.show.terminal.console import show_summary

    if gate and margin is None:
        raise UsageError("A gate needs a margin: write --gate --margin 2%.")
    files, names = split_sources(sources)
    how: dict[str, Any] = {"target": target or "population", "margin": margin, "alpha": alpha}
    with subject_of(files, reading, campaign) as subject, working("comparing"):
        if not names and len(files) == 2 and subject.campaign is None and len(subject.data.models) == 2:
            names = in_order_of_files(files, subject, reading)
        if gate and not names:
            raise UsageError(
                "Name the models, the new one first: sparingly compare DATA NEW CURRENT --gate --margin 2%."
            )
        if subject.campaign is not None:
            result = _of_campaign(
                subject, names, aspect, judge, {**how, "estimator": estimator, "seed": seed}
            )
        else:
            result = _of_data(
                subject,
                names,
                aspect,
                judge,
                {**how, "estimator": estimator, "seed": seed},
                scale_ends(scale),
            )
    if json:
        emit(result.to_dict())
    elif isinstance(result, HeadToHead):
        show_summary(result.summary(), subject.with_aspect(aspect), verbose=verbose)
    else:
        show_win_matrix(result, subject.typed, verbose=verbose)
    if not (gate and isinstance(result, HeadToHead) and result.margin is not None):
        return EXIT_DONE
    return EXIT_DONE if result.margin.answer == "yes" else EXIT_NO


def split_sources(sources: tuple[str, ...]) -> tuple[tuple[str, ...], list[str]]:
    """Return the files or the campaign, and the names of models: what follows and is no file."""
    if not sources:
        raise UsageError("Name the data and two models: sparingly compare DATA NEW CURRENT.")
    files = [source for source in sources[1:] if "://" in source or Path(source).is_file()]
    names = [source for source in sources[1:] if source not in files]
    if len(names) > 2:
        raise UsageError(f"A comparison is of two models, and {len(names)} are named: {', '.join(names)}.")
    return (sources[0], *files), names


def in_order_of_files(files: tuple[str, ...], subject: Subject, reading: ReadOptions) -> list[str]:
    """Return the two models in the order of the two files that they come from."""
    first = reading.load(Path(files[0])).models
    models = sorted(subject.data.models, key=lambda name: not any(name.startswith(own) for own in first))
    return models if len(first) == 1 else []


def _of_data(
    subject: Subject, names: list[str], aspect: str | None, judge: str | None, how: dict[str, Any], scale: Any
) -> Any:
    from sparingly.infer.compare.compare import compare as compare_models
    from sparingly.infer.compare.compare import compares_outputs

    data = subject.data
    if not compares_outputs(data, aspect):
        aspect, data = subject.scores(aspect)
    return compare_models(
        data,
        *(names or (None, None)),
        selection=subject.selection,
        aspect=aspect,
        judge=judge,
        scale=scale,
        **how,
    )


def _of_campaign(
    subject: Subject, names: list[str], aspect: str | None, judge: str | None, how: dict[str, Any]
) -> Any:
    if (running := subject.campaign) is None:
        raise UsageError("There is no campaign.")
    name = running.settings.data_named(subject.part.data)
    subject.aspect(aspect)
    return running.compare(name, *names, at=subject.part.at, judge=judge, **how)
