"""A question with a margin about a new model, asked again while its labels come in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.infer.compare.head_to_head import HeadToHead, MarginAnswer
from sparingly.infer.estimate.assemble import EstimateRequest, Target
from sparingly.infer.estimate.bank import EarlierPredictions, estimates_in_batches
from sparingly.infer.estimate.result import Estimate
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.own_draws import look_ends
from sparingly.run.rounds.strategy import first_rows

NEW, CURRENT, ITEMS, BUDGET = "new", "current", 150, 70
NAMES = (CURRENT, NEW, "other", "third")


def scores_of(seed: int = 0) -> Floats:
    """Return scores of models that are all as good as each other, on items that differ."""
    draw = np.random.default_rng(seed)
    return 50.0 + draw.normal(0, 8, (ITEMS, 1)) + draw.normal(0, 5, (ITEMS, len(NAMES)))


def outputs(names: tuple[str, ...]) -> EvalSet:
    return EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(ITEMS)],
        names,
        outputs=[[f"{name} {row}" for name in names] for row in range(ITEMS)],
    )


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    """A bank of three models that were judged on everything, and a new one without labels."""
    earlier = tuple(name for name in NAMES if name != NEW)
    path = tmp_path / "bank.db"
    with Campaign.new(path, outputs(earlier), "uniform", ITEMS, aspects="score", scale=(0, 100)) as running:
        judge(running)
        running.add_models(outputs((NEW,)), budget=BUDGET, anchors=0)
        yield running


def judge(campaign: Campaign, worse: float = 0.0, leave_out: int = 0) -> None:
    """Answer what is open, all but the first so many questions, with the new model worse by so much."""
    scores = scores_of()
    campaign.next()
    answers = [
        {
            "rater": "ann",
            "item": one.item,
            "model": one.model,
            "score": max(0.0, scores[int(one.item[1:]), NAMES.index(one.model)] - worse * (one.model == NEW)),
        }
        for one in campaign.questions()
    ]
    campaign.record(answers[leave_out:])


def ask(campaign: Campaign, margin: float, *names: str, target: Target = "population") -> MarginAnswer:
    found = campaign.compare(None, *(names or (NEW, CURRENT)), margin=margin, target=target)
    assert isinstance(found, HeadToHead)
    assert found.margin is not None
    # Plain values are JSON, also before the first look.
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["margin"]["answer"] == found.margin.answer
    return found.margin


def test_looks_are_20_at_most_from_40_items_on() -> None:
    assert look_ends(200)[0] == 40
    assert look_ends(200)[-1] == 200
    assert len(look_ends(200)) == len(look_ends(10_000)) == 20
    assert look_ends(60) == (40, 45, 50, 55, 60)
    assert look_ends(42) == (40, 42)
    assert look_ends(40) == (40,)
    assert look_ends(30) == (30,)


def test_an_answer_is_given_once_and_stays(campaign: Campaign) -> None:
    campaign.next(models=["new"], size=30)
    judge(campaign)
    early = ask(campaign, 6.0)
    assert early.look is not None
    assert (early.answer, early.look.number, early.look.ready) == ("not yet", 0, 30)
    assert "The first look is at 40 items; 30 are judged." in str(early)
    campaign.next(models=["new"], size=20)
    judge(campaign)
    first = ask(campaign, 6.0)
    assert first.look is not None
    assert first.answer == "yes"
    assert "later labels do not change it" in str(first)
    # From here on the new model is far worse, which the answered look does not see.
    campaign.next(models=["new"])
    judge(campaign, worse=20.0)
    later = ask(campaign, 6.0)
    assert later.look is not None
    assert (later.answer, later.low, later.high) == ("yes", first.low, first.high)
    assert (later.look.number, later.look.ready) == (first.look.number, BUDGET)
    # Another question has an answer of its own, and the other way round it is mirrored.
    assert ask(campaign, 0.5).answer in ("no", "not yet")
    mirrored = ask(campaign, 6.0, CURRENT, NEW)
    assert mirrored.look is not None
    assert mirrored.look.number <= later.look.number
    assert ask(campaign, 6.0, target="set").answer == "yes"


def test_a_look_waits_for_answers_that_are_missing(campaign: Campaign) -> None:
    campaign.next(models=["new"])
    judge(campaign, leave_out=1)
    found = ask(campaign, 6.0)
    assert found.look is not None
    assert found.look.ready < BUDGET
    assert found.look.items <= found.look.ready


def test_no_look_waits_for_what_cannot_be_judged(campaign: Campaign) -> None:
    campaign.next(models=["new"])
    campaign.skip(list(campaign.questions())[:2], "ann", "empty")
    judge(campaign)
    found = ask(campaign, 6.0)
    assert found.look is not None
    assert (found.answer, found.look.ready) == ("yes", BUDGET)


def test_an_answer_outlives_models_that_are_withdrawn(campaign: Campaign) -> None:
    campaign.next(models=["new"])
    judge(campaign)
    before = ask(campaign, 6.0)
    campaign.withdraw("third")
    assert ask(campaign, 6.0) == before
    # The same of two models that came together.
    campaign.add_models(outputs(("late", "later")), budget=BUDGET, anchors=0)
    campaign.next(models=["late", "later"])
    campaign.record(
        {"rater": "ann", "item": one.item, "model": one.model, "score": 50 + int(one.item[1:]) % 7}
        for one in list(campaign.questions())
    )
    assert ask(campaign, 20.0, "late", CURRENT).answer == "yes"
    campaign.withdraw("later")
    assert ask(campaign, 20.0, "late", CURRENT).answer == "yes"


def test_the_last_look_says_so(campaign: Campaign) -> None:
    campaign.next(models=["new"])
    judge(campaign, worse=6.0)
    found = ask(campaign, 6.0)
    assert found.look is not None
    assert found.answer == "not yet"
    assert (found.look.number, found.look.following) == (7, None)
    assert "the last look" in str(found)


def test_of_two_earlier_models_it_is_asked_once(campaign: Campaign) -> None:
    campaign.next(models=["new"])
    judge(campaign)
    assert ask(campaign, 6.0, "other", CURRENT).look is None


def test_predictions_are_learned_from_earlier_labels_only() -> None:
    labels = scores_of()
    data = outputs(NAMES).with_parts(aspects={"score": labels})
    bare = labels.copy()
    bare[:, 1] = np.nan
    earlier, view = data.with_parts(aspects={"score": bare}), outputs((NEW,))
    predictions = EarlierPredictions.learn(earlier, view, "score", 0)
    full = sparingly.select(view, method="uniform", budget=60, seed=3)

    def at_looks(values: Floats) -> list[Estimate]:
        looks = [first_rows(full, end) for end in (40, 50, 60)]
        now = data.with_parts(aspects={"score": values})
        return list(estimates_in_batches(predictions, now, looks, view, "score", EstimateRequest()))

    before, changed = at_looks(labels), labels.copy()
    # An item of the second batch: it counts with its own weight there, and teaches the third batch only.
    changed[data.positions(full.items[45:46]), 1] += 7.0
    gains = [
        after.scores[0] - found.scores[0] for after, found in zip(at_looks(changed), before, strict=True)
    ]
    assert gains[0] == 0.0
    assert gains[1] == pytest.approx(7.0 / 50)
    assert gains[2] != pytest.approx(7.0 / 60, abs=1e-6)
    # Predictions help: the error is smaller than that of the plain mean.
    plain = sparingly.estimate(data.take(models=[NEW]), full, "score", estimator="weighted_mean")
    assert before[2].standard_errors[0] < 0.8 * plain.standard_errors[0]
