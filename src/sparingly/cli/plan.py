"""``sparingly plan``: how many outputs to judge, and what a budget of judgements buys."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from sparingly.base.errors import MissingDataError, UsageError
from sparingly.cli.options import Json, Level, ScaleText, Seed, Target, Verbose, emit, scale_ends, working
from sparingly.cli.parameters import about, several
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources


def plan(
    sources: Sources = (),
    /,
    *,
    aspect: Annotated[
        str | None,
        about("The aspect that people judged, or a metric that stands in for it.", "--aspect", "-a"),
    ] = None,
    budget: Annotated[
        tuple[str, ...], several("A budget for the table: 100, 10%, 8h", "--budget", "-b")
    ] = (),
    unit: Annotated[Literal["item", "document"], about("What is drawn.")] = "item",
    cost: Annotated[
        str | None, about("Seconds per item: a column, length, or fit; default: the first that is there.")
    ] = None,
    target: Target = None,
    scale: ScaleText = None,
    width: Annotated[
        str | None,
        about("The half-width (±) of the interval of a score or rate: 2.5, 4%.", allow_leading_hyphen=True),
    ] = None,
    detect: Annotated[
        str | None,
        about("The difference between two models to find: 5, 5%, 0.3sd.", allow_leading_hyphen=True),
    ] = None,
    level: Level = 0.95,
    power: Annotated[float, about("The probability of finding a difference of that size.")] = 0.8,
    win_rate: Annotated[
        str | None,
        about("A win rate that should differ significantly from 50 %: 60%.", allow_leading_hyphen=True),
    ] = None,
    pass_rate: Annotated[
        str | None,
        about("The pass rate to expect, with --width or --detect: 90%.", allow_leading_hyphen=True),
    ] = None,
    models: Annotated[int | None, about("How many models are compared, all pairs; default: 2.")] = None,
    of: Annotated[
        int | None, about("How many outputs the pass rate describes; default: those of DATA.")
    ] = None,
    price: Annotated[
        tuple[str, ...], several("What one output costs: human=0.8, METRIC=0.01 for an LLM judge")
    ] = (),
    seed: Seed = 0,
    source: SourceOptions = DEFAULT_SOURCE,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Find out how many outputs people should judge, and what a budget buys.

    ```
    sparingly plan --win-rate 60%
    ```

    By formula without data; from a pilot's ratings with its selection; or roughly from metrics alone.

    ```
    sparingly plan --pass-rate 90% --width 4%
    sparingly plan --detect 0.3sd --models 5
    sparingly plan judged.jsonl pilot.json --aspect overall --width 2
    sparingly plan campaign.db --width 2
    sparingly plan --pass-rate 80% --detect 5% --power 0.9
    sparingly plan judged.jsonl pilot.json -a mqm --width 2 --price human=0.4 --price GEMBA=0.002
    ```
    """
    from sparingly.show.terminal.console import show_summary
    from sparingly.show.terminal.results import show_plan

    goals: dict[str, Any] = {"width": width, "detect": detect, "level": level, "power": power}
    formula: dict[str, Any] = {"win_rate": win_rate, "pass_rate": pass_rate, "models": models, "of": of}
    formula = {name: value for name, value in formula.items() if value is not None}
    if not sources or formula:
        for option, value in (("scale", scale), ("price", price or None)):
            if value is not None:
                raise UsageError(f"--{option} is for plans from data: leave it out.")
        from sparingly.infer.plan.sample_size import sample_size

        if not sources and not (win_rate or pass_rate or detect):
            raise UsageError(
                "Name the data, or ask a question that needs none: --win-rate 60%, "
                "--pass-rate 90% --width 4%, or --detect 0.3sd."
            )
        if sources and not (win_rate or pass_rate):
            options = " and ".join(f"--{name}" for name in formula)
            raise UsageError(f"{options} is for plans without data: leave out {Path(sources[0]).name}.")
        if sources and pass_rate is not None and of is None and detect is None:
            # A pass rate takes the size of the set from it.
            with source.open(sources) as subject:
                formula["of"] = len(subject.data)
        size = sample_size(**formula, **goals)
        if json:
            emit(size.to_dict())
        else:
            show_summary(size.summary(), shlex.quote(sources[0]) if sources else "DATA", verbose=verbose)
        return
    from sparingly.infer.plan.pilot import FEWEST_JUDGED
    from sparingly.infer.plan.plan import plan as look_ahead

    with source.open(sources) as subject:
        data, pilot = subject.data, subject.selection
        name = aspect
        if subject.compares:
            raise MissingDataError(
                "Comparisons are planned without data: sparingly plan --win-rate 60%. What these show: "
                f"sparingly compare {subject.typed}"
            )
        if subject.campaign is None and not data.aspects and not data.metrics:
            name = None
        if subject.campaign is not None:
            name = subject.aspect(aspect)
            rounds = subject.campaign.rounds(source.campaign.data, at=source.campaign.at)
            pilot = rounds[0] if len(rounds) == 1 else None
            judged = int(data.judged(name).any(axis=1).sum())
            if not judged or (judged < FEWEST_JUDGED and data.metrics):
                # At first a metric stands in for what people will say.
                if judged:
                    sys.stderr.write(f"note: {judged} judged items tell too little; planned without them.\n")
                data, pilot, name = data.without_labels(), None, None
        elif len(data.aspects):
            name = subject.aspect(aspect)
    with working("planning"):
        result = look_ahead(
            data,
            pilot,
            name,
            budgets=budget or None,
            unit=unit,
            cost=cost,
            target=target or "population",
            scale=scale_ends(scale),
            prices=_prices(price) if price else None,
            seed=seed,
            **goals,
        )
    if json:
        emit(result.to_dict())
    else:
        has = {"in_campaign": subject.campaign is not None, "has_selection": subject.selection is not None}
        show_plan(result, shlex.join(subject.names), **has, verbose=verbose)


def _prices(texts: tuple[str, ...]) -> dict[str, float]:
    """Return prices from texts such as ``human=0.8``."""
    prices: dict[str, float] = {}
    for text in texts:
        name, sign, amount = text.rpartition("=")
        try:
            prices[name] = float(amount)
        except ValueError:
            sign = ""
        if not sign or not name:
            raise UsageError(f'The price "{text}" is not of the form NAME=PRICE: --price human=0.8.')
    return prices
