"""Reports to look at: of the demo set, of names that mean harm, and of campaigns."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

import sparingly
from sparingly.data.synthetic import load_invented
from sparingly.run.forms.question import Question

HOSTILE = (
    "<script>alert(1)</script>",
    "a|b `tick` & \\input{x} %#$_^~",
    "</style></svg>\" onload='x'",
    "right\u202eleft \x1b[31m",
    "![x](http://example.org/x.png) **bold**",
)


@cache
def demo() -> sparingly.EvalSet:
    return load_invented()


@cache
def drawn() -> sparingly.Selection:
    return sparingly.select(demo().without_labels(), "local_pivotal", "50%", seed=1)


@cache
def plain_report() -> sparingly.Report:
    """The report on the demo's sample, without pictures."""
    return sparingly.report(demo(), drawn(), "overall", figures=False)


@cache
def hostile_set() -> sparingly.EvalSet:
    """A set whose every name means harm to some language."""
    generator = np.random.default_rng(3)
    items = [f"{name} {place}" for place, name in enumerate(HOSTILE * 8)]
    base = generator.normal(size=(len(items), 1)) * 5 + 50
    scores = base + generator.normal(size=(len(items), len(HOSTILE))) + np.arange(len(HOSTILE))
    held = sparingly.EvalSet.from_arrays(
        items=items,
        models=list(HOSTILE),
        metrics={HOSTILE[0]: scores + generator.normal(size=scores.shape)},
        aspects={HOSTILE[1]: scores},
        columns={"domain": [HOSTILE[place % 3] for place in range(len(items))]},
    )
    table = sparingly.Ratings(
        item=np.repeat(np.arange(len(items)), 2).astype(np.int32),
        model=np.zeros(2 * len(items), np.int32),
        rater=np.tile([0, 1], len(items)).astype(np.int32),
        aspect=np.zeros(2 * len(items), np.int32),
        score=np.repeat(scores[:, 0], 2) + generator.normal(size=2 * len(items)),
        seconds=np.full(2 * len(items), 10.0),
        raters=HOSTILE[:2],
        aspects=(HOSTILE[1],),
    )
    return held.with_parts(ratings=table)


@cache
def hostile_report(*, figures: bool = False) -> sparingly.Report:
    data = hostile_set()
    chosen = sparingly.select(data.without_labels(), "uniform", 24, seed=1)
    return sparingly.report(data, chosen, figures=figures, title=HOSTILE[0], curve=False)


def play(where: Path, strategy: str, budget: int, stop: str | None = None) -> None:
    """Play a campaign on the demo set to its end."""
    known = dict(zip(demo().items, demo().aspects["overall"], strict=True))
    column = {name: place for place, name in enumerate(demo().models)}

    def judge(question: Question) -> float:
        own = float(known[question.item][column[question.model]])
        if question.other is None:
            return own
        return float(np.sign(own - known[question.item][column[question.other]]))

    with sparingly.Campaign.new(
        where, demo(), strategy, budget, aspects="overall", seed=2, stop=stop
    ) as running:
        # Recorded by the round: a judge that is called writes every answer to the disk on its own.
        while any(step.finished is None for step in running.next()):
            running.record([answered(question, judge(question)) for question in running.questions()])


def answered(question: Question, score: float) -> sparingly.Answer:
    """An answer to a question."""
    single = question.other is None
    return sparingly.Answer(
        rater="table",
        item=question.item,
        score=score,
        model=question.model if single else None,
        pair=None if question.other is None else (question.model, question.other),
        seconds=3.0,
    )
