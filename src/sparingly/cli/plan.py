"""``sparingly plan``: how many outputs to judge, and what a budget of judgements buys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from sparingly.base.errors import UsageError
from sparingly.cli.options import (
    DEFAULT_READ_OPTIONS,
    Json,
    ReadOptions,
    ScaleText,
    Seed,
    emit,
    scale_ends,
    working,
)
from sparingly.cli.subject import WHOLE_CAMPAIGN, InCampaign, Sources, subject_of


@Parameter(name="*")
@dataclass(frozen=True)
class GoalOptions:
    """What the judgements are to show."""

    width: Annotated[
        str | None,
        Parameter(
            help="The half-width (±) of the interval of a score or rate: 2.5, 4%.", allow_leading_hyphen=True
        ),
    ] = None
    detect: Annotated[
        str | None,
        Parameter(help="The difference between two models to be found: 5, 0.3sd.", allow_leading_hyphen=True),
    ] = None
    level: Annotated[float, Parameter(help="How often intervals hold; 1 minus the error rate of tests.")] = (
        0.95
    )
    power: Annotated[float, Parameter(help="How often a difference of that size is to be significant.")] = 0.8


@Parameter(name="*")
@dataclass(frozen=True)
class FormulaOptions:
    """Questions that need no data."""

    win_rate: Annotated[
        str | None,
        Parameter(
            help="A win rate that should differ significantly from 50 %: 60%.", allow_leading_hyphen=True
        ),
    ] = None
    pass_rate: Annotated[
        str | None, Parameter(help="The pass rate to expect, with --width: 90%.", allow_leading_hyphen=True)
    ] = None
    models: Annotated[
        int | None, Parameter(help="How many models are compared, all pairs; 2 unless given.")
    ] = None
    of: Annotated[
        int | None, Parameter(help="How many outputs the pass rate speaks of; those of DATA unless given.")
    ] = None

    def given(self) -> dict[str, Any]:
        """Return what was given, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


@Parameter(name="*")
@dataclass(frozen=True)
class DrawOptions:
    """What is drawn, and at what cost."""

    unit: Annotated[Literal["item", "document"], Parameter(help="What is drawn.")] = "item"
    cost: Annotated[
        str | None,
        Parameter(help="Seconds of an item: a column, length, or fit; what there is unless given."),
    ] = None
    target: Annotated[
        Literal["set", "population"], Parameter(help="Differences on this set, or on inputs like these.")
    ] = "population"
    scale: ScaleText = None


@Parameter(name="*")
@dataclass(frozen=True)
class PriceOptions:
    """What an LLM judge and people cost for one output."""

    judge: Annotated[str | None, Parameter(help="The metric that is an LLM judge's score.")] = None
    judge_price: Annotated[float | None, Parameter(help="The price of one output by the LLM judge.")] = None
    person_price: Annotated[float | None, Parameter(help="The price of one output by a person.")] = None


DEFAULT_GOALS, DEFAULT_DRAW, NO_FORMULA, NO_PRICES = (
    GoalOptions(),
    DrawOptions(),
    FormulaOptions(),
    PriceOptions(),
)


def plan(
    sources: Sources = (),
    /,
    *,
    aspect: Annotated[
        str | None,
        Parameter(name=["--aspect", "-a"], help="What was judged, or a metric that stands in for it."),
    ] = None,
    budget: Annotated[
        tuple[str, ...],
        Parameter(
            name=["--budget", "-b"],
            help="A budget for the table: 100, 10%, 8h; repeat for several.",
            negative="",
            show_default=False,
        ),
    ] = (),
    draw: DrawOptions = DEFAULT_DRAW,
    goals: GoalOptions = DEFAULT_GOALS,
    formula: FormulaOptions = NO_FORMULA,
    prices: PriceOptions = NO_PRICES,
    seed: Seed = 0,
    campaign: InCampaign = WHOLE_CAMPAIGN,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Say how many outputs to judge, and what a budget of judgements buys.

    By formula, without data; from a pilot's ratings, with its selection; or, roughly, from metrics alone.

    ```
    sparingly plan --win-rate 60%
    sparingly plan --pass-rate 90% --width 4%
    sparingly plan --detect 0.3sd --models 5
    sparingly plan judged.jsonl pilot.json --aspect overall --width 2
    sparingly plan campaign.db --width 2
    sparingly plan judged.jsonl pilot.json -a mqm --judge GEMBA --judge-price 0.002 --person-price 0.4
    ```
    """
    if not sources or formula.given():
        if draw.scale is not None:
            raise UsageError("--scale is for plans from data: leave it out.")
        _by_formula(sources, goals, formula, reading, json)
        return
    from sparingly.infer.plan.plan import plan as look_ahead
    from sparingly.show.terminal.plan import show_plan

    with subject_of(sources, reading, campaign) as subject:
        data, pilot = subject.data, subject.selection
        name = aspect
        if subject.campaign is not None:
            name = subject.aspect(aspect)
            rounds = subject.campaign.rounds(campaign.data, at=campaign.at)
            pilot = rounds[0] if len(rounds) == 1 else None
            if not data.judged(name).any():
                # Before the first answer a metric stands in for what people will say.
                data, pilot, name = data.without_labels(), None, None
        elif len(data.aspects):
            name = subject.aspect(aspect)
    with working("planning"):
        options = {**vars(draw), **vars(goals), **vars(prices), "scale": scale_ends(draw.scale)}
        result = look_ahead(data, pilot, name, budgets=budget or None, seed=seed, **options)
    emit(result.to_dict()) if json else show_plan(result, subject.names)


def _by_formula(
    sources: tuple[str, ...], goals: GoalOptions, formula: FormulaOptions, reading: ReadOptions, json: bool
) -> None:
    """Answer a question that needs no data; a pass rate takes the size of the set from it."""
    from sparingly.infer.plan.sample_size import sample_size
    from sparingly.show.terminal.plan import show_sample_size

    questions = formula.given()
    if not sources and not (formula.win_rate or formula.pass_rate or goals.detect):
        raise UsageError(
            "Name the data, or ask a question that needs none: --win-rate 60%, --pass-rate 90% --width 4%, "
            "or --detect 0.3sd."
        )
    if sources and not (formula.win_rate or formula.pass_rate):
        options = " and ".join(f"--{name}" for name in questions)
        raise UsageError(f"{options} is for plans without data: leave out {Path(sources[0]).name}.")
    if sources and formula.pass_rate is not None and formula.of is None:
        with subject_of(sources, reading) as subject:
            questions["of"] = len(subject.data)
    result = sample_size(**questions, **vars(goals))
    emit(result.to_dict()) if json else show_sample_size(result, sources[0] if sources else "DATA")
