"""Which pages two raters judge."""

from __future__ import annotations

from typing import Any

from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.rater_pages import PageBoard
from tests.run.campaign.made import begin, made_set


def test_the_overlap_is_the_same_after_a_restart_and_grows_with_the_rounds(where: str) -> None:
    with begin(where, made_set(80), budget=80, size=40) as campaign:
        campaign.next()
        first = overlap_of(campaign)
        assert len(first) == 7
        campaign.record([{**cell, "rater": "x", "score": 1.0} for cell in open_cells(campaign)])
        campaign.next()
        both = overlap_of(campaign)
        assert first < both
        assert len([page for page in both if page.round == 2]) == 4, "a tenth of the outputs of a round"
        assert overlap_of(campaign) == both
        assert overlap_of(campaign, 0.0) == set()


def overlap_of(campaign: Campaign, share: float = 0.1) -> set[Any]:
    board = PageBoard(campaign.database, campaign.settings, share)
    board.refresh()
    return {page for page in board.pages if page in board._index.overlap}


def open_cells(campaign: Campaign) -> list[dict[str, Any]]:
    return [{"item": one.item, "model": one.model} for one in campaign.questions()]
