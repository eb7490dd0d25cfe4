"""``sparingly judge``: the true score, and whether the judge that scored everything can be trusted."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

from sparingly.cli.options import Json, ReadOptions, Seed, Verbose, emit, working
from sparingly.cli.parameters import about, several
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources


def judge(
    sources: Sources,
    /,
    *,
    aspect: Annotated[
        str | None, about("What people judged; default: the only one.", "--aspect", "-a")
    ] = None,
    judge: Annotated[tuple[str, ...], several("The judge's metric (default: compare all)")] = (),
    cut: Annotated[
        float | None,
        about("The score from which a graded judge passes; default: above the middle of the scale."),
    ] = None,
    labels_from: Annotated[
        Path | None, about("Other data with labels and the same judge, where DATA has no labels.")
    ] = None,
    level: Annotated[float, about("The confidence level of intervals.")] = 0.95,
    verbose: Verbose = False,
    seed: Seed = 0,
    source: SourceOptions = DEFAULT_SOURCE,
    json: Json = False,
) -> None:
    """Estimate the true score, and check whether the judge can be trusted.

    ```
    sparingly judge answers.csv
    sparingly judge answers.csv chosen.json -v
    sparingly judge answers.csv --judge gpt --judge claude
    sparingly judge answers.csv --judge gpt --cut 4
    sparingly judge new.csv --labels-from labelled.csv
    ```
    """
    from sparingly.infer.judge.audit import judge as audit
    from sparingly.show.terminal.judge import show_audit

    other = None if labels_from is None else ReadOptions(role=source.reading.role).load(labels_from)
    settings: dict[str, Any] = {"judge": judge or None, "cut": cut, "level": level, "seed": seed}
    with source.open(sources) as subject:
        data, selection, found, names = subject.data, subject.selection, None, subject.names
        name = aspect if other is not None else subject.aspect(aspect)
        if (running := subject.campaign) is not None:
            # Rounds after the first were drawn from what was left, so that only the campaign can estimate.
            found = running.estimate(source.campaign.data, at=source.campaign.at, level=level, seed=seed)
            rounds = running.rounds(source.campaign.data, at=source.campaign.at)
            selection = rounds[0] if len(rounds) == 1 else None
        with working("comparing the judge with people"):
            result = audit(data, selection, name, labels_from=other, true_scores=found, **settings)
    emit(result.to_dict()) if json else show_audit(result, shlex.join(names), verbose=verbose)
