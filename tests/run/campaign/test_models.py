from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import DataError, UnknownNameError, UsageError
from tests.run.campaign.made import MODELS, answer_all, begin, made_set

LATE = (*MODELS, "Dogwood")


@pytest.mark.parametrize("strategy", ["uniform", "waves", "metric_var:metric=chrF"])
def test_a_late_model_is_judged_on_what_was_chosen_without_it(where: str, strategy: str) -> None:
    data, more = made_set(40), made_set(40, LATE)
    how = {"strategy": strategy, "budget": 30, "size": 15}
    with begin(where, data, **how) as campaign:
        campaign.next()
        answer_all(campaign, data)
        before = campaign.estimate(estimator="mean", interval="none") if strategy == "uniform" else None
        assert campaign.add_models(more) == ["Dogwood"]
        status = campaign.status().sets[0]
        assert (status.late, status.outstanding, status.spent) == (("Dogwood",), 15, 45)
        assert {one.model for one in campaign.questions()} == {"Dogwood"}
        if before is not None:
            after = campaign.estimate(estimator="mean", interval="none")
            assert np.allclose(after.scores[:3], before.scores)
            assert np.isnan(after.scores[3])
        assert answer_all(campaign, more) == 15
        drawn = campaign.next()[0]
        assert (drawn.number, drawn.outstanding) == (2, 60)
        answer_all(campaign, more)
        found = campaign.estimate(interval="none")
        assert found.models == LATE
        assert np.isfinite(found.scores).all()
        assert "judged on what was chosen without them: Dogwood" in found.notes
        assert campaign.verify().ok
        rounds = [one.items for one in (campaign.next()[0].selection,) if one is not None]
    with begin(where, data, name="without", **how) as campaign:
        while campaign.next()[0].finished is None:
            answer_all(campaign, data)
        alone = campaign.next()[0].selection
    assert alone is not None
    assert list(rounds[-1]) == list(alone.items), "nothing was drawn anew"


def test_a_withdrawn_model_leaves_the_estimate_and_nothing_else(where: str) -> None:
    data = made_set(40)
    with begin(where, data, strategy="metric_var:metric=chrF", budget=30, size=15) as campaign:
        campaign.next()
        answer_all(campaign, data)
        before, at = campaign.estimate(), campaign.status().last_seq
        campaign.withdraw("Ash")
        after = campaign.estimate()
        assert after.models == ("Beech", "Cedar")
        assert np.allclose(after.scores, before.scores[1:])
        assert "withdrawn: Ash" in after.notes
        assert np.allclose(campaign.estimate(at=at).scores, before.scores), "the past is as it was"
        step = campaign.next()[0]
        assert (step.number, step.outstanding) == (2, 30)
        assert {one.model for one in campaign.questions()} == {"Beech", "Cedar"}
        assert campaign.status().sets[0].withdrawn == ("Ash",)
        assert campaign.status(at).sets[0].withdrawn == ()
        assert campaign.verify().ok


def test_a_model_that_comes_before_the_first_round_is_there_from_the_start(where: str) -> None:
    with begin(where) as campaign:
        campaign.add_models(made_set(models=LATE))
        assert campaign.next()[0].outstanding == 16
        status = campaign.status().sets[0]
        assert (status.late, status.limit) == ((), 32)


def test_what_cannot_be_added_or_withdrawn(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        with pytest.raises(UsageError, match="has no model that is not in the data set"):
            campaign.add_models(made_set())
        with pytest.raises(DataError, match='has no model "Ash"'):
            campaign.add_models(made_set(models=("Beech", "Cedar", "Dogwood")))
        with pytest.raises(DataError, match="is not the one of the campaign with more models"):
            campaign.add_models(made_set(models=LATE, seed=8))
        with pytest.raises(UnknownNameError, match="Did you mean Ash"):
            campaign.withdraw("Ahs")
        campaign.withdraw("Ash")
        with pytest.raises(UsageError, match="nothing left to compare"):
            campaign.withdraw("Beech")
        campaign.close()
        with pytest.raises(UsageError, match="is closed"):
            campaign.withdraw("Beech")
