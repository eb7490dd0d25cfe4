"""``sparingly compare``: which of two models is better, and whether that is settled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from sparingly.base.errors import EXIT_DONE, EXIT_NO, UsageError
from sparingly.cli.estimate import Aspect, EstimatorText
from sparingly.cli.options import Json, ScaleText, Seed, Target, Verbose, emit, scale_ends, working
from sparingly.cli.parameters import about, flag
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions

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
    source: SourceOptions = DEFAULT_SOURCE,
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
    from sparingly.infer.compare.compare import compare as compare_models
    from sparingly.infer.compare.compare import compares_outputs
    from sparingly.infer.compare.head_to_head import HeadToHead
    from sparingly.show.terminal.console import show_summary
    from sparingly.show.terminal.results import show_win_matrix

    if gate and margin is None:
        raise UsageError("A gate needs a margin: write --gate --margin 2%.")
    if not sources:
        raise UsageError("Name the data and two models: sparingly compare DATA NEW CURRENT.")
    # The files or the campaign first, then the names of models: what is no file.
    files = [part for part in sources[1:] if "://" in part or Path(part).is_file()]
    names = [part for part in sources[1:] if part not in files]
    if len(names) > 2:
        raise UsageError(f"A comparison is of two models, and {len(names)} are named: {', '.join(names)}.")
    files = [sources[0], *files]
    how: dict[str, Any] = {"target": target or "population", "margin": margin, "alpha": alpha}
    how |= {"judge": judge, "estimator": estimator, "seed": seed}
    with source.open(files) as subject, working("comparing"):
        if not names and len(files) == 2 and subject.campaign is None and len(subject.data.models) == 2:
            # The two models in the order of the files that they come from.
            first = source.reading.load(Path(files[0])).models
            models = sorted(subject.data.models, key=lambda name: not name.startswith(first))
            names = models if len(first) == 1 else []
        if gate and not names:
            raise UsageError(
                "Name the models, the new one first: sparingly compare DATA NEW CURRENT --gate --margin 2%."
            )
        if (running := subject.campaign) is not None:
            subject.aspect(aspect)
            data_name = running.settings.data_named(subject.part.data)
            result = running.compare(data_name, *names, at=subject.part.at, **how)
        else:
            about_aspect, data = aspect, subject.data
            if not compares_outputs(data, aspect):
                about_aspect, data = subject.scores(aspect)
            how |= {"selection": subject.selection, "aspect": about_aspect, "scale": scale_ends(scale)}
            result = compare_models(data, *(names or (None, None)), **how)
    if json:
        emit(result.to_dict())
    elif isinstance(result, HeadToHead):
        show_summary(result.summary(), subject.with_aspect(aspect), verbose=verbose)
    else:
        show_win_matrix(result, subject.typed, verbose=verbose)
    if not (gate and isinstance(result, HeadToHead) and result.margin is not None):
        return EXIT_DONE
    return EXIT_DONE if result.margin.answer == "yes" else EXIT_NO
