"""kill -9 at any write: what was acknowledged is there, nothing is invented, and the rest follows.

All the while somebody else opens, verifies and exports the campaign.
"""

from __future__ import annotations

import os
import random
import signal
from typing import Any

import pytest

from benchmarks.campaign_load import Onlooker
from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.faults.child import KINDS, Killer, work, work_until_killed
from tests.run.campaign.faults.processes import run_child
from tests.run.campaign.made import begin, made_set, true_score

pytestmark = pytest.mark.journey

# So many points on each database; `make load` asks for hundreds.
POINTS = int(os.environ.get("SPARINGLY_FAULT_POINTS", "20"))
# A strategy that learns from the answers, so that a lost or invented one would change the rounds.
SETTINGS: dict[str, Any] = {"strategy": "waves", "budget": 6, "size": 3}


def outcome(campaign: Campaign) -> tuple[Any, ...]:
    """What is left when everything is answered, whatever happened on the way."""
    drawn = [(list(one.items), one.signature.labels, one.signature.earlier) for one in campaign.rounds()]
    ratings = campaign.data().ratings
    return drawn, ratings.score.tolist(), campaign.status().sets[0].corrections


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, tuple[Any, ...]]:
    """How many writes there are when nothing happens, and what comes of them."""
    killer = Killer("never", 0)
    with begin(str(tmp_path_factory.mktemp("undisturbed") / "campaign.db"), **SETTINGS) as campaign:
        killer.watch(campaign)
        work(campaign)
        assert campaign.status().sets[0].rounds > 1
        return killer.writes, outcome(campaign)


@pytest.mark.parametrize("point", range(POINTS))
def test_killed_at_a_write(where: str, point: int, undisturbed: tuple[int, tuple[Any, ...]]) -> None:
    writes, expected = undisturbed
    chance = random.Random(point)  # noqa: S311 - where to kill is no secret
    killer = Killer(KINDS[point % len(KINDS)], chance.randint(1, writes), chance.uniform(0, 0.02))
    begin(where, **SETTINGS).disconnect()
    with Onlooker(where) as onlooker:
        said, code = run_child(work_until_killed, where, killer)
    assert onlooker.problems == []
    assert onlooker.looks["exported"] >= 1
    if killer.kind != "committing":
        # The other thread may be too late for the last of all commits.
        assert code == -signal.SIGKILL
    acknowledged = {one for one in said if one != "done"}

    data = made_set()
    with Campaign(where) as campaign:
        stored = [(one["item"], one["model"], one["score"]) for one in campaign.ratings()]
        assert len(stored) == len(set(stored)), "nothing is there twice"
        assert acknowledged <= set(stored), "everything acknowledged is there"
        assert len(stored) <= len(acknowledged) + 1, "at most the one under way is there beside it"
        assert all(score == true_score(data, item, model) for item, model, score in stored)
        assert campaign.verify().ok
        work(campaign)
        assert outcome(campaign) == expected
        assert campaign.verify().ok
