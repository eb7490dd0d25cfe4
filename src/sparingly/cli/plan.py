"""``sparingly plan``: what a budget of judgements buys, before it is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from sparingly.cli.estimate import Chosen
from sparingly.cli.options import DEFAULT_READING, Data, Json, Reading, Seed, emit, the_aspect, working


@Parameter(name="*")
@dataclass(frozen=True)
class Wishes:
    """What the judgements are to show."""

    width: Annotated[float | None, Parameter(help="The half-width that intervals of scores should have.")] = (
        None
    )
    detect: Annotated[float | None, Parameter(help="The difference between models that should be found.")] = (
        None
    )
    target: Annotated[
        Literal["set", "population"], Parameter(help="Differences on this set, or on inputs like these.")
    ] = "population"
    level: Annotated[float, Parameter(help="How often intervals are to hold the truth.")] = 0.95
    power: Annotated[float, Parameter(help="How often a difference is to be found.")] = 0.8


@Parameter(name="*")
@dataclass(frozen=True)
class Prices:
    """What an LLM judge and people ask for one output."""

    judge: Annotated[str | None, Parameter(help="The metric that is an LLM judge's score.")] = None
    judge_price: Annotated[float | None, Parameter(help="The price of one output by the LLM judge.")] = None
    person_price: Annotated[float | None, Parameter(help="The price of one output by a person.")] = None


DEFAULT_WISHES, NO_PRICES = Wishes(), Prices()


def plan(
    data: Data,
    selection: Chosen = None,
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
    unit: Annotated[Literal["item", "document"], Parameter(help="What is drawn.")] = "item",
    cost: Annotated[
        str | None,
        Parameter(help="Seconds of an item: a column, length, or fit; what there is unless given."),
    ] = None,
    wishes: Wishes = DEFAULT_WISHES,
    prices: Prices = NO_PRICES,
    seed: Seed = 0,
    reading: Reading = DEFAULT_READING,
    json: Json = False,
) -> None:
    """Say what judging so many items will tell, and which method, estimator and budget to take.

    From the ratings of a pilot (with the selection that drew it), or from the metrics alone.

    ```
    sparingly plan data.jsonl
    sparingly plan judged.jsonl pilot.json --aspect overall --width 2
    sparingly plan judged.jsonl pilot.json -a mqm --detect 0.5 --cost fit
    sparingly plan judged.jsonl pilot.json -a mqm --judge GEMBA --judge-price 0.002 --person-price 0.4
    ```
    """
    from sparingly.data.selection import Selection
    from sparingly.infer.plan.plan import plan as look_ahead
    from sparingly.show.terminal.plan import show_plan

    held = reading.load(data)
    asked = the_aspect(held, aspect) if len(held.aspects) else aspect
    pilot = None if selection is None else Selection.load(selection)
    with working("planning"):
        found = look_ahead(
            held,
            pilot,
            asked,
            budgets=budget or None,
            unit=unit,
            cost=cost,
            seed=seed,
            **vars(wishes),
            **vars(prices),
        )
    emit(found.to_dict()) if json else show_plan(found, str(data))
