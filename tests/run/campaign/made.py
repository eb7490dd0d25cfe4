"""A small set whose scores are known, and campaigns on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.forms.question import Question

MODELS = ("Ash", "Beech", "Cedar")


def made_set(
    items: int = 12, models: tuple[str, ...] = MODELS, *, prefix: str = "item", seed: int = 5
) -> EvalSet:
    """Items × models with a metric, texts and the scores that a judge would give."""
    names = [f"{prefix}-{place:02d}" for place in range(items)]
    scores, metric = np.empty((items, len(models))), np.empty((items, len(models)))
    for column, model in enumerate(models):
        # By the model's own name, so that a set with one more model is the same for the others.
        numbers = np.random.default_rng([seed, *model.encode("utf-8", "surrogatepass")])
        scores[:, column] = np.round(numbers.uniform(0, 100, items), 1)
        metric[:, column] = scores[:, column] + numbers.normal(0, 10, items)
    return EvalSet.from_arrays(
        names,
        models,
        metrics={"chrF": metric},
        aspects={"overall": scores},
        sources=[f"source of {name}" for name in names],
        outputs=[[f"{model} on {name}" for model in models] for name in names],
    )


def begin(where: str, data: EvalSet | dict[str, EvalSet] | None = None, **changed: Any) -> Campaign:
    """Begin a campaign on the small set: uniform, 8 items, 4 in a round."""
    settings: dict[str, Any] = {"aspects": "overall", "scale": (0, 100), "size": 4, "seed": 3, **changed}
    strategy, budget = settings.pop("strategy", "uniform"), settings.pop("budget", 8)
    return Campaign.new(where, made_set() if data is None else data, strategy, budget, **settings)


def true_score(data: EvalSet, item: str, model: str) -> float:
    """What the judge gives."""
    return float(data.aspects["overall"][data.positions([item])[0], data.models.index(model)])


def row(question: Question, score: float, rater: str = "ann", **more: Any) -> dict[str, Any]:
    """One answer to a question, as a file has it."""
    return {"rater": rater, "item": question.item, "model": question.model, "score": score, **more}


def answer_all(campaign: Campaign, data: EvalSet | None = None, rater: str = "ann") -> int:
    """Answer everything that is open, truthfully."""
    held = made_set() if data is None else data
    rows = [row(one, true_score(held, one.item, one.model), rater) for one in campaign.questions()]
    return campaign.record(rows).new
