"""Whether a data set is to stop before its budget is spent."""

from __future__ import annotations

from sparingly.run.campaign.estimates import state_for_estimates
from sparingly.run.campaign.history import Known
from sparingly.run.campaign.settings import Settings
from sparingly.run.rounds.stop.base import Progress, first_stop
from sparingly.run.rounds.strategy import Finished


def stopped(settings: Settings, known: Known, *, final: bool = False) -> Finished | None:
    """Return why to stop, by the campaign's rules and the models that are in it; None to go on.

    With ``final``, nothing more will be asked for whatever the rules say, and they speak for the last time.
    """
    if not settings.stops or not known.rounds:
        return None
    state, strategy = state_for_estimates(settings, known)
    found = first_stop(settings.stops, Progress(state, strategy, final=final))
    return None if found is None else Finished(found.reason, found.answer)
