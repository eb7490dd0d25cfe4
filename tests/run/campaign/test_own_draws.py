"""Models that come with a budget of their own: their draw, anchors, the joint estimate, and its check."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.rater_pages import PageBoard
from sparingly.run.campaign.results import rater_drift

NEW = "Cedar-MT"


def demo() -> tuple[EvalSet, EvalSet]:
    """Return four models of the demo set without the last, and with it."""
    whole = load_invented()
    data = whole.take(models=[NEW, *[name for name in whole.models if name != NEW][:3]])
    return data.take(models=[name for name in data.models if name != NEW]), data


def answers(campaign: Campaign, data: EvalSet, rater: str, shift: float = 0.0) -> list[dict[str, Any]]:
    """Return what a rater says of all that is open: the scores of the data, more severe by a shift."""
    known, row = data.aspects["overall"], {name: place for place, name in enumerate(data.items)}
    column = {name: place for place, name in enumerate(data.models)}
    return [
        {
            "item": one.item,
            "model": one.model,
            "rater": rater,
            "score": float(np.clip(known[row[one.item], column[one.model]] + shift, 0, 100)),
        }
        for one in campaign.questions()
    ]


@pytest.fixture(scope="module", params=["uniform", "auto:rounds=2"])
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that is over for the earlier models."""
    earlier, data = demo()
    path = tmp_path_factory.mktemp("judged") / "eval.db"
    with Campaign.new(path, earlier, request.param, 100, aspects="overall", scale=(0, 100)) as running:
        while running.next()[0].finished is None:
            assert running.record(answers(running, data, "anna")).refused == 0
    return path


@pytest.fixture
def campaign(judged: Path, tmp_path: Path) -> Iterator[Campaign]:
    shutil.copy(judged, tmp_path / "eval.db")
    with Campaign(tmp_path / "eval.db") as running:
        yield running


def test_a_new_model_has_a_draw_of_its_own_and_a_place_among_the_others(campaign: Campaign) -> None:
    _, data = demo()
    before = campaign.estimate()
    assert campaign.add_models(data, budget=60) == [NEW]
    first = campaign.next(models=["new"], size=40)[0]
    assert first.new
    assert first.selection is not None
    assert {row.models for row in first.selection} == {(NEW,)}
    again = [one for one in campaign.questions() if one.model != NEW]
    assert (len(campaign.questions()), len(again)) == (44, 4)
    assert campaign.next(models=["new"])[0].outstanding == 44
    assert campaign.record(answers(campaign, data, "anna")).refused == 0
    assert campaign.next(models=[NEW])[0].outstanding == 22
    campaign.record(answers(campaign, data, "ben"))
    assert campaign.next(models=["new"])[0].finished is not None
    joint = campaign.estimate()
    assert joint.models == data.models
    place = joint.models.index(NEW)
    others = [at for at in range(len(joint.models)) if at != place]
    assert np.array_equal(joint.scores[others], before.scores), "the earlier models' scores stay"
    assert np.array_equal(joint.standard_errors[others], before.standard_errors)
    assert (
        abs(joint.scores[place] - data.aspects["overall"][:, place].mean()) < 3 * joint.standard_errors[place]
    )
    for target in ("set", "population"):
        ranking = campaign.rank(target=target)
        assert {model.model for model in ranking.models} == set(data.models)
    assert campaign.verify().problems == ()


def test_new_outputs_alone_are_enough(campaign: Campaign) -> None:
    _, data = demo()
    assert campaign.add_models(data.take(models=[NEW]), budget="20%") == [NEW]
    assert len(campaign.next(models=[NEW])[0].selection or ()) == 48


def test_the_draw_and_the_anchors_are_checked(campaign: Campaign) -> None:
    _, data = demo()
    campaign.add_models(data, budget=60, anchors=0.2)
    campaign.next(models=["new"])
    assert campaign.verify().ok
    assert len([one for one in campaign.questions() if one.model != NEW]) == 12


def test_raters_who_have_become_more_severe_are_seen(campaign: Campaign) -> None:
    _, data = demo()
    before = campaign.estimate()
    campaign.add_models(data, budget=60, anchors=0.25)
    campaign.next(models=["new"])
    campaign.record(answers(campaign, data, "anna", shift=-6.0))
    drift = rater_drift(campaign)[0]
    assert (drift.outputs, drift.has_drifted) == (15, True)
    assert drift.difference == pytest.approx(-6.0, abs=1.0)
    assert "more severe" in drift.sentence
    others = [place for place, name in enumerate(data.models) if name != NEW]
    assert np.array_equal(campaign.estimate().scores[others], before.scores), "anchors count in no score"


def test_raters_who_have_not_changed_are_not_accused(campaign: Campaign) -> None:
    _, data = demo()
    campaign.add_models(data, budget=60, anchors=0.25)
    assert rater_drift(campaign) == []
    campaign.next(models=["new"])
    campaign.record(answers(campaign, data, "ben"))
    assert not rater_drift(campaign)[0].has_drifted


def test_pages_show_what_is_judged_again_without_what_was_said_before(campaign: Campaign) -> None:
    _, data = demo()
    campaign.add_models(data, budget=60, anchors=0.1)
    campaign.next(models=["new"])
    board = PageBoard(campaign.database, campaign.settings)
    board.refresh()
    number = campaign.next(models=["new"])[0].number
    of_round = {page: own for page, own in board.pages.items() if page.round == number}
    again = {page: one for page, own in of_round.items() for one in own if one.model != NEW}
    assert 0 < len(again) <= 6
    assert all(board.missing(one) for one in again.values())
    assert not any(board.last_answers("anna", one.cell, one.round) for one in again.values())
    campaign.record(answers(campaign, data, "anna"))
    board.refresh()
    assert all(map(board.is_answered, again))
    assert all(board.last_answers("anna", one.cell, one.round) for one in again.values())


def test_who_has_no_draw_is_told_the_command(campaign: Campaign) -> None:
    with pytest.raises(UsageError, match="add-models"):
        campaign.next(models=["new"])


def test_chosen_items_are_refused(tmp_path: Path) -> None:
    earlier, data = demo()
    with Campaign.new(
        tmp_path / "eval.db", earlier, "metric_var:metric=learned", 50, aspects="overall"
    ) as campaign:
        campaign.next()
        with pytest.raises(UsageError, match="known probabilities"):
            campaign.add_models(data, budget=60)
